//! Known cache behaviour of harnesses, by version: the rules of `assumptions/harnesses.toml`.

mod conduct;
mod grid;

use std::cmp::Reverse;
use std::sync::OnceLock;

use ctxsim_input::policy::matches_any;
use ctxsim_input::scenario::refetch::AssumedNumber;
use ctxsim_input::text::duration::Duration;
use ctxsim_input::text::source::declared;
use grid::GridRule;
use serde::Deserializer;

use super::side_requests::{Habit, Recaps};
use crate::import::prelude::*;
use crate::odds::{HitShare, Odds, Trigger};
use crate::shared::Chance;
use crate::{Documented, HarnessLimits, RecordedModel, main_model};

pub(super) use conduct::{Conduct, Leads};

/// The rules, with their sources.
const TEXT: &str = ctxsim_assumptions::HARNESSES;

/// The section for caches that their providers call best effort, whatever the harness.
const ANY: &str = "any";

/// A version of a harness; numbers that it does not have are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Version([u32; 3]);

impl Version {
    /// Reads `2.1.37`; nothing after the third number counts.
    pub(super) fn parse(text: &str) -> Self {
        let mut version = Self::default();
        for (number, digits) in version.0.iter_mut().zip(text.split('.')) {
            let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
            *number = digits[..n_digits].parse().unwrap_or(0);
        }
        version
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|it| Self::parse(&it))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The rules of a harness.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct HarnessRules {
    /// The newest version that they describe.
    documented: Option<Documented>,
    #[serde(default)]
    windows: Vec<HarnessWindow>,
    lifetimes: Vec<Lifetime>,
    leads: Vec<Lead>,
    rewrites: Vec<HarnessRewrite>,
    side_requests: Vec<SideRequestRule>,
    replies: Vec<ReplyRule>,
    front: Option<SharedFronts>,
    grids: Vec<GridRule>,
    reasoning: Vec<ReasoningRule>,
    odds: Vec<DeclaredOdds>,
    own: Option<OwnCasesRule>,
}

/// What is known of tools and system prompt as other sessions share them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SharedFronts {
    /// How probable it is that the first request reads them though no session is known that sent them within their lifetime.
    unknown: Vec<UnknownFront>,
    /// A request that reads less than this share of what the one before cached shows their size.
    fall_share: Decimal,
    /// The same of sub-agents.
    agents: Cases,
    /// When they are read though the session's own entries have expired.
    after_expiry: Option<AfterExpiry>,
}

/// When tools and system prompt are still read after a pause: many sessions send the same, as long as they hold no tools of the user's own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AfterExpiry {
    versions: VersionRange,
    /// The first request of the session read them, and they had no more tokens than this.
    tokens_max: Tokens,
    seen: Cases,
}

/// How much of the next prompt a reply is whose output was counted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyRule {
    #[serde(default)]
    versions: VersionRange,
    /// Patterns of models' ids; empty for all.
    #[serde(default)]
    models: Vec<String>,
    /// So many tokens of the output are in no later prompt.
    less: Tokens,
    /// New turns that read the reply back and show it so, and all.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file; a test holds it"))]
    seen: Cases,
}

/// What a version sends after turns beside the agent's own requests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SideRequestRule {
    #[serde(default)]
    versions: VersionRange,
    /// Whether most sessions have one after nearly every turn.
    usual: bool,
    /// Whether one goes with a summary for a user who was away.
    #[serde(default)]
    recaps: Recaps,
    /// Turns of which the one or the other holds, and all.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file; a test holds it"))]
    seen: Cases,
}

/// Whether reasoning stays in the prompts of some models when the user speaks again.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReasoningRule {
    /// Patterns of models' ids.
    models: Vec<String>,
    stays: bool,
    /// Whether a turn goes on, and the reasoning stays, where the user says something behind a tool's result.
    #[serde(default)]
    goes_on: bool,
    /// New turns, or such messages, that show it, and all whose entries lived.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file; a test holds it"))]
    seen: Cases,
}

/// How probable it is that tools and system prompt were left by a session that nobody recorded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnknownFront {
    #[serde(default)]
    versions: VersionRange,
    chance: AssumedNumber<f64>,
}

