//! A well-formed model profile and its only constructor.

use super::price::{self, Prices};
use crate::diag::{Diagnostic, Problems};
use crate::spec::ProfileSpec;
use crate::spec::profile::{AssumptionsSpec, CacheSpec, LimitsSpec, ReadableSpec, RulesSpec, TouchSpec};
use crate::units::{Cost, Tokens, UNLIMITED};

/// One model at one provider at one date.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// The day on which its sources were read.
    pub as_of: String,
    /// How much the model takes and gives.
    pub limits: Limits,
    /// The provider's cache.
    pub cache: CacheRules,
    /// What a token costs.
    pub prices: Prices,
    /// What is assumed rather than known.
    pub assumptions: Assumptions,
}

/// How much a model takes and gives, in tokens; [`UNLIMITED`] where it says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// The longest prompt.
    pub prompt: Tokens,
    /// The context window.
    pub window: Tokens,
    /// The longest output.
    pub output: Tokens,
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self { prompt: UNLIMITED, window: UNLIMITED, output: UNLIMITED };
}

/// Which cache rules, with their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheRules {
    /// No cache.
    None,
    /// The previous prompt, capped where the policy edited.
    PrefixCap(Steps),
    /// The longest common prefix with an earlier prompt.
    PrefixInterval {
        /// The lengths that are cached.
        steps: Steps,
        /// How long an entry lives after its last use, in milliseconds.
        ttl_ms: Option<u64>,
    },
    /// Fixed blocks in a store.
    Blocks(Blocks),
    /// Entries at marked places.
    Breakpoints(Breakpoints),
}

/// The numbers of a cache with breakpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Breakpoints {
    /// A breakpoint with less in front of it is ignored.
    pub min_tokens: Tokens,
    /// How many a request may have.
    pub breakpoints_max: u8,
    /// How many positions are looked at, back from a breakpoint and with it.
    pub lookback_positions: u16,
    /// How long entries live after their last use, by class, in milliseconds.
    pub ttl_ms: [Option<u64>; 2],
    /// How much longer they were seen to live, in milliseconds.
    pub grace_ms: u64,
    /// From when on an entry can be read.
    pub readable: ReadableSpec,
}

impl Breakpoints {
    /// Returns the class that an entry gets: the one asked for where the provider offers it.
    #[must_use]
    pub fn class(&self, asked: Option<TtlClass>) -> TtlClass {
        let other = if self.ttl_ms[0].is_some() { TtlClass::Short } else { TtlClass::Long };
        asked.filter(|it| self.ttl_ms[*it as usize].is_some()).unwrap_or(other)
    }

    /// Returns how long an entry of a class is readable after its last use, in milliseconds.
    #[must_use]
    pub fn life_ms(&self, class: TtlClass) -> u64 {
        self.ttl_ms[class as usize].unwrap_or(0).saturating_add(self.grace_ms)
    }
}

/// A class of lifetimes; each has its price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TtlClass {
    /// Below an hour.
    #[default]
    Short,
    /// From an hour on.
    Long,
}

impl TtlClass {
    /// Returns the class of a lifetime in milliseconds.
    #[must_use]
    pub fn of(ttl_ms: u64) -> Self {
        if ttl_ms < 3_600_000 { Self::Short } else { Self::Long }
    }
}

/// In which order the blocks of a prompt count as used.
pub type Touch = TouchSpec;

/// A store of fixed blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blocks {
    /// How many tokens a block holds; 1 and up.
    pub block_tokens: Tokens,
    /// How many blocks the store holds, 1 and up; any number without a capacity.
    pub capacity_blocks: Option<u32>,
    /// In which order the blocks of a prompt count as used.
    pub touch: Touch,
}

impl CacheRules {
    /// Returns the shortest prefix that is cached, in tokens, where the rule has one above 0.
    #[must_use]
    pub fn min_tokens(&self) -> Option<Tokens> {
        let min = match self {
            Self::None | Self::Blocks(_) => 0,
            Self::PrefixCap(steps) | Self::PrefixInterval { steps, .. } => steps.min,
            Self::Breakpoints(rules) => rules.min_tokens,
        };
        (min > 0).then_some(min)
    }

    /// Returns how long an entry lives after its last use, in milliseconds, where the rule has a clock.
    #[must_use]
    pub fn ttl_ms(&self) -> Option<u64> {
        match self {
            Self::None | Self::PrefixCap(_) | Self::Blocks(_) => None,
            Self::PrefixInterval { ttl_ms, .. } => *ttl_ms,
            Self::Breakpoints(rules) => rules.ttl_ms[0].or(rules.ttl_ms[1]),
        }
    }
}

