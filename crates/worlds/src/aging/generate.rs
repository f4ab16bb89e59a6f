//! Generates streams of sessions from a seed; each generator is one function of its own and one line here.

use crate::prelude::*;

use super::assumed::AgingNumbers;
use super::generators;
use super::stream::{AgingProbe, AgingSession, AgingStream, Ask, StreamScore};
use crate::graph::{Accumulator, TotalChange};
use ctxsim_base::rng::Stream as Draws;
use ctxsim_input::scenario::PressurePreset;

/// Writes the sessions of a draft.
pub type Generator = fn(&mut StreamDraft<'_>);

/// The generators, by the name that a scenario gives.
pub const GENERATORS: [(&str, Generator); 7] = [
    ("research_literature", generators::research_literature),
    ("lifestyle", generators::lifestyle),
    ("knowledge_base", generators::knowledge_base),
    ("software_engineering", generators::software_engineering),
    ("self_management", generators::self_management),
    ("multi_domain", generators::multi_domain),
    ("self_planning", generators::self_planning),
];

/// Generates a stream with a bundled generator; without sessions if there is no such generator.
pub fn stream(load: &AgingLoad, seed: Seed, numbers: &AgingNumbers) -> AgingStream {
    let generator = GENERATORS.iter().find(|it| it.0 == load.generator).map(|found| found.1);
    stream_by(generator.unwrap_or(|_| {}), load, seed, numbers)
}

/// Makes a stream by any generator.
pub fn stream_by(generator: Generator, load: &AgingLoad, seed: Seed, numbers: &AgingNumbers) -> AgingStream {
    let mut draft = StreamDraft::new(load, seed, numbers);
    generator(&mut draft);
    draft.finish()
}

/// Of questions over several facts where some fact was changed: those that follow a change.
const TREND_SHARE: f64 = 0.6;

/// A stream that is being written.
pub struct StreamDraft<'a> {
    /// What the scenario asks for.
    pub load: &'a AgingLoad,
    /// The declared numbers.
    pub numbers: &'a AgingNumbers,
    /// How hard the load presses.
    pub pressure: Pressure,
    stream: AgingStream,
}

impl<'a> StreamDraft<'a> {
    /// Begins a stream.
    fn new(load: &'a AgingLoad, seed: Seed, numbers: &'a AgingNumbers) -> Self {
        let stream = AgingStream::new(Graph::default(), StreamScore::Answers, seed);
        Self { load, numbers, pressure: Pressure::of_load(load), stream }
    }

    /// Ends the stream: its questions stand in the order in which they are first asked, and what they depend on with them. Those that
    /// nobody would ask any more are left out.
    fn finish(mut self) -> AgingStream {
        let n = self.stream.n_sessions();
        let mut probes = std::mem::take(&mut self.stream.probes);
        probes.retain(|it| it.from <= n);
        probes.order_by_key(|it| it.from);
        let edges = std::mem::take(&mut self.stream.graph.edges);
        for mut probe in probes {
            probe.until = if probe.from < n { probe.until } else { u32::MAX };
            let depends = match &mut probe.ask {
                Ask::Any { facts, .. } if facts.len() == 1 => Some((FactRelation::Standalone, facts.clone())),
                Ask::Chain(edge) => {
                    let old = &edges[*edge as usize];
                    *edge = ix(self.stream.graph.edges.len());
                    Some((old.relation, old.facts.clone()))
                }
                _ => None,
            };
            if let Some((relation, facts)) = depends {
                self.stream.graph.depend(probe.from, relation, facts);
            }
            self.stream.probes.push(probe);
        }
        self.stream
    }

    /// Says how sessions are scored, and what facts are about.
    pub fn about(&mut self, scoring: StreamScore, domains: &[&str]) {
        self.stream.scoring = scoring;
        self.stream.graph.domains = domains.iter().map(|it| (*it).to_owned()).collect();
    }

    /// Returns what has been said so far.
    pub fn graph(&self) -> &Graph {
        &self.stream.graph
    }

    /// Returns the session that is being written.
    pub fn session(&self) -> u32 {
        self.stream.n_sessions().saturating_sub(1)
    }

    /// Returns the number of sessions the load asks for.
    pub fn n_sessions(&self) -> u32 {
        saturated(self.load.sessions)
    }

    /// Returns whether the session that is being written says anything new.
    pub fn says_something(&self) -> bool {
        self.load.curated_sessions.is_none_or(|it| u64::from(self.session()) < it)
    }

    pub fn begin_session(&mut self, tasks: u32) {
        self.stream.sessions.push(AgingSession { tasks, tokens: self.pressure.tokens_per_session });
    }

    /// Says that the records so far are in the profile that the agent was given.
    pub fn end_profile(&mut self) {
        self.stream.profile_records = ix(self.graph().records.len());
    }

