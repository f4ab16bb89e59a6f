//! The search for a policy: successive halving over sessions, then coordinate search over the values of the grammar.
//!
//! Everything is played on the sessions that are chosen on. The share of evidence kept has to reach the floor even some way towards the
//! unfavourable end of its interval for later sessions (`caution` in `assumptions/design.toml`); the rule of `tune` tests the choice on others.

use std::cmp::Ordering;

use crate::prelude::*;

use super::grammar::Candidate;
use super::plays::DesignPlays;
use ctxsim_base::rng::Seed;
use ctxsim_engine::measure::assumed::AssumedReach;
use ctxsim_engine::measure::floor::Floor;
use ctxsim_engine::measure::limits::{RatioSample, ratio_interval_for_later, sum_of_pairs};

/// The streams of draws: the order of sessions, and policies of the grammar.
const PURPOSES: [&str; 2] = ["design sessions", "design policies"];

/// The first rung of halving has at least this many sessions.
const RUNG_MIN: usize = 4;

/// Pairs of numbers are tried on one session of so many before the best of them are tried on all.
const PAIR_RUNG: usize = 4;

/// How many policies coordinate search begins with.
const STARTS: usize = 4;

/// The most policies that are played on every session at the end: presets, and where coordinate search ended.
const FINALS: usize = 2 * STARTS + 1;

/// A step has to save this share of the cost, or it is not taken.
const STEP_MIN: f64 = 1e-6;

/// A policy of the front keeps this much more evidence than the one before it.
const FRONT_STEP: f64 = 0.005;

/// What a search is asked for.
#[derive(Clone, Copy, Debug)]
pub struct DesignTerms {
    /// The share of evidence that has to be kept.
    pub min_evidence: f64,
    /// The most plays: of one policy on one session.
    pub budget: usize,
    /// The seed of what is drawn.
    pub seed: u64,
}

/// How a policy does on some sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DesignScore {
    /// 0: it is likely to keep the floor; 1: it may not; 2: it stops elsewhere than the base.
    pub class: u8,
    /// The relative difference of its cost from the base's.
    pub change: f64,
    /// The share of evidence that it keeps, and the same with caution.
    pub kept: Option<f64>,
    pub kept_low: Option<f64>,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct DesignChoice {
    pub chosen: Candidate,
    /// The cheapest preset by the same rule, by its place.
    pub preset: Option<usize>,
    /// The policies that were played on every session that was chosen on, the best first.
    pub ranked: Vec<Candidate>,
    /// Those that no other beats in both cost and evidence there, the cheapest first.
    pub front: Vec<Candidate>,
    pub plays: usize,
    pub policies: usize,
    /// Whether the budget ended the search.
    pub is_cut: bool,
}

/// A search under way.
pub struct DesignSearch<'p, 'c> {
    plays: &'p mut DesignPlays<'c>,
    terms: DesignTerms,
    /// The sessions that are chosen on, in a drawn order.
    order: Vec<usize>,
    seen: IndexSet<(Candidate, usize)>,
    is_cut: bool,
    progress: Progress<'p>,
}

impl<'p, 'c> DesignSearch<'p, 'c> {
    /// Begins a search on some of the sessions.
    pub fn new(
        plays: &'p mut DesignPlays<'c>,
        sessions: &[usize],
        terms: DesignTerms,
        progress: Progress<'p>,
    ) -> Self {
        let stream = Seed(terms.seed).stream(PURPOSES[0], 0);
        let mut order = sessions.to_vec();
        order.order_by_key(|it| (stream.bits_of(*it as u64, 0), *it));
        // What is played at the end takes a quarter of the budget at most.
        order.truncate((terms.budget / (4 * FINALS)).max(RUNG_MIN));
        Self { plays, terms, order, seen: IndexSet::new(), is_cut: false, progress }
    }