/// What no log of a format tells of a bill; what is missing is not known.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeclaredOdds {
    #[serde(default)]
    versions: VersionRange,
    /// Patterns of models' ids; empty for all.
    #[serde(default)]
    models: Vec<String>,
    /// Whether it is about reviews that another session asks for; about both where nothing is said.
    reviews: Option<bool>,
    /// A request that reads less than this share of what was to be read has fallen.
    pub(super) fallen_below: Decimal,
    /// The share that is read then; where nothing is said, tools and system prompt.
    kept: Option<AssumedNumber<f64>>,
    /// That the first request of a turn falls.
    pub(super) turn: Option<AssumedNumber<f64>>,
    /// That another request of a turn does.
    within: Option<AssumedNumber<f64>>,
    /// That entries of an hour do not outlive a pause between five minutes and an hour.
    pub(super) hour_missed: Option<AssumedNumber<f64>>,
    /// That a side request came where one is expected.
    side_expected: Option<AssumedNumber<f64>>,
    /// That one came where none is expected.
    side_unexpected: Option<AssumedNumber<f64>>,
    /// That a request reads only what the one before did, the shortest time between their starts first.
    #[serde(default)]
    pub(super) behind: Vec<BehindOdds>,
}

/// When a user's own sessions narrow what is declared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnCasesRule {
    /// The fewest cases of a kind that do.
    cases_min: u32,
}

/// What is counted in a user's own sessions of a version.
#[derive(Debug)]
pub(super) struct OwnKinds {
    /// What is declared of it: of what is not, nothing is counted.
    pub(super) declared: &'static DeclaredOdds,
    /// Whether skills, and calls like them, make it rewrite the messages.
    pub(super) skills_rewrite: bool,
}

/// How probable it is that a request reads only what the one before did.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BehindOdds {
    /// It starts within so long of the other's start.
    pub(super) started_within: Duration,
    chance: AssumedNumber<f64>,
}

impl From<AssumedNumber<f64>> for Chance {
    fn from(AssumedNumber { value, low, high }: AssumedNumber<f64>) -> Self {
        Self { value, interval: [low, high], declared: value }
    }
}

/// The versions that a rule is about, the first and the last one included.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct VersionRange {
    from: Option<Version>,
    to: Option<Version>,
}

impl VersionRange {
    fn include(&self, version: Version) -> bool {
        self.from.is_none_or(|it| it <= version) && self.to.is_none_or(|last| version <= last)
    }
}

/// How long entries are asked to live.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lifetime {
    #[serde(default)]
    versions: VersionRange,
    ttl: Duration,
    seen: Cases,
}

/// What share of the hidden part of the first prompt is tools and system prompt.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lead {
    #[serde(default)]
    versions: VersionRange,
    share: Decimal,
    /// No more than so many tokens.
    tokens_max: Tokens,
    /// Sessions where it was about that, and all.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file; a test holds it"))]
    seen: Cases,
}

/// What makes a harness rewrite the messages from the first on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HarnessRewrite {
    #[serde(default)]
    versions: VersionRange,
    on: Trigger,
    /// Of a call: the tools that count.
    #[serde(default)]
    tools: Vec<String>,
    /// Whether only the first rewrite of a turn is one.
    #[serde(default)]
    once_a_turn: bool,
    /// Patterns of models' ids; empty for all.
    #[serde(default)]
    models: Vec<String>,
    /// Whether it is about sessions whose first request read something, or about those where it read nothing; about both where nothing is said.
    first_read: Option<bool>,
    /// Whether not even tools and system prompt are read, because the tools are others.
    #[serde(default)]
    reads_nothing: bool,
    /// So many tokens behind tools and system prompt are read as well, because other sessions have them, too.
    #[serde(default)]
    reads_beside: Tokens,
    /// In how many later cases the messages were rewritten then, where that was counted apart.
    comes: Option<Cases>,
    seen: Cases,
}

/// In how many cases a rule held, and of how many.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Cases(u32, u32);