    /// Returns draws of the session that is being written, for one purpose.
    pub fn draws(&self, purpose: &str) -> Draws {
        self.stream.seed.stream(purpose, u64::from(self.session()))
    }

    /// Begins a record of the session; a domain beyond the last is the last.
    pub fn record(&mut self, domain: usize) -> RecordIx {
        let session = self.session();
        let graph = &mut self.stream.graph;
        if graph.domains.is_empty() {
            graph.domains.push("general".to_owned());
        }
        let domain = u16::try_from(domain.min(graph.domains.len() - 1)).unwrap_or(0);
        graph.record(session, domain).unwrap_or_default()
    }

    /// Says a figure in a record.
    pub fn value(&mut self, record: RecordIx, value: i64, is_tracked: bool) -> FactIx {
        self.stream.graph.say(record, Says::Value(value), is_tracked)
    }

    /// Says a figure that may be asked for, drawn for a purpose.
    pub fn figure(&mut self, record: RecordIx, draws: &mut Draws) -> FactIx {
        self.value(record, figure(draws), true)
    }

    /// Says what a record is about, if that is asked for.
    pub fn subject(&mut self, record: RecordIx, is_tracked: bool) -> FactIx {
        self.stream.graph.say(record, Says::Subject, is_tracked)
    }

    /// Says figures that nobody asks about, drawn for a purpose.
    pub fn bystanders(&mut self, record: RecordIx, n: u64, draws: &mut Draws) {
        for _ in 0..n {
            self.value(record, figure(draws), false);
        }
    }

    /// Asks something in each session from one on, until one.
    pub fn ask(&mut self, from: u32, until: u32, ask: Ask, is_scored: bool) {
        self.stream.probes.push(AgingProbe { from, until, ask, is_scored });
    }

    /// Asks something in one session.
    pub fn ask_once(&mut self, session: u32, ask: Ask, is_scored: bool) {
        self.ask(session, session.saturating_add(1), ask, is_scored);
    }

    /// Asks in a session, so many times, for any of the facts of some earlier group.
    pub fn ask_some_of(&mut self, groups: &[Vec<FactIx>], n: usize, session: u32, draws: &mut Draws) {
        for _ in 0..n {
            if let Some(facts) = draws.pick(groups).cloned() {
                self.ask_once(session, Ask::Any { facts, is_echoed: false }, true);
            }
        }
    }

    /// Begins a running total.
    pub fn total(&mut self, initial: i64, domain: u16) -> u32 {
        let totals = &mut self.stream.graph.accumulators;
        totals.push(Accumulator { initial, domain, deltas: Vec::new() });
        ix(totals.len() - 1)
    }

    /// Changes a running total in a record.
    pub fn change(&mut self, total: u32, amount: i64, record: RecordIx) {
        let session = self.session();
        let fact = self.value(record, amount, false);
        self.stream.graph.accumulators[total as usize].deltas.push(TotalChange { session, amount, fact });
    }

    /// Asks for a running total as often as the load says: in every session, or in every second or third.
    pub fn ask_total(&mut self, total: u32) {
        let session = self.session();
        let rhythm = self.draws("aging total asked").between(2, 3);
        let is_due = self.load.dense_totals || u64::from(session) % rhythm == 0;
        if session >= 2 && is_due && session + 1 < self.n_sessions() {
            self.ask_once(session + 1, Ask::Total { accumulator: total, at: session }, false);
        }
    }

    /// Adds what the pressure adds to a session: a question over several facts, changes, retractions, facts that could be confused.
    pub fn press(&mut self) {
        if self.says_something() {
            self.depend();
            self.revise();
            self.forget();
            self.confuse();
        }
    }

    /// Asks a question over several earlier facts.
    fn depend(&mut self) {
        let session = self.session();
        let mut draws = self.draws("aging dependency");
        let asks = draws.chance(self.pressure.dependency_density);
        if u64::from(session) < self.pressure.warmup_sessions || !asks {
            return;
        }
        let graph = self.graph();
        let early: Vec<FactIx> =
            facts(graph).filter(|it| graph.facts[*it as usize].session < session).collect();
        if early.len() < 2 {
            return;
        }
        let is_changed = |it: &FactIx| {
            graph.facts[*it as usize].replaced_by.is_some_and(|it| graph.facts[it as usize].session < session)
        };
        let changed: Vec<FactIx> = early.iter().copied().filter(is_changed).collect();
        let mut kinds = vec![FactRelation::Compare, FactRelation::Synthesize];
        if !changed.is_empty() {
            kinds.push(FactRelation::Trend);
        }
        if early.len() >= 3 {
            kinds.push(FactRelation::Synthesize);
        }
        let prefers_trend = draws.chance(TREND_SHARE) && !changed.is_empty();
        let relation = if prefers_trend {
            FactRelation::Trend
        } else {
            *draws.pick(&kinds).unwrap_or(&FactRelation::Compare)
        };
        let n_most = (self.pressure.max_chain_depth + 1).clamp(3, 5);
        let chosen = match relation {
            FactRelation::Trend => {
                let old = draws.pick(&changed).copied().unwrap_or_default();
                let current =
                    graph.chain(old).filter(|it| graph.facts[*it as usize].session < session).last();
                vec![old, current.unwrap_or(old)]
            }
            FactRelation::Synthesize => self.drawn_apart(&early, draws.between(3, n_most), &mut draws),
            _ => self.drawn_apart(&early, 2, &mut draws),
        };
        let edge = self.stream.graph.depend(session, relation, chosen);
        self.ask_once(session, Ask::Chain(edge), false);
    }

