//! What a cache, a stage and a harness did, in words and numbers.

use crate::prelude::*;
use ctxsim_engine::cache::{EntryFound, Fate};
use ctxsim_engine::explain::{By, Explanation, Same, StandingItem, Stood};
use ctxsim_engine::ledger::Role;
use ctxsim_engine::projection::State;
use ctxsim_engine::projection::prompt::ShownAs;
use ctxsim_input::profile::cache::Setting;
use ctxsim_input::{CacheRules, Policy};
/// Returns a time in seconds, exactly.
pub(super) fn format_seconds(ms: u64) -> String {
    let text = format!("{}.{:03}", thousands(ms / 1_000), ms % 1_000);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Returns a number of tokens.
pub(super) fn format_token_count(n: u64) -> String {
    counted(n as usize, "token")
}

/// Returns how something is shown.
pub(super) fn describe_state(stood: &Stood) -> String {
    match (stood.state, stood.shown) {
        (State::Shown, ShownAs::Raw) => "as received".to_owned(),
        (State::Shown, shown) => serialized_name(shown),
        (State::Dropped, _) => "dropped".to_owned(),
        _ if stood.tokens == 0 => "in a summary".to_owned(),
        _ => "replaced by a summary".to_owned(),
    }
}

/// Returns how an item is shown.
pub(super) fn describe_item_state(item: &StandingItem) -> String {
    item.behind.map_or_else(|| describe_state(&item.now), |host| format!("in the summary at {host}"))
}

/// Returns who made a change.
pub(super) fn describe_editor(by: By, policy: &Policy) -> String {
    match by {
        By::Stage(stage, step) => {
            let Some(stage) = policy.stages().get(stage) else { return "the policy's code".to_owned() };
            let name = &stage.name;
            if step == 0 { format!("stage `{name}`") } else { format!("stage `{name}`, step {}", step + 1) }
        }
        By::TakenBack => "undone after one request".to_owned(),
        By::Memory => "changed by recalled memory".to_owned(),
        By::Harness => "removed by the harness".to_owned(),
    }
}

/// Returns what happened to an entry, and why.
pub(super) fn describe_cache_entry(entry: &EntryFound, rules: &CacheRules) -> String {
    let what = format_token_count(entry.tokens) + &or_nothing(entry.slot, |it| format!(" up to item {it}"));
    let is_kept = matches!(rules, CacheRules::ExplicitCache(it) if !it.renews);
    let since = if is_kept { "stored" } else { "last used" };
    let age = entry.age_ms.map_or(String::new(), |it| format!(", {since} {} ago", format_seconds(it)));
    let life = entry.life_ms.map_or(String::new(), |it| format!(", lives {}", format_seconds(it)));
    let why = match entry.fate {
        Fate::Read(read) if read == entry.tokens => format!("read{age}{life}"),
        Fate::Read(read) => format!("read to {}{}{age}{life}", thousands(read), describe_prefix_steps(rules)),
        Fate::Stored(_) => format!("stored first, in a separate call, and then read{life}"),
        Fate::Shorter => "not needed: a longer one was read".to_owned(),
        Fate::Expired => {
            let late = entry.age_ms.unwrap_or(0).saturating_sub(entry.life_ms.unwrap_or(0));
            format!("expired {} earlier{age}{life}", format_seconds(late))
        }
        Fate::NotReadable { in_ms } => {
            format!("not readable yet: the response of its writer begins {} later", format_seconds(in_ms))
        }
        Fate::OutOfLookback { positions, looked_at } => {
            let [n, most] = [positions, looked_at].map(thousands);
            format!(
                "out of lookback: position {n} back from the next breakpoint, and only {most} are checked"
            )
        }
        Fate::NoBreakpoint => "not looked up: no counted breakpoint is at or behind it".to_owned(),
        Fate::TooShort { min_tokens } => {
            format!("too short: the minimum is {}", format_token_count(min_tokens))
        }
        Fate::Evicted => "evicted from the store".to_owned(),
        Fate::Capped(behind) => {
            format!("capped: an edit is assumed to have broken it after {}", format_token_count(behind))
        }
    };
    format!("{what}: {why}")
}

/// Returns how the cache rules cut prefixes to whole steps.
fn describe_prefix_steps(rules: &CacheRules) -> String {
    let steps = rules.steps().filter(|it| it.step > 1).map(|it| [it.step, it.min].map(thousands));
    or_nothing(steps, |[step, min]| format!(", prefixes end in steps of {step} from {min} on"))
}

/// Returns what the cache did, in one sentence.
pub(super) fn describe_cache_use(explanation: &Explanation, rules: &CacheRules) -> String {
    let read = explanation.row.usage.read;
    let Some(finding) = &explanation.finding else {
        return "The cache was not consulted: this prompt shares nothing with the agent's.".to_owned();
    };
    if *rules == CacheRules::None {
        return "This model has no cache.".to_owned();
    }
    let share = text_if_any(explanation.row.prompt, |all| format!(" of {}", format_token_count(all)));
    let longest = finding.entries.first();
    let readable = finding.entries.iter().find(|it| matches!(it.fate, Fate::Read(_)));
    match (read, longest) {
        (0, _) if readable.is_some() => {
            let what = readable.map_or(String::new(), |it| format_token_count(it.tokens));
            format!(
                "Nothing was read: in this random draw, the machine that served the request lacked the \
                    entry of {what}."
            )
        }
        (0, None) => format!("Nothing was read: {}.", explain_no_entry(explanation, rules)),
        (0, Some(longest)) => format!("Nothing was read: {}.", describe_cache_entry(longest, rules)),
        (_, Some(longest)) if !matches!(longest.fate, Fate::Read(_) | Fate::Stored(_)) => {
            format!("Read {}{share}, but no more: {}.", thousands(read), describe_cache_entry(longest, rules))
        }
        _ => format!("Read {}{share}.", thousands(read)),
    }
}

/// Returns why no cached prefix matches a prompt.
fn explain_no_entry(explanation: &Explanation, rules: &CacheRules) -> String {
    let min = rules.min_tokens().unwrap_or(0);
    let Some(prefix) = &explanation.prefix else { return "no request came before".to_owned() };
    if prefix.tokens < min {
        let ([tokens, min], n) = ([prefix.tokens, min].map(format_token_count), prefix.of);
        let why = "left no entry because its prompt was too short";
        return format!("request {n} {why}: {tokens}, the minimum is {min}");
    }
    match &prefix.same {
        Same::Until { item, .. } => {
            let other = prefix.of;
            format!("the prompt differs from request {other} at item {item}, and no entry ends before it")
        }
        Same::All => "no earlier request left an entry for this prompt".to_owned(),
    }
}

/// Returns how the prompt compares with the previous one.
pub(super) fn prefix_comparison(explanation: &Explanation, policy: &Policy) -> String {
    let Some(prefix) = &explanation.prefix else {
        let other = "It is not compared with another request: it is the first, or has its own prompt.";
        let is_main = explanation.row.role == Role::Main;
        return if is_main { "This is the agent's first request." } else { other }.to_owned();
    };
    let new = explanation.items.iter().filter(|it| it.is_new && it.now.tokens > 0).listed();
    let tokens = format_token_count(new.iter().map(|it| u64::from(it.now.tokens)).sum());
    let new = text_if_any(new.len(), |n| format!(" New since: {}, {tokens}.", counted(n, "item")));
    let settings: String =
        prefix.settings.iter().map(|it| format!(" {}", describe_setting_change(*it))).collect();
    match &prefix.same {
        Same::All => {
            let tokens = format_token_count(prefix.tokens);
            format!("Begins with the whole prompt of request {}, {tokens}.{settings}{new}", prefix.of)
        }
        Same::Until { item, causes } => {
            let whose = explanation.items.iter().find(|it| it.item == *item);
            let kind = or_nothing(whose, |it| format!(" ({})", item_kind_text(it)));
            let cause = or_nothing(causes.last(), |cause| {
                let state =
                    |it: &Stood| format!("{} ({})", describe_state(it), format_token_count(it.tokens.into()));
                let (by, states) = (describe_editor(cause.by, policy), cause.change.each_ref().map(state));
                format!(" {}: {}.", capitalise(&by), states.join(" → "))
            });
            let (same, all) = (thousands(prefix.same_tokens), format_token_count(prefix.tokens));
            format!(
                "Differs from request {} at item {item}{kind}: {same} of its {all} come before \
                    it.{cause}{settings}{new}",
                prefix.of
            )
        }
    }
}

/// Returns the meaning of a changed setting.
fn describe_setting_change(setting: Setting) -> &'static str {
    match setting {
        Setting::Model => "A different model answers.",
        Setting::Preamble | Setting::System => {
            "The harness rewrote the messages: nothing cached after tools and system prompt matches."
        }
        Setting::EffortInBand => "A message set another effort.",
        _ => "A setting of the request changed.",
    }
}

