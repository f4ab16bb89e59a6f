//! The score of a session, by the scenario's own metric.

use super::answer::share;
use super::{AgingRun, AnsweredQuestion, SessionLog, Tracked};
use crate::aging::stream::Scoring;

/// Of the last session's keywords, the share that makes the best score.
const ENOUGH: f64 = 0.3;

impl AgingRun<'_> {
    /// Returns the score of what was asked in a session and of what it began with; `first` is its first question.
    pub(super) fn score_before(&self, session: u32, first: usize) -> Option<f64> {
        match self.player.stream.scoring {
            Scoring::Keywords => self.keywords(session, true),
            Scoring::Probes => self.answered(first),
            Scoring::Dependencies => self.dependencies(session, first),
            Scoring::Fidelity => None,
        }
    }

    /// Returns the score of what a session leaves, if that is what is scored.
    pub(super) fn score_after(&self, session: u32) -> Option<f64> {
        if self.player.stream.scoring == Scoring::Fidelity { self.fidelity(session) } else { None }
    }

    /// Adds the point after the last session, where the memory's text is scored.
    pub(super) fn last_point(&mut self) {
        if self.player.stream.scoring == Scoring::Keywords {
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
    fn fidelity(&self, session: u32) -> Option<f64> {
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
