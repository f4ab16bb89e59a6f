//! What is asked of a provider's cache that it does not have: something else is done, and that is told.

use crate::prelude::*;

use super::{Cache, CacheRules, Invalidates, PromptLevel, Setting, TtlClass};
use crate::policy::{Action, Cond, Pause, Policy};
use crate::profile::{Profile, ProfileFile};
use crate::text::name_of;

/// The warnings of policies under profiles; the file of a policy allows those that it means.
pub const UNMET: [Code; 4] = [
    Code("lifetime-not-offered"),
    Code("breakpoints-unknown"),
    Code("ping-in-vain"),
    Code("cache-never-cold"),
];

/// Returns what a policy asks that some of the profiles do not have, with what is done instead; nothing that its file allows.
pub fn unmet(policy: &Policy, profiles: &[Profile]) -> Vec<Diagnostic> {
    let told = by_profile(profiles, |it| it.unmet(policy)).into_iter().map(|(problem, names)| {
        let message = problem.message.replace("{profile}", &first_few(&names));
        Diagnostic { message, ..problem }
    });
    told.filter(|it| !policy.allows.contains_key(it.code.name())).collect()
}

/// Returns the problems under some profiles, each once with the names of those that have it.
pub fn by_profile(
    profiles: &[Profile],
    problems: impl Fn(&Profile) -> Vec<Diagnostic>,
) -> Vec<(Diagnostic, Vec<&str>)> {
    let mut all: Vec<(Diagnostic, Vec<&str>)> = Vec::new();
    for profile in profiles {
        for problem in problems(profile) {
            match all.iter_mut().find(|it| it.0 == problem) {
                Some((_, names)) => names.push(&profile.name),
                None => all.push((problem, vec![&profile.name])),
            }
        }
    }
    all
}