/// The prefix lengths that a cache keeps: a minimum, then whole steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Steps {
    /// Shorter prefixes are not cached.
    pub min: Tokens,
    /// How prefixes grow beyond the minimum; 1 and up.
    pub step: Tokens,
}

impl Steps {
    /// Returns the longest cached length within a common prefix.
    #[inline]
    #[must_use]
    pub fn floor(&self, common: Tokens) -> Tokens {
        match common.checked_sub(self.min) {
            None => 0,
            Some(extra) => self.min + extra / self.step * self.step,
        }
    }
}

/// What a report assumes about the agent and the provider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumptions {
    /// Tokens of a recovery call's prompt beside what it fetches.
    pub recovery_overhead_tokens: Tokens,
    /// Tokens that a recovery call writes.
    pub recovery_output_tokens: Tokens,
    /// What one failure is taken to cost.
    pub failure_penalty: Cost,
    /// Milliseconds of a request before the first token.
    pub request_latency_ms: f64,
    /// Milliseconds of a recovery call.
    pub recovery_latency_ms: f64,
    /// Milliseconds per input token that is not read from the cache.
    pub latency_ms_per_uncached_token: f64,
    /// Milliseconds per output token.
    pub latency_ms_per_output_token: f64,
}

impl Profile {
    /// Checks a profile.
    ///
    /// # Errors
    /// Every problem of the profile, each with its field path.
    pub fn new(spec: &ProfileSpec) -> Result<Self, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        if spec.sources.is_empty() {
            problems.within("sources", |it| {
                it.push(
                    "profile-unsourced",
                    "a profile names its sources",
                    "write where its numbers were read",
                );
            });
        }
        let assumed = &spec.assumptions;
        let start_ms = price::start(assumed.starts_at.as_deref(), &spec.as_of, &mut problems);
        let profile = Self {
            name: spec.name.clone(),
            about: spec.about.clone(),
            as_of: spec.as_of.clone(),
            limits: problems.within("limits", |problems| limits(&spec.limits, problems)),
            cache: problems.within("cache", |problems| cache(&spec.cache, problems)),
            prices: problems.within("prices", |problems| {
                price::prices(&spec.prices, start_ms, &assumed.services, problems)
            }),
            assumptions: problems.within("assumptions", |problems| assumptions(&spec.assumptions, problems)),
        };
        problems.into_result(profile)
    }
}

fn limits(spec: &LimitsSpec, problems: &mut Problems) -> Limits {
    let given = [
        ("context_tokens", spec.context_tokens),
        ("input_tokens", spec.input_tokens),
        ("output_tokens", spec.output_tokens),
    ];
    for (field, tokens) in given {
        if tokens == Some(0) {
            problems.within(field, |it| {
                it.push(
                    "limit-zero",
                    "a limit of 0 tokens lets nothing through",
                    "leave it out for no limit",
                );
            });
        }
    }
    let window = spec.context_tokens.unwrap_or(UNLIMITED);
    Limits {
        prompt: spec.input_tokens.unwrap_or(window),
        window,
        output: spec.output_tokens.unwrap_or(UNLIMITED),
    }
}

fn cache(spec: &CacheSpec, problems: &mut Problems) -> CacheRules {
    let zeros = [
        ("step_tokens", spec.step_tokens == Some(0), "a step of 0 tokens leads nowhere"),
        ("breakpoints_max", spec.breakpoints_max == Some(0), "without a breakpoint nothing is cached"),
        ("lookback_positions", spec.lookback_positions == Some(0), "the breakpoint itself is a position"),
    ];
    for (field, is_zero, message) in zeros {
        if is_zero {
            problems.within(field, |it| it.push("step-zero", message, "write 1 or more"));
        }
    }
    unused(spec, problems);
    let steps = Steps { min: spec.min_tokens.unwrap_or(0), step: spec.step_tokens.unwrap_or(1).max(1) };
    match spec.rules {
        RulesSpec::None => CacheRules::None,
        RulesSpec::PrefixCap => CacheRules::PrefixCap(steps),
        RulesSpec::PrefixInterval => {
            if spec.ttl.0.len() > 1 {
                problems.within("ttl", |it| {
                    it.push("ttl-several", "an interval rule has one lifetime", "write one duration");
                });
            }
            CacheRules::PrefixInterval { steps, ttl_ms: spec.ttl.0.first().map(|it| it.0) }
        }
        RulesSpec::Blocks => CacheRules::Blocks(blocks(spec, problems)),
        RulesSpec::Breakpoints => CacheRules::Breakpoints(Breakpoints {
            min_tokens: steps.min,
            breakpoints_max: spec.breakpoints_max.unwrap_or(4).max(1),
            lookback_positions: spec.lookback_positions.unwrap_or(20).max(1),
            ttl_ms: ttls(spec, problems),
            grace_ms: spec.ttl_grace.map_or(0, |it| it.0),
            readable: spec.readable.unwrap_or(ReadableSpec::ResponseStart),
        }),
    }
}

