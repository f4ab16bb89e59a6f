//! How much each policy changes the cost of recorded sessions: every session a dot.

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use super::ink;
use super::legend;
use super::names::PolicyLabel;
use super::scene::{Anchor, DrawnMark, LINE, Path, Scene, SceneText, WIDTH, fit, line, rectangle};
use super::{ChartData, Picture, fewest};
use ctxsim_base::grid::Grid;
use ctxsim_base::grid::numbers;
use ctxsim_base::list::Listed as _;
use ctxsim_base::order::InOrder as _;
use ctxsim_engine::take::Run;

/// What a run must have for such a chart.
pub(super) const NEEDS: &str = "several recorded sessions, and two policies that finish them";
/// How high the dots of a policy are spread.
const SPREAD: f64 = 26.0;
/// Sessions whose cost changes by less are the same.
const SAME: f64 = 0.000_5;
/// Where an axis may have numbers; they are drawn by ratio, so that half and double stand equally far from the same.
const TICKS: [f64; 13] = [-0.9, -0.75, -0.5, -0.25, -0.1, 0.0, 0.1, 0.25, 0.5, 1.0, 3.0, 9.0, 99.0];

/// The policies by what they change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// What a dot is.
    pub of: &'static str,
    /// Of what, and under which profile.
    pub subject: String,
    /// What the others are measured against.
    pub baseline: String,
    /// The policies.
    pub lines: Vec<DotLine>,
}

/// A policy by what it changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DotLine {
    pub policy: PolicyLabel,
    /// The sessions, from the one that it makes cheapest; those that it did not finish, or without a price, are not among them.
    pub sessions: Vec<SessionDot>,
    /// A quarter of the sessions is below the first, half below the second, three quarters below the third.
    pub quartiles: [f64; 3],
}

/// A session by what a policy changes of its cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionDot {
    pub scenario: String,
    /// The change of its cost: −0.1 is a tenth less.
    pub change: f64,
}

/// Returns a chart for each profile; one for all, where each session has only one profile.
pub fn all(source: &ChartData<'_>) -> Vec<Distribution> {
    let recorded: Vec<&Run> = source.report.runs.iter().filter(|it| it.assumed.is_recorded).listed();
    let mut profiles_of: IndexMap<&str, IndexSet<&str>> = IndexMap::new();
    for run in &recorded {
        profiles_of.entry(&run.scenario).or_default().insert(&run.profile);
    }
    let profiles: IndexSet<&str> = profiles_of.values().flatten().copied().collect();
    if profiles.len() > 1 && profiles_of.values().all(|it| it.len() == 1) {
        let subject = format!("{} recorded sessions, each under its own profile", profiles_of.len());
        return Distribution::of(source, subject, &recorded).into_iter().listed();
    }
    let of_profile = profiles.into_iter().filter_map(|profile| {
        let runs: Vec<&Run> = recorded.iter().copied().filter(|it| it.profile == profile).listed();
        let n_sessions = runs.iter().map(|it| it.scenario.as_str()).collect::<IndexSet<_>>().len();
        Distribution::of(source, format!("{n_sessions} recorded sessions under {profile}"), &runs)
    });
    of_profile.listed()
}

impl Distribution {
    /// Measures the runs of several sessions against the first policy.
    fn of(source: &ChartData<'_>, subject: String, runs: &[&Run]) -> Option<Self> {
        let baseline = runs.first()?.policy.clone();
        let mut changes: IndexMap<&str, Vec<SessionDot>> = IndexMap::new();
        for group in runs.chunk_by(|one, other| one.is_beside(other)) {
            let (first, others) = group.split_first()?;
            for run in others {
                let sessions = changes.entry(&run.policy).or_default();
                sessions.extend(
                    change(run, first).map(|it| SessionDot { scenario: run.scenario.clone(), change: it }),
                );
            }
        }
        let lines = changes
            .into_iter()
            .filter(|(_, sessions)| sessions.len() > 1)
            .map(|(policy, sessions)| DotLine::new(source.names.of(policy), sessions));
        let lines: Vec<DotLine> = lines.listed();
        (!lines.is_empty()).then(|| Self {
            of: "session",
            subject,
            baseline: source.names.of(&baseline).label,
            lines,
        })
    }

