//! What fills the prompt of each billed request of a session: system and tools, messages, and results by tool.

use indexmap::IndexMap;
use serde::Serialize;

use super::axis::Axis;
use super::ink;
use super::legend::{self, Swatch};
use super::scene::{LINE, Path, Scene, WIDTH, round};
use super::{ChartData, Picture};
use crate::carried::what;
use ctxsim_base::foreign::in_one_line;
use ctxsim_base::grid::numbers::{self, percent};
use ctxsim_base::grid::{Grid, Of};
use ctxsim_base::list::Listed as _;
use ctxsim_base::order::InOrder as _;
use ctxsim_base::quantity::Tokens;
use ctxsim_engine::measure::carried::{PromptChange, each_prompt};
use ctxsim_timeline::Timeline;

/// What a run must have for such a chart.
pub(super) const NEEDS: &str = "a recorded session with bills";
/// The most kinds that have a colour of their own.
const MOST_KINDS: usize = 6;
/// How high the frame is.
const HEIGHT: f64 = 200.0;

/// What fills the prompts of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FilledPrompts {
    pub subject: String,
    /// What is in them, what fills most first; the others are one.
    pub kinds: Vec<FilledKind>,
}

/// What is in prompts, and how much of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FilledKind {
    pub what: String,
    /// By request.
    pub tokens: Vec<Tokens>,
}

impl FilledKind {
    fn sum(&self) -> Tokens {
        self.tokens.iter().sum()
    }

    /// Follows the items of a session through its billed prompts.
    pub(super) fn of(timeline: &Timeline) -> Vec<Self> {
        // By kind: its tokens in the prompt as it stands, and by request.
        let mut kinds: IndexMap<String, (Tokens, Vec<Tokens>)> = IndexMap::new();
        let mut n = 0;
        each_prompt(timeline, |prompt| {
            for PromptChange { item, enters } in prompt.changes.iter().copied() {
                let row = &timeline.spine.items[item as usize];
                let (tokens, _) =
                    kinds.entry(in_one_line(&what(timeline, row.kind, item)).into_owned()).or_default();
                *tokens =
                    if enters { *tokens + Tokens::from(row.raw) } else { *tokens - Tokens::from(row.raw) };
            }
            for (tokens, by_request) in kinds.values_mut() {
                by_request.resize(n, 0);
                by_request.push(*tokens);
            }
            n += 1;
        });
        let kinds = kinds.into_iter().map(|(what, (_, tokens))| Self { what, tokens });
        let mut all = kinds.filter(|it| it.sum() > 0).listed();
        all.order_by_key(|it| std::cmp::Reverse(it.sum()));
        if all.len() > MOST_KINDS + 1 {
            let rest = all.split_off(MOST_KINDS);
            let tokens = (0..n).map(|nth| rest.iter().map(|it| it.tokens[nth]).sum()).listed();
            all.push(Self { what: format!("{} others", rest.len()), tokens });
        }
        all
    }
}

/// Returns a chart for each recorded session whose requests were kept.
pub fn all(source: &ChartData<'_>) -> Vec<FilledPrompts> {
    let of = source.traces.iter().filter(|it| !it.filled.is_empty());
    let chart = |it: &super::requests::RunRequests| FilledPrompts {
        subject: format!("{}, as recorded", it.scenario.trim_end_matches(',')),
        kinds: it.filled.clone(),
    };
    of.map(chart).listed()
}

impl FilledPrompts {
    fn n(&self) -> usize {
        self.kinds.first().map_or(0, |it| it.tokens.len())
    }

    fn total(&self) -> Tokens {
        self.kinds.iter().map(FilledKind::sum).sum()
    }
}

impl Picture for FilledPrompts {
    fn title(&self) -> String {
        "What fills the prompt of each request".to_owned()
    }

    fn subject(&self) -> String {
        self.subject.clone()
    }

    fn summary(&self) -> String {
        let total = self.total().max(1) as f64;
        let said = self.kinds.iter().map(|it| format!("{} {}", it.what, percent(it.sum() as f64 / total)));
        format!("Of all tokens in {}: {}.", numbers::counted(self.n(), "prompt"), said.listed().join(", "))
    }

    fn table(&self) -> Grid {
        let total = self.total().max(1) as f64;
        let columns: [Of<'_, FilledKind>; 4] = [
            ("what", &|it| it.what.clone()),
            ("last prompt", &|it| numbers::thousands(it.tokens.last().copied().unwrap_or(0))),
            ("largest", &|it| numbers::thousands(it.tokens.iter().copied().max().unwrap_or(0))),
            ("of all sent", &|it| percent(it.sum() as f64 / total)),
        ];
        Grid::of("", 1, &self.kinds, &columns)
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(0.0);
        let kinds = self.kinds.iter().enumerate();
        let entries = kinds.map(|(nth, it)| (Swatch::Colour(ink::part(nth)), it.what.clone()));
        let top = legend::legend(&mut scene, entries) + LINE + 14.0;
        let (left, right, bottom) = (52.0, WIDTH - 16.0, top + HEIGHT);
        let sums = |n_kinds: usize| {
            (0..self.n())
                .map(|nth| self.kinds[..n_kinds].iter().map(|it| it.tokens[nth]).sum::<Tokens>())
                .listed()
        };
        let highest = sums(self.kinds.len()).into_iter().max().unwrap_or(0);
        let up = Axis::new(0.0, highest as f64, [bottom, top], 4.0);
        up.beside(&mut scene, [left, right], "prompt tokens", |it| {
            numbers::short(it as u64).replace(".0", "")
        });
        let across = Axis::exact(self.n() as f64, [left, right], 6.0);
        let foot = round(up.at(0.0));
        for n_kinds in (1..=self.kinds.len()).rev() {
            let mut d = format!("M{left} {foot}");
            let mut before = [left, f64::NAN];
            for (nth, tokens) in sums(n_kinds).into_iter().enumerate() {
                let [x, y] = [across.at(nth as f64), up.at(tokens as f64)].map(round);
                // Of requests that share a place, or are equally high, one step is enough.
                if y == before[1] || (x - before[0] < 0.5 && nth > 0) {
                    continue;
                }
                d.push_str(&format!("H{x}V{y}"));
                before = [x, y];
            }
            d.push_str(&format!("H{right}V{foot}Z"));
            let kind = &self.kinds[n_kinds - 1];
            let share = percent(kind.sum() as f64 / self.total().max(1) as f64);
            let label = format!("{}: {share} of all tokens sent", kind.what);
            scene.spot(label, true, vec![Path::filled(d, ink::part(n_kinds - 1)).into()]);
        }
        across.below(&mut scene, [bottom; 2], "billed requests, in order", |it| across.written(it));
        scene.height = bottom + 46.0;
        scene
    }
}
