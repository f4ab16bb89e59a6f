//! The cache rules that vectors name, with a file's own numbers and its own names of lifetimes.

use indexmap::IndexMap;

use super::boundaries::{self, Boundaries};
use super::file::{RuleRecord, TtlRecord};
use crate::cache::{CacheRule, cache};
use crate::input::profile::Steps;
use crate::input::{Breakpoints, CacheRules, TtlClass};
use crate::ledger::CacheUse;
use crate::units::Tokens;

/// The lifetimes that a rule has where the file gives none, in milliseconds.
const USUAL: [(&str, u64); 3] = [("5m", 300_000), ("30m", 1_800_000), ("1h", 3_600_000)];
/// What the rule `boundaries` calls its only lifetime.
const BOUNDARY_TTL: &str = "30m";

/// A rule ready to play.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    /// A rule of the engine's own; lifetimes by class.
    Own(CacheRules, Lifetimes),
    /// Entries at the ends of user messages.
    Boundaries(Boundaries),
}

/// Which name each class of lifetimes has in a series: the shorter first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lifetimes {
    names: [Option<String>; 2],
    ttl_ms: [Option<u64>; 2],
    /// Names that a row lists even if nothing is written for so long.
    listed: Vec<String>,
}

impl Rule {
    /// Makes the rule of a name; `asked` are the lifetimes that the series' marks ask for.
    ///
    /// # Errors
    /// The rule, or a lifetime, is not known.
    pub(super) fn new<'a>(
        name: &str,
        record: Option<&RuleRecord>,
        asked: impl Iterator<Item = &'a str>,
    ) -> Result<Self, String> {
        let record = record.cloned().unwrap_or_default();
        let only_ttl = |usual| match &record.ttl_ms {
            Some(TtlRecord::One(ttl)) => Some(*ttl),
            Some(TtlRecord::ByName(names)) => names.get(BOUNDARY_TTL).or(names.values().next()).copied(),
            None => usual,
        };
        let min_tokens = record.min_tokens.unwrap_or(1_024);
        match name {
            "breakpoints" => {
                let lifetimes = Lifetimes::new(record.ttl_ms.as_ref(), asked)?;
                let rules = Breakpoints {
                    min_tokens,
                    breakpoints_max: record.max_marks.unwrap_or(4),
                    lookback_positions: record.lookback.unwrap_or(20),
                    ttl_ms: lifetimes.ttl_ms,
                    ..Breakpoints::default()
                };
                Ok(Self::Own(CacheRules::Breakpoints(rules), lifetimes))
            }
            "prefix_interval" => {
                let step = record.step.unwrap_or(128).max(1);
                // A prefix is cut to whole steps first and may then be too short: only whole steps are a minimum.
                let steps = Steps { min: min_tokens.next_multiple_of(step), step };
                let rules = CacheRules::PrefixInterval { steps, ttl_ms: only_ttl(None) };
                Ok(Self::Own(rules, Lifetimes::default()))
            }
            "boundaries" => Ok(Self::Boundaries(Boundaries {
                min_tokens,
                message_ends: usize::from(record.lookback.unwrap_or(20)),
                ttl_ms: only_ttl(Some(1_800_000)).unwrap_or(u64::MAX),
            })),
            _ => Err(format!("the rule `{name}` is not known")),
        }
    }

    /// Returns the rule as the engine has it, where it does.
    pub(super) fn own(&self) -> &CacheRules {
        match self {
            Self::Own(rules, _) => rules,
            Self::Boundaries(_) => &CacheRules::None,
        }
    }

    /// Returns an empty cache.
    pub(super) fn cache(&self) -> Box<dyn CacheRule> {
        match self {
            Self::Own(rules, _) => cache(rules),
            Self::Boundaries(rules) => Box::new(boundaries::Cache::new(*rules)),
        }
    }

    /// Returns the class of a lifetime.
    pub(super) fn class(&self, ttl: &str) -> TtlClass {
        match self {
            Self::Own(_, it) if it.names[1].as_deref() == Some(ttl) => TtlClass::Long,
            _ => TtlClass::Short,
        }
    }

    /// Returns what was written, by the file's names of lifetimes; nothing under rules that write nothing.
    pub(super) fn written(&self, usage: &CacheUse) -> IndexMap<String, Tokens> {
        match self {
            Self::Own(CacheRules::Breakpoints(_), lifetimes) => {
                let mut written: IndexMap<String, Tokens> =
                    lifetimes.listed.iter().map(|it| (it.clone(), 0)).collect();
                for (name, tokens) in lifetimes.names.iter().zip(usage.write) {
                    written.extend(name.iter().map(|it| (it.clone(), tokens)));
                }
                written
            }
            Self::Own(..) => IndexMap::new(),
            Self::Boundaries(_) => IndexMap::from([(BOUNDARY_TTL.to_owned(), usage.write[0])]),
        }
    }
}

impl Lifetimes {
    /// Sorts the lifetimes that marks ask for into classes.
    fn new<'a>(record: Option<&TtlRecord>, asked: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let ttl_ms = |name: &str| match record {
            Some(TtlRecord::One(ttl)) => Some(*ttl),
            Some(TtlRecord::ByName(names)) => names.get(name).copied(),
            None => USUAL.iter().find(|it| it.0 == name).map(|it| it.1),
        };
        let mut used: IndexMap<&str, u64> = IndexMap::new();
        for name in asked {
            used.insert(name, ttl_ms(name).ok_or_else(|| format!("no lifetime is called `{name}`"))?);
        }
        used.sort_by(|_, a, _, b| a.cmp(b));
        if used.len() > 2 {
            let names: Vec<&str> = used.into_keys().collect();
            return Err(format!("a prompt's marks have two lifetimes, not {}", names.join(", ")));
        }
        let mut lifetimes = Self {
            listed: ["5m", "1h"].into_iter().filter(|it| ttl_ms(it).is_some()).map(str::to_owned).collect(),
            ..Self::default()
        };
        for (class, (name, ttl)) in used.into_iter().enumerate() {
            lifetimes.names[class] = Some(name.to_owned());
            lifetimes.ttl_ms[class] = Some(ttl);
        }
        Ok(lifetimes)
    }
}
