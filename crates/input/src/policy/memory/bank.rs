//! Names of banks: each must be a valid file name on any disk, beside the index of a store.

use crate::prelude::*;

/// The index's file name among the banks, without its extension.
pub const INDEX: &str = "index";

/// The longest file name, in bytes.
const NAME_MAX: usize = 100;

/// Returns whether a bank can be a file beside the index.
pub fn is_file_name(bank: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    !bank.is_empty()
        && bank.len() <= NAME_MAX
        && !bank.eq_ignore_ascii_case(INDEX)
        && bank.chars().all(is_plain)
}

/// Reports a name that cannot be a file, or that equals an earlier one on a case-insensitive disk.
pub fn check<'a>(bank: &str, mut earlier: impl Iterator<Item = &'a str>, problems: &mut Problems) {
    if !is_file_name(bank) {
        let message = match bank {
            "" => "the bank has no name".to_owned(),
            _ => format!("`{bank}` is not a valid bank name, because a bank can be a file"),
        };
        let help = if bank.eq_ignore_ascii_case(INDEX) {
            format!("choose another name: `{INDEX}` is reserved for the order of writing")
        } else {
            format!("use ASCII letters, digits, `_` and `-`, at most {NAME_MAX} characters")
        };
        problems.push(Code("bank-name"), message, help);
    }
    if let Some(other) = earlier.find(|it| *it != bank && it.eq_ignore_ascii_case(bank)) {
        let message = format!("the banks `{other}` and `{bank}` differ only in case");
        problems.push(Code("bank-case"), message, "spell both alike, or rename one");
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