    /// Searches.
    ///
    /// # Errors
    /// The grammar is broken.
    pub fn search(mut self) -> Result<DesignChoice> {
        let presets = (0..self.plays.presets.len()).map(|it| self.plays.preset_candidate(it)).listed();
        let stream = Seed(self.terms.seed).stream(PURPOSES[1], 0);
        let draw = |nth| self.plays.grammar.draw_candidate(&mut stream.nth(nth, 0));
        let drawn = (0..presets.len() as u64).map(draw).collect::<IndexSet<_>>().into_iter().listed();
        // On so many sessions it can try so many policies twice over, within its budget.
        let affordable = self.terms.budget / (2 * (presets.len() + drawn.len())).max(1);
        let n = self.order.len().min(affordable.max(RUNG_MIN));
        let presets = self.halve_successively(presets, n)?;
        let drawn = self.halve_successively(drawn, n)?;
        let all = self.order.len();
        // Nothing at all comes first: what each stage does alone is known before a budget ends, and no preset is in its way.
        let mut starts = vec![self.plays.grammar.empty_candidate()];
        starts.extend(presets.iter().take(1).cloned());
        starts.extend(drawn.iter().take(STARTS - starts.len()).cloned());
        let mut ends = Vec::new();
        for start in starts {
            ends.push(self.descend_by_coordinates(start, n)?);
        }
        // What two numbers of a stage can only do together is looked for around the best of them.
        if let Some(best) = self.rank_best_first(ends.clone(), n).into_iter().next() {
            ends.push(self.improve_by_two_changes(best, n)?);
        }
        let n_presets = if n == all { presets.len() } else { STARTS };
        let mut finals: Vec<Candidate> = presets.iter().take(n_presets).chain(&ends).cloned().listed();
        finals.dedup();
        self.play_on_first(&finals, all)?;
        let ranked = self.rank_best_first(finals, all);
        let preset = ranked.iter().find(|it| it.is_preset()).and_then(|it| it.preset);
        let chosen = self.choose_or_preset(&ranked, preset);
        let front = self.pareto_front_with_chosen(&chosen);
        let policies = self.seen.iter().map(|it| &it.0).collect::<IndexSet<_>>().len();
        let (plays, is_cut) = (self.seen.len(), self.is_cut);
        Ok(DesignChoice { chosen, preset, ranked, front, plays, policies, is_cut })
    }

    /// Returns the policies that no other beats in both cost and evidence on all sessions that are chosen on, and the choice among them.
    fn pareto_front_with_chosen(&self, chosen: &Candidate) -> Vec<Candidate> {
        let all = self.order.len();
        let whole = |it: &&Candidate| self.order.iter().all(|nth| self.plays.play_of(it, *nth).is_some());
        let tried: IndexSet<&Candidate> = self.seen.iter().map(|it| &it.0).filter(whole).collect();
        let scored = tried.into_iter().map(|it| self.score_candidate(it.clone(), all));
        let mut scored = scored.filter(|it| it.score.class < 2).listed();
        scored.order_by(|one, other| {
            one.score.change.total_cmp(&other.score.change).then(one.candidate.cmp(&other.candidate))
        });
        let (mut front, mut most) = (Vec::new(), 0.0);
        for Scored { score, candidate } in scored {
            let kept = score.kept.unwrap_or(1.0);
            if kept >= most + FRONT_STEP || candidate == *chosen {
                most = kept.max(most);
                front.push(candidate);
            }
        }
        front
    }

    /// Keeps the better half of policies on twice as many sessions, until they have been tried on as many as asked.
    fn halve_successively(&mut self, mut all: Vec<Candidate>, max_sessions: usize) -> Result<Vec<Candidate>> {
        // As many rungs as it takes to try them all on few sessions: none where all can be tried on all of them.
        let mut rung = max_sessions;
        while rung > RUNG_MIN && rung * all.len() > self.terms.budget / 4 {
            rung = rung.div_ceil(2);
        }
        loop {
            self.play_on_first(&all, rung)?;
            all = self.rank_best_first(all, rung);
            if rung >= max_sessions {
                return Ok(all);
            }
            all.truncate(all.len().div_ceil(2).max(STARTS));
            rung = (rung * 2).min(max_sessions);
        }
    }

