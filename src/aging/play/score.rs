//! The score of a session, by the scenario's own metric.

use super::answer::share;
use super::{Asked, Run, SessionLog};
use crate::aging::stream::Scoring;

/// Of the last session's keywords, the share that makes the best score.
const ENOUGH: f64 = 0.3;

impl Run<'_> {
    /// Returns the score of what was asked in a session and of what it began with; `first` is its first question.
    pub(super) fn score_before(&self, session: u32, first: usize) -> Option<f64> {
        match self.player.stream.scoring {
            Scoring::Keywords => self.keywords(session, true),
            Scoring::Probes => self.answered(first),
            Scoring::Dependencies => self.dependencies(session, first),
            Scoring::Fidelity => None,
        }
    }

    /// Returns the score of what a session leaves, where that is what is scored.
    pub(super) fn score_after(&self, session: u32) -> Option<f64> {
        if self.player.stream.scoring == Scoring::Fidelity { self.fidelity(session) } else { None }
    }

    /// Adds the point behind the last session, where the memory's text is scored.
    pub(super) fn last_point(&mut self) {
        if self.player.stream.scoring == Scoring::Keywords {
            let score = self.keywords(self.player.stream.n_sessions(), false);
            let (memory_tokens, memory_digest) = (self.store.tokens(), self.store.digest());
            let last = SessionLog { score, memory_tokens, memory_digest, ..SessionLog::default() };
            self.log.sessions.push(last);
        }
    }

    /// Returns the questions of a session that count in its score.
    fn scored(&self, first: usize) -> impl Iterator<Item = &Asked> + Clone {
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

    /// Returns the share of current tracked facts that stand in the memory's text or in the session's own.
    fn keywords(&self, session: u32, has_own: bool) -> Option<f64> {
        let facts = &self.player.stream.graph.facts;
        let is_said = |it: u32| facts[it as usize].session <= session;
        // Facts stand in the order of their sessions.
        let tracked = self.player.tracked.iter().take_while(|it| is_said(it.0));
        let current = tracked.filter(|it| facts[it.0 as usize].replaced_by.is_none_or(|it| !is_said(it)));
        share(current.map(|(fact, is_hit_by_chance)| {
            let is_own = has_own && facts[*fact as usize].session == session;
            is_own || *is_hit_by_chance || self.store.holds(*fact)
        }))
    }

    /// Returns the share of records with tracked facts of which some tracked fact is held, in whichever version.
    fn fidelity(&self, session: u32) -> Option<f64> {
        let graph = &self.player.stream.graph;
        let mut held: Vec<Option<bool>> = vec![None; graph.records.len()];
        for (fact, _) in &self.player.tracked {
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
        let draws = self.player.stream.seed.stream("aging cite", session.into());
        let cites = self.player.numbers.assumed.cited_share;
        let is_cited = |it: &&Asked| it.answers[0].is_right && draws.nth(it.probe as u64, 0).unit() < cites;
        let n_all = self.scored(first).count() as f64;
        let n_cited = self.scored(first).filter(is_cited).count() as f64;
        if n_all == 0.0 { self.before_first() } else { Some((n_cited / (ENOUGH * n_all).max(1.0)).min(1.0)) }
    }
}
