//! A legend, and names beside points, which never lie over one another.

use super::ink::{self, Ink};
use super::names::shorten_names;
use super::scene::{Anchor, LINE, Scene, SceneText, SvgPath, WIDTH, box_path, policy_shape_path, text_width};

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
    fn draw_mark(self, x: f64, y: f64) -> SvgPath {
        let square = box_path([x - 6.0, y - 6.0], [x + 6.0, y + 6.0]);
        match self {
            Self::Shape(nth) => policy_point(nth, [x, y], 5.0),
            Self::Ring(nth) => policy_ring(nth, [x, y]),
            Self::Broken => SvgPath::filled(broken_prefix_path([x, y]), ink::TEXT),
            Self::Colour(ink) => SvgPath::filled(square, ink),
            Self::Hollow => SvgPath::filled(square, ink::PAPER).with_outline(ink::FAINT, 1.5),
        }
    }
}

/// Returns the point of a policy.
pub(super) fn policy_point(nth: usize, at: [f64; 2], radius: f64) -> SvgPath {
    SvgPath::filled(policy_shape_path(nth, at, radius), ink::policy_ink(nth)).with_outline(ink::PAPER, 1.0)
}

/// Returns the point of a policy that is not compared.
pub(super) fn policy_ring(nth: usize, at: [f64; 2]) -> SvgPath {
    SvgPath::filled(policy_shape_path(nth, at, 5.0), ink::PAPER).with_outline(ink::policy_ink(nth), 2.0)
}

/// Returns the mark of a prefix that broke, above a place.
pub(super) fn broken_prefix_path(at: [f64; 2]) -> String {
    policy_shape_path(4, at, 3.2)
}

/// Returns the line of a policy, dashed where its colour has been used before.
pub(super) fn policy_line(nth: usize, path_data: String) -> SvgPath {
    let length = DASH.checked_div(nth / ink::POLICIES.len());
    let dash = length.map(|it| format!("{} {}", it.max(2), it.clamp(2, 5)));
    SvgPath { dash, ..SvgPath::stroked(path_data, ink::policy_ink(nth), 2.0) }
}

/// Where names begin at the top of a drawing.
pub(super) const TOP: f64 = 14.0;

/// Draws names with samples from a height on, line after line; returns where they end.
pub(super) fn draw_legend(
    scene: &mut Scene,
    top: f64,
    entries: impl IntoIterator<Item = (Swatch, String)>,
) -> f64 {
    let (samples, names): (Vec<Swatch>, Vec<String>) = entries.into_iter().unzip();
    let (mut x, mut y) = (4.0, top);
    for (sample, name) in samples.into_iter().zip(shorten_names(&names, WIDTH - SAMPLE - 8.0)) {
        let needed = SAMPLE + text_width(&name);
        if x > 4.0 && x + needed > WIDTH - 4.0 {
            (x, y) = (4.0, y + LINE);
        }
        scene.draw(sample.draw_mark(x + 9.0, y - 4.5));
        scene.add(SceneText::new(x + SAMPLE, y, name));
        x += needed + GAP;
    }
    y + LINE / 2.0
}

/// A part of a drawing: left, top, right, bottom.
pub(super) type Area = [f64; 4];

/// Returns the part of a drawing that a line upright or across takes.
pub(super) fn area_around_line([from, to]: [[f64; 2]; 2]) -> Area {
    let [left, right] = [from[0].min(to[0]), from[0].max(to[0])];
    let [top, bottom] = [from[1].min(to[1]), from[1].max(to[1])];
    [left - 2.0, top - 2.0, right + 2.0, bottom + 2.0]
}

/// Returns how far a point is from a part of a drawing.
pub(super) fn distance_to_area([x, y]: [f64; 2], [left, top, right, bottom]: Area) -> f64 {
    (x - x.clamp(left, right)).hypot(y - y.clamp(top, bottom))
}

/// Writes a name beside a point, if there is room right, left, above or below it within the frame, nearer to it than to the others;
/// returns what it takes.
pub(super) fn draw_name_beside(
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
        let text = SceneText::new(x, y, name).with_anchor(anchor);
        let area = text.bounding_box();
        let is_inside = [0, 1].iter().all(|at| area[*at] >= frame[*at] && area[at + 2] <= frame[at + 2]);
        let distance = distance_to_area(own, area);
        let is_nearest = others.iter().all(|other| distance_to_area(*other, area) > distance);
        if is_inside && is_nearest && !taken.iter().any(|it| do_areas_overlap(*it, area)) {
            scene.add(text);
            return Some(area);
        }
    }
    None
}

/// Returns whether two parts of a drawing lie over one another.
pub(super) fn do_areas_overlap(one: Area, other: Area) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_colour_are_told_apart_by_dashes() {
        let [first, second, third] = [0, 7, 14].map(|nth| policy_line(nth, String::new()));

        assert_eq!(ink::policy_ink(0), ink::policy_ink(14));
        assert!(first != second && second != third && first != third);
    }

    #[test]
    fn policies_of_one_colour_have_other_shapes() {
        let marks: Vec<SvgPath> = (0..35).map(|nth| policy_point(nth, [0.0, 0.0], 5.0)).collect();

        assert!(marks.iter().enumerate().all(|(nth, it)| !marks[..nth].contains(it)));
    }
}