impl Cases {
    /// Returns how probable the counts make it, with Wilson's interval (95%).
    fn chance(self) -> Chance {
        const Z: f64 = 1.96;
        let (n, value) = (f64::from(self.1), f64::from(self.0) / f64::from(self.1));
        let (middle, wide) =
            (value + Z * Z / (2.0 * n), Z * (value * (1.0 - value) / n + (Z / (2.0 * n)).powi(2)).sqrt());
        let interval = [middle - wide, middle + wide].map(|it| it / (1.0 + Z * Z / n));
        Chance { value, interval, declared: value }
    }
}

impl fmt::Display for Cases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seen in {} of {} cases", self.0, self.1)
    }
}

/// Returns whether a model is one of those that a rule is about: all, where it names none.
fn is_of_models(patterns: &[String], model: &str) -> bool {
    patterns.is_empty() || matches_any(patterns, model)
}

/// Returns what part of what stood in a model's best-effort cache is read, where that was counted: what does not fall, and what falls leave.
pub fn hit_share(model: &str) -> Option<HitShare> {
    let declared = HarnessRules::of(ANY)?.odds.iter().find(|it| is_of_models(&it.models, model))?;
    let (falls, kept) = (declared.within?, declared.kept?);
    let read = |falls: f64, kept: f64| 1.0 - falls * (1.0 - kept);
    let value = read(falls.value, kept.value);
    let interval = [read(falls.high, kept.low), read(falls.low, kept.high)];
    Some(HitShare(Chance { value, interval, declared: value }))
}

/// Returns within how many milliseconds of another one a request starts, at the most, that may find what that one wrote not there yet.
pub fn behind_within_ms() -> u64 {
    let odds = HarnessRules::all().values().flat_map(|rules| &rules.odds);
    odds.flat_map(|odds| &odds.behind).map(|row| row.started_within.0).max().unwrap_or(0)
}

