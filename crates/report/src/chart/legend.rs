//! A legend, and names beside points, which never lie over one another.

use super::ink::{self, Ink};
use super::names::shortened;
use super::scene::{Anchor, DrawnMark, LINE, Path, Scene, SceneText, WIDTH, rectangle, shape, width};

/// How wide what is before a name is.
const SAMPLE: f64 = 24.0;
/// How far names stand apart.
const GAP: f64 = 14.0;
/// How long the dashes of a colour that is used for the second time are; each further time they are shorter.
const DASH: usize = 12;

/// What is before a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Swatch {
    /// The shape of a policy.
    Shape(usize),
    /// The shape of a policy that is not compared.
    Ring(usize),
    Colour(Ink),
    /// What marks a prefix that broke.
    Broken,
    /// What is taken off a bar.
    Hollow,
}

impl Swatch {
    /// Draws it around a point.
    fn marks(self, x: f64, y: f64) -> Vec<DrawnMark> {
        let square = rectangle([x - 6.0, y - 6.0], [x + 6.0, y + 6.0]);
        let path = match self {
            Self::Shape(nth) => point(nth, [x, y], 5.0),
            Self::Ring(nth) => ring(nth, [x, y]),
            Self::Broken => Path::filled(tick([x, y]), ink::TEXT),
            Self::Colour(ink) => Path::filled(square, ink),
            Self::Hollow => Path::filled(square, ink::PAPER).outlined(ink::FAINT, 1.5),
        };
        vec![path.into()]
    }
}

/// Returns the point of a policy.
pub(super) fn point(nth: usize, at: [f64; 2], reach: f64) -> Path {
    Path::filled(shape(nth, at, reach), ink::policy(nth)).outlined(ink::PAPER, 1.0)
}

/// Returns the point of a policy that is not compared.
pub(super) fn ring(nth: usize, at: [f64; 2]) -> Path {
    Path::filled(shape(nth, at, 5.0), ink::PAPER).outlined(ink::policy(nth), 2.0)
}

/// Returns the mark of a prefix that broke, above a place.
pub(super) fn tick(at: [f64; 2]) -> String {
    shape(4, at, 3.2)
}

/// Returns the line of a policy, dashed where its colour has been used before.
pub(super) fn stroke(nth: usize, d: String) -> Path {
    let dash =
        DASH.checked_div(nth / ink::POLICIES.len()).map(|it| format!("{} {}", it.max(2), it.clamp(2, 5)));
    Path::drawn(d, ink::policy(nth), 2.0).dashed(dash)
}

/// Draws names with samples from the top of a drawing on, line after line; returns where they end.
pub(super) fn legend(scene: &mut Scene, entries: impl IntoIterator<Item = (Swatch, String)>) -> f64 {
    legend_from(scene, 14.0, entries)
}

/// The same, from a height on.
pub(super) fn legend_from(
    scene: &mut Scene,
    from: f64,
    entries: impl IntoIterator<Item = (Swatch, String)>,
) -> f64 {
    let (samples, names): (Vec<Swatch>, Vec<String>) = entries.into_iter().unzip();
    let (mut x, mut y) = (4.0, from);
    for (sample, name) in samples.into_iter().zip(shortened(&names, WIDTH - SAMPLE - 8.0)) {
        let needed = SAMPLE + width(&name);
        if x > 4.0 && x + needed > WIDTH - 4.0 {
            (x, y) = (4.0, y + LINE);
        }
        scene.marks.extend(sample.marks(x + 9.0, y - 4.5));
        scene.add(SceneText::new(x + SAMPLE, y, name));
        x += needed + GAP;
    }
    y + LINE / 2.0
}

/// A part of a drawing: left, top, right, bottom.
pub(super) type Area = [f64; 4];

/// Returns the part of a drawing that a line upright or across takes.
pub(super) fn around([from, to]: [[f64; 2]; 2]) -> Area {
    let [left, right] = [from[0].min(to[0]), from[0].max(to[0])];
    let [top, bottom] = [from[1].min(to[1]), from[1].max(to[1])];
    [left - 2.0, top - 2.0, right + 2.0, bottom + 2.0]
}

/// Returns how far a point is from a part of a drawing.
pub(super) fn distance([x, y]: [f64; 2], [left, top, right, bottom]: Area) -> f64 {
    (x - x.clamp(left, right)).hypot(y - y.clamp(top, bottom))
}

/// Writes a name beside a point, if there is room right, left, above or below it within the frame, nearer to it than to the others;
/// returns what it takes.
pub(super) fn name_beside(
    scene: &mut Scene,
    taken: &[Area],
    frame: Area,
    others: &[[f64; 2]],
    own: [f64; 2],
    name: &str,
) -> Option<Area> {
    let [x, y] = own;
    let places = [
        (x + 13.0, y + 4.5, Anchor::Start),
        (x - 13.0, y + 4.5, Anchor::End),
        (x, y - 13.0, Anchor::Middle),
        (x, y + 22.0, Anchor::Middle),
        (x + 4.0, y - 10.0, Anchor::Start),
        (x - 4.0, y + 20.0, Anchor::End),
        (x + 4.0, y + 20.0, Anchor::Start),
        (x - 4.0, y - 10.0, Anchor::End),
    ];
    for (x, y, anchor) in places {
        let text = SceneText::new(x, y, name).anchored(anchor);
        let area = text.area();
        let is_inside = [0, 1].iter().all(|at| area[*at] >= frame[*at] && area[at + 2] <= frame[at + 2]);
        let is_nearest = others.iter().all(|other| distance(*other, area) > distance(own, area));
        if is_inside && is_nearest && !taken.iter().any(|it| meet(*it, area)) {
            scene.add(text);
            return Some(area);
        }
    }
    None
}

/// Returns whether two parts of a drawing lie over one another.
pub(super) fn meet(one: Area, other: Area) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_colour_are_told_apart_by_dashes() {
        let [first, second, third] = [0, 7, 14].map(|nth| stroke(nth, String::new()));

        assert_eq!(ink::policy(0), ink::policy(14));
        assert!(first != second && second != third && first != third);
    }

    #[test]
    fn policies_of_one_colour_have_other_shapes() {
        let marks: Vec<Path> = (0..35).map(|nth| point(nth, [0.0, 0.0], 5.0)).collect();

        assert!(marks.iter().enumerate().all(|(nth, it)| !marks[..nth].contains(it)));
    }
}
