//! How many tokens Claude 3 to Claude Opus 4.6 count in a text of ASCII characters.
//!
//! Anthropic publishes no vocabulary. These pieces and rules are those of ctok 1.3.0 (Sander Land, MIT), which reconstructs them from
//! the answers of Anthropic's own counter: 1,990 of 1,991 programs and 501 of 501 declarations in as many languages are counted exactly
//! by it. Only the pieces of ASCII characters are here, so texts with others are not counted.

use std::sync::OnceLock;

use crate::prelude::*;
use ctxsim_base::quantity::ix;

/// The models that count so, as `assumptions/tokenizers.toml` calls them.
pub(super) const FAMILY: &str = "claude-3";

/// The pieces in the order of their bytes: one more than the bytes that each shares with the one before, the others, and a
/// zero.
const PIECES: &[u8] = include_bytes!("claude-3.pieces");

/// The markers of the stream that the pieces tile: a word begins, it ends, its first letter is a capital, all of its letters are.
const BEGINS: u8 = 1;
const ENDS: u8 = 2;
const CAPITAL: u8 = 3;
const CAPITALS: u8 = 4;
/// Words of fewer capitals stay as they are written.
const CAPITALS_MIN: usize = 4;
/// What an apostrophe joins to the word before it.
const CONTRACTIONS: [&[u8]; 7] = [b"s", b"t", b"d", b"m", b"ll", b"re", b"ve"];

/// Returns the tokens of a text beside those of its message; nothing of one with other than ASCII characters.
pub(super) fn count(text: &str) -> Option<Tokens> {
    text.is_ascii().then(|| {
        let kept = |it: &u8| matches!(it, b'\0' | b'\t' | b'\n' | b' '..=b'~');
        let bytes: Vec<u8> = text.bytes().filter(kept).map(|it| if it == 0 { b' ' } else { it }).collect();
        let lines = bytes.iter().rev().take_while(|it| **it == b'\n').count();
        let mut body = &bytes[..bytes.len() - lines];
        // The message before it ends in the mark of a word that begins, which is the space.
        if text.starts_with(' ') && body.first() == Some(&b' ') && body.get(1) != Some(&b' ') {
            body = &body[1..];
        }
        let pieces = Pieces::published();
        let stream = stream(&runs(body));
        // The message ends in a token of two line ends, which may be one with those of the text.
        let after = if lines == 0 { 0 } else { pieces.tiles(&vec![b'\n'; lines + 2]) - 1 };
        pieces.tiles(&stream) + after
    })
}

/// What a run of characters is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharClass {
    Word,
    Digits,
    Signs,
    Blank,
}

fn class(character: u8) -> CharClass {
    match character {
        b'a'..=b'z' | b'A'..=b'Z' => CharClass::Word,
        b'0'..=b'9' => CharClass::Digits,
        b' ' | b'\t' | b'\n' => CharClass::Blank,
        _ => CharClass::Signs,
    }
}

/// Splits a text into the longest runs of one class.
fn runs(text: &[u8]) -> Vec<(CharClass, &[u8])> {
    text.chunk_by(|one, next| class(*one) == class(*next)).map(|it| (class(it[0]), it)).collect()
}

/// Returns whether a run is an apostrophe that opens the word after it.
fn opens_word(runs: &[(CharClass, &[u8])], at: usize) -> bool {
    runs[at].1 == b"'" && runs.get(at + 1).is_some_and(|it| it.0 == CharClass::Word)
}

/// Returns whether a space is on the left of a run: the message before the first one ends in one.
fn follows_space(runs: &[(CharClass, &[u8])], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|it| runs[it].1.last() == Some(&b' '))
}

/// Returns whether one space and no other is on the right of a run.
fn precedes_space(runs: &[(CharClass, &[u8])], at: usize) -> bool {
    runs.get(at + 1).is_some_and(|it| it.1.starts_with(b" ") && !it.1.starts_with(b"  "))
}

/// Writes runs with their markers.
fn stream(runs: &[(CharClass, &[u8])]) -> Vec<u8> {
    let mut stream = Vec::new();
    let Some((first, body)) = runs.first() else { return vec![BEGINS] };
    let begins_itself = match first {
        CharClass::Word => true,
        CharClass::Signs => !opens_word(runs, 0),
        CharClass::Blank => body.starts_with(b" "),
        CharClass::Digits => false,
    };
    if !begins_itself {
        stream.push(if *first == CharClass::Signs { b' ' } else { BEGINS });
    }
    for (at, (class, body)) in runs.iter().enumerate() {
        match class {
            CharClass::Word => {
                let is_joined = at > 0 && runs[at - 1].1 == b"'" && CONTRACTIONS.contains(body);
                push_word(&mut stream, body, is_joined);
            }
            CharClass::Signs => {
                if follows_space(runs, at) && !opens_word(runs, at) {
                    begin(&mut stream, &[]);
                }
                stream.extend_from_slice(body);
                if precedes_space(runs, at) {
                    stream.push(ENDS);
                }
            }
            CharClass::Digits | CharClass::Blank => stream.extend_from_slice(body),
        }
    }
    stream
}

/// Writes that something begins, after the markers of its case: a single space between it and the end of something is not written.
fn begin(stream: &mut Vec<u8>, case: &[u8]) {
    if stream.ends_with(&[ENDS, b' ']) {
        stream.pop();
    }
    stream.extend_from_slice(case);
    stream.push(BEGINS);
}

