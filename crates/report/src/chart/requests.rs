//! The prompt of each request of a run: what was read from the cache, written to it, or neither, and who edited it.

use indexmap::IndexMap;
use serde::Serialize;

use super::axis::Axis;
use super::ink;
use super::legend::{self, Swatch};
use super::names::{self, PolicyLabels};
use super::scene::{Anchor, LINE, Path, Scene, SceneText, WIDTH, fit, line, round};
use super::{ChartData, Picture};
use ctxsim_base::grid::numbers;
use ctxsim_base::grid::{Grid, Of};
use ctxsim_base::list::Listed as _;
use ctxsim_base::quantity::Tokens;
use ctxsim_engine::ledger::{RequestRow, Role, Rows};
use ctxsim_input::Policy;

/// What a run must have for such a chart.
pub(super) const NEEDS: &str = "few enough runs to show their requests";
/// How high the frame of a policy is.
const HEIGHT: f64 = 84.0;
/// Up to so many firings of a policy are reached by keyboard.
const MOST_STOPS: usize = 12;
/// Who edits where no stage does: a recorded compaction, recalled memory, or content of the harness that changes.
const OUTSIDE: &str = "the harness or memory";
/// The parts of a prompt with their colours, from the foot up.
const PARTS: [&str; 3] = ["read from the cache", "written to the cache", "uncached"];

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRequests {
    pub policy: String,
    pub scenario: String,
    pub profile: String,
    /// The agent's own requests, in order.
    pub sent: Vec<RequestBar>,
    /// How many requests wrote summaries.
    pub n_summaries: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestBar {
    /// Tokens of its prompt that were read, written, and billed as plain input.
    pub tokens: [Tokens; 3],
    /// The stage that was the first to edit what had been sent before; the policy itself, if it is code. A recorded compaction is no
    /// stage's doing.
    pub edited_by: Option<String>,
    /// How many edits were made since then.
    pub n_edits: u32,
}

/// The requests of a scenario under a profile, policy by policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestBars {
    /// Of what, and under which profile.
    pub subject: String,
    /// The policies.
    pub panels: Vec<Panel>,
}

/// The requests of a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Panel {
    pub policy: names::PolicyLabel,
    /// Its requests.
    pub trace: RunRequests,
}

impl RunRequests {
    /// Takes what charts show from the rows of a run.
    pub fn new(policy: &Policy, scenario: &str, profile: &str, rows: &Rows) -> Self {
        let (main, others): (Vec<&RequestRow>, Vec<&RequestRow>) =
            rows.requests.iter().partition(|it| it.role == Role::Main);
        let sent = main.into_iter().map(|it| {
            let editor = match it.change.by {
                Some(u16::MAX) => OUTSIDE,
                by => {
                    by.and_then(|it| policy.stages.get(usize::from(it))).map_or(&policy.name, |it| &it.name)
                }
            };
            RequestBar {
                tokens: [it.usage.read, it.usage.write[0] + it.usage.write[1], it.usage.uncached],
                edited_by: (it.change.n_edits > 0).then(|| editor.to_owned()),
                n_edits: it.change.n_edits,
            }
        });
        Self {
            policy: policy.name.clone(),
            scenario: scenario.to_owned(),
            profile: profile.to_owned(),
            sent: sent.listed(),
            n_summaries: others.len(),
        }
    }
}

/// Returns a chart for each scenario and profile.
pub fn all(source: &ChartData<'_>) -> Vec<RequestBars> {
    let mut charts: IndexMap<String, RequestBars> = IndexMap::new();
    for trace in source.traces.iter().filter(|it| !it.sent.is_empty()) {
        let subject = format!("{} under {}", trace.scenario, trace.profile);
        let chart = charts.entry(subject.clone()).or_insert(RequestBars { subject, panels: Vec::new() });
        chart.panels.push(Panel::new(&source.names, trace.clone()));
    }
    charts.into_values().listed()
}

impl RequestBar {
    fn prompt(&self) -> Tokens {
        self.tokens.iter().sum()
    }
}

impl Panel {
    fn new(names: &PolicyLabels, trace: RunRequests) -> Self {
        Self { policy: names.of(&trace.policy), trace }
    }

    fn longest(&self) -> Tokens {
        self.trace.sent.iter().map(RequestBar::prompt).max().unwrap_or(0)
    }

    /// Returns before how many requests each stage was the first to edit, in the order of their first time.
    fn firings(&self) -> IndexMap<&str, usize> {
        let mut firings = IndexMap::new();
        for stage in self.trace.sent.iter().filter_map(|it| it.edited_by.as_deref()) {
            *firings.entry(stage).or_default() += 1;
        }
        firings
    }

