//! JSON values one after the other, each on a line of its own or on several.
//!
//! After what is not JSON, reading goes on at the next line that begins a value.

use super::json::reason;
use super::losses::{CUT_OFF, NOT_JSON, column_of};
use crate::import::prelude::*;

/// Hands over the values of a text with their lines; the elements of a list at the top are values of their own.
pub(super) fn each<'t>(
    text: &'t str,
    losses: &mut Losses,
    mut take: impl FnMut(usize, &'t RawValue, &mut Losses),
) {
    let mut lines = LineCount::new(text);
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match values.next() {
            None => break,
            Some(Ok(value)) => {
                at += values.byte_offset();
                for value in unfolded(value) {
                    take(lines.of(value.get()), value, losses);
                }
            }
            Some(Err(error)) => {
                let from = rest.len() - rest.trim_ascii_start().len();
                let line = lines.at(at + from);
                if error.is_eof() {
                    losses.add(line, CUT_OFF);
                } else {
                    losses.add(line, format!("{NOT_JSON}: {}", reason(&error)));
                }
                // The next line that begins a value.
                let mut ends = rest[from..].match_indices('\n').map(|it| from + it.0 + 1);
                let Some(further) = ends.find(|it| rest[*it..].starts_with(['{', '['])) else { break };
                at += further;
            }
        }
    }
}

/// Returns the elements of a list, or the value itself.
fn unfolded(value: &RawValue) -> Vec<&RawValue> {
    if value.get().starts_with('[') {
        serde_json::from_str(value.get()).unwrap_or_default()
    } else {
        vec![value]
    }
}

/// Counts lines from the last place that was asked for.
#[derive(Clone, Copy)]
pub(super) struct LineCount<'t> {
    text: &'t str,
    /// A place and its line.
    counted: (usize, usize),
}

impl<'t> LineCount<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, counted: (0, 1) }
    }

    /// Returns the line of a part of the text.
    pub(super) fn of(&mut self, part: &str) -> usize {
        let place = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        self.at(place.min(self.text.len()))
    }

    /// Returns the line of a place.
    pub(super) fn at(&mut self, place: usize) -> usize {
        let (from, line) = self.counted;
        let between = &self.text.as_bytes()[from.min(place)..from.max(place)];
        let n_lines = between.iter().filter(|it| **it == b'\n').count();
        let line = if place < from { line - n_lines } else { line + n_lines };
        self.counted = (place, line);
        line
    }

    /// Returns line and column of a part of the text.
    pub(super) fn place(&mut self, part: &str) -> (usize, usize) {
        let line = self.of(part);
        let before = &self.text[..self.counted.0];
        (line, column_of(&self.text[before.rfind('\n').map_or(0, |it| it + 1)..], part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_on_one_line_on_several_or_in_a_list_and_broken_ones_are_told() {
        let text = "{\"a\":1}\n{\n \"a\": 2\n}\n{\"a\": oops}\n[{\"a\":3},\n{\"a\":4}]\n{\"a\":";
        let mut losses = Losses::default();
        let mut found = Vec::new();

        each(text, &mut losses, |line, value, _| found.push((line, value.get().to_owned())));

        let lines: Vec<usize> = found.iter().map(|it| it.0).collect();
        assert_eq!(lines, [1, 2, 6, 7]);
        let told: Vec<String> = losses.in_order().iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["line 5: text that is not JSON: expected value", "line 8: records that are cut off"]
        );
    }
}