    /// Returns the least and the largest change, the same included.
    fn ends(&self) -> [f64; 2] {
        let all = self.lines.iter().flat_map(|it| &it.sessions).map(|session| session.change);
        let [low, high] = all.fold([0.0_f64, 0.0_f64], |[low, high], it| [low.min(it), high.max(it)]);
        // Where hardly anything changes, hardly anything is seen.
        [low.min(-0.1), high.max(0.1)]
    }
}

/// Returns by how much a run changes the cost of another that did the same work.
fn change(run: &Run, first: &Run) -> Option<f64> {
    let (cost, before) = run.tally.costs.total().zip(first.tally.costs.total())?;
    let is_same_work = run.tally.outcome.did_as_much_as(&first.tally.outcome);
    (is_same_work && before > 0.0).then(|| cost / before - 1.0)
}

/// Returns the change below which so many of the sessions are.
fn quantile(sessions: &[SessionDot], share: f64) -> f64 {
    let at = share * sessions.len().saturating_sub(1) as f64;
    let (below, part) = (at.floor() as usize, at.fract());
    let of = |index: usize| sessions.get(index).or(sessions.last()).map_or(0.0, |it| it.change);
    of(below) + part * (of(below + 1) - of(below))
}

/// Returns a change as people read it.
fn percent(change: f64) -> String {
    numbers::change(1.0 + change, 1.0).unwrap_or_default()
}

impl DotLine {
    /// Sorts sessions, and finds their quartiles.
    pub fn new(policy: PolicyLabel, mut sessions: Vec<SessionDot>) -> Self {
        sessions.order_by(|one, other| one.change.total_cmp(&other.change));
        let quartiles = [0.25, 0.5, 0.75].map(|it| quantile(&sessions, it));
        Self { policy, sessions, quartiles }
    }

    /// Returns how many sessions are cheaper, and how many more expensive.
    fn counts(&self) -> [usize; 2] {
        let cheaper = self.sessions.iter().filter(|it| it.change <= -SAME).count();
        [cheaper, self.sessions.iter().filter(|it| it.change >= SAME).count()]
    }

    /// Draws every session, and the middle half of them.
    fn marks(&self, at: impl Fn(f64) -> f64, top: f64) -> Vec<DrawnMark> {
        let ink = ink::policy(self.policy.nth);
        let middle = top + SPREAD / 2.0;
        let [low, half, high] = self.quartiles.map(&at);
        let mut marks: Vec<DrawnMark> = vec![
            Path::filled(rectangle([low - 1.0, top], [high + 1.0, top + SPREAD]), ink).faded(0.25).into(),
        ];
        let dot = |(nth, session): (usize, &SessionDot)| {
            // Neighbours in the order of changes stand apart, always in the same way.
            let y = middle + ((nth * 5 % 7) as f64 - 3.0) * SPREAD / 8.0;
            [at(session.change), y].map(|it| (it * 2.0).round() / 2.0)
        };
        // Of dots that lie over one another one is seen.
        let mut dots: Vec<[f64; 2]> = self.sessions.iter().enumerate().map(dot).listed();
        dots.order_by(|one, other| one[0].total_cmp(&other[0]).then(one[1].total_cmp(&other[1])));
        dots.dedup();
        let d: String = dots.iter().map(|[x, y]| format!("M{x} {y}h0")).collect();
        marks.push(Path::drawn(d, ink, 4.4).rounded().into());
        let mark = line([[half, top - 2.0], [half, top + SPREAD + 2.0]]);
        marks.push(Path::drawn(mark, ink::TEXT, 2.5).into());
        marks
    }
}

impl Picture for Distribution {
    fn title(&self) -> String {
        format!("Change in cost by {}, against {}", self.of, self.baseline)
    }

    fn subject(&self) -> String {
        self.subject.clone()
    }

