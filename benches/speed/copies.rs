//! Makes copies of recorded sessions that no reader can tell from other sessions: all ids in them are new.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the ids of messages, requests and tool calls begin with.
const PREFIXES: [&str; 3] = ["msg_", "req_", "toolu_"];

/// Copies each session of some folders so many times, at most 16.
pub(crate) fn make(folders: &[PathBuf], copies: usize, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for folder in folders {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let Some(name) = path.file_name().and_then(|it| it.to_str()).filter(|it| it.ends_with(".jsonl"))
            else {
                continue;
            };
            let text = fs::read_to_string(&path)?;
            for copy in 0..copies {
                fs::write(to.join(format!("{copy:02}-{name}")), renewed(&text, copy))?;
            }
        }
    }
    Ok(())
}

/// Returns a text with the ids of one copy: the last digit of each moves on by the number of the copy.
fn renewed(text: &str, copy: usize) -> String {
    let mut new = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(is_of_id) {
        new.push_str(&rest[..begin]);
        rest = &rest[begin..];
        let (word, behind) = rest.split_at(rest.find(|it| !is_of_id(it)).unwrap_or(rest.len()));
        rest = behind;
        match digits_of(word).zip(word.chars().last()) {
            Some((digits, last)) => {
                new.push_str(&word[..word.len() - last.len_utf8()]);
                new.push(moved_on(last, digits, copy));
            }
            None => new.push_str(word),
        }
    }
    new.push_str(rest);
    new
}

fn is_of_id(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// Returns the digits that an id is written in, or nothing for any other word.
fn digits_of(word: &str) -> Option<&'static str> {
    const DIGITS: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let is_uuid = word.len() == 36
        && word.char_indices().all(|(at, it)| match at {
            8 | 13 | 18 | 23 => it == '-',
            _ => it.is_ascii_hexdigit(),
        });
    match is_uuid {
        true => Some(&DIGITS[..16]),
        false => PREFIXES.iter().any(|it| word.starts_with(it)).then_some(DIGITS),
    }
}

fn moved_on(digit: char, digits: &str, by: usize) -> char {
    let moved = digits.find(digit).map(|at| (at + by) % digits.len());
    moved.and_then(|at| digits[at..].chars().next()).unwrap_or(digit)
}
