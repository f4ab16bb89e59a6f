//! Whether a policy keeps the laws of context policies on one timeline, and at which request it breaks them.
//!
//! The policy is simulated twice: once as it is, and once with each request asked for a second time, as when an agent tries again.

use crate::engine::Simulation;
use crate::prelude::*;
use crate::projection::TextContent;
use ctxsim_base::grid::numbers::thousands;
use ctxsim_input::ShownAs;
use ctxsim_input::policy::Law;

/// How many requests in a row may change what was sent before.
const CHANGES_IN_A_ROW: u32 = 2;

/// Where a policy first broke a law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawBreach {
    /// Which.
    pub law: Law,
    /// The turn, from 1.
    pub turn: u32,
    /// The request of the run, from 1.
    pub request: u32,
    /// What it did, as the end of a sentence.
    pub what: String,
}

/// Returns the first breach of each of some laws, in their order.
///
/// # Errors
/// The policy is code that failed: what it said.
pub fn breaches(
    timeline: &Timeline,
    policy: &Policy,
    limits: &Limits,
    rules: &CacheRules,
    laws: &[Law],
) -> Result<Vec<LawBreach>, String> {
    let mut all = Vec::new();
    for repeats in [false, true] {
        if !laws.iter().any(|it| (*it == Law::Idempotent) == repeats) {
            continue;
        }
        let simulation = Simulation::new(timeline, policy, limits, rules);
        let around = |inner| LawWatch::new(inner, limits.prompt, repeats);
        let (outcome, watch) = simulation.run_inside(around, &mut [&mut Sums::default()]);
        if let Some(fault) = outcome.fault {
            return Err(format!("turn {}: {}", fault.turn, fault.what));
        }
        all.extend(watch.found);
    }
    all.retain(|it: &LawBreach| laws.contains(&it.law));
    all.sort_by_key(|it| it.law);
    Ok(all)
}

/// A policy whose prompts are held against the laws.
struct LawWatch<'p> {
    policy: Box<dyn Projector + 'p>,
    limit: Tokens,
    /// Whether each request is asked for a second time.
    repeats: bool,
    /// What the request before sent.
    sent: Vec<SentPart>,
    /// How many requests in a row have changed that.
    n_changed: u32,
    n_requests: u32,
    found: Vec<LawBreach>,
}

/// A part of a prompt, as a cache tells it from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SentPart {
    /// Where it stands, unless it is text of the policy's own.
    slot: Option<SlotIx>,
    tokens: u32,
    rendition: ShownAs,
    content: Option<TextContent>,
}

impl<'p> LawWatch<'p> {
    fn new(policy: Box<dyn Projector + 'p>, limit: Tokens, repeats: bool) -> Self {
        Self { policy, limit, repeats, sent: Vec::new(), n_changed: 0, n_requests: 0, found: Vec::new() }
    }

    /// Notes a breach, unless the law is broken already.
    fn add(&mut self, law: Law, prompt: &Prompt<'_>, what: impl FnOnce() -> String) {
        if self.found.iter().all(|it| it.law != law) {
            let turn = prompt.active_turn() + 1;
            self.found.push(LawBreach { law, turn, request: self.n_requests, what: what() });
        }
    }

    /// Holds a request against the laws of single runs.
    fn look(&mut self, prompt: &Prompt<'_>) {
        if let Some(tokens) = task_hidden(prompt) {
            self.add(Law::KeepsTask, prompt, || {
                format!("the user's message, {}, is not in the prompt", in_tokens(tokens.into()))
            });
        }
        let now = sent(prompt);
        let is_kept = now.starts_with(&self.sent);
        self.n_changed = if is_kept { 0 } else { self.n_changed + 1 };
        if self.n_changed > CHANGES_IN_A_ROW {
            self.add(Law::StablePrefix, prompt, || {
                "it is the third request in a row that changes what had been sent".to_owned()
            });
        }
        self.sent = now;
        let (tokens, limit, fixed) = (prompt.tokens(), self.limit, fixed_tokens(prompt));
        if limit != UNLIMITED && tokens > limit && fixed <= limit / 2 {
            self.add(Law::Bounded, prompt, || {
                let [limit, fixed] = [limit, fixed].map(thousands);
                format!("the prompt has {}, the limit is {limit}, and {fixed} must stay", in_tokens(tokens))
            });
        }
        if let Some(tokens) = result_removed(prompt) {
            self.add(Law::Recoverable, prompt, || {
                format!("a result, {}, was removed and left nothing in its place", in_tokens(tokens.into()))
            });
        }
    }
}