impl HarnessRules {
    /// Returns what is known of a harness, if anything is.
    fn of(harness: &str) -> Option<&'static Self> {
        Self::all().get(harness)
    }

    fn all() -> &'static IndexMap<String, Self> {
        static RULES: OnceLock<IndexMap<String, HarnessRules>> = OnceLock::new();
        RULES.get_or_init(|| declared(TEXT))
    }

    /// Returns the newest version of a harness that the rules describe, if a version is newer.
    pub(super) fn newer_than(harness: &str, version: Version) -> Option<&'static Documented> {
        Self::of(harness)?.documented.as_ref().filter(|it| Version::parse(&it.to) < version)
    }

    /// Returns how probable it is that a session nobody recorded had left a harness's tools and system prompt, or those of its sub-agents.
    pub(super) fn chance(harness: &str, version: Version, is_of_agent: bool) -> Option<Chance> {
        let front = Self::of(harness)?.front.as_ref()?;
        let row = front.unknown.iter().find(|it| it.versions.include(version))?;
        Some(if is_of_agent { front.agents.chance() } else { row.chance.into() })
    }

    /// Returns what a version of a harness sends after turns, if that is known.
    pub(super) fn side_requests(harness: &str, version: Version) -> Option<Habit> {
        let rule = Self::of(harness)?.side_requests.iter().find(|it| it.versions.include(version))?;
        Some(Habit { is_usual: rule.usual, recaps: rule.recaps })
    }

    /// Returns how many tokens of a reply's output are in no later prompt, for versions that count it.
    pub(super) fn reply_less(harness: &str, version: Version, model: &str) -> Option<Tokens> {
        let fits = |it: &&ReplyRule| it.versions.include(version) && is_of_models(&it.models, model);
        Self::of(harness)?.replies.iter().find(fits).map(|it| it.less)
    }

    /// Returns whether reasoning leaves the prompts of a session when the user speaks again, where that is known of one of its models.
    pub(super) fn forgets_reasoning(harness: &str, exchanges: &[Exchange]) -> Option<bool> {
        let rules = &Self::of(harness)?.reasoning;
        let rule_of = |it: &Exchange| rules.iter().find(|rule| matches_any(&rule.models, &it.model));
        exchanges.iter().find_map(rule_of).map(|it| !it.stays)
    }

    /// Returns whether a turn goes on under a model where the user says something behind a tool's result.
    pub(super) fn goes_on(harness: &str, model: &str) -> bool {
        let mut rules = Self::of(harness).into_iter().flat_map(|it| &it.reasoning);
        rules.any(|it| it.goes_on && matches_any(&it.models, model))
    }

    /// Returns what no log of a format tells, apart from rewrites, in sessions of a version and model, or in reviews.
    fn odds(format: &str, version: Version, model: &str, is_review: bool) -> Option<Odds> {
        let fits = |it: &&DeclaredOdds| {
            it.versions.include(version)
                && is_of_models(&it.models, model)
                && it.reviews.is_none_or(|it| it == is_review)
        };
        let of = |name: &str| Self::of(name).into_iter().flat_map(|it| &it.odds).find(fits);
        let declared = of(format).or_else(|| of(ANY))?;
        let chance = |it: Option<AssumedNumber<f64>>| it.map(Chance::from);
        Some(Odds {
            fallen_below: declared.fallen_below,
            kept: chance(declared.kept),
            turn: chance(declared.turn),
            within: chance(declared.within),
            hour_missed: chance(declared.hour_missed),
            side_expected: chance(declared.side_expected),
            side_unexpected: chance(declared.side_unexpected),
            behind: declared.behind.iter().map(|it| (it.started_within.0, it.chance.into())).collect(),
            rewrites: Vec::new(),
        })
    }

    /// Returns which rows declare something of a version: of odds, and of fronts that are there though nobody known left them. Cases of one
    /// row tell nothing of another.
    pub(super) fn own_rows(harness: &str, version: Version) -> Option<[Option<usize>; 2]> {
        let rules = Self::of(harness)?;
        rules.own.as_ref()?;
        let front = rules.front.as_ref()?.unknown.iter().position(|it| it.versions.include(version));
        Some([rules.odds.iter().position(|it| it.versions.include(version)), front])
    }

    /// Returns how many cases of a user's own it takes to narrow what is declared of a harness.
    pub(super) fn own_cases_min(harness: &str) -> u32 {
        Self::of(harness).and_then(|it| it.own.as_ref()).map_or(0, |it| it.cases_min)
    }

    /// Returns the tools whose calls make some version of a harness rewrite the messages.
    pub(super) fn rewriting_tools(harness: &str) -> impl Iterator<Item = &'static str> {
        let rewrites = Self::of(harness).into_iter().flat_map(|it| &it.rewrites);
        rewrites.flat_map(|it| &it.tools).map(String::as_str)
    }

    /// Returns what a scan can count of a version in a user's own sessions.
    pub(super) fn own_kinds(harness: &str, version: Version) -> Option<OwnKinds> {
        let rules = Self::of(harness)?;
        rules.own.as_ref()?;
        let declared = rules.odds.iter().find(|it| it.versions.include(version))?;
        let is_of_skills = |it: &HarnessRewrite| {
            matches!(it.on, Trigger::Skill | Trigger::TurnAfterSkill | Trigger::TurnAfterCall)
        };
        Some(OwnKinds {
            declared,
            skills_rewrite: rules.rewrites.iter().any(|it| it.versions.include(version) && is_of_skills(it)),
        })
    }

    /// Returns what the billed requests of a session show of the size of a harness's tools and system prompt: what the first one read,
    /// else what most of those read that fell behind what the one before had cached.
    pub(super) fn front(harness: &str, version: Version, usages: &[Usage]) -> Option<Tokens> {
        let rules = Self::of(harness)?;
        let fall = rules.front.as_ref()?.fall_share;
        let tokens_max = rules.leads.iter().find(|it| it.versions.include(version))?.tokens_max;
        let is_front = |it: &Tokens| (1..=tokens_max).contains(it);
        let first = usages.first().map(|it| it.cache_read).filter(|read| is_front(read));
        let fell = usages.windows(2).filter_map(|it| {
            Some(it[1].cache_read).filter(|read| *read < fall.share_of(it[0].cached()) && is_front(read))
        });
        first.or_else(|| {
            let mut counts: IndexMap<Tokens, usize> = IndexMap::new();
            fell.for_each(|it| *counts.entry(it).or_default() += 1);
            counts.into_iter().max_by_key(|it| (it.1, Reverse(it.0))).map(|count| count.0)
        })
    }

    /// Returns how long a version of a harness asks entries to live, in milliseconds.
    pub(super) fn life_ms(harness: &str, version: Version) -> Option<u64> {
        let rules = Self::of(harness)?;
        rules.lifetimes.iter().find(|it| it.versions.include(version)).map(|found| found.ttl.0)
    }
}