/// Reports fields that the rules do not look at.
fn unused(spec: &CacheSpec, problems: &mut Problems) {
    let of_rules: &[&str] = match spec.rules {
        RulesSpec::None => &[],
        RulesSpec::PrefixCap => &["min_tokens", "step_tokens"],
        RulesSpec::PrefixInterval => &["min_tokens", "step_tokens", "ttl"],
        RulesSpec::Blocks => &["block_tokens", "capacity_blocks", "touch"],
        RulesSpec::Breakpoints => {
            &["min_tokens", "ttl", "ttl_grace", "breakpoints_max", "lookback_positions", "clock", "readable"]
        }
    };
    let given = [
        ("min_tokens", spec.min_tokens.is_some()),
        ("step_tokens", spec.step_tokens.is_some()),
        ("block_tokens", spec.block_tokens.is_some()),
        ("capacity_blocks", spec.capacity_blocks.is_some()),
        ("touch", spec.touch.is_some()),
        ("ttl", !spec.ttl.is_empty()),
        ("ttl_grace", spec.ttl_grace.is_some()),
        ("breakpoints_max", spec.breakpoints_max.is_some()),
        ("lookback_positions", spec.lookback_positions.is_some()),
        ("clock", spec.clock.is_some()),
        ("readable", spec.readable.is_some()),
    ];
    for (field, _) in given.into_iter().filter(|(field, is_given)| *is_given && !of_rules.contains(field)) {
        problems.within(field, |it| {
            it.push("cache-field-unused", format!("these rules do not look at `{field}`"), "leave it out");
        });
    }
}

/// Sorts lifetimes into their classes; without any, entries live five minutes.
fn ttls(spec: &CacheSpec, problems: &mut Problems) -> [Option<u64>; 2] {
    let mut classes = [None; 2];
    for ttl in &spec.ttl.0 {
        let class = &mut classes[TtlClass::of(ttl.0) as usize];
        if class.is_some() {
            problems.within("ttl", |it| {
                it.push(
                    "ttl-class-twice",
                    format!("`{ttl}` is of the same class as another lifetime"),
                    "write at most one below an hour and one from an hour on",
                );
            });
        }
        *class = Some(ttl.0);
    }
    if classes == [None; 2] { [Some(300_000), None] } else { classes }
}

fn blocks(spec: &CacheSpec, problems: &mut Problems) -> Blocks {
    let block_tokens = spec.block_tokens.unwrap_or(0);
    if block_tokens == 0 {
        problems.within("block_tokens", |it| {
            it.push(
                "block-size-missing",
                "blocks hold some number of tokens",
                "write `block_tokens: 16`, or another number from 1 up",
            );
        });
    }
    if spec.capacity_blocks == Some(0) {
        problems.within("capacity_blocks", |it| {
            it.push("capacity-zero", "a store of 0 blocks holds nothing", "write `rules: none` for no cache");
        });
    }
    let touch = spec.touch.unwrap_or_default();
    Blocks { block_tokens, capacity_blocks: spec.capacity_blocks, touch }
}

fn assumptions(spec: &AssumptionsSpec, problems: &mut Problems) -> Assumptions {
    let failure_penalty = Cost::from_usd(spec.failure_penalty_usd).unwrap_or_else(|| {
        problems.within("failure_penalty_usd", |it| {
            it.push("price-too-fine", "more than twelve decimals of a dollar", "round it");
        });
        Cost::default()
    });
    Assumptions {
        recovery_overhead_tokens: spec.recovery_overhead_tokens,
        recovery_output_tokens: spec.recovery_output_tokens,
        failure_penalty,
        request_latency_ms: spec.request_latency_ms.to_f64(),
        recovery_latency_ms: spec.recovery_latency_ms.to_f64(),
        latency_ms_per_uncached_token: spec.latency_ms_per_uncached_token.to_f64(),
        latency_ms_per_output_token: spec.latency_ms_per_output_token.to_f64(),
    }
}
