//! The declared numbers of memories over a project's sessions, and which commands only look.

use std::sync::OnceLock;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::numbers::Naming;
use ctxsim_base::diag::Diagnostic;
use ctxsim_base::quantity::Tokens;
use ctxsim_input::policy::memory::Keeps;

/// The files of `assumptions/histories`, by path.
const FILES: &[(&str, &str)] = ctxsim_assumptions::HISTORIES;
/// What the numbers are called.
const NAMING: Naming = Naming {
    files: FILES,
    file: "assumptions/histories/numbers.toml",
    example: "use.trusts_note",
    unnamed: &[],
    is_probability,
};

/// The numbers, by subject.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryNumbers {
    /// What is noted.
    pub write: WriteNumbers,
    /// What an agent makes of a note.
    pub r#use: UseNumbers,
    /// What trusting an old note costs.
    pub stale: StaleNumbers,
    /// How large things are.
    pub sizes: HistorySizes,
    /// The least and the largest value of some numbers.
    pub intervals: IndexMap<String, [f64; 2]>,
    /// Which commands only look.
    pub commands: Commands,
}

/// What is noted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteNumbers {
    /// A source that a session fetched is noted.
    pub takes: f64,
}

/// What an agent makes of a note.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UseNumbers {
    /// It goes by a note in view.
    pub trusts_note: f64,
    /// It goes by a whole source in view.
    pub trusts_whole: f64,
}

/// What trusting an old note costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaleNumbers {
    /// Fetches in the end.
    pub fetches: f64,
}

/// How large things are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistorySizes {
    /// Tokens of a note, at most.
    pub note_tokens: Tokens,
    /// Tokens of a topic's line in an index.
    pub index_tokens: Tokens,
    /// Tokens of a word.
    pub tokens_per_word: f64,
    /// Tokens of the prompt that asks for a memory.
    pub instruction_tokens: Tokens,
    /// Tokens of a call that reads a topic.
    pub call_tokens: Tokens,
}

/// Which commands only look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// The words that they begin with.
    pub looks: Vec<String>,
}

impl HistoryNumbers {
    /// Returns the numbers as they are declared.
    pub fn declared() -> &'static Self {
        static NUMBERS: OnceLock<HistoryNumbers> = OnceLock::new();
        NUMBERS.get_or_init(|| NAMING.read())
    }

    /// Returns them with some numbers changed.
    ///
    /// # Errors
    /// Every name that nothing declares and every value that its number cannot have.
    pub fn with(&self, changes: &IndexMap<String, f64>) -> Result<Self, Vec<Diagnostic>> {
        NAMING.with(self, changes)
    }

    /// Returns the names of all numbers.
    pub fn names(&self) -> Vec<String> {
        NAMING.names(self)
    }

    /// Returns a number and the ends of its interval; a number that was changed beyond them is its own end.
    pub fn ends(&self, name: &str) -> [f64; 3] {
        let value = NAMING.get(self, name).unwrap_or_default();
        let [low, high] = self.intervals.get(name).copied().unwrap_or([value; 2]);
        [low.min(value), value, high.max(value)]
    }

    /// Returns the name of the probability that decides whether an agent goes by what memory keeps.
    pub fn trust(keeps: Keeps) -> &'static str {
        match keeps {
            Keeps::Note => "use.trusts_note",
            Keeps::Whole => "use.trusts_whole",
        }
    }

    /// Returns the tokens of so many words.
    pub fn tokens(&self, words: u64) -> Tokens {
        (words as f64 * self.sizes.tokens_per_word).round() as Tokens
    }
}

impl Commands {
    /// Returns whether a command line only looks: each of its parts begins with words of the list.
    pub fn look(&self, line: &str) -> bool {
        let line = unquoted(line).replace("2>&1", "").replace("2>/dev/null", "");
        let mut parts =
            line.split(['|', ';', '&', '\n']).map(str::trim).filter(|it| !it.is_empty()).peekable();
        let is_cd = |part: &str| part == "cd" || part.starts_with("cd ");
        parts.peek().is_some() && parts.all(|it| is_cd(it) || self.begins(it))
    }

    fn begins(&self, part: &str) -> bool {
        let mut words = part.split_whitespace().peekable();
        while words.peek().is_some_and(|it| matches!(*it, "sudo" | "env" | "command") || it.contains('=')) {
            words.next();
        }
        let rest = words.collect::<Vec<_>>().join(" ");
        let is_of = |it: &String| {
            rest.strip_prefix(it.as_str()).is_some_and(|it| it.is_empty() || it.starts_with(' '))
        };
        !rest.contains('>') && self.looks.iter().any(is_of)
    }
}

/// Returns a command line with a `Q` in the place of all that is quoted.
fn unquoted(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(it) = characters.next() {
        match quote {
            Some('"') if it == '\\' => drop(characters.next()),
            Some(open) if it == open => quote = None,
            Some(_) => {}
            None if matches!(it, '\'' | '"') => {
                quote = Some(it);
                plain.push('Q');
            }
            None => plain.push(it),
        }
    }
    plain
}

/// Reports undeclared numbers of a load, and invalid values.
pub(super) fn check(changes: &IndexMap<String, f64>) -> Vec<Diagnostic> {
    NAMING.check(HistoryNumbers::declared(), "load.history.numbers", changes)
}

/// Returns whether a number is a probability rather than a size.
fn is_probability(name: &str) -> bool {
    name.starts_with("write.") || name.starts_with("use.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_numbers_decode_and_each_lies_in_its_interval() {
        let numbers = HistoryNumbers::declared();

        assert_eq!(numbers.sizes.note_tokens, 60);
        for name in numbers.intervals.keys() {
            let [low, value, high] = numbers.ends(name);
            assert!(low < value && value < high && numbers.intervals[name] == [low, high], "{name}");
        }
    }

    #[test]
    fn a_command_looks_if_all_of_its_parts_do_and_nothing_is_written() {
        let looks = |line| HistoryNumbers::declared().commands.look(line);

        assert!(
            looks("cd /w && git status")
                && looks("LC_ALL=C grep -rn x src | head -5")
                && looks("sed -n 1,5p a.rs")
        );
        assert!(
            !looks("git commit -m x")
                && !looks("ls && rm a")
                && !looks("cat a > b")
                && !looks("sed -i s/a/b/ c")
        );
        assert!(looks("grep 'a|b > c' d 2>&1") && looks(r#"grep "a\"|rm" d 2>/dev/null"#));
        assert!(!looks("") && !looks("lsof"));
    }
}
