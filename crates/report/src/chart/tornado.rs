//! The effect of each recovery assumption on the change in cost: a bar from one end of its interval to the other.

use serde::Serialize;

use super::axis::Axis;
use super::ink;
use super::legend;
use super::names::PolicyLabel;
use super::scene::{Anchor, LINE, Path, Scene, SceneText, WIDTH, fit, line, rectangle};
use super::{ChartData, Picture};
use ctxsim_base::grid::Grid;
use ctxsim_base::grid::numbers;
use ctxsim_base::list::Listed as _;
use ctxsim_base::order::InOrder as _;
use ctxsim_engine::measure::Tally;
use ctxsim_engine::measure::assumed::Assumed;

/// What a run needs for such a chart.
pub(super) const NEEDS: &str = "two policies, and a recovery cost that depends on assumptions";
/// How high a bar is.
const BAR: f64 = 10.0;
/// Assumptions that move the change in cost by less than this, 0.05%, are omitted.
const NOTHING: f64 = 0.000_5;
/// Narrower bars tell an eye nothing: the numbers have them.
const THIN: f64 = 4.0;

/// The policies of a table by the effect of assumptions on their cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tornado {
    /// What it shows.
    #[serde(skip)]
    pub title: &'static str,
    /// Of what, and under which profile.
    pub subject: String,
    pub baseline: String,
    /// The policies whose cost depends on some assumption.
    pub lines: Vec<TornadoLine>,
}

/// A policy by the effect of assumptions on its cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TornadoLine {
    pub policy: PolicyLabel,
    /// The relative difference of its cost from the first policy's under the declared assumptions: −0.1 is
    /// 10% less.
    pub declared: f64,
    /// The assumptions, largest effect first.
    pub bars: Vec<TornadoBar>,
}

/// The ends of an assumption.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TornadoBar {
    /// What is assumed.
    pub about: &'static str,
    /// The difference at the lower and the upper end of its interval, with all others as declared.
    pub ends: [f64; 2],
}

/// Returns a chart for each table in which an assumption matters.
pub fn all(source: &ChartData<'_>) -> Vec<Tornado> {
    let of_section = source.sections.iter().filter_map(|section| {
        let (first, others) = section.lines.split_first()?;
        let lines = others.iter().filter_map(|it| {
            let policy = source.names.of(&it.policy);
            TornadoLine::new(policy, &it.tally, &first.tally)
        });
        let lines: Vec<TornadoLine> = lines.listed();
        let baseline = source.names.of(&first.policy).label;
        let title = "Effect of each assumption on the cost";
        (!lines.is_empty()).then(|| Tornado { title, subject: section.subject(), baseline, lines })
    });
    of_section.listed()
}

impl TornadoLine {
    /// Compares a policy with the first one; `None` if no assumption matters, or if it did different work.
    fn new(policy: PolicyLabel, tally: &Tally, first: &Tally) -> Option<Self> {
        if !tally.outcome.did_as_much_as(&first.outcome) {
            return None;
        }
        let (own, base) = tally.assumed_cost().zip(first.assumed_cost()).filter(|it| it.1.usd > 0.0)?;
        // The first policy lives under the same assumption.
        let bars = Assumed::ALL
            .into_iter()
            .map(|it| TornadoBar { about: it.about(), ends: own.change_at(&base, it) });
        Self::of(policy, own.change_from(&base), bars)
    }

    /// Sorts bars by their effect; `None` if none has any.
    pub fn of(policy: PolicyLabel, declared: f64, bars: impl Iterator<Item = TornadoBar>) -> Option<Self> {
        let mut bars: Vec<TornadoBar> = bars.filter(|it| it.reach() >= NOTHING).listed();
        bars.order_by(|one, other| other.reach().total_cmp(&one.reach()));
        (!bars.is_empty()).then_some(Self { policy, declared, bars })
    }

    /// Returns the assumptions that change the order against the first policy.
    fn turning(&self) -> impl Iterator<Item = &TornadoBar> {
        self.bars.iter().filter(|it| it.ends.iter().any(|end| (*end < 0.0) != (self.declared < 0.0)))
    }
}

impl TornadoBar {
    /// Returns the size of its effect on the difference.
    fn reach(&self) -> f64 {
        (self.ends[1] - self.ends[0]).abs()
    }
}

impl Tornado {
    /// Returns the smallest and the largest difference, including 0.
    fn ends(&self) -> [f64; 2] {
        let bars = self.lines.iter().flat_map(|it| &it.bars).flat_map(|bar| bar.ends);
        let all = bars.chain(self.lines.iter().map(|it| it.declared));
        all.fold([0.0, 0.0], |[low, high]: [f64; 2], it| [low.min(it), high.max(it)])
    }
}

