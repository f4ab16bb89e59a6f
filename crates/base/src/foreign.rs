//! Text from outside (sessions, logs, names, programs' output): what a reader sees of it, whatever the medium obeys.
//!
//! Whoever pastes such text into a sentence wraps it in [`Foreign`]. Each medium has one writer, which neutralises everything that it is handed,
//! so that a text nobody wrapped cannot do harm either: [`printed`] for terminals, and with them everything that is printed;
//! [`crate::grid::markdown`]; [`markup`] for pages, drawings and JUnit; `timeline::row::csv`; `timeline::row::json`; [`runner`] for the commands of a
//! GitHub runner; [`crate::grid::shell`] for commands to paste.

pub mod runner;

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// The sign of a character that has none of its own.
const HIDDEN: char = '\u{fffd}';
/// The sign of a line's end that only Unicode knows.
const LINE_END: char = '␤';
/// Joiners that words of some languages and emoji need; they reorder and hide nothing, so that names may have them.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];

/// Text from outside, as one line in which every character can be seen.
#[derive(Clone, Copy, Debug)]
pub struct Foreign<'t>(pub &'t str);

impl fmt::Display for Foreign<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&in_one_line(self.0))
    }
}

/// Returns what is shown of a character that a reader could not see, or that a terminal would obey.
pub fn sign(letter: char) -> Option<char> {
    match letter {
        // Most of every text: said first, because the ranges below are asked of each character that is printed.
        ' '..='~' => None,
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(letter)),
        '\x7f' => Some('␡'),
        '\u{2028}' | '\u{2029}' => Some(LINE_END),
        letter if is_hidden(letter) => Some(HIDDEN),
        _ => None,
    }
}

/// Returns whether a character takes no room, changes the order of others, or is none: what Unicode calls control, format, ignorable by
/// default or a noncharacter, but for the selectors of emoji.
fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || u32::from(letter) & 0xfffe == 0xfffe
}

/// Returns text as one line.
pub fn in_one_line(text: &str) -> Cow<'_, str> {
    signed(text, |_| false)
}

/// Returns text with the line ends and tabs that it has.
pub fn in_lines(text: &str) -> Cow<'_, str> {
    signed(text, |it| matches!(it, '\n' | '\t'))
}

/// Returns text whose characters have their signs, but for some.
fn signed(text: &str, is_kept: fn(char) -> bool) -> Cow<'_, str> {
    let shown = |it: char| if is_kept(it) { it } else { sign(it).unwrap_or(it) };
    let is_plain =
        text.bytes().all(|it| (b' '..0x7f).contains(&it)) || text.chars().all(|it| shown(it) == it);
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(text.chars().map(shown).collect()) }
}

/// Returns text for a terminal or a file of plain text: lines, without any control character, of which none begins with a command of a
/// runner.
pub fn printed(text: &str) -> Cow<'_, str> {
    printed_with(text, |_| false)
}

/// Returns the same with the codes that are ours, which is told by what follows the escape: `[1m`.
pub(crate) fn printed_with(text: &str, is_ours: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let mut parts = text.split('\x1b');
    let first = signed(parts.next().unwrap_or_default(), |it| it == '\n');
    let shown = parts.fold(first, |mut shown, part| {
        let n_code = part.find(|it: char| !matches!(it, '[' | ';' | '0'..='9')).unwrap_or(part.len());
        let n_code = if part[n_code..].starts_with('m') { n_code + 1 } else { 0 };
        let (code, rest) = part.split_at(if is_ours(&part[..n_code]) { n_code } else { 0 });
        shown += if code.is_empty() { "␛" } else { "\x1b" };
        shown += code;
        shown + signed(rest, |it| it == '\n')
    });
    match runner::disarmed(&shown) {
        Cow::Borrowed(_) => shown,
        Cow::Owned(disarmed) => Cow::Owned(disarmed),
    }
}

/// Returns text as HTML and XML show it, in an element or in a quoted attribute.
pub fn markup(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in in_lines(text).chars() {
        match letter {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            letter => shown.push(letter),
        }
    }
    runner::spelt(&shown, "&#58;:", "##&#91;").unwrap_or(shown)
}

/// Returns JSON in which every character of a text that a reader could not see is written as its number: the same values.
pub fn json(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|it| it < 0x7f) && !text.contains(runner::OLD_COMMAND) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        // The line ends between values are ASCII; all others stand in texts.
        if letter.is_ascii() && letter != '\x7f' || sign(letter).is_none() {
            shown.push(letter);
        } else {
            let mut units = [0; 2];
            letter.encode_utf16(&mut units).iter().for_each(|unit| {
                let _ = write!(shown, "\\u{unit:04x}");
            });
        }
    }
    Cow::Owned(shown.replace(runner::OLD_COMMAND, "##\\u005b"))
}

/// Returns whether a name of an input can be shown as it is: no control character, nothing that hides or reorders others.
pub fn is_name(name: &str) -> bool {
    name.chars().all(|it| sign(it).is_none() || JOINERS.contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_a_line_is_seen_and_ordinary_text_stays_as_it_is() {
        assert_eq!(
            in_one_line("a\x1b[2J\r\nb\u{9b}c\u{202e}d\u{200b}e\u{2028}f\x7f"),
            "a␛[2J␍␊b\u{fffd}c\u{fffd}d\u{fffd}e␤f␡"
        );
        assert_eq!(in_one_line("\u{ffff}\u{fffe}\u{1fffe}\u{e0041}"), "\u{fffd}".repeat(4));
        let ordinary = "Grüße, 日本語, naïve café, −22.6%, agents/claude_code (0-25%) → 3 ❤\u{fe0f} $0.07";
        assert!(matches!(in_one_line(ordinary), Cow::Borrowed(it) if it == ordinary));
        assert_eq!(format!("{:>4}|", Foreign("a\n")), "  a␊|");
    }

    #[test]
    fn json_has_the_same_values() {
        let values = ["a\u{9b}2J", "\u{202e}\u{1f600}é", "##[error]x", "\x7f\u{e0041}\n"];
        let text = serde_json::to_string(&values).unwrap();

        let shown = json(&text);

        assert!(shown.chars().all(|it| sign(it).is_none()) && !shown.contains("##["), "{shown}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), values);
    }

    #[test]
    fn names_have_letters_of_every_language_and_nothing_that_hides() {
        for name in [
            "agents/codex/auto_compact",
            "Übung 3 (neu)",
            "日本語",
            "می‌خواهم",
            "👩‍💻",
            "a+b=c@d,e;f'g\"h$i`j<k>|[l]",
        ] {
            assert!(is_name(name), "{name}");
        }
        for name in
            ["a\nb", "a\tb", "\x1b[2J", "a\u{202e}b", "a\u{200b}b", "a\u{feff}", "\u{fffe}", "a\u{2028}b"]
        {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
