//! How a question is answered: from what is recalled,
//! by a model that does not use all of it; with the same draws for every oracle, unless the load asks for others.

use super::{AgingRun, Answer, AnsweredQuestion, Oracle, SessionLog, Tracked, asking};
use crate::aging::metric::share;
use crate::aging::stream::{Ask, StreamScore};
use crate::prelude::*;
use crate::trial::{best, normal};
use ctxsim_input::policy::memory::{MemoryPart, TotalsSurvive};

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
        rules.spec.store.compaction().is_some() && rules.spec.write.totals == TotalsSurvive::Fold
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
        let is_said_now =
            said == asked.1 && (said > 0 || self.store.rules.spec.store != SessionStore::Nothing);
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
        share(self.player.said.retracted.iter().copied().filter(is_due).map(|it| !is_mentioned(it)))
    }
}

/// What a question brings back.
pub(super) enum RecallView {
    /// All that is held.
    All,
    /// These records alone.
    Records(Vec<RecordIx>),
    /// These files alone.
    Files(Vec<u16>),
}

impl RecallView {
    /// Returns whether a record of a domain is in view.
    pub(super) fn has(&self, record: RecordIx, file: u16) -> bool {
        match self {
            Self::All => true,
            Self::Records(records) => records.contains(&record),
            Self::Files(files) => files.contains(&file),
        }
    }
}

impl AgingRun<'_> {
    /// Returns what a question brings back that needs some records; `twins` are those that are as much like it as the target.
    pub(super) fn view(&self, needed: &[RecordIx], twins: &[RecordIx], asked: (usize, u32)) -> RecallView {
        let rules = &self.store.rules;
        if rules.is_oracle(MemoryPart::Read) {
            return RecallView::All;
        }
        let is_files = rules.spec.store == SessionStore::Files;
        let n = match rules.spec.read {
            SessionRead::All => return RecallView::All,
            SessionRead::Last(n) if is_files => return RecallView::Files(self.last_files(n)),
            SessionRead::Last(n) => {
                let n = saturated::<usize>(n).min(self.store.records.len());
                return RecallView::Records(self.store.records[self.store.records.len() - n..].to_vec());
            }
            SessionRead::Top { n, .. } => saturated(n),
        };
        // A question that is asked again in another session, or after records were put in another order, meets other noise.
        let draws = Seed(self.player.draws.similarity.bits_of(asking(asked), 0)).stream("record", 0);
        let noise = |place: u64| normal(draws.bits_of(place, self.store.order.into()));
        let fitted = self.player.numbers.fitted.similarity_margin;
        if is_files {
            let domains: u16 = ix(self.player.stream.graph.domains.len());
            let files = 0..=self.store.file_of(domains.saturating_sub(1));
            let file =
                |it: &RecordIx| self.store.file_of(self.player.stream.graph.records[*it as usize].domain);
            let wanted: Vec<u16> = needed.iter().map(file).collect();
            let margin = |it: u16| if wanted.contains(&it) { fitted } else { 0.0 };
            return RecallView::Files(best(files.map(|it| (noise(it.into()) + margin(it), it)).collect(), n));
        }
        let crowds = matches!(rules.spec.read, SessionRead::Top { crowding: true, .. });
        let confusable = self.player.numbers.assumed.confusable_margin;
        let margin = |it: RecordIx| match (needed.contains(&it), twins.contains(&it)) {
            (true, _) if !twins.is_empty() => confusable,
            (true, _) => fitted,
            (_, true) if crowds => confusable,
            _ => 0.0,
        };
        let scored = self.store.records.iter().map(|it| (noise(u64::from(*it)) + margin(*it), *it));
        RecallView::Records(best(scored.collect(), n))
    }

    /// Returns the files that were written last.
    fn last_files(&self, n: u64) -> Vec<u16> {
        let mut last = Vec::new();
        for record in self.store.records.iter().rev() {
            let file = self.store.file_of(self.player.stream.graph.records[*record as usize].domain);
            if last.len() as u64 == n {
                break;
            }
            if !last.contains(&file) {
                last.push(file);
            }
        }
        last
    }
}

