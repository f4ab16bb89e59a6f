//! Words as a shell takes them.

use std::fmt::Write as _;

use crate::foreign::sign;

/// Returns a word as a shell takes it; a character that could not be seen is written as its bytes.
pub fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_./:=@%+,-".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if word.chars().all(|it| sign(it).is_none()) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut text = "$'".to_owned();
    for letter in word.chars() {
        match letter {
            '\\' | '\'' => text.extend(['\\', letter]),
            letter if sign(letter).is_none() => text.push(letter),
            letter => letter.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| {
                let _ = write!(text, "\\{byte:03o}");
            }),
        }
    }
    text + "'"
}

/// Returns words as a shell takes them.
pub fn quoted_all(words: &[String]) -> String {
    words.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_word_and_nothing_of_it_runs() {
        let words = ["a.jsonl", "", "a b", "$(x)`y`", "it's", "a\nb\x1b", "'\\\u{202e}"];

        let shown: Vec<String> = words.iter().map(|it| quoted(it)).collect();

        let expected =
            ["a.jsonl", "''", "'a b'", "'$(x)`y`'", r"'it'\''s'", r"$'a\012b\033'", r"$'\'\\\342\200\256'"];
        assert_eq!(shown, expected);
    }
}
