//! One step of a stage, compiled, with its state between firings; and how a harness counts the prompt that its trigger asks about.

use crate::prelude::*;

use super::act::Spent;
use super::{
    Activation, ActivationProgress, Author, CompiledAction, CompiledScope, Context, Editor, Env, Known, Look,
    Measure, Num, Prompt, Region, ScopeTotals, Slot, SlotIx, Test, Tracker, UNDO, UnitSize, Writer,
};
use ctxsim_input::{PromptPart, Rung, Stage, policy};

/// What a rung is made of beside what it says itself.
#[derive(Clone, Copy)]
pub(super) struct RungParts<'a> {
    pub(super) stage: &'a Stage,
    pub(super) policy: &'a Policy,
    pub(super) timeline: &'a Timeline,
    pub(super) context: Context<'a>,
    pub(super) writer: Option<&'a Arc<Writer>>,
}

/// What the conditions of a rung ask for.
#[derive(Default)]
struct RungQuestions {
    scope: bool,
    units: Vec<Unit>,
    counter: bool,
    behind: bool,
    raw: bool,
}

impl RungQuestions {
    fn look(&mut self, test: &Test) {
        self.behind |= test.size().is_some_and(Num::asks_behind);
        match test {
            Test::Tokens(Measure::Scope | Measure::Reclaimable, ..) => self.scope = true,
            Test::Tokens(Measure::Counted, ..) => self.counter = true,
            // Looked up with the scope, so that those who ask neither pay for neither.
            Test::Tokens(Measure::Raw, ..) => (self.scope, self.raw) = (true, true),
            Test::Count(unit, ..) => {
                self.scope = true;
                if Unit::GATHERED.contains(unit) && !self.units.contains(unit) {
                    self.units.push(*unit);
                }
            }
            _ => {}
        }
    }
}

/// A compiled rung, with its state between firings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompiledRung {
    pub(super) author: Author,
    when: Test,
    pub(super) goal: Option<Test>,
    pub(super) scope: CompiledScope,
    pub(super) act: CompiledAction,
    pub(super) settled: Settled,
    tracker: Option<Tracker>,
    raw: Option<Box<RawTokens>>,
    /// What the harness counts, if any condition asks.
    pub(super) counter: Option<Counter>,
    /// Whether any condition asks what is after the first change.
    asks_behind: bool,
    /// Whether the goal asks what the activation has taken.
    asks_progress: bool,
    pub(super) units: Vec<SlotIx>,
    /// Kept for its memory alone, as the units are.
    pub(super) batch: Vec<SlotIx>,
}

/// Up to where a rung has nothing left to do, unless an edit says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Settled {
    /// The first slot it has not settled.
    pub(super) cursor: SlotIx,
    /// Of the settled slots of the active turn, how many are still in the scope.
    pub(super) n_settled: u32,
    /// Where the region began that the memory is about.
    from: SlotIx,
    seen_edits: usize,
    /// What the settled slots spent.
    pub(super) spent: Spent,
}

impl Settled {
    /// Settles nothing any more from a slot on.
    pub(super) fn forget(&mut self, from: SlotIx) {
        *self = Self { cursor: from, from: self.from, seen_edits: self.seen_edits, ..Self::default() };
    }
}

impl CompiledRung {
    pub(super) fn new(rung: &Rung<'_>, author: Author, parts: &RungParts<'_>) -> Self {
        let RungParts { stage, policy, timeline, ref context, .. } = *parts;
        let known = context.known;
        let when = rung.when.map_or(Test::Always, |it| Test::new(it, context));
        let goal = rung.until.map(|it| Test::new(it, context));
        let mut asked = RungQuestions::default();
        if let Some(cond) = &stage.when {
            Test::new(cond, context).each(&mut |it| asked.look(it));
        }
        when.each(&mut |it| asked.look(it));
        let mut asks_progress = false;
        if let Some(goal) = &goal {
            goal.each(&mut |it| asked.look(it));
            goal.each(&mut |test| asks_progress |= matches!(test, Test::Taken(_)));
        }
        Self {
            author,
            when,
            goal,
            scope: CompiledScope::new(rung.scope, timeline, known),
            act: CompiledAction::new(rung.action, parts),
            settled: Settled::default(),
            asks_progress,
            tracker: asked.scope.then(|| Tracker::new(&asked.units)),
            raw: asked.raw.then(Box::default),
            counter: asked.counter.then(|| Counter::new(policy.counter.as_ref(), known)),
            asks_behind: asked.behind,
            units: Vec::new(),
            batch: Vec::new(),
        }
    }

    /// Returns whether the goal asks what the activation has taken.
    #[inline]
    pub(super) fn counts_progress(&self) -> bool {
        self.asks_progress
    }

    /// Begins to count what an activation takes.
    pub(super) fn progress(&self, region: Region, edit: &mut Editor<'_, '_>) -> ActivationProgress {
        let of = if self.counts_progress() { self.scope.count(edit, region) } else { 0 };
        ActivationProgress { of, ..ActivationProgress::default() }
    }

