//! Names of banks: each can be a file beside the index of a store, on any disk.

use crate::diag::Problems;

/// The name of the index among the files of banks, without its extension.
pub const INDEX: &str = "index";

/// No name of a file is longer, in bytes.
const NAME_MAX: usize = 100;

/// Returns whether a bank can be a file beside the index.
#[must_use]
pub fn is_file_name(bank: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    !bank.is_empty()
        && bank.len() <= NAME_MAX
        && !bank.eq_ignore_ascii_case(INDEX)
        && bank.chars().all(is_plain)
}

/// Reports a name that cannot be a file, or would be the file of an earlier one where case makes no difference.
pub fn check<'a>(bank: &str, mut earlier: impl Iterator<Item = &'a str>, problems: &mut Problems) {
    if !is_file_name(bank) {
        let message = match bank {
            "" => "a bank has no name".to_owned(),
            _ => format!("`{bank}` is no name for a bank, which can be a file"),
        };
        let help = if bank.eq_ignore_ascii_case(INDEX) {
            format!("write another name: `{INDEX}` is the file that knows the order of writing")
        } else {
            format!("write English letters, digits, `_` and `-`, at most {NAME_MAX} in all")
        };
        problems.push("bank-name", message, help);
    }
    if let Some(other) = earlier.find(|it| *it != bank && it.eq_ignore_ascii_case(bank)) {
        let message = format!("the banks `{other}` and `{bank}` differ in nothing but case");
        problems.push("bank-case", message, "write both alike, or rename one");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bank_is_called_what_a_file_can_be_called() {
        for bank in ["config", "a", "Build-2_x", "indexes"] {
            assert!(is_file_name(bank), "{bank}");
        }
        for bank in ["", "../evil", "a/b", "a.b", "a b", "index", "Index", "größe", &"a".repeat(101)] {
            assert!(!is_file_name(bank), "{bank}");
        }
    }
}
