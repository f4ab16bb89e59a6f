//! Sentences on what is assumed, by kind: those that differ only in numbers and names of sessions are one, with its range.

use crate::blocks::ListBlock;
use crate::prelude::*;

/// What sentences of a kind begin with, and the heading over them; the last is of all others.
const KINDS: [(&str, &str); 3] =
    [("Left out of ", "Left out of the logs"), ("Not known: ", "Not known"), ("", "Assumed")];
/// The placeholders for numbers and for names of sessions, by which sentences that differ in these alone are found.
const NUMBER: char = '\u{1}';
const NAME: char = '\u{2}';

/// Sentences of one form.
#[derive(Default)]
struct SameForm<'s> {
    n: usize,
    /// The numbers at each place: the lowest and the highest, as they are written.
    numbers: Vec<[&'s str; 2]>,
    names: IndexSet<&'s str>,
}

/// Groups sentences, the kinds with most to say first.
pub(super) fn group_assumptions(sentences: Vec<String>, scenarios: &[&str]) -> Vec<ListBlock> {
    let kind_of = |it: &str| KINDS.iter().find(|kind| it.starts_with(kind.0)).map_or("", |kind| kind.1);
    let kinds = grouped(sentences.iter().map(|it| (kind_of(it), it.as_str())));
    let kind = |(heading, own): (&str, Vec<&str>)| {
        let mut forms: IndexMap<String, SameForm<'_>> = IndexMap::new();
        for sentence in &own {
            let (form, found, name) = mask_sentence(sentence, scenarios);
            forms.entry(form).or_default().add_sentence(found, name);
        }
        let lines = forms.iter().map(|(form, it)| it.to_sentence(form)).listed();
        let of = if lines.len() < own.len() { format!(" of {} kinds", lines.len()) } else { String::new() };
        let n = counted(own.len(), "sentence");
        ListBlock { heading: format!("{heading}: {n}{of}"), lines, most: None }
    };
    kinds.into_iter().map(kind).listed()
}

/// Returns a sentence with marks in the place of its numbers and of a scenario's name, and what stood there.
fn mask_sentence<'s>(sentence: &'s str, scenarios: &[&'s str]) -> (String, Vec<&'s str>, Option<&'s str>) {
    // The longest name that is in it: others may be its beginning.
    let name = scenarios.iter().copied().filter(|it| sentence.contains(*it)).max_by_key(|it| it.len());
    let (mut form, mut found) = (String::new(), Vec::new());
    let parts = name.map_or_else(|| vec![sentence], |name| sentence.split(name).listed());
    for (nth, part) in parts.into_iter().enumerate() {
        if nth > 0 {
            form.push(NAME);
        }
        let mut rest = part;
        while let Some(at) = rest.find(|it: char| it.is_ascii_digit()) {
            let is_of_number = |it: char| it.is_ascii_digit() || matches!(it, '.' | ',');
            let end = rest[at..].find(|it| !is_of_number(it)).map_or(rest.len(), |it| at + it);
            let number = rest[at..end].trim_end_matches(['.', ',']);
            // A digit in a word is none of its own.
            let is_alone = !rest[..at].ends_with(|it: char| it.is_alphanumeric() || matches!(it, '_' | '-'));
            form.push_str(&rest[..at]);
            if is_alone {
                form.push(NUMBER);
                found.push(number);
            } else {
                form.push_str(number);
            }
            rest = &rest[at + number.len()..];
        }
        form.push_str(rest);
    }
    (form, found, name)
}

impl<'s> SameForm<'s> {
    fn add_sentence(&mut self, numbers: Vec<&'s str>, name: Option<&'s str>) {
        self.n += 1;
        self.names.extend(name);
        if self.n == 1 {
            self.numbers = numbers.iter().map(|it| [*it; 2]).listed();
        }
        let value = |it: &str| it.replace(',', "").parse::<f64>().unwrap_or_default();
        for (ends, it) in self.numbers.iter_mut().zip(numbers) {
            let [low, high] = ends.map(value);
            ends[0] = if value(it) < low { it } else { ends[0] };
            ends[1] = if value(it) > high { it } else { ends[1] };
        }
    }

    /// Writes all of them as one sentence.
    fn to_sentence(&self, form: &str) -> String {
        let mut numbers = self.numbers.iter();
        let mut written = String::new();
        for character in form.chars() {
            match character {
                NUMBER => {
                    let [low, high] = numbers.next().copied().unwrap_or_default();
                    written.push_str(low);
                    written.push_str(&text_if(low != high, || format!("…{high}")));
                }
                NAME if self.names.len() == 1 => written.push_str(self.names[0]),
                NAME => written.push_str(&format!("{} sessions", self.names.len())),
                other => written.push(other),
            }
        }
        if self.n > 1 { format!("{written} ({}×)", self.n) } else { written }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_differ_in_numbers_and_names_are_one_with_their_range() {
        let sentences = [
            "The first prompt holds 1,200 tokens.",
            "The first prompt holds 900 tokens.",
            "Left out of a/x: line 7 (2 times).",
            "Left out of a/y: line 31 (2 times).",
            "Not known: what agents get wrong.",
        ];
        let kinds = group_assumptions(sentences.map(str::to_owned).to_vec(), &["a/x", "a/y", "a"]);
        let said: Vec<(&str, &[String])> = kinds.iter().map(|it| (&*it.heading, &*it.lines)).collect();

        assert_eq!(said[0].0, "Assumed: 2 sentences of 1 kinds");
        assert_eq!(said[0].1, ["The first prompt holds 900…1,200 tokens. (2×)"]);
        assert_eq!(said[1].1, ["Left out of 2 sessions: line 7…31 (2 times). (2×)"]);
        assert_eq!(said[2].0, "Not known: 1 sentence");
    }
}
