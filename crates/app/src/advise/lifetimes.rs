//! Short cache lifetimes against long ones: by lane, as they are played, with the closed form beside it.
//!
//! Of W tokens that are written with short lifetimes, S are written only because an entry expired that a long lifetime would have kept.
//! With a long one, W − S tokens are written, at the long price, and S more are read: it costs (l − w) · W − (l − r) · S more, where w, l
//! and r are the prices of a short write, a long write and a read. So a long lifetime is cheaper from S / W = (l − w) / (l − r) on.

use super::agents::{Agent, ShownBy};
use super::play::PlayedSession;
use super::states::{ByLane, PlayedPolicies, SettingValues};
use super::trial::AgentTrial;
use ctxsim_base::error::Error;
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
    ends: [ByLane; 2],
}

impl LifetimeAxis {
    /// Finds the settings of lifetimes; of an agent that has none there is no axis.
    ///
    /// # Errors
    /// A setting's policy is broken.
    pub(super) fn new(agent: &Agent, policies: &mut PlayedPolicies<'_>) -> Result<Vec<Self>, Error> {
        let mut all = Vec::new();
        let settings = agent.settings.iter().filter(|it| it.shown_by == Some(ShownBy::Lifetimes));
        for setting in settings.filter(|it| it.values.len() == 2) {
            let ends = [&setting.values[0], &setting.values[1]];
            let of = |value: &String| SettingValues::from([(setting.key.clone(), value.clone())]);
            let ends = ends.map(of);
            let ends = [policies.of_state(agent, &ends[0])?, policies.of_state(agent, &ends[1])?];
            all.extend(
                [false, true]
                    .into_iter()
                    .filter(|it| setting.lane.include(*it))
                    .map(|is_of_agent| Self { is_of_agent, ends }),
            );
        }
        Ok(all)
    }

    /// Returns what both cost; none where no session of the lane writes to a cache.
    pub(super) fn found<'t>(&self, trial: &'t AgentTrial<'_>) -> Option<Lifetimes> {
        let own: Vec<_> = trial.played.iter().filter(|it| it.seen.is_of_agent == self.is_of_agent).listed();
        let written = |by_lane: ByLane| -> u64 {
            own.iter().map(|it| it.run(by_lane).sums.main.tokens.write.iter().sum::<u64>()).sum()
        };
        let [short, long] = self.ends.map(written);
        if short == 0 {
            return None;
        }
        let sample = |it: &&'t PlayedSession| {
            let [short, long] = self.ends.map(|by_lane| it.run(by_lane).costs.total());
            let (project, at_ms) = (it.seen.project.as_str(), it.seen.span_ms.map(|it| it[1]));
            Some(RatioSample { pair: long.zip(short).filter(|it| it.1 > 0.0)?, project, at_ms })
        };
        let samples: Vec<RatioSample<'_>> = own.iter().filter_map(sample).listed();
        let (both, one) = sum_of_pairs(samples.iter().map(|it| it.pair));
        let is_lane = |it: &PlayedSession| it.seen.is_of_agent == self.is_of_agent;
        let month = |by_lane: ByLane| {
            trial
                .calendar
                .usd(trial.played, |it| if is_lane(it) { it.run(by_lane).costs.total() } else { Some(0.0) })
        };
        let rewritten = short.saturating_sub(long);
        Some(Lifetimes {
            lane: if self.is_of_agent { "sub-agents" } else { "main" },
            sessions: own.len(),
            usd_month: self.ends.map(month),
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
        let sum = |by_lane: ByLane, part: fn(&Tally) -> (u64, f64)| {
            let all = own.iter().map(|it| part(it.run(by_lane)));
            let (tokens, usd) = all.fold((0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
            (tokens > 0).then(|| usd / tokens as f64)
        };
        let write = |it: &Tally| (it.sums.main.tokens.write.iter().sum(), it.costs.main.write.usd());
        let read = |it: &Tally| (it.sums.main.tokens.read, it.costs.main.read.usd());
        let (short, long) = (sum(self.ends[0], write)?, sum(self.ends[1], write)?);
        let read = sum(self.ends[1], read)?;
        (long > read).then(|| (long - short) / (long - read))
    }
}
