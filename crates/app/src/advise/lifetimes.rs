//! Short cache lifetimes against long ones: by lane, as they are played, with the closed form beside it.
//!
//! Of W tokens that are written with short lifetimes, S are written only because an entry expired that a long lifetime would have kept.
//! With a long one, W − S tokens are written, at the long price, and S more are read: it costs (l − w) · W − (l − r) · S more, where w, l
//! and r are the prices of a short write, a long write and a read. So a long lifetime is cheaper from S / W = (l − w) / (l − r) on.

use super::agents::{AgentSetting, ShownBy};
use super::menu::{Menu, MenuChoice, MenuPair};
use super::play::PlayedSession;
use super::verdicts::AgentSessions;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::measure::Tally;
use ctxsim_engine::measure::assumed::AssumedReach;
use ctxsim_engine::measure::limits::{RatioSample, ratio_interval_for_later, sum_of_pairs};
use ctxsim_report::advise::Lifetimes;

/// The two values of an agent's lifetimes, as they are played.
pub(super) struct LifetimeAxis {
    /// Sub-agents' sessions, or the agent's own.
    is_of_agent: bool,
    /// Short, long.
    ends: [MenuChoice; 2],
}

impl LifetimeAxis {
    /// Finds the settings of lifetimes; of an agent that has none there is no axis.
    pub(super) fn all(menu: &Menu<'_>) -> Vec<Self> {
        let settings = menu.agent.settings.iter().filter(|it| it.shown_by == Some(ShownBy::Lifetimes));
        let axis = |setting: &AgentSetting| {
            let [short, long] = setting.values.as_slice() else { return Vec::new() };
            // What the settings file says is in force, and no choice.
            let end = |value: &String| {
                let is_end = |it: &MenuPair| it.setting.key == setting.key && it.value == *value;
                menu.pairs.iter().position(is_end).into_iter().listed()
            };
            let lanes = [false, true].into_iter().filter(|it| setting.lane.include(*it));
            lanes.map(|is_of_agent| Self { is_of_agent, ends: [end(short), end(long)] }).listed()
        };
        settings.flat_map(axis).listed()
    }

    /// Returns what both cost; none where no session of the lane writes to a cache.
    pub(super) fn found<'t>(&self, trial: &'t AgentSessions<'_>) -> Option<Lifetimes> {
        let own: Vec<&PlayedSession> =
            trial.played.iter().copied().filter(|it| it.seen.is_of_agent == self.is_of_agent).listed();
        let written = |end: &MenuChoice| -> u64 {
            own.iter().map(|it| it.run(end).sums.main.tokens.write.iter().sum::<u64>()).sum()
        };
        let [short, long] = self.ends.each_ref().map(written);
        if short == 0 {
            return None;
        }
        let sample = |it: &&'t PlayedSession| {
            let [short, long] = self.ends.each_ref().map(|end| it.run(end).costs.total());
            let (project, at_ms) = (it.seen.project.as_str(), it.seen.span_ms.map(|it| it[1]));
            Some(RatioSample { pair: long.zip(short).filter(|it| it.1 > 0.0)?, project, at_ms })
        };
        let samples: Vec<RatioSample<'_>> = own.iter().filter_map(sample).listed();
        let (both, one) = sum_of_pairs(samples.iter().map(|it| it.pair));
        let cost =
            |of: &dyn Fn(&PlayedSession) -> Option<f64>| own.iter().map(|it| of(it)).sum::<Option<f64>>();
        let month_usd = trial.month.cost(&own).usd;
        let month = |end: &MenuChoice| {
            let share = cost(&|it| it.run(end).costs.total())? / cost(&|it| it.base.costs.total())?;
            Some(month_usd? * share).filter(|it| it.is_finite())
        };
        let rewritten = short.saturating_sub(long);
        Some(Lifetimes {
            lane: if self.is_of_agent { "sub-agents" } else { "main" },
            sessions: own.len(),
            usd_month: self.ends.each_ref().map(month),
            written_tokens: short,
            rewritten_tokens: rewritten,
            share: rewritten as f64 / short as f64,
            break_even: self.break_even(&own),
            change: (one > 0.0).then(|| both / one - 1.0),
            interval: ratio_interval_for_later(&samples, AssumedReach::default()),
        })
    }

    /// Returns the share from which long lifetimes are cheaper, at the prices that the sessions paid.
    fn break_even(&self, own: &[&PlayedSession]) -> Option<f64> {
        let sum = |end: &MenuChoice, part: fn(&Tally) -> (u64, f64)| {
            let all = own.iter().map(|it| part(it.run(end)));
            let (tokens, usd) = all.fold((0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
            (tokens > 0).then(|| usd / tokens as f64)
        };
        let write = |it: &Tally| (it.sums.main.tokens.write.iter().sum(), it.costs.main.write.usd());
        let read = |it: &Tally| (it.sums.main.tokens.read, it.costs.main.read.usd());
        let (short, long) = (sum(&self.ends[0], write)?, sum(&self.ends[1], write)?);
        let read = sum(&self.ends[1], read)?;
        (long > read).then(|| (long - short) / (long - read))
    }
}
