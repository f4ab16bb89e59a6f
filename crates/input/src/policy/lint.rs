//! What is wrong with a policy by construction: it would run, but users found out that it costs more than it saves.

use crate::prelude::*;

use super::Law;
use super::*;
use crate::profile::cache::UNMET;
use ctxsim_base::grid::numbers::thousands;
use std::mem::discriminant;

/// A rule that policies are held to, without running them.
#[derive(Clone, Copy, Debug)]
pub struct Lint {
    pub code: Code,
    /// Where it was found out.
    pub source: &'static str,
    find: fn(&Policy, &mut LintHit<'_>),
}

/// All rules; each has its function below.
pub static LINTS: [Lint; 11] = [
    Lint {
        code: Code("trigger-is-target"),
        source: "QwenLM/qwen-code#8452: it cleared one result a turn",
        find: trigger_is_target,
    },
    Lint {
        code: Code("saving-below-write"),
        source: "gptme/gptme#946: clears that freed 3.8% lost money, so 10% became the minimum",
        find: small_saving,
    },
    Lint {
        code: Code("summary-misses-cache"),
        source: "anthropics/claude-code#94197: about 97,000 tokens written again with each compaction",
        find: separate_summary,
    },
    Lint {
        code: Code("volatile-front"),
        source: "Anthropic, prompt caching: a change in front invalidates all that follows",
        find: volatile_front,
    },
    Lint {
        code: Code("window-of-single-units"),
        source: "lloydzhou/bash-agent#5: a cut moved by one message rewrites the prompt each time",
        find: moving_window,
    },
    Lint {
        code: Code("summary-too-large"),
        source: "Martian-Engineering/lossless-claw#310: compactions that lost money",
        find: large_summary,
    },
    Lint {
        code: Code("trigger-beyond-window"),
        source: "BaseInfinity/claude-sdlc-harness#520: thresholds that a smaller window never reaches",
        find: trigger_beyond_window,
    },
    Lint {
        code: Code("task-removed"),
        source: "assumptions/user_messages.toml: each request of a turn needs its user's message, and no call fetches it again",
        find: removed_task,
    },
    Lint {
        code: Code("stage-never-fires"),
        source: "docs/reference/policy.ron: `all` needs each of its conditions",
        find: never_fires,
    },
    Lint {
        code: Code("goal-unreachable"),
        source: "docs/reference/policy.ron: no stage removes the stable prefix",
        find: unreachable_goal,
    },
    Lint {
        code: Code("summary-empty"),
        source: "docs/reference/policy.ron: `output` is the length of the summary",
        find: empty_summary,
    },
];

/// Prompt limits under which sizes are compared, in tokens: what holds under all of them holds under any model.
const LIMITS: [u64; 4] = [128_000, 200_000, 400_000, 1_000_000];

/// What a rule finds.
struct LintHit<'l> {
    lint: &'l Lint,
    all: Vec<Diagnostic>,
}

impl LintHit<'_> {
    /// Adds what is wrong at a field, and the smallest change that mends it.
    fn add(&mut self, field: String, message: String, mend: &str) {
        let help = format!("{mend} (see {})", self.lint.source);
        self.all.push(Diagnostic::at(self.lint.code, field, message).help(help));
    }
}

impl Policy {
    /// Returns what is wrong with it by construction, except for what its file allows.
    pub fn lints(&self) -> Vec<Diagnostic> {
        let found = LINTS.iter().filter(|it| !self.allows.contains_key(it.code.name())).flat_map(|lint| {
            let mut found = LintHit { lint, all: Vec::new() };
            (lint.find)(self, &mut found);
            found.all
        });
        found.collect()
    }
}

/// Reports allowances that name neither a rule nor a law. One that is not needed may be inherited, so it is no problem.
pub(super) fn check_allowances(allows: &IndexMap<String, String>, problems: &mut Problems) {
    let warnings = || LINTS.iter().map(|it| it.code).chain(UNMET);
    let known = || warnings().map(|it| it.name()).chain(Law::ALL.map(Law::name));
    for code in allows.keys().filter(|code| known().all(|it| it != code.as_str())) {
        let otherwise = || format!("there are {}", known().collect::<Vec<_>>().join(", "));
        let help = near_or(code, known(), otherwise);
        let message = format!("no warning or law is called `{code}`");
        problems.push_at(Code("lint-unknown"), format_args!("allows.{code}"), message, help);
    }
}

