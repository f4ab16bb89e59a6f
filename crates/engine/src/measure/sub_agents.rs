//! What the input of sub-agents may have cost of which a log holds totals alone: an estimate by the ratios of `assumptions/sub_agents.toml`.

use crate::prelude::*;

use ctxsim_input::{AssumedNumber, PriceList};
use ctxsim_timeline::AgentTotals;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SubAgents {
    ratios: Ratios,
}

/// What requests of sub-agents come to, by their totals.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Ratios {
    /// Requests for each tool use and each last answer.
    requests: AssumedNumber<f64>,
    /// The share of the last prompt that a request reads.
    read: AssumedNumber<f64>,
    /// The share of the last prompt that is written.
    written: AssumedNumber<f64>,
}

declared_once! { SubAgents: ctxsim_assumptions::SUB_AGENTS }

impl Ratios {
    /// Returns them as declared, all at their lower and all at their upper ends.
    fn at_ends(&self) -> [[f64; 3]; 3] {
        let all = [self.requests, self.read, self.written];
        [all.map(|it| it.value), all.map(|it| it.low), all.map(|it| it.high)]
    }
}

/// Returns what the input of sub-agents may have cost in US dollars: as estimated, and the ends of the interval; `None` without a price.
pub fn input_usd(totals: &AgentTotals, prices: &PriceList) -> Option<[f64; 3]> {
    let agents = totals.agents.max(1);
    let (each, sum) = (totals.tokens as f64 / agents as f64, totals.tokens as f64);
    let rates = prices.of_prompt(totals.tokens / agents);
    let (read_usd, write_usd) = (rates.read().usd(), rates.write(usize::from(totals.is_long))?.usd());
    Some(SubAgents::declared().ratios.at_ends().map(|[requests, read, written]| {
        let n_requests = requests * (totals.tools as f64 + agents as f64);
        n_requests * read * each * read_usd + written * sum * write_usd
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ratio_lies_within_its_interval() {
        let ratios = SubAgents::declared().ratios;
        for it in [ratios.requests, ratios.read, ratios.written] {
            assert!(0.0 < it.low && it.low < it.value && it.value < it.high && it.high <= 1.0, "{it:?}");
        }
    }
}
