//! A declarative policy compiled for one timeline and one set of limits:
//! its stages, and the steps of each, with their state between firings. It implements [`Projector`].

use super::act::Spent;
use super::tracker::RawTokens;
use super::{
    Activation, ActivationProgress, Arrived, Author, CompiledAction, CompiledScope, Context, Counter, Editor,
    Env, Known, Left, Look, Manner, Measure, Num, Projector, Prompt, Region, ScopeTotals, ShownAs, SlotIx,
    State, Test, Tracker, UNDO, UnitSize, Writer, text_as_it_came,
};
use crate::prelude::*;
use ctxsim_input::{Cond, Pause, PrefixRule, PromptPart, Relation, Rung, Stage};

/// Every moment, in the order of its number.
const MOMENTS: [Moment; 7] = [
    Moment::Entry,
    Moment::TurnStart,
    Moment::Request,
    Moment::TurnEnd,
    Moment::SessionStart,
    Moment::SessionEnd,
    Moment::Idle,
];

/// A compiled policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    stages: Vec<CompiledStage>,
    /// Which stages are considered, by moment.
    by_moment: [Vec<usize>; 7],
    /// The smallest prompt at which any of them acts, by moment.
    wakes: [Tokens; 7],
    /// By stage: how it last left the prompt, if some condition asks after it.
    marks: Vec<Option<StageMark>>,
    /// Whether some condition asks how long the cache keeps entries.
    asks_lifetime: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct CompiledStage {
    index: u16,
    /// After how long a pause it is considered; such a stage is never looked at in a glance.
    pause: Option<Pause>,
    when: Test,
    rungs: Vec<CompiledRung>,
    lasts: EditsLast,
    keeps_prefix: bool,
    /// What had come when the stage was last considered.
    seen: Arrived,
    /// Whether any of its conditions asks that.
    asks_every: bool,
    /// Whether some condition asks when it last acted.
    is_marked: bool,
    /// How often it has fired.
    firing: Firing,
}

impl Program {
    /// Compiles a policy.
    pub fn new(policy: &Policy, timeline: &Timeline, known: &Known) -> Self {
        let writer = Writer::of(timeline, known);
        let (mut author, mut asks_lifetime) = (0, false);
        let stage = |(index, stage): (usize, &Stage)| {
            let context = Context { known, stages: policy.stages(), own: index };
            let parts = RungParts { stage, policy, timeline, context, writer: writer.as_ref() };
            CompiledStage {
                index: ix(index),
                pause: stage.pause,
                when: match (&stage.when, stage.pause) {
                    (None, None) => Test::Always,
                    (Some(when), None) => Test::new(when, &context),
                    (when, Some(_)) => Test::All(when.iter().map(|it| Test::new(it, &context)).collect()),
                },
                rungs: policy
                    .rungs(stage)
                    .map(|rung| {
                        author += 1;
                        CompiledRung::new(&rung, author, &parts)
                    })
                    .collect(),
                lasts: stage.lasts,
                keeps_prefix: stage.prefix == PrefixRule::Keeps,
                seen: Arrived::default(),
                asks_every: asks(policy, stage, &context, |it| {
                    asks_lifetime |= matches!(it, Test::CacheCold);
                    matches!(it, Test::Every(..))
                }),
                is_marked: false,
                firing: Firing::default(),
            }
        };
        let mut stages: Vec<CompiledStage> = policy.stages().iter().enumerate().map(stage).collect();
        let marked = marked(policy, known);
        stages.iter_mut().enumerate().for_each(|(index, it)| it.is_marked = marked.contains(&index));
        let marks = if marked.is_empty() { Vec::new() } else { vec![None; stages.len()] };
        let considered = |moment: Moment| {
            let at = policy.stages().iter().enumerate().filter(|(_, it)| it.at.contains(&moment));
            at.map(|(index, _)| index).collect::<Vec<usize>>()
        };
        let by_moment = MOMENTS.map(considered);
        let wakes = std::array::from_fn(|moment| {
            let stages = by_moment[moment].iter().map(|it| &stages[*it]);
            // The smallest prompt at which each does anything, as far as that is known beforehand.
            or_unlimited(stages.map(|it| if it.asks_every { 0 } else { it.when.least_prompt() }).min())
        });
        Self { stages, by_moment, wakes, marks, asks_lifetime }
    }