/// Returns the lower bound of a trigger, if it has one, and what it is compared with; of alternatives, none holds for sure.
fn floor(cond: &Cond) -> Option<(&Cond, &Size)> {
    bounded(cond, |it| matches!(it, Relation::Above | Relation::AtLeast))
}

/// Returns the upper bound of a goal.
fn ceiling(cond: &Cond) -> Option<(&Cond, &Size)> {
    bounded(cond, |it| matches!(it, Relation::Below | Relation::AtMost))
}

fn bounded(cond: &Cond, is_wanted: fn(Relation) -> bool) -> Option<(&Cond, &Size)> {
    match cond {
        Cond::All(parts) => parts.iter().find_map(|it| bounded(it, is_wanted)),
        _ => bound(cond).filter(|it| is_wanted(it.0)).map(|it| (cond, it.1)),
    }
}

/// Returns the bound of what a prompt holds, if the condition is one.
fn bound(cond: &Cond) -> Option<(Relation, &Size)> {
    match cond {
        Cond::Prompt(it) | Cond::Body(it) | Cond::Raw(it) | Cond::Counted(it) | Cond::Scope(it) => it.given(),
        _ => None,
    }
}

/// Returns a size under a prompt limit; none where only a run knows it.
pub(crate) fn tokens(size: &Size, limit: u64) -> Option<u64> {
    let all = |parts: &[Size]| parts.iter().map(|it| tokens(it, limit)).collect::<Option<Vec<u64>>>();
    match size {
        Size::Tokens(tokens) => Some(*tokens),
        Size::Ratio(ratio) => Some(ratio.share_of(limit)),
        Size::Limit | Size::Window => Some(limit),
        Size::Times(factor, size) => Some(factor.share_of(tokens(size, limit)?)),
        Size::Sum(parts) => all(parts)?.into_iter().try_fold(0_u64, u64::checked_add),
        Size::Min(parts) => all(parts)?.into_iter().min(),
        Size::Max(parts) => all(parts)?.into_iter().max(),
        Size::Minus(parts) => {
            let parts = all(parts)?;
            let (first, rest) = parts.split_first()?;
            Some(rest.iter().fold(*first, |left, it| left.saturating_sub(*it)))
        }
        Size::ByWindow { below, of: WindowKind::Limit | WindowKind::Window, then, otherwise } => {
            tokens(if limit < *below { then } else { otherwise }, limit)
        }
        Size::Chars(_) | Size::OutputLimit | Size::Start | Size::Input | Size::Behind => None,
        Size::Count(_) | Size::PerRank(_) | Size::Param(_) | Size::Harness { .. } => None,
    }
}

/// Returns two sizes under the first limit, if a relation between them holds under all, and which limit that is, if that matters.
fn under_all(one: &Size, other: &Size, holds: impl Fn(u64, u64) -> bool) -> Option<([u64; 2], &'static str)> {
    let sizes = LIMITS.map(|it| Some([tokens(one, it)?, tokens(other, it)?]));
    let is_so = sizes.iter().all(|it| it.is_some_and(|it| holds(it[0], it[1])));
    let is_one = sizes.iter().all(|it| *it == sizes[0]);
    let under = if is_one { "" } else { " (under a limit of 128,000 tokens)" };
    sizes[0].filter(|_| is_so).map(|it| (it, under))
}

/// Finds a summary of no tokens: what it replaces is gone, and the report calls it summarised.
fn empty_summary(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        let Action::Summarise(summary) = &stage.apply else { continue };
        if under_all(&summary.output, &Size::Tokens(1), |output, one| output < one).is_some() {
            let message = "a summary of 0 tokens says nothing: what it replaces is lost".to_owned();
            let mend = "give it a length, such as `output: tokens(2_000)`, or write `apply: drop`";
            found.add(format!("stages.{}.apply", stage.name), message, mend);
        }
    }
}