    /// Applies it where its conditions hold.
    pub(super) fn apply(&mut self, activation: &Activation<'_>, edit: &mut Editor<'_, '_>) {
        let region = self.scope.region(edit, &activation.env);
        self.act.clone().apply(self, region, activation, edit);
    }

    /// Returns whether nothing but its filters says what the rung does to a single item.
    #[inline]
    pub(super) fn takes_one(&self) -> bool {
        self.goal.is_none() && self.scope.is_whole_part() && self.act.takes_slots()
    }

    pub(super) fn is_due(&mut self, activation: &Activation<'_>, edit: &mut Editor<'_, '_>) -> bool {
        if let Some(holds) = self.when.at_a_glance(edit.prompt().tokens()) {
            return holds;
        }
        let when = std::mem::replace(&mut self.when, Test::Always);
        let holds = self.holds(&when, activation, edit);
        self.when = when;
        holds
    }

    pub(super) fn holds(
        &mut self,
        test: &Test,
        activation: &Activation<'_>,
        edit: &mut Editor<'_, '_>,
    ) -> bool {
        let look = self.look(activation, ActivationProgress::default(), edit);
        let holds = test.holds(&look);
        edit.sway(|more| test.holds(&look.with_more(more)) != holds);
        holds
    }

    /// Returns whether the goal is met before anything is taken.
    pub(super) fn begins_done(&mut self, activation: &Activation<'_>, edit: &mut Editor<'_, '_>) -> bool {
        if self.goal.is_none() {
            return false;
        }
        let region = self.scope.region(edit, &activation.env);
        let progress = self.progress(region, edit);
        self.is_done(activation, progress, edit)
    }

    /// Returns whether the goal is met; without one it never is.
    #[inline]
    pub(super) fn is_done(
        &mut self,
        activation: &Activation<'_>,
        progress: ActivationProgress,
        edit: &mut Editor<'_, '_>,
    ) -> bool {
        let Some(goal) = &self.goal else { return false };
        let tokens = edit.prompt().tokens();
        if let Some(met) = goal.at_a_glance(tokens) {
            edit.sway(|more| goal.at_a_glance(tokens + more) != Some(met));
            return met;
        }
        let look = self.look(activation, progress, edit);
        let Some(goal) = &self.goal else { return false };
        let is_met = goal.holds(&look);
        edit.sway(|more| goal.holds(&look.with_more(more)) != is_met);
        is_met
    }

    /// Returns what conditions may look at now.
    #[inline]
    pub(super) fn look<'a>(
        &mut self,
        activation: &'a Activation<'a>,
        progress: ActivationProgress,
        edit: &mut Editor<'_, '_>,
    ) -> Look<'a> {
        let mut look = Look {
            prompt: edit.prompt().tokens(),
            stable: edit.prompt().stable_tokens(),
            env: activation.env,
            raw: 0,
            counted: 0,
            scope: ScopeTotals::default(),
            units: [0; 4],
            progress,
            activation,
        };
        if self.tracker.is_some() {
            self.track(&mut look, edit);
        }
        if let Some(counter) = &mut self.counter {
            look.counted = edit.count(counter);
        }
        if self.asks_behind {
            look.env.behind = self.behind(&look.env, edit);
        }
        look
    }

    /// Returns what stands from the first slot on that the rung would change now.
    fn behind(&mut self, env: &Env, edit: &mut Editor<'_, '_>) -> Tokens {
        let held = self.scope.bounds();
        let region = self.scope.region(edit, env);
        let mut at = edit.visible_from(region.from);
        while at < region.to
            && !(self.scope.has(edit.prompt(), at) && self.act.would_change(edit.prompt(), at))
        {
            at = edit.visible_from(at + 1);
        }
        self.scope.restore(&held);
        let mut tokens = 0;
        let mut next = if at < region.to { at } else { edit.prompt().len() };
        while next < edit.prompt().len() {
            tokens += Tokens::from(edit.prompt().slot(next).tokens);
            next = edit.visible_from(next + 1);
        }
        edit.touch(u64::from(next - region.from));
        tokens
    }

    fn track(&mut self, look: &mut Look<'_>, edit: &mut Editor<'_, '_>) {
        if let Some(raw) = &mut self.raw {
            look.raw = raw.of(edit);
        }
        let held = self.scope.bounds();
        let region = self.scope.region(edit, &look.env);
        let rows = self.act.rows();
        let Some(tracker) = &mut self.tracker else { return };
        if self.scope.protects_slots() {
            // What is protected slot by slot changes with every arrival: the sums are made anew.
            *tracker = Tracker::new(&Unit::GATHERED);
            let mut slots = std::mem::take(&mut self.units);
            self.scope.next_unit(edit, &mut region.from.clone(), region.to, &UnitSize::All, &mut slots);
            for slot in &slots {
                tracker.add_slot(edit.prompt(), &self.scope.filter, rows, *slot);
            }
            self.units = slots;
        } else {
            edit.track(tracker, &self.scope.filter, rows, region);
        }
        self.scope.restore(&held);
        look.scope = tracker.totals();
        look.units = Unit::GATHERED.map(|unit| tracker.count(unit));
    }

    /// Returns where to begin in a region: after what is settled, if the memory still holds.
    #[inline]
    pub(super) fn resume(&mut self, region: Region, edit: &Editor<'_, '_>) -> SlotIx {
        let settled = &mut self.settled;
        let journal = edit.prompt().journal();
        let is_active = self.scope.part == PromptPart::Active;
        let (has_pool, is_sum) = (self.act.budget().is_some(), self.act.adds_up());
        if region.from != settled.from {
            settled.forget(region.from);
            settled.from = region.from;
            settled.seen_edits = journal.len();
        }
        for change in &journal[settled.seen_edits..] {
            let own = change.after.by == self.author;
            let grows = change.after.tokens > change.before.tokens;
            let comes_back = grows || change.after.by == UNDO || change.after.is_summary();
            // Every unit behind an edit may find more or less in the pool than it did.
            let from_start = is_active || has_pool;
            let matters = comes_back || from_start || is_sum || self.scope.filter.looks_at_renditions();
            if !own && matters && change.slot < settled.cursor {
                settled.forget(if from_start { region.from } else { change.slot.max(region.from) });
            }
        }
        settled.seen_edits = journal.len();
        settled.cursor
    }
}

