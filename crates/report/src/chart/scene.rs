//! What is drawn: paths and words,
//! and spots that say what they represent when they are pointed at or reached by keyboard.

use super::ink::{self, Ink};
use crate::prelude::*;

/// How wide every chart is; in half a page, or on a telephone, its words can still be read.
pub(super) const WIDTH: f64 = 480.0;
/// How large words are.
pub(super) const FONT: f64 = 13.0;
/// How high a line of words is.
pub(super) const LINE: f64 = 18.0;
/// How wide a character is at most, on average, as a share of the size of words: fonts differ.
const CHARACTER: f64 = 0.6;

/// A drawing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    /// What is drawn first.
    pub(super) marks: Vec<DrawnMark>,
    /// What is drawn over it.
    pub(super) spots: Vec<Spot>,
}

/// A part of a drawing that says what it represents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Spot {
    pub(super) label: String,
    /// The label as it fits at the foot of the drawing.
    pub(super) tip: String,
    /// Whether the keyboard reaches it.
    pub(super) is_stop: bool,
    /// What its row in a table may be called, the fullest name first.
    pub(super) keys: Vec<String>,
    pub(super) marks: Vec<DrawnMark>,
}

/// One thing drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "lowercase")]
pub(super) enum DrawnMark {
    Path(SvgPath),
    Text(SceneText),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct SvgPath {
    pub(super) d: String,
    pub(super) fill: Option<&'static str>,
    pub(super) line: Option<&'static str>,
    pub(super) width: f64,
    pub(super) dash: Option<String>,
    /// Lets what is after it be seen.
    pub(super) opacity: Option<f64>,
}

/// Words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct SceneText {
    x: f64,
    y: f64,
    fill: &'static str,
    anchor: Anchor,
    is_bold: bool,
    words: String,
}

/// Which end of words is at their place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Anchor {
    #[default]
    Start,
    Middle,
    End,
}

impl Scene {
    /// Returns an empty drawing.
    pub(super) fn new(height: f64) -> Self {
        Self { width: WIDTH, height, marks: Vec::new(), spots: Vec::new() }
    }

    pub(super) fn add(&mut self, text: SceneText) {
        self.marks.push(DrawnMark::Text(text));
    }

    pub(super) fn draw(&mut self, path: SvgPath) {
        self.marks.push(DrawnMark::Path(path));
    }

    /// Adds a part that says what it represents.
    pub(super) fn add_spot_with_tip(&mut self, label: String, is_focusable: bool, marks: Vec<SvgPath>) {
        let marks = marks.into_iter().map(DrawnMark::Path).listed();
        let tip = shorten_end(&label, WIDTH - 8.0);
        self.spots.push(Spot { label, tip, is_stop: is_focusable, keys: Vec::new(), marks });
    }

    /// Adds a part that leads to a row of a table.
    pub(super) fn add_row_link(&mut self, row_keys: Vec<String>, label: String, marks: Vec<SvgPath>) {
        self.add_spot_with_tip(label, true, marks);
        if let Some(spot) = self.spots.last_mut() {
            spot.keys = row_keys;
        }
    }
}

impl SvgPath {
    /// Returns a filled path.
    pub(super) fn filled(path_data: String, ink: Ink) -> Self {
        Self { d: path_data, fill: Some(ink.light), ..Self::default() }
    }

    /// Returns a drawn path.
    pub(super) fn stroked(path_data: String, ink: Ink, width: f64) -> Self {
        Self { d: path_data, line: Some(ink.light), width, ..Self::default() }
    }

    /// Draws its border, too.
    pub(super) fn with_outline(self, ink: Ink, width: f64) -> Self {
        Self { line: Some(ink.light), width, ..self }
    }
}

impl SceneText {
    pub(super) fn new(x: f64, y: f64, words: impl Into<String>) -> Self {
        let (anchor, fill) = (Anchor::Start, ink::TEXT.light);
        Self { x: to_tenth(x), y: to_tenth(y), fill, anchor, is_bold: false, words: words.into() }
    }

    /// Returns what it takes at most: left, top, right, bottom.
    pub(super) fn bounding_box(&self) -> [f64; 4] {
        let wide = text_width(&self.words);
        let left = match self.anchor {
            Anchor::Start => self.x,
            Anchor::Middle => self.x - wide / 2.0,
            Anchor::End => self.x - wide,
        };
        [left, self.y - 11.0, left + wide, self.y + 4.0]
    }