/// Finds something that changes in front of everything that could be cached.
fn volatile_front(policy: &Policy, found: &mut LintHit<'_>) {
    for (nth, it) in policy.layout().dynamic.iter().enumerate() {
        if it.at == DynamicPlace::FrontOfSystem && it.changes != Changes::Session {
            let message = "it changes within a session and stands in front, so nothing behind it is read from the cache again";
            found.add(format!("layout.dynamic.{nth}"), message.to_owned(), "move it to the end: `at: tail`");
        }
    }
}

/// Finds a goal that no prompt reaches: something of it always stays.
fn unreachable_goal(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        let Some((Cond::Prompt(_) | Cond::Raw(_), goal)) = stage.until.as_ref().and_then(ceiling) else {
            continue;
        };
        if under_all(goal, &Size::Tokens(1), |goal, one| goal < one).is_some() {
            let message = "no prompt is so small, so it takes everything in its scope".to_owned();
            let mend = "leave `until` out if everything should go, or give a size that a prompt can have, such as \
                `until: prompt(at_most: ratio(0.4))`";
            found.add(format!("stages.{}.until", stage.name), message, mend);
        }
    }
}

/// Finds a trigger that no prompt meets, because its parts exclude each other.
fn never_fires(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        if let Some(why) = stage.when.as_ref().and_then(never) {
            let mend = "swap the two sizes, or write `any([…])` if one of them is enough";
            found.add(format!("stages.{}.when", stage.name), format!("it never fires: {why}"), mend);
        }
    }
}

/// Returns why a condition never holds, if sizes tell.
fn never(cond: &Cond) -> Option<String> {
    match cond {
        Cond::All(parts) => parts.iter().find_map(never).or_else(|| excluded(parts)),
        Cond::Any(parts) => {
            let all: Option<Vec<String>> = parts.iter().map(never).collect();
            all?.into_iter().next()
        }
        _ => None,
    }
}

/// Returns what no number can be: two bounds that must both hold exclude each other.
fn excluded(parts: &[Cond]) -> Option<String> {
    let mut bounds = Vec::new();
    parts.iter().for_each(|it| needed(it, &mut bounds));
    let is_least = |it: Relation| matches!(it, Relation::Above | Relation::AtLeast);
    bounds.iter().filter(|it| is_least(it.1)).find_map(|(cond, least, low)| {
        let highs = bounds.iter().filter(|it| !is_least(it.1) && discriminant(it.0) == discriminant(*cond));
        highs.into_iter().find_map(|(_, most, high)| {
            let is_closed = (*least, *most) == (Relation::AtLeast, Relation::AtMost);
            let excludes = |low, high| low > high || low == high && !is_closed;
            let ([low_tokens, high_tokens], under) = under_all(low, high, excludes)?;
            let [low, high] = [low_tokens, high_tokens].map(thousands);
            Some(format!("nothing is {} {low} and {} {high} tokens{under}", word(*least), word(*most)))
        })
    })
}

fn word(relation: Relation) -> &'static str {
    match relation {
        Relation::Above => "above",
        Relation::AtLeast => "at least",
        Relation::Below => "below",
        Relation::AtMost => "at most",
    }
}

/// Collects the bounds that must all hold.
fn needed<'c>(cond: &'c Cond, bounds: &mut Vec<(&'c Cond, Relation, &'c Size)>) {
    match cond {
        Cond::All(parts) => parts.iter().for_each(|it| needed(it, bounds)),
        _ => bounds.extend(bound(cond).map(|it| (cond, it.0, it.1))),
    }
}

/// What must be freed at least, as a part of the prompt.
const PART: u64 = 10;