    /// Returns whether what it does depends on how long the cache keeps entries.
    pub(crate) fn asks_lifetime(&self) -> bool {
        self.asks_lifetime
    }
}

impl Projector for Program {
    #[inline]
    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        for index in &self.by_moment[moment as usize] {
            self.stages[*index].consider(moment, ambient, &mut self.marks, edit);
        }
    }

    #[inline]
    fn may_act(&self, moment: Moment, prompt: Tokens) -> bool {
        prompt >= self.wakes[moment as usize]
    }

    fn next_pause(&self, idle_ms: u64) -> Option<u64> {
        let idle = self.by_moment[Moment::Idle as usize].iter();
        idle.filter_map(|it| self.stages[*it].pause?.next(idle_ms)).min()
    }

    fn firings(&self) -> Vec<Firing> {
        self.stages.iter().map(|it| it.firing).collect()
    }

    fn left(&self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<Left> {
        let by = prompt.slot(slot).by;
        self.stages.iter().flat_map(|it| &it.rungs).find(|it| it.author == by)?.act.left(prompt, slot)
    }

    /// An item's own text, or the words of the template that wrote it.
    fn text(&self, prompt: &Prompt<'_>, texts: &Texts, slot: SlotIx) -> Option<String> {
        let stands = prompt.slot(slot);
        let rung = || self.stages.iter().flat_map(|it| &it.rungs).find(|it| it.author == stands.by);
        match stands.state {
            State::Shown if stands.rendition == ShownAs::Raw => {
                text_as_it_came(stands, texts, prompt.item(slot).origin)
            }
            State::Shown | State::FoldHost => rung()?.act.text(prompt, slot),
            State::Host | State::Dropped | State::Absorbed | State::Folded | State::Past => None,
        }
    }
}

impl CompiledStage {
    #[inline]
    fn consider(
        &mut self,
        moment: Moment,
        ambient: &Ambient,
        marks: &mut [Option<StageMark>],
        edit: &mut Editor<'_, '_>,
    ) {
        let tokens = edit.prompt().tokens();
        let holds = self.when.at_a_glance(tokens);
        if holds == Some(false) {
            edit.sway(|more| self.when.at_a_glance(tokens + more) == Some(true));
            if self.asks_every {
                self.seen = edit.prompt().arrived();
            }
            return;
        }
        self.consider_slowly(moment, ambient, marks, edit, holds.is_some());
    }

    /// Acts where its condition holds, which may be known already.
    fn consider_slowly(
        &mut self,
        moment: Moment,
        ambient: &Ambient,
        marks: &mut [Option<StageMark>],
        edit: &mut Editor<'_, '_>,
        is_known_to_hold: bool,
    ) {
        if self.pause.is_some_and(|it| !it.is_at(ambient.idle_ms)) {
            return;
        }
        let arrived = edit.prompt().arrived();
        let env = Env { start: edit.prompt().tokens(), ..Env::default() };
        let session = edit.prompt().history().session_from();
        let activation = Activation { env, arrived: [self.seen, arrived], session, marks, ambient };
        if self.asks_every {
            self.seen = arrived;
        }
        let Some(first) = self.rungs.first_mut() else { return };
        if !is_known_to_hold && !first.holds(&self.when, &activation, edit) {
            return;
        }
        let (n_edits, n_asked) = (edit.prompt().journal().len(), edit.n_asked());
        for (n, rung) in self.rungs.iter_mut().enumerate() {
            if n > 0 && (!rung.is_due(&activation, edit) || rung.begins_done(&activation, edit)) {
                continue;
            }
            edit.set_manner(Manner {
                moment,
                author: rung.author,
                stage: self.index,
                lasts: self.lasts.at(moment),
                keeps_prefix: self.keeps_prefix,
            });
            if moment == Moment::Entry && rung.takes_one() {
                rung.act.enter(rung, edit);
            } else {
                rung.apply(&activation, edit);
            }
        }
        let has_edited = edit.prompt().journal().len() > n_edits;
        self.firing.count(has_edited || edit.n_asked() > n_asked);
        if self.is_marked && has_edited {
            let tokens = edit.prompt().tokens();
            marks[usize::from(self.index)] = Some(StageMark { session, tokens, arrived });
        }
    }
}