/// The window and the reserve of some versions under some models.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HarnessWindow {
    #[serde(default)]
    versions: VersionRange,
    /// Patterns of models' ids; empty for all.
    #[serde(default)]
    models: Vec<String>,
    /// The window that the harness keeps to; that of the model if `None`.
    window: Option<Tokens>,
    /// What it leaves of it for the longest output.
    output_reserve: Tokens,
    /// Compactions that came where this puts them, and all; nothing where it is only documented.
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file; a test holds it"))]
    seen: Option<Cases>,
    /// What it rests on.
    #[expect(dead_code, reason = "for readers of the file, and so that no row is without one")]
    source: String,
}

impl Transcript {
    /// Returns when a version of its harness compacts, by the model that answered most of it; nothing where that is not known.
    pub(super) fn harness_limits(&self, version: Version, models: &[RecordedModel]) -> HarnessLimits {
        let model = main_model(models).map_or("", |it| it.name.as_str());
        let prompt_max = self.exchanges.iter().filter_map(|it| it.usage).map(|usage| usage.prompt).max();
        let mut rules = HarnessRules::of(self.harness).into_iter().flat_map(|it| &it.windows);
        // A session with a larger prompt than a window had another one.
        let fitting = rules.find(|it| {
            it.versions.include(version)
                && is_of_models(&it.models, model)
                && it.window.is_none_or(|window| prompt_max.unwrap_or(0) <= window)
        });
        fitting.map_or_else(HarnessLimits::default, |it| HarnessLimits {
            window: it.window,
            output_reserve: Some(it.output_reserve),
            trigger: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctxsim_input::text::source::{Format, decode_table};

    #[test]
    fn a_version_is_compared_number_by_number() {
        let versions = ["", "2", "2.0.76", "2.1.7", "2.1.12", "2.1.12-beta.9", "2.2"].map(Version::parse);

        assert!(versions.is_sorted());
        assert_eq!(versions[4], versions[5]);
    }

    #[test]
    fn every_rule_of_the_file_was_seen_to_hold_five_times() {
        let all: IndexMap<String, HarnessRules> = decode_table(TEXT, Format::Toml).unwrap();

        let rules = all.values();
        let seen = rules.flat_map(|it| {
            let lifetimes = it.lifetimes.iter().map(|it| it.seen);
            lifetimes
                .chain(it.leads.iter().map(|it| it.seen))
                .chain(it.side_requests.iter().map(|rule| rule.seen))
                .chain(it.replies.iter().map(|rule| rule.seen))
                .chain(it.grids.iter().flat_map(|rule| [Some(rule.seen), rule.front_stays]).flatten())
                .chain(it.reasoning.iter().map(|rule| rule.seen))
                .chain(it.front.iter().filter_map(|it| Some(it.after_expiry.as_ref()?.seen)))
        });
        // Those have odds, and predict what was likelier.
        let mut rewrites = all.values().flat_map(|it| it.rewrites.iter().map(|rewrite| rewrite.seen));
        assert!(rewrites.all(|Cases(held, of)| (of..=2 * of).contains(&(2 * held))));
        let windows = all.values().flat_map(|it| it.windows.iter().filter_map(|window| window.seen));
        assert!(seen.into_iter().chain(windows).all(|Cases(held, of)| (5..=of).contains(&held)));
        assert!(all.contains_key("claude-code"));
    }

    #[test]
    fn counts_make_a_probability_with_wilsons_interval() {
        for (cases, expected) in
            [(Cases(43, 53), [811.0, 686.0, 894.0]), (Cases(2, 2), [1_000.0, 342.0, 1_000.0])]
        {
            let Chance { value, interval, .. } = cases.chance();

            assert_eq!([value, interval[0], interval[1]].map(|it| (it * 1_000.0).round()), expected);
        }
    }
}
