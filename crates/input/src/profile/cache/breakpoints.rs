//! Entries at the breakpoints of a request, found by looking back from the breakpoints of a later one.

use crate::prelude::*;

use super::{
    CacheRules, HitsFields, InvalidatesFields, Readable, Refusal, Renewal, TtlClass, Ttls, not_zero,
    qualified,
};

/// The fields of these rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BreakpointsFields {
    /// Shorter prefixes are not cached.
    pub min_tokens: Option<Tokens>,
    /// How long an entry lives after its last use; a list if the prompt chooses.
    #[serde(default, skip_serializing_if = "crate::text::is_default")]
    pub ttl: Ttls,
    /// How much longer entries were observed to live.
    pub ttl_grace: Option<Duration>,
    /// The most breakpoints of a request.
    pub breakpoints_max: Option<u8>,
    /// How many positions are looked up for an entry, going back from a breakpoint and including it.
    pub lookback_positions: Option<u16>,
    /// What counts as a position of the lookback.
    pub lookback_unit: Option<LookbackUnit>,
    /// The places of a prompt at which an entry is looked up, if not by lookback.
    pub lookup: Option<Lookup>,
    /// The place of an automatic breakpoint.
    pub automatic: Option<Automatic>,
    /// Whether a policy without breakpoints gets only the automatic one.
    pub implicit: Option<bool>,
    /// Whether such a policy also gets one before all messages.
    pub implicit_lead: Option<bool>,
    /// Whether the automatic breakpoint of a summariser's aligned request comes after its instruction instead
    /// of before it.
    pub marks_instruction: Option<bool>,
    /// From when an entry's lifetime counts.
    pub clock: Option<Clock>,
    /// Whether reading an entry restarts its lifetime.
    pub renewal: Option<Renewal>,
    /// The longest life of an entry, however often it is read.
    pub max_age: Option<Duration>,
    /// From when an entry can be read.
    pub readable: Option<Readable>,
    /// How long after that, because an entry must be built first.
    pub readable_after: Option<Duration>,
    /// What the provider's API answers with an error: a run of a policy whose layout asks for it is refused. Default: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refuses: Vec<Refusal>,
    /// For each setting: the first level of the prompt that a change invalidates.
    pub invalidates: Option<InvalidatesFields>,
    /// How often a request is served by a machine that has the entries. Default: always.
    pub hits: Option<HitsFields>,
}

impl BreakpointsFields {
    pub(super) fn check(&self, problems: &mut Problems) -> CacheRules {
        let without = "without a breakpoint nothing is cached";
        not_zero("breakpoints_max", self.breakpoints_max, without, problems);
        let itself = "the breakpoint itself counts as one position";
        not_zero("lookback_positions", self.lookback_positions, itself, problems);
        self.check_places(problems);
        let usual = Breakpoints::default();
        let rules = Breakpoints {
            min_tokens: self.min_tokens.unwrap_or(usual.min_tokens),
            breakpoints_max: self.breakpoints_max.unwrap_or(usual.breakpoints_max).max(1),
            lookback_positions: self.lookback_positions.unwrap_or(usual.lookback_positions).max(1),
            lookback_unit: self.lookback_unit.unwrap_or_default(),
            lookup: self.lookup,
            automatic: self.automatic.unwrap_or_default(),
            is_implicit: self.implicit.unwrap_or_default(),
            marks_lead: self.implicit_lead.unwrap_or_default(),
            marks_instruction: self.marks_instruction.unwrap_or_default(),
            ttl_ms: self.ttl.by_class(problems).unwrap_or(usual.ttl_ms),
            grace_ms: self.ttl_grace.map_or(0, |it| it.0),
            max_age_ms: self.max_age.map(|it| it.0),
            renews: self.renewal.unwrap_or_default() == Renewal::OnUse,
            readable: self.readable.unwrap_or_default(),
            readable_after_ms: self.readable_after.map_or(0, |it| it.0),
        };
        qualified(CacheRules::Breakpoints(rules), self.invalidates.as_ref(), self.hits.as_ref(), problems)
    }