impl Projector for LawWatch<'_> {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        let may_act =
            |policy: &dyn Projector, edit: &Editor<'_, '_>| policy.may_act(moment, edit.prompt().tokens());
        if may_act(&*self.policy, edit) {
            self.policy.project(moment, ambient, edit);
        }
        if moment != Moment::Request {
            return;
        }
        self.n_requests += 1;
        if !self.repeats {
            self.look(edit.prompt());
            return;
        }
        let first = sent(edit.prompt());
        if may_act(&*self.policy, edit) {
            self.policy.project(moment, ambient, edit);
        }
        let second = sent(edit.prompt());
        if first != second {
            let same = first.iter().zip(&second).take_while(|(one, other)| one == other).count() + 1;
            self.add(Law::Idempotent, edit.prompt(), || {
                format!("sent again, it differs from part {same} of the prompt on")
            });
        }
    }

    fn next_pause(&self, idle_ms: u64) -> Option<u64> {
        self.policy.next_pause(idle_ms)
    }
}

/// Returns what a prompt shows of the history, and of the policy's own text; memory and the layout's dynamic content are no part of it.
fn sent(prompt: &Prompt<'_>) -> Vec<SentPart> {
    let spares = prompt.spares();
    let part = |slot: SlotIx| {
        let stands = prompt.slot(slot);
        let is_of_policy = prompt.is_own(slot);
        if !stands.is_visible() || is_of_policy && spares.binary_search(&slot).is_err() {
            return None;
        }
        Some(SentPart {
            slot: (!is_of_policy).then_some(slot),
            tokens: stands.tokens,
            rendition: stands.rendition,
            content: stands.content,
        })
    };
    (0..prompt.len()).filter_map(part).collect()
}

/// Returns a number of tokens in words.
fn in_tokens(tokens: Tokens) -> String {
    format!("{} {}", thousands(tokens), if tokens == 1 { "token" } else { "tokens" })
}

/// Returns the tokens of the first part of the active turn's user message that a prompt does not show, if there is one.
fn task_hidden(prompt: &Prompt<'_>) -> Option<u32> {
    let turn = prompt.history().turns().last()?;
    let is_shown = |slot: SlotIx| {
        let stands = prompt.slot(slot);
        match stands.state {
            State::Shown | State::Folded | State::FoldHost => stands.rendition == ShownAs::Raw,
            State::Host => stands.tokens > 0,
            State::Absorbed => {
                (0..slot).rev().any(|it| prompt.slot(it).state == State::Host && prompt.slot(it).tokens > 0)
            }
            State::Dropped | State::Past => false,
        }
    };
    let said = (turn.items.start..turn.user_end).map(|it| (it, prompt.item(it)));
    let hidden = said.filter(|(_, item)| item.kind == Kind::User && item.raw > 0);
    hidden.map(|(slot, item)| (is_shown(slot), item.raw)).find(|it| !it.0).map(|it| it.1)
}

/// Returns the tokens of a result of the session that was removed without a trace, if there is one.
fn result_removed(prompt: &Prompt<'_>) -> Option<u32> {
    let slots = prompt.history().session_from()..prompt.len();
    let is_removed = |it: &SlotIx| {
        prompt.slot(*it).state == State::Dropped
            && prompt.item(*it).kind == Kind::ToolResult
            && prompt.item(*it).raw > 0
    };
    slots.into_iter().find(is_removed).map(|it| prompt.item(it).raw)
}

/// Returns the tokens that no policy can be asked to remove: the stable prefix, the user's message, and the newest step.
fn fixed_tokens(prompt: &Prompt<'_>) -> Tokens {
    let raw =
        |slots: std::ops::Range<SlotIx>| slots.map(|it| Tokens::from(prompt.item(it).raw)).sum::<Tokens>();
    let Some(turn) = prompt.history().turns().last() else { return prompt.stable_tokens() };
    let newest = prompt.history().replies().last().copied().unwrap_or(turn.user_end);
    prompt.stable_tokens()
        + raw(turn.items.start..turn.user_end)
        + raw(newest.max(turn.user_end)..prompt.len())
}