    /// Draws facts of sessions that all differ, as far as there are so many.
    fn drawn_apart(&self, early: &[FactIx], n: u64, draws: &mut Draws) -> Vec<FactIx> {
        let session = |it: FactIx| self.graph().facts[it as usize].session;
        let mut left = early.to_vec();
        let mut chosen: Vec<FactIx> = Vec::new();
        while (chosen.len() as u64) < n {
            let Some(next) = draws.pick(&left).copied() else { break };
            chosen.push(next);
            left.retain(|it| session(*it) != session(next));
        }
        if chosen.len() < 2 {
            let other = early.iter().copied().find(|it| !chosen.contains(it));
            chosen.extend(other);
        }
        chosen
    }

    /// Gives some facts another value, in a record that says so.
    fn revise(&mut self) {
        let depth = if self.load.deep_version_chains { self.pressure.max_chain_depth } else { 2 };
        let is_open = |graph: &Graph, it: FactIx| {
            let fact = &graph.facts[it as usize];
            let is_figure = matches!(fact.says, Says::Value(_)) && fact.pair.is_none();
            is_figure && fact.replaced_by.is_none() && u64::from(fact.version) < depth
        };
        let rate = self.pressure.update_rate;
        let mut draws = self.draws("aging change");
        for old in self.drawn_share(rate, is_open, &mut draws) {
            let fact = self.graph().facts[old as usize].clone();
            let Says::Value(value) = fact.says else { continue };
            let reach = u64::try_from(value / 4).unwrap_or(0);
            let shift = drawn::<i64>(&mut draws, 0, 2 * reach) - value / 4;
            let record = self.record(usize::from(fact.domain));
            let value = value + if shift == 0 { 1 } else { shift };
            // Only what is live was drawn, so that no change is refused.
            let _ = self.stream.graph.update(old, record, value);
        }
    }

    /// Retracts some facts.
    fn forget(&mut self) {
        let session = self.session();
        let rate = self.pressure.forget_rate;
        let is_open = |graph: &Graph, it: FactIx| {
            let fact = &graph.facts[it as usize];
            fact.replaced_by.is_none() && fact.pair.is_none() && matches!(fact.says, Says::Value(_))
        };
        let mut draws = self.draws("aging retraction");
        for fact in self.drawn_share(rate, is_open, &mut draws) {
            self.stream.graph.invalidate(fact, session);
        }
    }

    /// Draws a share of the tracked facts of earlier sessions that are live and pass a test.
    fn drawn_share(
        &self,
        rate: f64,
        is_open: impl Fn(&Graph, FactIx) -> bool,
        draws: &mut Draws,
    ) -> Vec<FactIx> {
        if rate == 0.0 {
            return Vec::new();
        }
        let (session, graph) = (self.session(), self.graph());
        let is_live = |it: &FactIx| {
            let fact = &graph.facts[*it as usize];
            fact.is_tracked && fact.session < session && fact.invalidated_at.is_none() && is_open(graph, *it)
        };
        let mut open: Vec<FactIx> = facts(graph).filter(is_live).collect();
        let n = (open.len() as f64 * rate).round() as usize;
        let mut chosen = Vec::with_capacity(n);
        while chosen.len() < n && !open.is_empty() {
            let last = open.len() as u64 - 1;
            chosen.push(open.swap_remove(drawn(draws, 0, last)));
        }
        chosen
    }

    /// Says pairs of facts that could be confused, each in a record of its own, and asks about one of each from then on.
    fn confuse(&mut self) {
        let session = self.session();
        if u64::from(session) != self.pressure.confusable_start_session {
            return;
        }
        let mut draws = self.draws("aging confusable");
        for _ in 0..self.pressure.confusable_pairs {
            let [one, other] = [0, 1].map(|domain| {
                let record = self.record(domain);
                self.value(record, drawn(&mut draws, 200, 899), false)
            });
            self.stream.graph.confuse([one, other]);
            self.ask(session + 1, u32::MAX, Ask::Binding { fact: one }, false);
        }
    }
}