    /// Checks where marks are and where entries are looked up.
    fn check_places(&self, problems: &mut Problems) {
        let of_lookback = [
            ("lookback_positions", self.lookback_positions.is_some()),
            ("lookback_unit", self.lookback_unit.is_some()),
        ];
        for (field, _) in of_lookback.into_iter().filter(|it| it.1 && self.lookup.is_some()) {
            let message = format!("`{field}` has no effect beside `lookup`, which lists the places");
            let help = "remove one of them";
            problems.push_at(Code("cache-field-unused"), field, message, help);
        }
        if self.implicit_lead.is_some() && self.implicit != Some(true) {
            let message = "`implicit_lead` needs `implicit`";
            let help = "add `implicit: true`, or remove `implicit_lead`";
            problems.push_at(Code("implicit-lead-alone"), "implicit_lead", message, help);
        }
        if self.lookup == Some(Lookup::default()) {
            let message = "an entry that is never looked up is never read";
            let help = "write how many positions to look up, as in `latest: 50`";
            problems.push_at(Code("lookup-nowhere"), "lookup", message, help);
        }
    }
}

/// The numbers of a cache with breakpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Breakpoints {
    /// Breakpoints after fewer tokens are ignored.
    pub min_tokens: Tokens,
    /// The most breakpoints at which a request may write; the latest count.
    pub breakpoints_max: u8,
    /// How many positions are looked up, going back from a breakpoint and including it.
    pub lookback_positions: u16,
    /// What counts as a position.
    pub lookback_unit: LookbackUnit,
    /// The places at which entries are looked up, if not by lookback.
    pub lookup: Option<Lookup>,
    /// The place of an automatic breakpoint.
    pub automatic: Automatic,
    /// Whether a policy without breakpoints gets only the automatic one.
    pub is_implicit: bool,
    /// Whether it also gets one before all messages.
    pub marks_lead: bool,
    /// Whether the automatic breakpoint of an aligned request comes after the request's own instructions.
    pub marks_instruction: bool,
    /// How long entries live after their last use, by class, in milliseconds.
    pub ttl_ms: [Option<u64>; 2],
    /// How much longer they were observed to live, in milliseconds.
    pub grace_ms: u64,
    /// The longest life of an entry, in milliseconds.
    pub max_age_ms: Option<u64>,
    /// Whether a use restarts an entry's lifetime.
    pub renews: bool,
    /// From when an entry can be read.
    pub readable: Readable,
    /// How long after that, in milliseconds.
    pub readable_after_ms: u64,
}

impl Default for Breakpoints {
    /// The defaults of these rules.
    fn default() -> Self {
        Self {
            min_tokens: 0,
            breakpoints_max: 4,
            lookback_positions: 20,
            lookback_unit: LookbackUnit::default(),
            lookup: None,
            automatic: Automatic::default(),
            is_implicit: false,
            marks_lead: false,
            marks_instruction: false,
            ttl_ms: [Some(300_000), None],
            grace_ms: 0,
            max_age_ms: None,
            renews: true,
            readable: Readable::default(),
            readable_after_ms: 0,
        }
    }
}

impl Breakpoints {
    /// Returns the class of an entry: the requested one if the provider offers it.
    pub fn class(&self, asked: Option<TtlClass>) -> TtlClass {
        let other = if self.ttl_ms[0].is_some() { TtlClass::Short } else { TtlClass::Long };
        asked.filter(|it| self.ttl_ms[*it as usize].is_some()).unwrap_or(other)
    }

    /// Returns how long an entry of a class is readable after its last use, in milliseconds.
    pub fn life_ms(&self, class: TtlClass) -> u64 {
        self.ttl_ms[class as usize].unwrap_or(0).saturating_add(self.grace_ms)
    }
}

/// What counts as a position of the lookback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LookbackUnit {
    /// An item; a run of calls is one position, as is a run of results.
    #[default]
    Run,
    /// An item; each call and each result is its own position.
    Block,
}

/// The places of an incoming prompt at which an entry is looked up, the longest first.
///
/// The prompt's breakpoints count in order, including those beyond the write slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Lookup {
    /// How many of the first breakpoints.
    pub first: u16,
    /// How many of the latest breakpoints.
    pub latest: u16,
    /// How many message ends before an automatic breakpoint.
    pub message_ends: u16,
    /// Whether to look up the end of everything before all messages, if there is an automatic breakpoint.
    pub lead: bool,
}

/// The place of an automatic breakpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Automatic {
    /// After the last item that can carry one; reasoning cannot.
    #[default]
    LastBlock,
    /// After the last user message, the last run of results, or everything before all messages, whichever is
    /// latest.
    LastMessage,
}

/// From when an entry's lifetime counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The start of the last request that wrote or read it.
    RequestStart,
}