/// Of the last session's keywords, the share that makes the best score.
const ENOUGH: f64 = 0.3;

impl AgingRun<'_> {
    /// Returns the score of what was asked in a session and of what it began with; `first` is its first question.
    pub(super) fn score_before(&self, session: u32, first: usize) -> Option<f64> {
        match self.player.stream.scoring {
            StreamScore::Keywords => self.keywords(session, true),
            StreamScore::Answers => self.answered(first),
            StreamScore::Dependencies => self.dependencies(session, first),
            StreamScore::Fidelity => None,
        }
    }

    /// Adds the point after the last session, where the memory's text is scored.
    pub(super) fn last_point(&mut self) {
        if self.player.stream.scoring == StreamScore::Keywords {
            let score = self.keywords(self.player.stream.n_sessions(), false);
            let (memory_tokens, memory_digest) = self.size();
            let last = SessionLog { score, memory_tokens, memory_digest, ..SessionLog::default() };
            self.log.sessions.push(last);
        }
    }

    /// Returns the questions of a session that count in its score.
    fn scored(&self, first: usize) -> impl Iterator<Item = &AnsweredQuestion> + Clone {
        let probes = &self.player.stream.probes;
        self.log.asked[first..].iter().filter(|it| probes[it.probe].is_scored)
    }

    /// Returns the score where nothing has been asked.
    fn before_first(&self) -> Option<f64> {
        self.player.begins_at_one.then_some(1.0)
    }

    /// Returns the share of scored questions that were answered.
    fn answered(&self, first: usize) -> Option<f64> {
        share(self.scored(first).map(|it| it.answers[0].is_right)).or(self.before_first())
    }

    /// Returns the share of current tracked facts that are in the memory's text or in the session's own.
    fn keywords(&self, session: u32, has_own: bool) -> Option<f64> {
        // Facts stand in the order of their sessions.
        let tracked = self.player.tracked.iter().take_while(|it| it.session <= session);
        let gists_tell = self.store.gists_name_subjects();
        share(tracked.filter(|it| it.replaced > session).map(|fact| {
            let is_own = has_own && fact.session == session;
            let by_gist =
                || gists_tell && fact.subject_of.is_some_and(|subject| self.store.mentions(subject));
            is_own || fact.is_hit || self.store.is_exact[fact.fact as usize] || by_gist()
        }))
    }

    /// Returns the share of records with tracked facts of which some tracked fact is held, in whichever version.
    pub(super) fn fidelity(&self, session: u32) -> Option<f64> {
        let graph = &self.player.stream.graph;
        let mut held: Vec<Option<bool>> = vec![None; graph.records.len()];
        for Tracked { fact, .. } in &self.player.tracked {
            if graph.facts[*fact as usize].session <= session {
                let first = graph.chain(*fact).next().unwrap_or(*fact);
                let record = graph.facts[first as usize].record as usize;
                held[record] = Some(held[record].unwrap_or(false) || self.store.holds(*fact));
            }
        }
        share(held.into_iter().flatten())
    }

    /// Returns how far enough of the last session's keywords were cited.
    fn dependencies(&self, session: u32, first: usize) -> Option<f64> {
        let draws = &self.player.draws.cite;
        let cites = self.player.numbers.fitted.cited_share;
        let is_drawn = |it: &AnsweredQuestion| draws.unit_of(it.probe as u64, session.into()) < cites;
        let is_cited = |it: &&AnsweredQuestion| it.answers[0].is_right && is_drawn(it);
        let n_all = self.scored(first).count() as f64;
        let n_cited = self.scored(first).filter(is_cited).count() as f64;
        if n_all == 0.0 { self.before_first() } else { Some((n_cited / (ENOUGH * n_all).max(1.0)).min(1.0)) }
    }
}