/// Returns what an item is.
pub(super) fn item_kind_text(item: &StandingItem) -> String {
    let kind = serialized_name(item.kind);
    item.tool.as_ref().map_or(kind.clone(), |tool| format!("{kind} of {tool}"))
}

/// Returns the prompt of an explained request, each item under a line that names it.
pub fn render_prompt_text(explanation: &Explanation) -> String {
    let mut text = String::new();
    for item in explanation.items.iter().filter(|it| it.now.tokens > 0) {
        let (n, what, how) = (item.item, item_kind_text(item), describe_item_state(item));
        let (tokens, own) = (format_token_count(item.now.tokens.into()), item_text(item));
        text += &format!("──── {n} · {what} · {how} · {tokens}\n{}\n\n", own.trim_end_matches('\n'));
    }
    let beside = format_token_count(explanation.beside);
    text + &text_if(explanation.beside > 0, || {
        format!("──── {beside} beside the items, without known text\n")
    })
}

/// Returns an item's text in the prompt, or what is known of it.
pub(super) fn item_text(item: &StandingItem) -> String {
    match &item.text {
        Some(text) => text.clone(),
        None if item.now.state == State::Shown && item.now.shown == ShownAs::Raw => "[no text]".to_owned(),
        None => format!("[{}: {}]", format_token_count(item.now.tokens.into()), describe_state(&item.now)),
    }
}
