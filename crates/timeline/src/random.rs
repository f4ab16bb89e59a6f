//! Random turns of every shape, for tests of invariants,
//! benchmarks and users; each turn depends only on the seed and its index.

use crate::build::ItemSizes;
use crate::evidence::{Recover, normalised, turns_back};
use crate::prelude::*;
use crate::scripted::{self, narrow};
use crate::{Due, Level, Need, NewItem, Preserve, Timeline, TimelineBuilder};
use ctxsim_base::rng::{Seed, Stream};
use ctxsim_input::ScenarioFile;

/// The tools that are called.
const TOOLS: [&str; 7] =
    ["read_file", "write_file", "rg", "process_start", "process_read", "web_search", "list_dir"];

/// Why results may be needed again.
const PRESERVES: [Preserve; 3] = [Preserve::WorkingEvidence, Preserve::Reference, Preserve::None];

/// Sizes of text: how probable a band is, and its ends.
const TEXT: [(f64, u64, u64); 4] = [(0.05, 0, 0), (0.45, 1, 60), (0.40, 61, 600), (0.10, 601, 4_000)];

/// Sizes of tool results.
const RESULT: [(f64, u64, u64); 6] = [
    (0.05, 0, 0),
    (0.15, 1, 30),
    (0.30, 31, 500),
    (0.30, 501, 5_000),
    (0.17, 5_001, 30_000),
    (0.03, 30_001, 150_000),
];

/// Milliseconds between two requests of a turn: some start at the same instant.
const STEP_MS: [(f64, u64, u64); 3] = [(0.05, 0, 0), (0.80, 500, 20_000), (0.15, 20_001, 400_000)];

/// Milliseconds before a user writes again: some come back after hours.
const PAUSE_MS: [(f64, u64, u64); 4] =
    [(0.05, 0, 0), (0.65, 1_000, 90_000), (0.20, 90_001, 1_200_000), (0.10, 1_200_001, 20_000_000)];

/// The stream of each turn's draws, with the turn's place.
const STREAM: &str = "random/tool_loops";

/// Makes turns with tools, drawn from the scenario's seed; a longer timeline begins as a shorter one does.
pub fn timeline(spec: &ScenarioFile, turns: u64) -> Timeline {
    let mut writer = RandomTurns {
        builder: scripted::begin_timeline(spec),
        overhead: spec.call_overhead_tokens,
        at_ms: 0,
    };
    for index in 0..turns {
        writer.push(&mut Seed(spec.seed).stream(STREAM, index));
    }
    writer.builder.finish()
}

/// Appends drawn turns to a timeline.
struct RandomTurns {
    builder: TimelineBuilder,
    overhead: Tokens,
    at_ms: i64,
}

impl RandomTurns {
    fn push(&mut self, draws: &mut Stream) {
        self.wait(draws, &PAUSE_MS);
        let user = NewItem::plain(Kind::User, narrow(banded(draws, &TEXT)));
        let note = NewItem::plain(Kind::User, narrow(banded(draws, &TEXT)));
        let n_user = if draws.chance(0.1) { 2 } else { 1 };
        self.builder.begin_turn(&[user, note][..n_user]);
        let n_steps = banded(draws, &[(0.2, 0, 0), (0.6, 1, 4), (0.2, 5, 14)]);
        for _ in 0..n_steps {
            self.calls(draws);
        }
        self.answer(draws);
        self.needs(draws, n_steps > 0);
    }

    /// Appends one request that calls tools.
    fn calls(&mut self, draws: &mut Stream) {
        let mut reply = self.thoughts(draws);
        if draws.chance(0.3) {
            reply.push(NewItem::plain(Kind::Assistant, narrow(banded(draws, &TEXT))));
        }
        let n_calls = banded(draws, &[(0.75, 1, 1), (0.25, 2, 5)]);
        let mut results = Vec::new();
        for answers in 0..usize::try_from(n_calls).unwrap_or(1) {
            let tool = draws.pick(&TOOLS).copied().unwrap_or(TOOLS[0]);
            reply.push(NewItem::call(tool, narrow(banded(draws, &TEXT).saturating_add(self.overhead))));
            results.push(result(draws, tool, answers));
        }
        // Parallel results come back in any order.
        if draws.chance(0.3) {
            results.reverse();
        }
        self.step(draws, &reply, &results);
    }