    pub(super) fn with_anchor(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub(super) fn faint(self) -> Self {
        Self { fill: ink::FAINT.light, ..self }
    }

    pub(super) fn in_bold(self) -> Self {
        Self { is_bold: true, ..self }
    }
}

/// Returns a place to a tenth of a unit: no eye sees more, and files stay small.
pub(super) fn to_tenth(place: f64) -> f64 {
    // No minus before a zero.
    (place * 10.0).round() / 10.0 + 0.0
}

/// Returns a line through points.
pub(super) fn line_path(points: impl IntoIterator<Item = [f64; 2]>) -> String {
    let steps = points.into_iter().enumerate().map(|(nth, [x, y])| {
        let pen = if nth == 0 { 'M' } else { 'L' };
        format!("{pen}{} {}", to_tenth(x), to_tenth(y))
    });
    steps.collect()
}

/// Returns a box between two corners.
pub(super) fn box_path([left, top]: [f64; 2], [right, bottom]: [f64; 2]) -> String {
    let [left, top, right, bottom] = [left, top, right, bottom].map(to_tenth);
    format!("M{left} {top}H{right}V{bottom}H{left}Z")
}

/// Returns the shape of the n-th policy around a point; those of one colour differ in shape, too.
pub(super) fn policy_shape_path(nth: usize, [x, y]: [f64; 2], radius: f64) -> String {
    let closed = |corners: &[[f64; 2]]| {
        line_path(corners.iter().map(|[across, down]| [x + across * radius, y + down * radius])) + "Z"
    };
    match nth % 5 {
        0 => {
            let (reach, double) = (to_tenth(radius), to_tenth(2.0 * radius));
            let (left, y) = (to_tenth(x - reach), to_tenth(y));
            format!("M{left} {y}a{reach} {reach} 0 1 0 {double} 0a{reach} {reach} 0 1 0 -{double} 0Z")
        }
        1 => closed(&[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]),
        2 => closed(&[[0.0, -1.2], [1.15, 0.9], [-1.15, 0.9]]),
        3 => closed(&[[0.0, -1.3], [1.3, 0.0], [0.0, 1.3], [-1.3, 0.0]]),
        _ => closed(&[[0.0, 1.2], [1.15, -0.9], [-1.15, -0.9]]),
    }
}

/// Returns how wide words are at most.
pub(super) fn text_width(words: &str) -> f64 {
    words.chars().count() as f64 * FONT * CHARACTER
}

/// Returns how many characters of words that do not fit into a width have room beside a mark; none where all of them fit.
fn n_chars_if_too_wide(words: &str, max_width: f64) -> Option<usize> {
    (text_width(words) > max_width).then(|| (max_width / FONT / CHARACTER).max(3.0) as usize - 1)
}

/// Returns a name that fits into a width: what does not is left out of its middle.
pub(super) fn shorten_middle(words: &str, max_width: f64) -> String {
    let Some(room) = n_chars_if_too_wide(words, max_width) else { return words.to_owned() };
    let n_chars = words.chars().count();
    let (head, tail) = (room - room / 2, room / 2);
    words.chars().take(head).chain(['…']).chain(words.chars().skip(n_chars - tail)).collect()
}

/// Returns the beginning of a sentence or a list that fits into a width, up to the end of an item or a word: no two are joined.
pub(super) fn shorten_end(words: &str, max_width: f64) -> String {
    let Some(room) = n_chars_if_too_wide(words, max_width) else { return words.to_owned() };
    let head: String = words.chars().take(room).collect();
    let item = head.rfind(", ").max(head.rfind("; ")).filter(|at| at * 2 > head.len());
    let end = item.or(head.rfind(' ')).unwrap_or(head.len());
    format!("{}…", &head[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_do_not_fit_keep_both_ends() {
        assert_eq!(shorten_middle("short", 100.0), "short");
        let cut = shorten_middle("a/very/long/name_of_a_policy", 100.0);
        assert!(cut.starts_with("a/very") && cut.contains('…') && cut.ends_with("licy"), "{cut}");
        assert!(text_width(&cut) <= 100.0 && text_width(&shorten_middle("äöüß→ÄÖÜ", 20.0)) <= 40.0);
    }
}
