//! A stream while it is written: sessions in order, with what the pressure adds to each.

use super::Pressure;
use crate::aging::assumed::AgingNumbers;
use crate::aging::stream::{AgingProbe, AgingSession, AgingStream, Ask, Scoring};
use crate::graph::{Accumulator, FactIx, FactRelation, Graph, RecordIx, Says, TotalChange};
use ctxsim_base::order::InOrder as _;
use ctxsim_base::quantity::{ix, saturated};
use ctxsim_base::rng::{Seed, Stream as Draws};
use ctxsim_input::scenario::AgingLoad;

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
    pub(super) fn new(load: &'a AgingLoad, seed: Seed, numbers: &'a AgingNumbers) -> Self {
        let stream = AgingStream {
            graph: Graph::default(),
            sessions: Vec::new(),
            probes: Vec::new(),
            scoring: Scoring::Probes,
            profile_records: 0,
            seed,
        };
        Self { load, numbers, pressure: Pressure::of(load), stream }
    }

    /// Ends the stream: its questions stand in the order in which they are first asked, and what they depend on with them. Those that
    /// nobody would ask any more are left out.
    pub(super) fn finish(mut self) -> AgingStream {
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
    pub fn about(&mut self, scoring: Scoring, domains: &[&str]) {
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
            let others: Vec<FactIx> =
                left.iter().copied().filter(|it| session(*it) != session(next)).collect();
            left = if others.is_empty() { Vec::new() } else { others };
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
            let shift = i64::try_from(draws.between(0, 2 * reach)).unwrap_or(0) - value / 4;
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
        let mut drawn = Vec::with_capacity(n);
        while drawn.len() < n && !open.is_empty() {
            let last = open.len() as u64 - 1;
            let at = usize::try_from(draws.between(0, last)).unwrap_or(0);
            drawn.push(open.swap_remove(at));
        }
        drawn
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
                let value = i64::try_from(draws.between(200, 899)).unwrap_or(200);
                self.value(record, value, false)
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
    i64::try_from(draws.between(100, 99_999)).unwrap_or(100)
}