    /// Appends the request that answers the user.
    fn answer(&mut self, draws: &mut Stream) {
        let mut reply = self.thoughts(draws);
        reply.push(NewItem::plain(Kind::Assistant, narrow(banded(draws, &TEXT))));
        self.step(draws, &reply, &[]);
    }

    /// Begins a reply, with reasoning or without.
    fn thoughts(&self, draws: &mut Stream) -> Vec<NewItem<'static>> {
        let reasoning =
            draws.chance(0.25).then(|| NewItem::plain(Kind::Reasoning, narrow(banded(draws, &TEXT))));
        reasoning.into_iter().collect()
    }

    fn step(&mut self, draws: &mut Stream, reply: &[NewItem<'_>], results: &[NewItem<'_>]) {
        let shown: Tokens = reply.iter().map(|it| Tokens::from(it.sizes.raw)).sum();
        // Some models write more than the next prompt shows.
        let hidden = if draws.chance(0.1) { draws.between(1, 2_000) } else { 0 };
        self.builder.step(self.at_ms, shown + hidden, reply, results);
        self.wait(draws, &STEP_MS);
    }

    fn needs(&mut self, draws: &mut Stream, has_calls: bool) {
        let own = self.builder.turn_ix();
        for _ in 0..banded(draws, &[(0.5, 0, 0), (0.5, 1, 3)]) {
            let back = banded(draws, &[(0.6, 1, 3), (0.4, 4, 40)]);
            let level = draws.pick(&Level::ALL[1..]).copied().unwrap_or(Level::ExactEvidence);
            let weight = if draws.chance(0.2) { 1.0 } else { draws.unit() };
            let recover_tokens = draws.chance(0.3).then(|| narrow(banded(draws, &TEXT)));
            if let Some(source) = turns_back(own, back).filter(|_| weight > 0.0) {
                self.builder.need(Due::TurnStart, Need::new(source, level, weight, recover_tokens));
            }
        }
        for due in [Due::Answer, Due::TurnEnd] {
            let weights: Vec<(Level, f64)> = Level::ALL
                .iter()
                .map(|level| (*level, if draws.chance(0.4) { 0.0 } else { draws.unit() }))
                .collect();
            if due == Due::Answer && !has_calls {
                continue;
            }
            for (level, weight) in normalised(weights) {
                self.builder.need(due, Need::new(own, level, weight, None));
            }
        }
    }

    fn wait(&mut self, draws: &mut Stream, bands: &[(f64, u64, u64)]) {
        self.at_ms = self.at_ms.saturating_add(i64::try_from(banded(draws, bands)).unwrap_or(0));
    }
}

/// Draws a result: most renditions are smaller than the whole, some are not, and some results have no handle.
fn result<'a>(draws: &mut Stream, tool: &'a str, answers: usize) -> NewItem<'a> {
    let raw = banded(draws, &RESULT);
    let part = |draws: &mut Stream, of: u64| {
        if draws.chance(0.1) { banded(draws, &TEXT) } else { draws.between(0, of.min(2_500)) }
    };
    let sizes = ItemSizes {
        raw: narrow(raw),
        excerpt: narrow(part(draws, raw)),
        summary: narrow(part(draws, raw / 4)),
        handle: if draws.chance(0.2) { 0 } else { narrow(draws.between(1, 160)) },
    };
    let preserve = draws.pick(&PRESERVES).copied().unwrap_or_default();
    let mut fetch = || if draws.chance(0.3) { 0 } else { narrow(draws.between(1, 3_000)) };
    let recover = Recover { handle: fetch(), local: fetch(), exact: fetch() };
    NewItem::result(tool, answers, sizes, preserve, recover)
}

/// Draws a number from a band that is drawn by its probability; the last band takes what is left.
fn banded(draws: &mut Stream, bands: &[(f64, u64, u64)]) -> u64 {
    let mut rest = draws.unit();
    let mut chosen = (0, 0);
    for (probability, first, last) in bands {
        chosen = (*first, *last);
        if rest < *probability {
            break;
        }
        rest -= probability;
    }
    draws.between(chosen.0, chosen.1)
}