/// Writes a word, its capitals as markers where they are its first letter alone or all of several.
fn push_word(stream: &mut Vec<u8>, word: &[u8], is_joined: bool) {
    let n_capitals = word.iter().filter(|it| it.is_ascii_uppercase()).count();
    let case: &[u8] = if n_capitals == word.len() && n_capitals >= CAPITALS_MIN {
        &[CAPITALS]
    } else if n_capitals == 1 && word[0].is_ascii_uppercase() {
        &[CAPITAL]
    } else {
        &[]
    };
    if is_joined {
        stream.extend_from_slice(case);
    } else {
        begin(stream, case);
    }
    if case.is_empty() {
        stream.extend_from_slice(word);
    } else {
        stream.extend(word.iter().map(u8::to_ascii_lowercase));
    }
    stream.push(ENDS);
}

/// The pieces, sorted.
struct Pieces {
    bytes: Vec<u8>,
    /// Where each begins, and where the last ends.
    places: Vec<u32>,
    /// By their first two characters, the number of pieces in front of them: most of a search is spared.
    pairs: Vec<u32>,
}

/// Characters are smaller.
const CHARACTERS: usize = 128;

impl Pieces {
    fn published() -> &'static Self {
        static READ: OnceLock<Pieces> = OnceLock::new();
        READ.get_or_init(|| Self::read(PIECES))
    }

    fn read(packed: &[u8]) -> Self {
        let bytes = Vec::with_capacity(2 * packed.len());
        let mut pieces = Self { bytes, places: vec![0], pairs: Vec::new() };
        let mut begun = 0;
        for entry in packed.split(|it| *it == 0).filter(|it| !it.is_empty()) {
            let shared = begun..begun + usize::from(entry[0] - 1);
            begun = pieces.bytes.len();
            pieces.bytes.extend_from_within(shared);
            pieces.bytes.extend_from_slice(&entry[1..]);
            pieces.places.push(ix(pieces.bytes.len()));
        }
        let mut counts = vec![0; CHARACTERS * CHARACTERS + 1];
        for nth in 0..pieces.places.len() - 1 {
            let piece = pieces.piece(nth);
            // No piece has a 0, so what has one character alone stands in front.
            counts[pair(piece[0], piece.get(1).copied().unwrap_or(0)) + 1] += 1;
        }
        let in_front = counts.iter().scan(0, |sum, it| {
            *sum += it;
            Some(*sum)
        });
        pieces.pairs = in_front.collect();
        pieces
    }

    /// Returns the pieces that begin with two characters; with one alone, if the second is 0.
    fn of_pair(&self, first: u8, second: u8) -> std::ops::Range<usize> {
        let place = pair(first, second);
        self.pairs[place] as usize..self.pairs[place + 1] as usize
    }

    fn piece(&self, nth: usize) -> &[u8] {
        &self.bytes[self.places[nth] as usize..self.places[nth + 1] as usize]
    }

    /// Returns the least number of pieces and single characters that a stream falls into.
    fn tiles(&self, stream: &[u8]) -> Tokens {
        let mut best = vec![Tokens::MAX; stream.len() + 1];
        best[0] = 0;
        for at in 0..stream.len() {
            let next = best[at] + 1;
            best[at + 1] = best[at + 1].min(next);
            self.each_start(&stream[at..], |length| best[at + length] = best[at + length].min(next));
        }
        best[stream.len()]
    }

    /// Calls with the length of every piece that a stream begins with.
    fn each_start(&self, stream: &[u8], mut call: impl FnMut(usize)) {
        let Some(first) = stream.first() else { return };
        if !self.of_pair(*first, 0).is_empty() {
            call(1);
        }
        let Some(second) = stream.get(1) else { return };
        let mut left = self.of_pair(*first, *second);
        if left.is_empty() {
            return;
        }
        if self.piece(left.start).len() == 2 {
            call(2);
        }
        for (depth, byte) in stream.iter().enumerate().skip(2) {
            // What ends here is in front of what goes on.
            let before = |nth: usize| self.piece(nth).get(depth).is_none_or(|it| it < byte);
            let up_to = |nth: usize| self.piece(nth).get(depth).is_none_or(|it| it <= byte);
            left = partition(left.clone(), before)..partition(left, up_to);
            if left.is_empty() {
                return;
            }
            if self.piece(left.start).len() == depth + 1 {
                call(depth + 1);
            }
        }
    }
}

/// Returns the place of two characters.
fn pair(first: u8, second: u8) -> usize {
    usize::from(first) * CHARACTERS + usize::from(second)
}

/// Returns where in a range something begins to be false.
fn partition(range: std::ops::Range<usize>, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_counted_as_the_reconstruction_counts_them() {
        let counts = [
            ("hello, world", 3),
            ("yes", 1),
            ("its perfect", 2),
            ("it's what we'll do, isn't it?", 11),
            ("NASA likes WiFi and IPv6", 7),
            ("fn main() {\n    println!(\"{}\", 12 + 345);\n}\n", 19),
            ("  two spaces, 'quoted' \"words\" ...  end", 14),
            ("2026-01-31T12:00:00Z", 14),
            ("a\r\n\tb\u{7}c \n\n\n", 5),
            ("", 1),
        ];

        for (text, tokens) in counts {
            assert_eq!(count(text), Some(tokens), "{text:?}");
        }
    }

    #[test]
    fn a_text_with_other_characters_is_not_counted() {
        assert_eq!(count("caf\u{e9}"), None);
    }

    #[test]
    fn the_pieces_are_sorted_and_each_is_one_token() {
        let pieces = Pieces::read(PIECES);

        let all: Vec<&[u8]> = (0..pieces.places.len() - 1).map(|it| pieces.piece(it)).collect();
        assert_eq!(all.len(), 38_139);
        assert!(all.is_sorted_by(|one, next| one < next));
        assert!(all.iter().step_by(97).all(|it| pieces.tiles(it) == 1));
    }
}
