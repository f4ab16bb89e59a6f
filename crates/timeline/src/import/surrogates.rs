//! Halves of surrogate pairs in JSON texts. JavaScript writes them where it cuts an emoji, and readers of JSON refuse all of a text with one.

use memchr::memmem;

/// How an escape begins, of a character by its number.
const ESCAPE: &[u8] = b"\\u";

/// What stands for a half.
const REPLACEMENT: &[u8] = b"\\ufffd";

/// Replaces each half that stands alone by U+FFFD. It is as long, so that nothing moves.
pub(super) fn mend(text: &mut [u8]) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|it| memmem::find(it, ESCAPE)).map(|it| from + it) {
        let n_before = text[..at].iter().rev().take_while(|it| **it == b'\\').count();
        from = at + ESCAPE.len();
        // A backslash behind another one is a letter.
        let unit = if n_before % 2 == 0 { unit(text, at) } else { None };
        match unit {
            Some(0xD800..=0xDBFF)
                if matches!(self::unit(text, at + REPLACEMENT.len()), Some(0xDC00..=0xDFFF)) =>
            {
                from = at + 2 * REPLACEMENT.len();
            }
            Some(0xD800..=0xDFFF) => text[at..at + REPLACEMENT.len()].copy_from_slice(REPLACEMENT),
            _ => {}
        }
    }
}

/// Returns the number of an escape that begins in a place.
fn unit(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + REPLACEMENT.len())?.strip_prefix(ESCAPE)?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    is_hex.then(|| std::str::from_utf8(digits).ok()).flatten().and_then(|it| u32::from_str_radix(it, 16).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_alone_are_replaced_and_whole_characters_stay() {
        let mended = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            mend(&mut bytes);
            String::from_utf8(bytes).unwrap()
        };

        assert_eq!(mended(r#""a \ud83d""#), r#""a \ufffd""#);
        assert_eq!(
            mended(r#""\uD83D\uDE00 \uDE00\ud83d\ud83d\ude00""#),
            r#""\uD83D\uDE00 \ufffd\ufffd\ud83d\ude00""#
        );
        for whole in [r#""\\ud83d""#, r#""\u2019""#, r#""\ud8"#, r"\ud83", r#"no escapes"#, ""] {
            assert_eq!(mended(whole), whole);
        }
        assert_eq!(mended(r#""\\\ud83d""#), r#""\\\ufffd""#, "a backslash, and then a half");
    }
}