/// Returns every fact of a graph that questions may go over: those that are tracked.
fn facts(graph: &Graph) -> impl Iterator<Item = FactIx> {
    let n = ix(graph.facts.len());
    (0..n).filter(|it| graph.facts[*it as usize].is_tracked)
}

/// Draws a figure of three digits or more.
fn figure(draws: &mut Draws) -> i64 {
    drawn(draws, 100, 99_999)
}

/// Draws a whole number between two, both included.
pub(super) fn drawn<T: TryFrom<u64> + Default>(draws: &mut Draws, first: u64, last: u64) -> T {
    T::try_from(draws.between(first, last)).unwrap_or_default()
}

/// The eight knobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pressure {
    /// What the environment says in a session.
    pub tokens_per_session: u32,
    /// The share of sessions with a question over several facts.
    pub dependency_density: f64,
    /// The share of facts that are changed in a session.
    pub update_rate: f64,
    /// How many versions a fact can have.
    pub max_chain_depth: u64,
    /// Pairs of facts that could be confused.
    pub confusable_pairs: u64,
    /// The session in which they are said.
    pub confusable_start_session: u64,
    /// Sessions without questions over several facts.
    pub warmup_sessions: u64,
    /// The share of facts that are retracted in a session.
    pub forget_rate: f64,
}

impl Pressure {
    pub fn preset(preset: PressurePreset) -> Self {
        let of = |tokens, density, update, depth, pairs, start, warmup, forget| Self {
            tokens_per_session: tokens,
            dependency_density: density,
            update_rate: update,
            max_chain_depth: depth,
            confusable_pairs: pairs,
            confusable_start_session: start,
            warmup_sessions: warmup,
            forget_rate: forget,
        };
        match preset {
            PressurePreset::Usual => of(2_000, 0.5, 0.15, 3, 3, 5, 3, 0.0),
            PressurePreset::None => of(1_000, 0.0, 0.0, 1, 0, 5, 999, 0.0),
            PressurePreset::Light => of(500, 0.3, 0.1, 2, 1, 5, 3, 0.05),
            PressurePreset::Medium => of(2_000, 0.5, 0.2, 3, 3, 5, 3, 0.1),
            PressurePreset::Heavy => of(5_000, 0.7, 0.3, 4, 12, 8, 5, 0.15),
        }
    }

    /// Returns the pressure of a load: its preset, with the fields that it gives.
    pub fn of_load(load: &AgingLoad) -> Self {
        let preset = Self::preset(load.pressure);
        let tokens = load.tokens_per_session.and_then(|it| u32::try_from(it).ok());
        Self {
            tokens_per_session: tokens.unwrap_or(preset.tokens_per_session),
            dependency_density: load.dependency_density.unwrap_or(preset.dependency_density),
            update_rate: load.update_rate.unwrap_or(preset.update_rate),
            max_chain_depth: load.max_chain_depth.unwrap_or(preset.max_chain_depth),
            confusable_pairs: load.confusable_pairs.unwrap_or(preset.confusable_pairs),
            confusable_start_session: load
                .confusable_start_session
                .unwrap_or(preset.confusable_start_session),
            warmup_sessions: load.warmup_sessions.unwrap_or(preset.warmup_sessions),
            forget_rate: load.forget_rate.unwrap_or(preset.forget_rate),
        }
    }

    /// Returns what knobs press on without anything asking about it, in sentences: without questions over several facts, other
    /// knobs leave metrics without coverage.
    pub fn vacuous(&self) -> Vec<String> {
        if self.dependency_density > 0.0 {
            return Vec::new();
        }
        let said = |field: &str, metrics: &str| {
            format!("`{field}` is set but `dependency_density` is 0, so nothing measures {metrics}.")
        };
        let mut all = Vec::new();
        if self.update_rate > 0.0 {
            all.push(said("update_rate", "version_accuracy and chain_recall by version depth"));
        }
        if self.max_chain_depth > 1 {
            all.push(said("max_chain_depth", "chain_recall and per-hop recall"));
        }
        if self.confusable_pairs > 0 {
            all.push(said("confusable_pairs", "interference_resistance (binding probes still do)"));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_density_names_the_metrics_that_other_knobs_leave_uncovered() {
        let silent = Pressure::preset(PressurePreset::None);
        let vacuous = Pressure { update_rate: 0.2, confusable_pairs: 3, ..silent };

        assert!(silent.vacuous().is_empty());
        let said = vacuous.vacuous();
        assert_eq!(said.len(), 2);
        assert!(said[0].contains("version_accuracy") && said[1].contains("interference_resistance"));
        assert!(Pressure::preset(PressurePreset::Heavy).vacuous().is_empty());
    }
}
