//! Changes with their intervals, a line each, around the line of no change.

use super::prelude::*;
use crate::page::Tone;
use crate::sampled::Sampled;

/// The most lines that are drawn; the numbers have the others.
const MOST: usize = 24;
/// Larger increases are drawn at the edge, with their number.
const EDGE: f64 = 2.0;
/// How much wider bold words are.
const BOLD: f64 = 1.1;
/// How high what is below a name is.
const BODY: f64 = 14.0;

/// Changes around no change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForestPlot {
    /// What it shows.
    pub title: String,
    /// Of what.
    pub subject: String,
    /// What no change is.
    pub base: String,
    /// What its lines are.
    pub of: &'static str,
    /// The lines, the most important first.
    pub lines: Vec<ForestLine>,
}

/// A change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForestLine {
    /// Of what.
    pub name: String,
    /// The relative change: −0.1 is a tenth less.
    pub change: f64,
    /// Its 95% interval, if it is known.
    pub interval: Option<[f64; 2]>,
    /// What that interval is over.
    pub interval_over: Sampled,
    /// Whether it is a difference of shares, in percentage points.
    pub is_points: bool,
    /// What else there is to say, in a few words.
    pub says: String,
    /// Whether it is for the better, for the worse, or not known.
    pub tone: Tone,
}

impl ForestLine {
    /// Makes a change in cost: it is for the better where the whole interval is below nothing.
    pub fn of_relative_cost(name: String, change: f64, interval: Option<[f64; 2]>, says: String) -> Self {
        let [low, high] = interval.unwrap_or([change; 2]);
        let tone = match (high < 0.0, low > 0.0) {
            (true, _) => Tone::Better,
            (_, true) => Tone::Worse,
            _ => Tone::Plain,
        };
        Self { name, change, interval, interval_over: Sampled::Sessions, is_points: false, says, tone }
    }

    /// Returns the change as people read it.
    fn format_change(&self) -> String {
        let change = signed(self.change);
        if self.is_points { change.replace('%', " pp") } else { change }
    }

    fn tone_ink(&self) -> ink::Ink {
        match self.tone {
            Tone::Plain => ink::FAINT,
            Tone::Better => ink::policy_ink(2),
            Tone::Worse => ink::policy_ink(1),
        }
    }

    fn describe(&self) -> String {
        let ends = or_nothing(self.interval, |ends| {
            format!(" ({})", self.interval_over.interval_text(&format!("{}%", interval(ends))))
        });
        let says = text_if(!self.says.is_empty(), || format!(", {}", self.says));
        format!("{}: {}{ends}{says}", self.name, self.format_change())
    }
}

impl ForestPlot {
    fn drawn_lines(&self) -> &[ForestLine] {
        &self.lines[..self.lines.len().min(MOST)]
    }

    /// Returns the least and the largest number drawn, nothing included.
    fn drawn_range(&self) -> [f64; 2] {
        let ends = |it: &ForestLine| it.interval.unwrap_or([it.change; 2]).into_iter().chain([it.change]);
        let wider = |[low, high]: [f64; 2], it: f64| [low.min(it.max(-1.0)), high.max(it.min(EDGE))];
        self.drawn_lines().iter().flat_map(ends).fold([-0.01, 0.01], wider)
    }
}

/// Returns an arrow to the right, for what lies beyond the edge.
fn arrow_path([x, y]: [f64; 2]) -> String {
    line_path([[x - 2.0, y - 6.0], [x + 7.0, y], [x - 2.0, y + 6.0]]) + "Z"
}

impl Picture for ForestPlot {
    fn title_and_subject(&self) -> [String; 2] {
        [self.title.clone(), self.subject.clone()]
    }

    fn describe_key_numbers(&self) -> String {
        format!("{}.", self.drawn_lines().iter().map(ForestLine::describe).listed().join("; "))
    }

    fn numbers_grid(&self) -> Grid {
        let rows = self.lines.iter().map(|change| {
            let ends = or_none(change.interval, |it| format!("{}%", interval(it)));
            vec![change.name.clone(), change.format_change(), ends, change.says.clone()]
        });
        let over = self.lines.first().map(|it| it.interval_over).unwrap_or_default();
        Grid::new("", 1, &[self.of, "change", over.interval_heading(), ""], rows)
    }

    fn draw_scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let (left, right, top) = (24.0, WIDTH - 24.0, 4.0);
        let [low, high] = self.drawn_range();
        let across = Axis::rounded(low, high, [left, right], 5.0);
        // Where names and numbers do not fit beside each other, what else there is to say has its own line.
        let end = |it: &ForestLine| right - BOLD * text_width(&it.format_change()) - 10.0;
        let room = |it: &ForestLine| end(it) - left - text_width(&it.says);
        let is_narrow = self.drawn_lines().iter().any(|it| text_width(&it.name) > room(it));
        let has_says = self.drawn_lines().iter().any(|it| !it.says.is_empty());
        let says = if is_narrow && has_says { LINE - 2.0 } else { 0.0 };
        let pitch = LINE + says + BODY + 6.0;
        let bottom = top + pitch * self.drawn_lines().len() as f64 + 2.0;
        let name = shorten_end(&format!("change against {}", self.base), right - left);
        across.draw_below_frame(&mut scene, [top, bottom], &name, |it| signed(it).replace(".0%", "%"));
        let zero = across.position_of(0.0);
        scene.draw(SvgPath::stroked(line_path([[zero, top], [zero, bottom]]), ink::FAINT, 1.5));
        let shortest = self.drawn_lines().iter().map(|it| 0.9 * (end(it) - left)).fold(WIDTH, f64::min);
        let names = shorten_names(&self.drawn_lines().iter().map(|it| it.name.clone()).listed(), shortest);
        for ((nth, it), name) in self.drawn_lines().iter().enumerate().zip(names) {
            let y = top + pitch * nth as f64;
            // Lines of the axis do not run through words.
            scene.draw(SvgPath::filled(box_path([0.0, y], [WIDTH, y + LINE + says]), ink::PAPER));
            scene.add(SceneText::new(right, y + 14.0, it.format_change()).with_anchor(Anchor::End).in_bold());
            scene.add(SceneText::new(left, y + 14.0, name));
            if !it.says.is_empty() {
                let at = if is_narrow {
                    SceneText::new(left, y + 12.0 + LINE, shorten_end(&it.says, right - left))
                } else {
                    SceneText::new(end(it), y + 14.0, it.says.clone()).with_anchor(Anchor::End)
                };
                scene.add(at.faint());
            }
            let place = |change: f64| across.position_of(change.clamp(-1.0, EDGE));
            let middle = y + LINE + says + BODY / 2.0;
            let mut marks: Vec<SvgPath> = Vec::new();
            if let Some(ends) = it.interval {
                let [from, to] = ends.map(place);
                let reach = line_path([[from, middle], [to, middle]]);
                marks.push(SvgPath::stroked(reach, it.tone_ink(), 2.5));
                // What goes on beyond the edge says so.
                if ends[1] > EDGE {
                    marks.push(SvgPath::filled(arrow_path([to, middle]), it.tone_ink()));
                }
            }
            let at = [place(it.change), middle];
            let mark = if it.change > EDGE { arrow_path(at) } else { policy_shape_path(0, at, 4.5) };
            marks.push(SvgPath::filled(mark, it.tone_ink()).with_outline(ink::PAPER, 1.0));
            scene.add_row_link(vec![it.name.clone()], it.describe(), marks);
        }
        scene.height = bottom + 56.0;
        scene
    }
}