/// Lists the first few names, and says how many more there are.
pub fn first_few(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

impl Profile {
    /// Returns the same for it alone; `{profile}` stands where its name does.
    fn unmet(&self, policy: &Policy) -> Vec<Diagnostic> {
        let rules = self.cache.plain();
        let [not_offered, unknown, in_vain, never_cold] = UNMET;
        let mut found: Vec<Diagnostic> = Vec::new();
        let mut add = |code: Code, field: String, message: String, fix: &str| {
            // Breakpoints that ask for the same are told of once.
            if found.iter().all(|it| it.message != message) {
                let help =
                    format!("{fix}, or allow it with the reason: `allows: {{\"{}\": \"…\"}}`", code.name());
                found.push(Diagnostic::at(code, field, message).help(help));
            }
        };
        let offered = rules.offered_ms();
        let mut longest_ms = offered.iter().copied().max();
        let takes_marks =
            matches!(rules, CacheRules::Breakpoints(_) | CacheRules::ExplicitCache(_) | CacheRules::Own(..));
        match policy.layout().breakpoints.as_deref() {
            None => {}
            Some(marks) if takes_marks => {
                // The harness may ask for any lifetime where the policy asks for none.
                let lives = marks.iter().map(|it| it.class().map_or(longest_ms, |it| rules.life_ms(it)));
                longest_ms = lives.max().unwrap_or(longest_ms);
                for (nth, ttl) in marks.iter().enumerate().filter_map(|(nth, it)| Some((nth, it.ttl?))) {
                    let is_other = |it: &u64| TtlClass::from_ms(*it) != TtlClass::from_ms(ttl.0);
                    let instead = offered.iter().copied().min_by_key(is_other).map(Duration);
                    if let Some(life) = instead.filter(|_| !offered.contains(&ttl.0)) {
                        let message =
                            format!("no cache entry lives {ttl} under {{profile}}: each lives {life}");
                        let field = format!("layout.breakpoints.{nth}.ttl");
                        add(not_offered, field, message, "ask for a lifetime that it has");
                    }
                }
            }
            Some(_) => {
                let message = "breakpoints have no effect under {profile}, whose cache takes none";
                add(unknown, "layout.breakpoints".to_owned(), message.to_owned(), "leave them out");
            }
        }
        for stage in policy.stages() {
            let mut asks_cold = false;
            let conds = policy.rungs(stage).filter_map(|it| it.when).chain(&stage.when);
            conds.for_each(|it| it.each(&mut |it| asks_cold |= *it == Cond::CacheCold));
            if asks_cold && offered.is_empty() {
                let message = "`cache_cold` never holds under {profile}, whose entries have no lifetime";
                add(never_cold, format!("stages.{}.when", stage.name), message.to_owned(), "use `idle(…)`");
            }
            let pings = policy.rungs(stage).any(|it| matches!(it.action, Action::Ping { .. }));
            let Some(Pause { after, .. }) = stage.pause.filter(|_| pings) else { continue };
            let why = match longest_ms.filter(|_| rules.renews()).map(Duration) {
                Some(life) if after.0 <= life.0 => continue,
                Some(life) => format!("entries live {life}: after {after} a ping writes the prompt again"),
                None => "entries no request keeps alive".to_owned(),
            };
            let message = format!("pings keep nothing alive under {{profile}}, whose {why}");
            add(in_vain, format!("stages.{}.apply", stage.name), message, "ping sooner, or not at all");
        }
        found
    }
}

impl ProfileFile {
    /// Returns the prices of lifetimes that its cache does not have.
    pub fn lints(&self) -> Vec<Diagnostic> {
        let Cache::Breakpoints(fields) = &self.cache else { return Vec::new() };
        let is_offered = |it: &Duration| fields.ttl.0.contains(it) || fields.ttl.0.is_empty();
        let is_unused = |ttl: &&String| Duration::parse(ttl).is_some_and(|it| !is_offered(&it));
        let mut found = Vec::new();
        for (nth, price) in self.prices.iter().enumerate() {
            for ttl in price.cache_write.keys().filter(is_unused) {
                let message = format!("no cache entry lives {ttl}, so this price is never paid");
                let field = format!("prices.{nth}.cache_write.{ttl}");
                let help = "add the lifetime to `ttl`, or remove the price";
                found.push(Diagnostic::at(Code("price-unused"), field, message).help(help));
            }
        }
        found
    }
}

impl CacheRules {
    /// Returns the lifetimes that a request can choose from, in milliseconds.
    fn offered_ms(&self) -> Vec<u64> {
        match self {
            Self::Breakpoints(rules) => rules.ttl_ms.into_iter().flatten().collect(),
            _ => self.ttl_ms().into_iter().collect(),
        }
    }

    /// Returns whether a use restarts an entry's lifetime, if it has one.
    fn renews(&self) -> bool {
        match self {
            Self::Breakpoints(rules) => rules.renews,
            Self::ExplicitCache(rules) => rules.renews,
            _ => true,
        }
    }

    /// Returns what is done with a change of a setting that the rules do not know, as a sentence around the name of their profile.
    pub fn unmet_change(&self, setting: Setting) -> Option<[String; 2]> {
        let is_in_band = setting == Setting::EffortInBand;
        let name = name_of(&if is_in_band { Setting::Effort } else { setting });
        let invalidates = match self {
            Self::None | Self::Own(..) => return None,
            Self::PrefixCap(_) => {
                let instead = ", whose cache does not look at it".to_owned();
                return Some([format!("a change of `{name}` rewrites nothing under"), instead]);
            }
            Self::Qualified(it) => it.invalidates,
            _ => Invalidates::default(),
        };
        let rewritten = |of: Setting| match invalidates.level(of) {
            Some(PromptLevel::Tools) => "the whole prompt",
            Some(PromptLevel::System) => "everything from the system prompt on",
            Some(PromptLevel::Messages) => "the messages",
            Some(PromptLevel::Nothing) | None => "nothing",
        };
        match setting {
            Setting::EffortInBand if invalidates.level(setting).is_none() => {
                let asks = "no message can set the effort (`in_band`) under".to_owned();
                Some([asks, format!(": the request sets it, which rewrites {}", rewritten(Setting::Effort))])
            }
            Setting::Effort | Setting::Thinking | Setting::ToolChoice | Setting::Features
                if invalidates == Invalidates::default() =>
            {
                let asks = format!("nobody says what a change of `{name}` rewrites under");
                Some([asks, format!(": {} by default", rewritten(setting))])
            }
            _ => None,
        }
    }
}
