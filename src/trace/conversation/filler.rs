//! What turns say beside facts, as numbers of words: what a draw chooses among, and what each choice adds.
//!
//! The words are counted after the templates of the Context Decay Benchmark (clawRxiv 2604.01047, version 1), and the
//! sequential source makes every draw that its script makes, in its order.

use super::Dice;
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

/// Draws a turn: who speaks, and how many words.
pub(super) fn drawn(dice: &mut impl Dice) -> (Kind, u64) {
    let (kind, templates) = ROLES[index(dice.below(3))];
    let template = &templates[index(dice.below(count(templates.len())))];
    (kind, words(template, dice))
}

/// Draws every template of every speaker before who speaks is drawn.
pub(super) fn sequential(dice: &mut impl Dice) -> (Kind, u64) {
    let mut counted = [[0; 4]; 3];
    for ((_, templates), counted) in ROLES.iter().zip(&mut counted) {
        for (template, counted) in templates.iter().zip(counted) {
            *counted = words(template, dice);
        }
    }
    let role = index(dice.below(3));
    let (kind, templates) = ROLES[role];
    (kind, counted[role][index(dice.below(count(templates.len())))])
}

/// Draws the parts of a template and counts its words.
#[inline]
fn words(template: &Template, dice: &mut impl Dice) -> u64 {
    let (mut words, parts) = *template;
    for part in parts {
        match *part {
            Word(choices) => {
                dice.below(choices);
            }
            Phrase(choices) => words += choices[index(dice.below(count(choices.len())))],
            Number(first, last) => {
                dice.between(first, last);
            }
            Letters(first, last) => {
                let letters = dice.between(first, last);
                let mut is_blank = true;
                dice.blanks(letters, |blank| {
                    words += u64::from(is_blank && !blank);
                    is_blank = blank;
                });
            }
        }
    }
    words
}

/// Returns a small drawn number as an index.
#[inline]
fn index(drawn: u64) -> usize {
    usize::try_from(drawn).unwrap_or(0)
}

/// Returns a small length as a number to draw below.
#[inline]
fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(0)
}
