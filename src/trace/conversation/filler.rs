//! What turns say beside facts, as numbers of words: what a draw chooses among, and what each choice adds.
//!
//! The words are counted after the templates of the Context Decay Benchmark (clawRxiv 2604.01047, version 1), and the
//! sequential source makes every draw that its script makes, in its order.

use super::dice::{Dice as _, choice};
use crate::rng::{Cpython, Draw};
use crate::trace::Kind;

/// A way of filling a turn: words that are always there, and what is drawn.
type Template = (u64, &'static [Part]);

/// A part of a template that is drawn.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// One of so many words; the template's own number counts it.
    Word(u64),
    /// One of several phrases, of so many words each.
    Phrase(&'static [u64]),
    /// A whole number between two; the template's own number counts it.
    Number(u64, u64),
    /// A run of so many letters and blanks, between two lengths.
    Letters(u64, u64),
}

use Part::{Letters, Number, Phrase, Word};

/// Letters of which a run is drawn, the blank being the last.
const LETTERS: u32 = 28;

/// What a user says.
const USER: [Template; 4] = [
    (17, &[Word(5), Phrase(&[1, 2, 2, 1, 1])]),
    (13, &[Word(5), Phrase(&[1, 2, 2, 1, 1])]),
    (16, &[Word(5)]),
    (10, &[Phrase(&[2, 2, 2, 2]), Number(5, 20)]),
];

/// What an assistant says.
const ASSISTANT: [Template; 4] = [
    (24, &[Word(10), Word(4), Word(4)]),
    (10, &[Word(4), Phrase(&[2, 3, 2]), Phrase(&[1, 2, 2, 2])]),
    (16, &[Word(4), Number(1, 100), Number(0, 15), Number(0, 3)]),
    (22, &[Number(5, 50), Word(5)]),
];

/// What a tool gives back.
const TOOL: [Template; 2] = [
    (11, &[Word(10), Word(3), Word(5), Number(1, 500), Word(4)]),
    (4, &[Word(4), Word(4), Word(4), Number(1, 200), Number(201, 400), Letters(40, 120)]),
];

/// Who speaks, and in which ways.
const ROLES: [(Kind, &[Template]); 3] =
    [(Kind::User, &USER), (Kind::Assistant, &ASSISTANT), (Kind::ToolResult, &TOOL)];

/// Draws a turn from a named stream: who speaks, in which way, and what of that adds words.
#[inline]
pub(super) fn drawn(dice: &mut Draw) -> (Kind, u64) {
    let (kind, templates) = ROLES[choice(ROLES.len(), dice)];
    let (mut words, parts) = templates[choice(templates.len(), dice)];
    for part in parts {
        match *part {
            // No draw shifts another, so that one whose result says nothing need not be made.
            Word(_) | Number(..) => {}
            Phrase(choices) => words += choices[choice(choices.len(), dice)],
            Letters(first, last) => words += run_of_letters(first, last, dice),
        }
    }
    (kind, words)
}

/// Draws a run of letters and blanks and counts its words; a 28th of all letters are blanks.
fn run_of_letters(first: u64, last: u64, dice: &mut Draw) -> u64 {
    // A 28th of 2^32 is a whole number but for a part in 10^9: two letters a word of the generator.
    const BAR: u32 = u32::MAX / 28;
    let mut left = dice.between(first, last);
    let mut words = Words::default();
    while left > 0 {
        let bits = dice.next_bits();
        words.take((bits >> 32) as u32 <= BAR);
        if left > 1 {
            words.take(bits as u32 <= BAR);
        }
        left = left.saturating_sub(2);
    }
    words.count
}

/// Draws every template of every speaker before who speaks is drawn.
pub(super) fn sequential(dice: &mut Cpython) -> (Kind, u64) {
    let mut counted = [[0; 4]; 3];
    for ((_, templates), counted) in ROLES.iter().zip(&mut counted) {
        for (template, counted) in templates.iter().zip(counted) {
            *counted = every_part(template, dice);
        }
    }
    let role = choice(ROLES.len(), dice);
    let (kind, templates) = ROLES[role];
    (kind, counted[role][choice(templates.len(), dice)])
}

/// Draws all parts of a template and counts its words.
#[inline]
fn every_part(template: &Template, dice: &mut Cpython) -> u64 {
    let (mut words, parts) = *template;
    for part in parts {
        match *part {
            Word(choices) => {
                dice.below(choices);
            }
            Phrase(choices) => words += choices[choice(choices.len(), dice)],
            Number(first, last) => {
                dice.between(first, last);
            }
            Letters(first, last) => {
                let letters = dice.between(first, last);
                let mut run = Words::default();
                dice.choices_are_last(LETTERS, letters, |is_blank| run.take(is_blank));
                words += run.count;
            }
        }
    }
    words
}

/// Counts the words of a run of letters and blanks.
#[derive(Default)]
struct Words {
    count: u64,
    is_inside: bool,
}

impl Words {
    #[inline]
    fn take(&mut self, is_blank: bool) {
        self.count += u64::from(!self.is_inside && !is_blank);
        self.is_inside = !is_blank;
    }
}
