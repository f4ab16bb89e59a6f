//! How a question is answered: from what is recalled,
//! by a model that does not use all of it; with the same draws for every oracle, unless the load asks for others.

use super::recall::RecallView;
use super::{AgingRun, Answer, Oracle, asking};
use crate::aging::stream::Ask;
use crate::graph::{FactIx, FactRelation, RecordIx};
use ctxsim_input::policy::memory::{SessionStore, TotalsSurvive};

impl AgingRun<'_> {
    /// Answers a question as the agent is, and with each oracle, or nothing if what it asks for is not true
    /// any more.
    pub(super) fn answers(&self, ask: &Ask, asked: (usize, u32)) -> Option<[Answer; 3]> {
        match ask {
            Ask::Any { facts, is_echoed } => self.any(facts, *is_echoed, asked),
            Ask::Chain(edge) => Some(self.chain(*edge as usize, asked)),
            Ask::Binding { fact } => Some(self.binding(*fact, asked)),
            Ask::Total { accumulator, at } => Some(self.total(*accumulator as usize, *at, asked)),
        }
    }

    fn any(&self, facts: &[FactIx], is_echoed: bool, asked: (usize, u32)) -> Option<[Answer; 3]> {
        let graph = &self.player.stream.graph;
        let current: Vec<FactIx> = facts.iter().filter_map(|it| graph.current(*it, asked.1)).collect();
        if current.is_empty() {
            return None;
        }
        let view = self.view(&self.records(&current), &[], asked);
        Some(Oracle::ALL.map(|oracle| {
            let is_stated = |it: &FactIx| self.is_stated(*it, &view, oracle, 0, asked);
            Answer { is_right: is_echoed || current.iter().any(is_stated), ..Answer::default() }
        }))
    }

    fn chain(&self, edge: usize, asked: (usize, u32)) -> [Answer; 3] {
        let edge = &self.player.stream.graph.edges[edge];
        let view = self.view(&self.records(&edge.facts), &[], asked);
        Oracle::ALL.map(|oracle| {
            let states = |it: &FactIx| self.is_stated(*it, &view, oracle, 0, asked);
            let hops: Vec<bool> = edge.facts.iter().map(states).collect();
            let is_stale = match (edge.relation, hops.as_slice()) {
                // The old value is stated where nothing newer is.
                (FactRelation::Trend, [old, current]) => *old && !*current,
                _ => false,
            };
            Answer { is_right: hops.iter().all(|it| *it), hops, is_stale, ..Answer::default() }
        })
    }

    /// Answers for one of the facts that could be confused: what is beside the target is stated in its place
    /// now and then.
    fn binding(&self, fact: FactIx, asked: (usize, u32)) -> [Answer; 3] {
        let graph = &self.player.stream.graph;
        let others: Vec<FactIx> = graph.pairs.iter().flatten().copied().filter(|it| *it != fact).collect();
        let view = self.view(&self.records(&[fact]), &self.records(&others), asked);
        Oracle::ALL.map(|oracle| {
            let n_beside = match oracle {
                Oracle::None => others.iter().filter(|it| self.is_in_view(**it, &view, oracle)).count(),
                Oracle::Read | Oracle::Context => 0,
            };
            let is_right = self.is_stated(fact, &view, oracle, n_beside, asked);
            // Where the target is not stated, the model states what stands there instead.
            let is_confused = !is_right && n_beside > 0 && self.uses(fact, 0, oracle, asked);
            Answer { is_right, is_confused, ..Answer::default() }
        })
    }

    /// Answers for a running total.
    fn total(&self, total: usize, at: u32, asked: (usize, u32)) -> [Answer; 3] {
        let accumulator = &self.player.stream.graph.accumulators[total];
        let due = || accumulator.deltas.iter().enumerate().filter(|it| it.1.session <= at);
        let deltas: Vec<FactIx> = due().map(|it| it.1.fact).collect();
        let view = self.view(&self.records(&deltas), &[], asked);
        let marked = self.marked(total, at);
        let gold = self.player.stream.graph.total(total, at) as f64;
        Oracle::ALL.map(|oracle| {
            let is_counted = |nth: usize, fact: FactIx| match oracle {
                Oracle::Context => self.uses(fact, 0, oracle, asked),
                _ if self.folds() => self.store.folded[total][nth],
                _ => self.is_stated(fact, &view, oracle, 0, asked),
            };
            let counted = due().filter(|(nth, delta)| is_counted(*nth, delta.fact));
            let sum: i64 = counted.map(|it| it.1.amount).sum();
            let knows = self.store.knows_initial || oracle == Oracle::Context;
            let told = knows.then_some((accumulator.initial + sum) as f64);
            let header = marked.filter(|_| oracle != Oracle::Context && self.reads_header(asked));
            let stated = header.or(told);
            Answer { is_right: stated == Some(gold), total: stated, ..Answer::default() }
        })
    }

    /// Returns the overlay's total, if there is one.
    fn marked(&self, total: usize, at: u32) -> Option<f64> {
        let marked = self.store.rules.overlay?;
        let accumulator = &self.player.stream.graph.accumulators[total];
        let draws = &self.player.draws.mark;
        let is_marked = |nth: usize| marked >= 1.0 || draws.unit_of(total as u64, nth as u64) < marked;
        let due =
            accumulator.deltas.iter().enumerate().filter(|(nth, it)| it.session <= at && is_marked(*nth));
        Some((accumulator.initial + due.map(|it| it.1.amount).sum::<i64>()) as f64)
    }

    /// Returns whether the total before the memory is used.
    fn reads_header(&self, (probe, session): (usize, u32)) -> bool {
        let p = self.store.rules.header_use(self.player.numbers);
        p >= 1.0 || self.player.draws.header.unit_of(probe as u64, session.into()) < p
    }

    /// Returns whether balances are carried, rather than added up when they are asked.
    fn folds(&self) -> bool {
        let rules = &self.store.rules;
        rules.store.compaction().is_some() && rules.write.totals == TotalsSurvive::Fold
    }

    /// Returns whether a fact is in view.
    fn is_in_view(&self, fact: FactIx, view: &RecallView, oracle: Oracle) -> bool {
        let it = &self.player.stream.graph.facts[fact as usize];
        match oracle {
            Oracle::Context => true,
            Oracle::Read => self.store.holds(fact),
            Oracle::None => self.store.holds(fact) && view.has(it.record, self.store.file_of(it.domain)),
        }
    }

    /// Returns whether a fact is stated: it is in view, or in the session's own text, and the model uses it.
    fn is_stated(
        &self,
        fact: FactIx,
        view: &RecallView,
        oracle: Oracle,
        n_beside: usize,
        asked: (usize, u32),
    ) -> bool {
        let said = self.player.stream.graph.facts[fact as usize].session;
        // In the first session the prompt holds the profile as it was given, where anything is kept at all.
        let is_said_now = said == asked.1 && (said > 0 || self.store.rules.store != SessionStore::Nothing);
        (is_said_now || self.is_in_view(fact, view, oracle)) && self.uses(fact, n_beside, oracle, asked)
    }

    /// Returns whether the model states a fact that it sees, beside others that could be confused with it.
    fn uses(&self, fact: FactIx, n_beside: usize, oracle: Oracle, asked: (usize, u32)) -> bool {
        let rules = &self.store.rules;
        let odds = 1.0 + rules.confusion(self.player.numbers) * n_beside as f64;
        let said = self.player.stream.graph.facts[fact as usize].session;
        let recalled = match oracle {
            Oracle::None => rules.recalled(asked.1.saturating_sub(said)),
            // What an oracle hands over stands in the prompt, however long ago it was said.
            Oracle::Read | Oracle::Context => 1.0,
        };
        let p = rules.utilisation() / odds * recalled;
        let draws = match oracle {
            Oracle::Read if self.player.own_oracle_draws => &self.player.draws.use_with_retrieval,
            Oracle::Context if self.player.own_oracle_draws => &self.player.draws.use_with_context,
            _ => &self.player.draws.use_of_fact,
        };
        p >= 1.0 || draws.unit_of(asking(asked), fact.into()) < p
    }

    /// Returns the records of facts.
    fn records(&self, facts: &[FactIx]) -> Vec<RecordIx> {
        facts.iter().map(|it| self.player.stream.graph.facts[*it as usize].record).collect()
    }

    /// Returns the share of what was retracted before a session that the session does not mention, or none if
    /// nothing was.
    pub(super) fn forgotten(&self, session: u32) -> Option<f64> {
        let graph = &self.player.stream.graph;
        let draws = &self.player.draws.mention;
        let mention = self.player.numbers.assumed.mention_share;
        let is_due = |it: &FactIx| graph.facts[*it as usize].invalidated_at.is_some_and(|it| it < session);
        let is_mentioned = |it: FactIx| {
            self.store.is_exact[it as usize] && draws.unit_of(it.into(), session.into()) < mention
        };
        share(self.player.retracted.iter().copied().filter(is_due).map(|it| !is_mentioned(it)))
    }
}

/// Returns the share of what holds; none of nothing.
pub(super) fn share(all: impl Iterator<Item = bool>) -> Option<f64> {
    let mut counts = [0_u32; 2];
    all.for_each(|it| counts[usize::from(it)] += 1);
    let n = counts[0] + counts[1];
    (n > 0).then(|| f64::from(counts[1]) / f64::from(n))
}