/// Finds a clear that may free less than it makes the provider write again.
fn small_saving(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages().iter().filter(|it| it.prefix == PrefixRule::Breaks) {
        let Some(when) = &stage.when else { continue };
        let (Some((_, trigger)), Some(least)) = (floor(when), freed(when)) else { continue };
        let is_little = |prompt: u64, freed: u64| freed.saturating_mul(PART) < prompt;
        if let Some(([prompt, freed], under)) = under_all(trigger, least, is_little) {
            // Anthropic's prices; others charge less for a write, and it is earned back a little sooner.
            let requests = (prompt - freed).saturating_mul(115) / (freed.max(1) * 10);
            let back = match requests {
                0..1_000 => format!("after {requests} more requests"),
                _ => "in no session of a usual length".to_owned(),
            };
            let message = format!(
                "it may free {freed} of {prompt} tokens{under}: where that breaks the prefix near its front, it is earned back {back}, \
                 if a write costs 1.25 of plain input and a read 0.1"
            );
            let enough = tokens(trigger, prompt).map_or(0, |it| it.div_ceil(PART));
            let mend =
                format!("free at least a tenth of the prompt: `reclaimable(at_least: tokens({enough}))`");
            found.add(format!("stages.{}.when", stage.name), message, &mend);
        }
    }
}

/// Returns how much a condition wants to be freed at least.
fn freed(cond: &Cond) -> Option<&Size> {
    match cond {
        Cond::All(parts) => parts.iter().find_map(freed),
        Cond::Reclaimable(bound) => {
            bound.given().filter(|it| matches!(it.0, Relation::Above | Relation::AtLeast)).map(|it| it.1)
        }
        _ => None,
    }
}

/// Finds a summary whose request finds nothing in the cache: the whole history is paid for as plain input once more.
fn separate_summary(policy: &Policy, found: &mut LintHit<'_>) {
    // Another model's cache has nothing of the session in any case.
    if policy.summariser.is_some() {
        return;
    }
    for stage in policy.stages() {
        let asks = |it: &Action| matches!(it, Action::Summarise(it) if it.prompt == SummaryPrompt::Separate);
        if policy.rungs(stage).any(|it| asks(it.action)) {
            let message = "the request for the summary has a prompt of its own, which the cache of the session's model does not hold";
            let mend = "ask behind the agent's own prompt (`prompt: aligned`), or name a cheaper model (`summariser`)";
            found.add(format!("stages.{}.apply", stage.name), message.to_owned(), mend);
        }
    }
}

/// Finds a summary that is no smaller than what it replaces.
fn large_summary(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        let Some((_, trigger)) = stage.when.as_ref().and_then(floor) else { continue };
        let Action::Summarise(summary) = &stage.apply else { continue };
        let kept = match &stage.scope.keep_recent {
            Some(Extent::Size(size)) => size.clone(),
            Some(Extent::Tokens(count)) => Size::Tokens(count.get()),
            _ => Size::Tokens(0),
        };
        let replaced = Size::Minus(vec![trigger.clone(), kept]);
        if let Some(([most, output], under)) =
            under_all(&replaced, &summary.output, |most, output| output >= most)
        {
            let message = format!("at its trigger it replaces at most {most} tokens by {output}{under}");
            let half = tokens(&replaced, most).map_or(0, |it| it / 2);
            let mend = format!("summarise later, or shorter: `output: tokens({half})` at the most");
            found.add(format!("stages.{}.apply", stage.name), message, &mend);
        }
    }
}

/// Finds a trigger that is also the goal: a little is edited at nearly every request, and each edit breaks the cached prefix.
fn trigger_is_target(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        let (Some(when), Some(until)) = (&stage.when, &stage.until) else { continue };
        let (Some(trigger), Some(goal)) = (floor(when), ceiling(until)) else { continue };
        if discriminant(trigger.0) != discriminant(goal.0) {
            continue;
        }
        if trigger.1 == goal.1 || under_all(trigger.1, goal.1, |at, to| to >= at).is_some() {
            let message = "it stops where it starts, so it edits again as soon as anything is added";
            let mend = "stop well below the trigger, at half of it for a start";
            found.add(format!("stages.{}.until", stage.name), message.to_owned(), mend);
        }
    }
}

/// Finds a stage that can take the message away that the agent is working on.
fn removed_task(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        let is_before_requests = stage
            .at
            .iter()
            .any(|it| matches!(it, Moment::SessionStart | Moment::TurnStart | Moment::Request));
        let removes = |(scope, action): (&Scope, &Action)| {
            let hides = match action {
                Action::Drop => true,
                Action::Show(rendition) => rendition.shown() != ShownAs::Raw,
                Action::Table { .. } | Action::Summarise(_) | Action::Ping { .. } | Action::Fold(_) => false,
            };
            hides && reaches(scope)
        };
        if is_before_requests && policy.rungs(stage).any(|it| removes((it.scope, it.action))) {
            let message = "it can take away the user's message while the agent is working on it";
            let mend = "protect it: add `keep: [(kinds: [user], recent: messages(1))]` to its scope, or leave `user` out of its `kinds`";
            found.add(format!("stages.{}.scope", stage.name), message.to_owned(), mend);
        }
    }
}

