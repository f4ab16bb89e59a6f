//! Words as a shell takes them.

/// Returns a word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_./:=@%+,-".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns words as a shell takes them.
pub fn quoted_all(words: &[String]) -> String {
    words.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ")
}