    fn summary(&self) -> String {
        let said = self.lines.iter().map(|it| {
            let ([cheaper, dearer], n) = (it.counts(), it.sessions.len());
            let [_, median, _] = it.quartiles.map(percent);
            format!("{}: median {median}, {cheaper} of {n} cheaper, {dearer} more expensive", it.policy.label)
        });
        format!("{}.", said.listed().join("; "))
    }

    fn table(&self) -> Grid {
        let rows = self.lines.iter().map(|it| {
            let ends =
                [it.sessions.first(), it.sessions.last()].map(|it| it.map_or(0.0, |session| session.change));
            let [first, median, third] = it.quartiles;
            let changes = [ends[0], first, median, third, ends[1]].map(percent);
            let [cheaper, dearer] = it.counts().map(|it| it.to_string());
            let counts = [it.sessions.len().to_string(), cheaper, dearer];
            [it.policy.label.clone()].into_iter().chain(counts).chain(changes).listed()
        });
        let of = format!("{}s", self.of);
        let columns =
            ["policy", &of, "cheaper", "more expensive", "lowest", "25%", "median", "75%", "highest"];
        Grid::new("", 1, &columns, rows)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let (left, right, top) = (24.0, WIDTH - 24.0, 4.0);
        let [low, high] = self.ends().map(ratio);
        let at = |change: f64| left + (ratio(change) - low) / (high - low) * (right - left);
        let pitch = LINE + SPREAD + 12.0;
        let (lines, more) = fewest(&self.lines, 0, |it| it.quartiles[1]);
        let bottom = top + pitch * lines.len() as f64 + 2.0;
        draw_axis(&mut scene, self.of, at, [left, right], [top, bottom]);
        for (nth, line) in lines.into_iter().enumerate() {
            let (policy, y) = (&line.policy, top + pitch * nth as f64);
            let [low, median, high] = line.quartiles.map(percent);
            // Lines of the axis do not run through words.
            scene.add(Path::filled(rectangle([0.0, y], [WIDTH, y + LINE]), ink::PAPER));
            scene.add(legend::point(policy.nth, [left - 12.0, y + 9.5], 4.5));
            scene.add(SceneText::new(left, y + 14.0, fit(&policy.label, right - left - 90.0)));
            scene.add(SceneText::new(right, y + 14.0, median.clone()).anchored(Anchor::End).bold());
            let ([cheaper, _], n) = (line.counts(), line.sessions.len());
            let label = format!("median {median}, half from {low} to {high}; {cheaper} of {n} cheaper");
            scene.spot_of(
                policy.keys(),
                format!("{}: {label}", policy.label),
                line.marks(at, y + LINE + 4.0),
            );
        }
        if let Some(more) = more {
            scene.add(SceneText::new(left, bottom + 52.0, more).faint());
        }
        scene.height = bottom + 62.0;
        scene
    }
}

/// Returns where a change is on an axis by ratio.
fn ratio(change: f64) -> f64 {
    (1.0 + change).max(0.005).ln()
}

/// Draws the axis below the lines.
fn draw_axis(
    scene: &mut Scene,
    of: &str,
    at: impl Fn(f64) -> f64,
    [left, right]: [f64; 2],
    [top, bottom]: [f64; 2],
) {
    let mut last = f64::NEG_INFINITY;
    for tick in TICKS.into_iter().filter(|it| (left - 1.0..=right + 1.0).contains(&at(*it))) {
        let x = at(tick);
        // Where numbers would lie over one another, that of no change stands.
        if x - last < 46.0 || (tick < 0.0 && at(0.0) - x < 46.0) {
            continue;
        }
        last = x;
        let ink = if tick == 0.0 { ink::FAINT } else { ink::GRID };
        scene.add(Path::drawn(line([[x, top], [x, bottom]]), ink, 1.0));
        let words = if tick == 0.0 { "0%".to_owned() } else { percent(tick).replace(".0%", "%") };
        scene.add(SceneText::new(x, bottom + 15.0, words).anchored(Anchor::Middle).faint());
    }
    let name = format!("change in cost, by ratio (dot: {of}; box: half; bar, number: median)");
    scene.add(SceneText::new((left + right) / 2.0, bottom + 33.0, name).anchored(Anchor::Middle));
}
