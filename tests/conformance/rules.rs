//! The cache rules that a file names, with its own numbers, as rules of the library.

use std::collections::BTreeSet;

use ctxsim::input::profile::Steps;
use ctxsim::input::profile::cache::{Automatic, Lookup};
use ctxsim::input::profile::price::Rates;
use ctxsim::input::{self, CacheRules, TtlClass};
use ctxsim::ledger::{CacheUse, TokenUse};
use ctxsim::price::Bill;
use ctxsim::quantity::Rate;

use super::file::{Price, Row, Rules};

/// The names of the rules; `boundaries` is OpenAI's from GPT-5.6 on.
pub(super) const BREAKPOINTS: &str = "breakpoints";
pub(super) const PREFIX_INTERVAL: &str = "prefix_interval";
pub(super) const BOUNDARIES: &str = "boundaries";

/// A rule ready to play.
pub(super) struct Rule {
    pub(super) cache: CacheRules,
    /// What the file calls each class of lifetimes: the shorter one first.
    names: [Option<String>; 2],
}

/// Returns the names of the rules that a file has.
pub(super) fn names(rules: &Rules) -> Vec<&'static str> {
    let known = [
        (BREAKPOINTS, rules.breakpoints.is_some()),
        (PREFIX_INTERVAL, rules.prefix_interval.is_some()),
        (BOUNDARIES, rules.boundaries.is_some()),
    ];
    known.into_iter().filter(|it| it.1).map(|it| it.0).collect()
}

impl Rule {
    /// Makes the rule of a name; `asked` are the lifetimes that marks ask for.
    pub(super) fn new<'a>(
        rules: &Rules,
        name: &str,
        asked: impl Iterator<Item = &'a str>,
    ) -> Result<Self, String> {
        match (name, &rules.breakpoints, &rules.prefix_interval, &rules.boundaries) {
            (BREAKPOINTS, Some(it), _, _) => {
                let mut used: BTreeSet<(u64, &str)> = BTreeSet::new();
                for name in asked {
                    let ttl_ms =
                        it.ttl_ms.get(name).ok_or_else(|| format!("no lifetime is called `{name}`"))?;
                    used.insert((*ttl_ms, name));
                }
                if used.len() > 2 {
                    return Err(format!("marks have two lifetimes, not {}", used.len()));
                }
                let class = |n: usize| used.iter().nth(n);
                let cache = CacheRules::Breakpoints(input::Breakpoints {
                    min_tokens: it.min_tokens,
                    breakpoints_max: it.max_marks,
                    lookback_positions: it.lookback,
                    ttl_ms: [0, 1].map(|n| class(n).map(|it| it.0)),
                    ..input::Breakpoints::default()
                });
                Ok(Self { cache, names: [0, 1].map(|n| class(n).map(|it| it.1.to_owned())) })
            }
            (PREFIX_INTERVAL, _, Some(it), _) => {
                // A prefix is cut to whole steps first and may then be too short: only whole steps are a minimum.
                let steps = Steps { min: it.min_tokens.next_multiple_of(it.step), step: it.step };
                let cache = CacheRules::prefix_interval(steps, Some(it.ttl_ms));
                Ok(Self { cache, names: [None, None] })
            }
            (BOUNDARIES, _, _, Some(it)) => {
                let message_ends = it.lookback.unwrap_or(20);
                let cache = CacheRules::Breakpoints(input::Breakpoints {
                    min_tokens: it.min_tokens,
                    lookup: Some(Lookup { first: 2, latest: 50, message_ends, lead: true }),
                    automatic: Automatic::LastMessage,
                    is_implicit: true,
                    marks_lead: true,
                    marks_instruction: it.marks_instruction,
                    ttl_ms: [Some(it.ttl_ms), None],
                    ..input::Breakpoints::default()
                });
                Ok(Self { cache, names: [Some("30m".to_owned()), None] })
            }
            _ => Err(format!("there is no rule `{name}`")),
        }
    }

    /// Returns the class of a lifetime.
    pub(super) fn class(&self, ttl: &str) -> TtlClass {
        if self.names[1].as_deref() == Some(ttl) { TtlClass::Long } else { TtlClass::Short }
    }

    /// Makes a row with what the request costs.
    pub(super) fn row(&self, price: Option<&Price>, prompt: u64, usage: &CacheUse, output: u64) -> Row {
        let CacheUse { read, write, uncached, .. } = *usage;
        let bill =
            |it: &Price| Bill::at(&self.rates(it), &TokenUse { read, write, uncached, output }).total();
        let names = self.names.iter().zip(write).filter(|it| it.1 > 0);
        // What has no name is not to be written; it would stand under none.
        let write = names.map(|(name, tokens)| (name.clone().unwrap_or_default(), tokens)).collect();
        Row { prompt, read, write, uncached, output, picodollars: price.and_then(bill).map(|it| it.0) }
    }

    fn rates(&self, price: &Price) -> Rates {
        let write =
            |name: &Option<String>| name.as_ref().and_then(|it| price.write.get(it)).unwrap_or(&price.input);
        Rates {
            input: Rate(price.input),
            output: Some(Rate(price.output)),
            cache_read: Some(Rate(price.read)),
            cache_write: Some(self.names.each_ref().map(|it| Some(Rate(*write(it))))),
            storage: None,
        }
    }
}
