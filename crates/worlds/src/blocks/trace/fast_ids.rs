//! Block ids lifted out of JSON by a scan over bytes, so that a parser has only the little that is left to read.

use std::ops::Range;

use indexmap::IndexMap;

use ctxsim_engine::cache::lru::BLOCKS_MAX;

/// The key whose arrays are lifted.
const KEY: &str = "\"hash_ids\"";

/// Ids below this number may be looked up in a table instead of a map.
const TABLE_MAX: usize = 1 << 24;

/// Ids numbered from 0 in the order in which they first appear.
#[derive(Debug)]
pub(super) struct IdNumbers {
    /// By id: the number plus one; 0 for ids that have not appeared.
    table: Vec<u32>,
    /// The numbers of ids beyond the table.
    others: IndexMap<u64, u32>,
    n_distinct: u32,
}

impl IdNumbers {
    /// Returns an empty numbering, with a table as large as small ids of a text can need.
    pub(super) fn new(text: &str) -> Self {
        let n_ids_max = (text.len() / 2 + 1).min(TABLE_MAX);
        Self { table: vec![0; n_ids_max], others: IndexMap::new(), n_distinct: 0 }
    }

    /// Returns an id's number, or nothing if there are more ids than can be told apart.
    #[inline]
    pub(super) fn of(&mut self, id: u64) -> Option<u32> {
        let known = usize::try_from(id).ok().and_then(|it| self.table.get_mut(it));
        let number = match known {
            Some(slot) if *slot != 0 => return Some(*slot - 1),
            Some(slot) => {
                *slot = self.n_distinct + 1;
                self.n_distinct
            }
            None => {
                let number = *self.others.entry(id).or_insert(self.n_distinct);
                if number != self.n_distinct {
                    return Some(number);
                }
                number
            }
        };
        self.n_distinct += 1;
        (self.n_distinct < BLOCKS_MAX).then_some(number)
    }

    /// Returns how many ids there are.
    pub(super) fn n_distinct(&self) -> u32 {
        self.n_distinct
    }
}

/// A text with its id arrays replaced by their index.
#[derive(Debug)]
pub(super) struct FastIds {
    /// What is left of the text; it is JSON exactly when the text is.
    pub(super) rest: String,
    /// The arrays, by index.
    pub(super) arrays: Vec<Range<usize>>,
    /// The numbers of all arrays, one after the other.
    pub(super) blocks: Vec<u32>,
    /// How many ids differ.
    pub(super) n_distinct: u32,
}

/// Lifts the id arrays out of a text, or nothing if an array holds anything but plain whole numbers.
///
/// The quoted key cannot stand inside a JSON string, whose quotes are escaped, so a search for it finds keys
/// only.
pub(super) fn fast_ids(text: &str) -> Option<FastIds> {
    let mut numbers = IdNumbers::new(text);
    let mut ids = FastIds {
        rest: String::with_capacity(text.len() / 8 + 64),
        arrays: Vec::new(),
        blocks: Vec::with_capacity(text.len() / 6),
        n_distinct: 0,
    };
    let bytes = text.as_bytes();
    let mut done = 0;
    while let Some(found) = text[done..].find(KEY) {
        let colon = skip_blanks(bytes, done + found + KEY.len());
        let open = skip_blanks(bytes, colon + 1);
        if bytes.get(colon) != Some(&b':') || bytes.get(open) != Some(&b'[') {
            return None;
        }
        ids.rest.push_str(&text[done..open]);
        ids.rest.push_str(&ids.arrays.len().to_string());
        let start = ids.blocks.len();
        done = array(bytes, open + 1, &mut numbers, &mut ids.blocks)?;
        ids.arrays.push(start..ids.blocks.len());
    }
    ids.rest.push_str(&text[done..]);
    ids.n_distinct = numbers.n_distinct();
    Some(ids)
}

/// Reads whole numbers up to the closing bracket; returns where the text goes on.
///
/// A number is as JSON writes it, without a leading zero; those of more than 19 digits are left to the parser.
fn array(bytes: &[u8], start: usize, numbers: &mut IdNumbers, blocks: &mut Vec<u32>) -> Option<usize> {
    let mut at = skip_blanks(bytes, start);
    if bytes.get(at) == Some(&b']') {
        return Some(at + 1);
    }
    loop {
        let first = at;
        let mut id = 0_u64;
        let mut next = *bytes.get(at)?;
        while next.is_ascii_digit() {
            id = id.wrapping_mul(10).wrapping_add(u64::from(next - b'0'));
            at += 1;
            next = *bytes.get(at)?;
        }
        let n_digits = at - first;
        if n_digits == 0 || n_digits > 19 || (n_digits > 1 && bytes[first] == b'0') {
            return None;
        }
        blocks.push(numbers.of(id)?);
        if next != b',' {
            at = skip_blanks(bytes, at);
            next = *bytes.get(at)?;
        }
        match next {
            b',' => at = skip_blanks(bytes, at + 1),
            b']' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// Returns where the next byte that is no JSON blank stands.
#[inline]
fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_json_exactly_when_the_text_is() {
        let ids =
            fast_ids(r#"{"a": "\"hash_ids\": [1]", "hash_ids" : [ 7, 900000000000, 7 ,0], "hash_ids":[]}"#)
                .unwrap();

        assert_eq!(ids.rest, r#"{"a": "\"hash_ids\": [1]", "hash_ids" : 0, "hash_ids":1}"#);
        assert_eq!((ids.blocks, ids.n_distinct), (vec![0, 1, 0, 2], 3));
        assert_eq!(ids.arrays, [0..4, 4..4]);
    }

    #[test]
    fn an_array_of_anything_but_plain_whole_numbers_is_left_to_the_parser() {
        for array in
            ["[01]", "[1,]", "[1 2]", "[-1]", "[1.0]", "[18446744073709551616]", "[\"1\"]", "[1", "5", ""]
        {
            assert!(fast_ids(&format!(r#"{{"hash_ids":{array}"#)).is_none(), "{array}");
        }
        assert!(
            fast_ids(r#"{"hash_ids":[18446744073709551615]}"#).is_none(),
            "twenty digits may be too large"
        );
        assert!(fast_ids(r#"{"hash_ids":[9999999999999999999]}"#).is_some());
    }
}