impl Picture for Tornado {
    fn title(&self) -> String {
        self.title.to_owned()
    }

    fn subject(&self) -> String {
        self.subject.clone()
    }

    fn summary(&self) -> String {
        let said = self.lines.iter().map(|line| {
            let turning: Vec<&str> = line.turning().map(|it| it.about).listed();
            let order = match turning.as_slice() {
                [] => "no single assumption changes the order".to_owned(),
                turning => format!("the order changes with: {}", turning.join(", ")),
            };
            format!("{} {}; {order}", line.policy.label, numbers::signed(line.declared))
        });
        format!("{}.", said.listed().join(". "))
    }

    fn table(&self) -> Grid {
        let rows = self.lines.iter().flat_map(|line| {
            line.bars.iter().map(|bar| {
                let [low, high] = bar.ends.map(numbers::signed);
                let declared = numbers::signed(line.declared);
                vec![line.policy.label.clone(), bar.about.to_owned(), low, declared, high]
            })
        });
        let columns = ["policy", "assumption", "at its lower end", "as declared", "at its upper end"];
        Grid::new("", 2, &columns, rows)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let (left, right, top) = (24.0, WIDTH - 24.0, 4.0);
        let [low, high] = self.ends();
        let across = Axis::new(low, high, [left, right], 5.0);
        let seen = |it: &&TornadoBar| (across.at(it.ends[1]) - across.at(it.ends[0])).abs() >= THIN;
        let with_seen = self
            .lines
            .iter()
            .map(|it| TornadoLine { bars: it.bars.iter().filter(seen).cloned().listed(), ..it.clone() });
        let lines: Vec<TornadoLine> = with_seen.filter(|it| !it.bars.is_empty()).listed();
        if lines.is_empty() {
            return scene;
        }
        let height = |line: &TornadoLine| LINE + (LINE + BAR) * line.bars.len() as f64 + 12.0;
        let bottom = top + lines.iter().map(height).sum::<f64>() + 2.0;
        let name = fit(&format!("change in cost against {}", self.baseline), right - left);
        across.below(&mut scene, [top, bottom], &name, |it| numbers::signed(it).replace(".0%", "%"));
        let zero = across.at(0.0);
        scene.add(Path::drawn(line([[zero, top], [zero, bottom]]), ink::FAINT, 1.5));
        let mut y = top;
        for policy_line in &lines {
            draw(&mut scene, policy_line, &across, [left, right], y);
            y += height(policy_line);
        }
        scene.height = bottom + 62.0;
        scene
    }
}

/// Draws a policy with its bars from a height on.
fn draw(scene: &mut Scene, of: &TornadoLine, across: &Axis, [left, right]: [f64; 2], top: f64) {
    let policy = &of.policy;
    // Lines of the axis do not run through words.
    scene.add(Path::filled(rectangle([left, top], [right + 1.0, top + LINE]), ink::PAPER));
    scene.add(legend::point(policy.nth, [left + 4.0, top + 9.5], 4.5));
    scene.add(SceneText::new(left + 14.0, top + 14.0, fit(&policy.label, right - left - 90.0)));
    let declared = numbers::signed(of.declared);
    scene.add(SceneText::new(right, top + 14.0, declared).anchored(Anchor::End).bold());
    for (nth, bar) in of.bars.iter().enumerate() {
        let y = top + LINE + (LINE + BAR) * nth as f64;
        scene.add(Path::filled(rectangle([left, y], [right + 1.0, y + LINE]), ink::PAPER));
        scene.add(
            SceneText::new(left + 14.0, y + 13.0, fit(&bar.about.replace('_', " "), right - left - 14.0))
                .faint(),
        );
        let [from, to] = bar.ends.map(|it| across.at(it));
        let (y, at) = (y + LINE, across.at(of.declared));
        let reach = rectangle([from.min(to), y], [from.max(to), y + BAR]);
        let mark = line([[at, y - 1.0], [at, y + BAR + 1.0]]);
        let marks = vec![
            Path::filled(reach, ink::policy(policy.nth)).into(),
            Path::drawn(mark, ink::TEXT, 2.0).into(),
        ];
        let [low, high] = bar.ends.map(numbers::signed);
        scene.spot_of(policy.keys(), format!("{}: {low} to {high}, {}", policy.label, bar.about), marks);
    }
}