/// Returns whether nothing in a scope protects the newest message of the user.
fn reaches(scope: &Scope) -> bool {
    let has_users = |kinds: &[Kind]| kinds.is_empty() || kinds.contains(&Kind::User);
    let is_of_results = !scope.tools.is_empty()
        || !scope.preserve.is_empty()
        || !scope.superseded_by.is_empty()
        || scope.part == PromptPart::Entering;
    let is_of_users = scope.kinds() == [Kind::User];
    let keeps = |it: &Keep| {
        let is_of_users = it.kinds == [Kind::User];
        has_users(&it.kinds)
            && it.tools.is_empty()
            && it.recent.as_ref().is_some_and(|it| leaves_newest(it, is_of_users))
    };
    let is_by_whole_turns =
        scope.whole && scope.by.as_ref().and_then(Extent::units).is_some_and(|it| it.0 == Unit::Turns);
    has_users(scope.kinds())
        && !is_of_results
        && scope.part != PromptPart::Completed
        && !is_by_whole_turns
        && !scope.keep.iter().any(keeps)
        && !scope.keep_recent.as_ref().is_some_and(|it| leaves_newest(it, is_of_users))
}

/// Returns whether what is left at the end has the message of the last turn: whole turns do, and one of users' messages is it.
fn leaves_newest(extent: &Extent, is_of_users: bool) -> bool {
    match extent {
        Extent::All => true,
        _ => extent.units().is_some_and(|(unit, n)| {
            n > 0 && (unit == Unit::Turns || is_of_users && matches!(unit, Unit::Messages | Unit::Groups))
        }),
    }
}

/// Finds a window that moves by one unit with each request: every request breaks the prefix where the window begins.
fn moving_window(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages().iter().filter(|it| moves(it)) {
        let keeps = stage.scope.keep_recent.as_ref().and_then(Extent::units);
        let when = if keeps.is_some_and(|it| it.0 == Unit::Turns) { "turn" } else { "request" };
        let message = format!("what it leaves moves on with each {when}, and breaks the cached prefix there");
        let mend = "give it a trigger (`when`), or let it move in steps: `by: turns(10), whole: true`";
        found.add(format!("stages.{}.scope", stage.name), message, mend);
    }
}

/// Returns whether a stage without a trigger leaves a number of units and takes one at a time.
fn moves(stage: &Stage) -> bool {
    let scope = &stage.scope;
    let is_of_one = scope.by.as_ref().is_none_or(|it| it.units().is_some_and(|it| it.1 <= 1));
    let edits = matches!(stage.apply, Action::Drop | Action::Show(_) | Action::Table { .. });
    stage.when.as_ref().is_none_or(|it| *it == Cond::Always)
        && stage.at.contains(&Moment::Request)
        && stage.prefix == PrefixRule::Breaks
        && scope.part == PromptPart::History
        && scope.keep_recent.as_ref().is_some_and(|it| it.units().is_some())
        && is_of_one
        && edits
}

/// Finds a trigger that no prompt can reach.
fn trigger_beyond_window(policy: &Policy, found: &mut LintHit<'_>) {
    for stage in policy.stages() {
        let Some((what, trigger)) = stage.when.as_ref().and_then(floor) else { continue };
        // What a client that keeps everything would send, or counts itself, may be more than is sent.
        if !matches!(what, Cond::Prompt(_) | Cond::Body(_)) {
            continue;
        }
        if let Some(([at, limit], under)) = under_all(trigger, &Size::Limit, |at, limit| at > limit) {
            let message = format!(
                "it waits for {at} tokens, and a prompt of {limit} is the longest that can be sent{under}"
            );
            found.add(format!("stages.{}.when", stage.name), message, "stay below the limit: `ratio(0.8)`");
        }
    }
}