    /// Says the firings.
    fn fired(&self) -> Option<String> {
        let said: Vec<String> = self.firings().iter().map(|(stage, n)| format!("{stage} {n}×")).listed();
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// Returns the outline of the first parts of all prompts together, as steps; of requests that share a place the longest is
    /// seen.
    fn outline(&self, n_parts: usize, place: impl Fn(usize) -> f64, up: &Axis) -> String {
        let sum = |it: &RequestBar| it.tokens.iter().take(n_parts).sum::<Tokens>();
        let mut tops: Vec<(usize, Tokens, usize)> = Vec::new();
        for (nth, sent) in self.trace.sent.iter().enumerate() {
            let column = (place(nth) * 2.0) as usize;
            match tops.last_mut() {
                Some((last, highest, _)) if *last == column => *highest = (*highest).max(sum(sent)),
                _ => tops.push((column, sum(sent), nth)),
            }
        }
        let foot = round(up.at(0.0));
        let steps: String = tops
            .iter()
            .map(|(_, tokens, nth)| {
                let [x, y] = [place(*nth), up.at(*tokens as f64)].map(round);
                format!("H{x}V{y}")
            })
            .collect();
        let [start, end] = [place(0), place(self.trace.sent.len())].map(round);
        format!("M{start} {foot}{steps}H{end}V{foot}Z")
    }

    /// Draws the requests into a frame that begins at a height.
    fn draw(&self, scene: &mut Scene, across: &Axis, top: f64, highest: Tokens) {
        let (left, right, bottom) = (52.0, WIDTH - 16.0, top + HEIGHT);
        let up = Axis::new(0.0, highest as f64, [bottom, top], 3.0);
        for tick in &up.ticks {
            let y = up.at(*tick);
            scene.add(Path::drawn(line([[left, y], [right, y]]), ink::GRID, 1.0));
            let tokens = SceneText::new(left - 6.0, y + 4.0, numbers::short(*tick as u64).replace(".0", ""));
            scene.add(tokens.anchored(Anchor::End).faint());
        }
        let place = |nth: usize| across.at(nth as f64);
        for n_parts in (1..=PARTS.len()).rev() {
            let d = self.outline(n_parts, place, &up);
            scene.add(Path::filled(d, ink::part(n_parts - 1)));
        }
        let n_firings = self.trace.sent.iter().filter(|it| it.edited_by.is_some()).count();
        for (nth, sent) in self.trace.sent.iter().enumerate() {
            let Some(stage) = &sent.edited_by else { continue };
            let x = (place(nth) + place(nth + 1)) / 2.0;
            let mark = legend::firing([x, up.at(sent.prompt() as f64) - 6.0]);
            let edits =
                if sent.n_edits == 1 { "1 edit".to_owned() } else { format!("{} edits", sent.n_edits) };
            let label = format!(
                "request {}: {stage}, {edits}, prompt {}",
                nth + 1,
                numbers::thousands(sent.prompt())
            );
            scene.spot(label, n_firings <= MOST_STOPS, vec![mark.into()]);
        }
    }
}

impl Picture for RequestBars {
    fn title(&self) -> String {
        "Prompt size of each request".to_owned()
    }

    fn subject(&self) -> String {
        self.subject.clone()
    }

    fn summary(&self) -> String {
        let said = self.panels.iter().map(|it| {
            let (n, longest) = (it.trace.sent.len(), numbers::thousands(it.longest()));
            let edited = match it.fired() {
                Some(fired) => format!("edited by {fired}"),
                None => "never edited".to_owned(),
            };
            format!("{}: {n} requests, longest prompt {longest} tokens, {edited}", it.policy.label)
        });
        format!("{}.", said.listed().join("; "))
    }

    fn table(&self) -> Grid {
        let sum = |it: &Panel, part: usize| it.trace.sent.iter().map(|it| it.tokens[part]).sum();
        let columns: [Of<'_, Panel>; 8] = [
            ("policy", &|it| it.policy.label.clone()),
            ("edited by", &|it| it.fired().unwrap_or_else(|| "none".to_owned())),
            ("requests", &|it| numbers::thousands(it.trace.sent.len() as u64)),
            ("longest prompt tokens", &|it| numbers::thousands(it.longest())),
            ("read", &|it| numbers::thousands(sum(it, 0))),
            ("written", &|it| numbers::thousands(sum(it, 1))),
            ("uncached", &|it| numbers::thousands(sum(it, 2))),
            ("summaries", &|it| it.trace.n_summaries.to_string()),
        ];
        Grid::of("", 2, &self.panels, &columns)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let parts =
            PARTS.iter().enumerate().map(|(nth, it)| (Swatch::Colour(ink::part(nth)), (*it).to_owned()));
        let fired = [(Swatch::Firing, "edited".to_owned())];
        let top = legend::legend(&mut scene, parts.chain(fired)) + LINE;
        scene.add(SceneText::new(4.0, top, "prompt tokens"));
        let highest = self.panels.iter().map(Panel::longest).max().unwrap_or(0);
        let longest = self.panels.iter().map(|it| it.trace.sent.len()).max().unwrap_or(0);
        let across = Axis::exact(longest as f64, [52.0, WIDTH - 16.0], 6.0);
        let pitch = LINE + HEIGHT + 26.0;
        for (nth, panel) in self.panels.iter().enumerate() {
            let y = top + 8.0 + pitch * nth as f64;
            scene.add(legend::point(panel.policy.nth, [58.0, y + 9.5], 4.5));
            scene.add(SceneText::new(70.0, y + 14.0, fit(&panel.policy.label, WIDTH - 80.0)).bold());
            panel.draw(&mut scene, &across, y + LINE + 14.0, highest);
        }
        let bottom = top + 8.0 + pitch * self.panels.len() as f64 - 12.0;
        across.below(&mut scene, [bottom; 2], "requests, in order", |it| across.written(it));
        scene.height = bottom + 62.0;
        scene
    }
}