    /// Changes one number after the other to its best value, and adds and removes stages, until nothing saves any more.
    fn descend_by_coordinates(&mut self, start: Candidate, n_sessions: usize) -> Result<Candidate> {
        self.play_on_first(std::slice::from_ref(&start), n_sessions)?;
        let mut best = self.score_candidate(start, n_sessions);
        loop {
            let before = best.score;
            for (kind, number) in self.plays.grammar.kind_and_number_indices() {
                let near = self.plays.grammar.neighbours_in_coordinate(&best.candidate, kind, number);
                if !self.can_afford(near.len(), n_sessions) {
                    self.is_cut = true;
                    return Ok(best.candidate);
                }
                self.play_on_first(&near, n_sessions)?;
                for candidate in near {
                    let other = self.score_candidate(candidate, n_sessions);
                    // A stage that changes nothing goes.
                    let fewer = other.candidate.n_added_stages().cmp(&best.candidate.n_added_stages());
                    let order = other.score.cmp_better_first(&best.score, self.terms.min_evidence);
                    if order.then(fewer) == Ordering::Less {
                        best = other;
                    }
                }
            }
            if best.score.class == before.class && best.score.change > before.change - STEP_MIN {
                return Ok(best.candidate);
            }
        }
    }

    /// Puts one kind of stage in the place of another, and changes two numbers of a stage at once, as far as the budget goes; then one number
    /// after the other again.
    fn improve_by_two_changes(&mut self, start: Candidate, n_sessions: usize) -> Result<Candidate> {
        let mut best = self.score_candidate(start.clone(), n_sessions);
        let grammar = self.plays.grammar;
        let tried = grammar.with_one_stage_swapped(&start).into_iter();
        for near in tried.chain(grammar.with_two_numbers_changed(&start)) {
            if !self.can_afford(near.len().div_ceil(PAIR_RUNG), n_sessions) {
                self.is_cut = true;
                return Ok(best.candidate);
            }
            for candidate in self.play_most_promising(near, n_sessions)? {
                let other = self.score_candidate(candidate, n_sessions);
                if other.score.cmp_better_first(&best.score, self.terms.min_evidence) == Ordering::Less {
                    best = other;
                }
            }
        }
        if best.candidate == start {
            Ok(start)
        } else {
            self.descend_by_coordinates(best.candidate, n_sessions)
        }
    }

    /// Returns the few of many policies that are the best on a part of the sessions, tried on all of them.
    fn play_most_promising(&mut self, all: Vec<Candidate>, n_sessions: usize) -> Result<Vec<Candidate>> {
        let rung = n_sessions.div_ceil(PAIR_RUNG).max(RUNG_MIN).min(n_sessions);
        self.play_on_first(&all, rung)?;
        let mut best = self.rank_best_first(all, rung);
        best.truncate(STARTS);
        self.play_on_first(&best, n_sessions)?;
        Ok(best)
    }

    /// Returns whether the budget has room for so many policies on so many sessions, and for what is played at the end.
    fn can_afford(&self, n_policies: usize, n_sessions: usize) -> bool {
        self.seen.len() + n_policies * n_sessions + FINALS * self.order.len() <= self.terms.budget
    }

    /// Plays policies on the first of the sessions.
    fn play_on_first(&mut self, candidates: &[Candidate], n_sessions: usize) -> Result<()> {
        self.plays.play_new(candidates, &self.order[..n_sessions], &|_, _| {})?;
        let pairs =
            candidates.iter().flat_map(|it| self.order[..n_sessions].iter().map(|nth| (it.clone(), *nth)));
        self.seen.extend(pairs);
        (self.progress)(self.seen.len().min(self.terms.budget), self.terms.budget);
        Ok(())
    }

    /// Puts policies in order, the best first.
    fn rank_best_first(&self, candidates: Vec<Candidate>, n_sessions: usize) -> Vec<Candidate> {
        let mut scored = candidates.into_iter().map(|it| self.score_candidate(it, n_sessions)).listed();
        scored.order_by(|one, other| one.score.cmp_better_first(&other.score, self.terms.min_evidence));
        scored.into_iter().map(|it| it.candidate).listed()
    }

    /// Judges a policy on the first of the sessions.
    fn score_candidate(&self, candidate: Candidate, n_sessions: usize) -> Scored {
        let score = self.plays.score_on(&candidate, &self.order[..n_sessions], self.terms.min_evidence);
        Scored { score, candidate }
    }