// How a harness counts the prompt, if it differs from the provider's bill: an amount added per item, by kind.

/// How many kinds of items there are.
const KINDS: usize = Kind::Image as usize + 1;

/// What a harness's count adds to what is billed, brought up to date from the journal of edits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counter {
    adds: [u32; KINDS],
    from: SlotIx,
    to: SlotIx,
    sum: Tokens,
    seen_edits: usize,
}

impl Counter {
    /// Begins counting as a policy declares it; without a declaration nothing is added.
    pub(super) fn new(declared: Option<&policy::HarnessCounter>, known: &Known) -> Self {
        let mut adds = [0; KINDS];
        for (kind, size) in declared.iter().flat_map(|it| &it.adds) {
            let tokens = Num::fixed(Some(size), known).unwrap_or(0);
            adds[*kind as usize] = saturated(tokens);
        }
        Self { adds, from: 0, to: 0, sum: 0, seen_edits: 0 }
    }

    /// Returns what is added to an item of a kind.
    pub(super) fn added_to(&self, kind: Kind) -> Tokens {
        self.adds[kind as usize].into()
    }

    fn added(&self, item: &Item, slot: &Slot) -> Tokens {
        match (slot.is_visible(), slot.is_summary()) {
            (false, _) => 0,
            (true, true) => self.added_to(Kind::Summary),
            (true, false) => self.added_to(item.kind),
        }
    }

    /// Counts what is after the stable prefix.
    pub(super) fn count(&mut self, prompt: &mut Prompt<'_>) -> Tokens {
        let (from, to) = (prompt.history().session_from(), prompt.len());
        if from != self.from {
            *self = Self { from, to: from, sum: 0, seen_edits: prompt.journal().len(), ..self.clone() };
        }
        let n_edits = prompt.journal().len();
        for edit in &prompt.journal()[self.seen_edits..] {
            if (self.from..self.to).contains(&edit.slot) {
                let item = prompt.item(edit.slot);
                self.sum = self.sum + self.added(item, &edit.after) - self.added(item, &edit.before);
            }
        }
        for index in self.to..to {
            self.sum += self.added(prompt.item(index), prompt.slot(index));
        }
        prompt.touch((n_edits - self.seen_edits) as u64 + u64::from(to - self.to));
        (self.to, self.seen_edits) = (to, n_edits);
        prompt.tokens() - prompt.stable_tokens() + self.sum
    }
}

// The size of a prompt with every item as received:
// what a client sends that keeps everything while its provider edits.

/// The tokens of what has come in a session, whatever stages made of it; what a recorded harness took out is not sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RawTokens {
    /// Where the session begins.
    from: SlotIx,
    /// The first slot that is not in the sum.
    to: SlotIx,
    n_resets: usize,
    tokens: Tokens,
}

impl RawTokens {
    /// Returns the sum with the stable prefix, brought up to what has come.
    pub(super) fn of(&mut self, edit: &mut Editor<'_, '_>) -> Tokens {
        let prompt = edit.prompt();
        let (from, end, n_resets) = (prompt.history().session_from(), prompt.len(), prompt.resets().len());
        if (self.from, self.n_resets) != (from, n_resets) {
            let tokens = (from..end).filter(|it| is_sent(prompt, *it)).map(|it| raw(prompt, it)).sum();
            edit.touch((end - from).into());
            *self = Self { from, to: end, n_resets, tokens };
        }
        let prompt = edit.prompt();
        self.tokens += (self.to..end).map(|it| raw(prompt, it)).sum::<Tokens>();
        edit.touch((end - self.to).into());
        self.to = end;
        edit.prompt().stable_tokens() + self.tokens
    }
}

fn raw(prompt: &Prompt<'_>, slot: SlotIx) -> Tokens {
    prompt.item(slot).raw.into()
}

/// Returns whether no recorded harness has taken a slot out.
fn is_sent(prompt: &Prompt<'_>, slot: SlotIx) -> bool {
    !prompt.resets().iter().any(|it| it.contains(&slot))
}