// One step of a stage, compiled, with its state between firings.

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

    pub(super) fn holds(&mut self, test: &Test, now: &Activation<'_>, edit: &mut Editor<'_, '_>) -> bool {
        let look = self.look(now, ActivationProgress::default(), edit);
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
            look.counted = counter.count(edit.prompt);
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
        let mut at = edit.prompt.visible_from(region.from);
        while at < region.to
            && !(self.scope.has(edit.prompt(), at) && self.act.would_change(edit.prompt(), at))
        {
            at = edit.prompt.visible_from(at + 1);
        }
        self.scope.restore(&held);
        let mut tokens = 0;
        let mut next = if at < region.to { at } else { edit.prompt().len() };
        while next < edit.prompt().len() {
            tokens += Tokens::from(edit.prompt().slot(next).tokens);
            next = edit.prompt.visible_from(next + 1);
        }
        edit.prompt.touch(u64::from(next - region.from));
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
            tracker.update(edit.prompt, &self.scope.filter, rows, region.from, region.to);
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

// The state in which stages last left a prompt, for conditions about what has changed since.

/// How a stage last left a prompt that it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageMark {
    /// Where the session begins that this was in.
    pub session: SlotIx,
    /// Tokens of the prompt.
    pub tokens: Tokens,
    /// What had come.
    pub arrived: Arrived,
}

/// Returns whether any condition of a stage asks something.
pub(super) fn asks(
    policy: &Policy,
    stage: &Stage,
    context: &Context<'_>,
    mut asks_it: impl FnMut(&Test) -> bool,
) -> bool {
    let mut asks = false;
    let rungs = policy.rungs(stage).flat_map(|it| [it.when, it.until]);
    for cond in rungs.chain([stage.when.as_ref()]).flatten() {
        Test::new(cond, context).each(&mut |test| asks |= asks_it(test));
    }
    asks
}

/// Returns the stages of which some condition asks when they last acted.
pub(super) fn marked(policy: &Policy, known: &Known) -> BTreeSet<usize> {
    let mut marked = BTreeSet::new();
    for (own, stage) in policy.stages().iter().enumerate() {
        let context = Context { known, stages: policy.stages(), own };
        asks(policy, stage, &context, |test| match test {
            Test::Tokens(Measure::Grown(of), ..) | Test::Since(of, ..) => marked.insert(*of),
            _ => false,
        });
    }
    marked
}

// How often stages fire, and which prompt lengths they need.

/// How often a stage fired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Firing {
    /// How often its trigger was true when it was checked.
    pub fired: u64,
    /// Of these, how often it edited anything.
    pub acted: u64,
}

ctxsim_base::quantity::packed!(Firing: [fired, acted]);
ctxsim_base::quantity::sums!(Firing: fired, acted);

impl Firing {
    /// Counts another time.
    pub fn count(&mut self, has_acted: bool) {
        self.fired += 1;
        self.acted += u64::from(has_acted);
    }
}

/// A length of the prompt without which a stage does not fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Threshold {
    /// The length.
    pub tokens: Tokens,
    /// Whether that length itself is long enough.
    pub is_inclusive: bool,
    /// Whether the stable prefix is not counted.
    pub is_of_body: bool,
}

impl Threshold {
    /// Reads a trigger: a length that is known beforehand, by itself or as a part that must hold.
    pub fn new(cond: &Cond, known: &Known) -> Option<Self> {
        Self::of(&Test::new(cond, &Context::alone(known)))
    }

    fn of(test: &Test) -> Option<Self> {
        let (relation, tokens, is_of_body) = match test {
            Test::Tokens(Measure::Prompt, relation, Num::Const(tokens)) => (relation, *tokens, false),
            Test::Tokens(Measure::Body, relation, Num::Const(tokens)) => (relation, *tokens, true),
            Test::All(parts) => return parts.iter().find_map(Self::of),
            _ => return None,
        };
        match relation {
            Relation::Above => Some(Self { tokens, is_inclusive: false, is_of_body }),
            Relation::AtLeast => Some(Self { tokens, is_inclusive: true, is_of_body }),
            Relation::Below | Relation::AtMost => None,
        }
    }
}