    /// Returns the cheapest policy that is likely to keep the floor and to cost less than the preset that would be chosen; else that preset.
    fn choose_or_preset(&self, ranked: &[Candidate], preset: Option<usize>) -> Candidate {
        let yardstick = Candidate { preset, ..self.plays.grammar.empty_candidate() };
        let all = &self.order;
        let sure = |candidate: &&Candidate| {
            let change = self.plays.cost_change_interval(candidate, &yardstick, all);
            let likely =
                |[low, high]: [f64; 2]| low.midpoint(high) + self.plays.grammar.caution * (high - low) / 2.0;
            self.score_candidate((*candidate).clone(), all.len()).score.class == 0
                && change.is_some_and(|it| likely(it) < 0.0)
        };
        ranked.iter().find(sure).cloned().unwrap_or(yardstick)
    }
}

/// A candidate, and its score on the sessions that it was tried on.
struct Scored {
    score: DesignScore,
    candidate: Candidate,
}

impl DesignScore {
    /// Puts the better policy first: one that is likely to keep the floor before others, then the cheaper one; of those that may not, the one that keeps more.
    pub fn cmp_better_first(&self, other: &Self, min_evidence: f64) -> Ordering {
        let short = |it: &Self| {
            if it.class == 1 { (min_evidence - it.kept_low.unwrap_or(0.0)).max(0.0) } else { 0.0 }
        };
        let by_floor = self.class.cmp(&other.class).then(short(self).total_cmp(&short(other)));
        by_floor.then(self.change.total_cmp(&other.change))
    }
}

impl DesignPlays<'_> {
    /// Judges a policy on some sessions, on which it was played.
    pub fn score_on(&self, candidate: &Candidate, sessions: &[usize], min_evidence: f64) -> DesignScore {
        let played = |nth: &usize| self.play_of(candidate, *nth).copied().unwrap_or_default();
        let plays = || sessions.iter().map(|nth| (&self.sessions[*nth], played(nth)));
        let costs = plays().map(|(of, play)| Some((play.usd?, of.usd))).collect::<Option<Vec<_>>>();
        let Some((own, base)) = costs.map(|it| sum_of_pairs(it.into_iter())).filter(|it| it.1 > 0.0) else {
            return DesignScore { class: 2, change: 0.0, kept: None, kept_low: None };
        };
        let kept = plays().map(|it| it.1.kept);
        let needing = sessions.iter().zip(kept).filter(|it| it.1[1] > 0.0);
        let sample = |(nth, kept): (&usize, [f64; 2])| self.session_ratio_sample(*nth, (kept[0], kept[1]));
        let samples = needing.map(sample).listed();
        let (met, needed) = sum_of_pairs(samples.iter().map(|it| it.pair));
        let share = (needed > 0.0).then(|| met / needed);
        let interval = ratio_interval_for_later(&samples, AssumedReach::default());
        let kept_low =
            share.map(|it| interval.map_or(it, |ends| it + self.grammar.caution * (1.0 + ends[0] - it)));
        let (shown, all) = sum_of_pairs(plays().map(|it| (it.1.task[0], it.1.task[1])));
        let task = (shown < all).then(|| shown / all);
        let class = u8::from(!Floor(min_evidence).keeps(kept_low, task));
        DesignScore { class, change: own / base - 1.0, kept: share, kept_low }
    }

    /// Returns the interval, for later sessions, of what a policy costs more than another.
    pub fn cost_change_interval(&self, own: &Candidate, base: &Candidate, on: &[usize]) -> Option<[f64; 2]> {
        let pair = |nth: &usize| {
            let [own, other] = [own, base].map(|it| self.play_of(it, *nth).and_then(|it| it.usd));
            Some(self.session_ratio_sample(*nth, (own?, other?)))
        };
        let samples = on.iter().map(pair).collect::<Option<Vec<_>>>()?;
        ratio_interval_for_later(&samples, AssumedReach::default())
    }

    fn session_ratio_sample(&self, nth: usize, pair: (f64, f64)) -> RatioSample<'_> {
        RatioSample { pair, project: &self.sessions[nth].load.project, at_ms: self.sessions[nth].last_ms }
    }
}
