//! A declarative policy compiled for one timeline and one set of limits; it runs as a [`Projector`].

use std::sync::Arc;

use super::act::Act;
use super::act::pool::Spent;
use super::edit::{Editor, Manner};
use super::firing::Firing;
use super::mark::{Mark, asks, marked};
use super::num::{Env, Known};
use super::prompt::{Arrived, Author, Prompt, Shown, SlotIx, State};
use super::raw::RawTokens;
use super::region::Region;
use super::scope::CompiledScope;
use super::test::{Activation, Context, Look, Progress, Test};
use super::tracker::Tracker;
use super::writer::Writer;
use super::{Ambient, Projector, text_as_it_came};
use crate::input::policy::{Lasts, Moment, Part, Policy, Prefix, Rung, Stage, Unit};
use crate::timeline::{Texts, Timeline};

/// Every moment, in the order of its number.
const MOMENTS: [Moment; 6] = [
    Moment::Entry,
    Moment::TurnStart,
    Moment::Request,
    Moment::TurnEnd,
    Moment::SessionStart,
    Moment::SessionEnd,
];

/// A policy made ready.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    stages: Vec<CompiledStage>,
    /// Which stages are considered, by moment.
    by_moment: [Vec<usize>; 6],
    /// By stage: how it last left the prompt, where some condition asks after it.
    marks: Vec<Option<Mark>>,
}

/// A stage made ready.
#[derive(Clone, Debug, PartialEq)]
struct CompiledStage {
    index: u16,
    when: Test,
    rungs: Vec<CompiledRung>,
    for_request: bool,
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

/// A compiled rung, with what it remembers from one activation to the next.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompiledRung {
    author: Author,
    when: Test,
    pub(super) goal: Option<Test>,
    pub(super) scope: CompiledScope,
    pub(super) act: Act,
    pub(super) settled: Settled,
    tracker: Option<Tracker>,
    raw: Option<Box<RawTokens>>,
    /// Whether the goal asks what the activation has taken.
    asks_progress: bool,
    pub(super) units: Vec<SlotIx>,
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

impl Program {
    /// Compiles a policy.
    #[must_use]
    pub fn new(policy: &Policy, timeline: &Timeline, known: &Known) -> Self {
        let writer = Writer::of(timeline, known);
        let mut author = 0;
        let stage = |(index, stage): (usize, &Stage)| {
            let context = Context { known, stages: policy.stages(), own: index };
            CompiledStage {
                index: u16::try_from(index).unwrap_or(u16::MAX),
                when: stage.when.as_ref().map_or(Test::Always, |it| Test::new(it, &context)),
                rungs: policy
                    .rungs(stage)
                    .map(|rung| {
                        author += 1;
                        CompiledRung::new(&rung, stage, author, policy, timeline, &context, writer.as_ref())
                    })
                    .collect(),
                for_request: stage.lasts == Lasts::Request,
                keeps_prefix: stage.prefix == Prefix::Keeps,
                seen: Arrived::default(),
                asks_every: asks(policy, stage, &context, |it| matches!(it, Test::Every(..))),
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
            at.map(|(index, _)| index).collect()
        };
        let by_moment = MOMENTS.map(considered);
        Self { stages, by_moment, marks }
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
    fn acts_at(&self, moment: Moment) -> bool {
        !self.by_moment[moment as usize].is_empty()
    }

    fn firings(&self) -> Vec<Firing> {
        self.stages.iter().map(|it| it.firing).collect()
    }

    /// An item's own text, or the words of the template that wrote it.
    fn text(&self, prompt: &Prompt<'_>, texts: &Texts, slot: SlotIx) -> Option<String> {
        let stands = prompt.slot(slot);
        let rung = || self.stages.iter().flat_map(|it| &it.rungs).find(|it| it.author == stands.by);
        match stands.state {
            State::Shown if stands.rendition == Shown::Raw => {
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
        marks: &mut [Option<Mark>],
        edit: &mut Editor<'_, '_>,
    ) {
        let holds = self.when.at_a_glance(edit.prompt().tokens());
        if holds == Some(false) {
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
        marks: &mut [Option<Mark>],
        edit: &mut Editor<'_, '_>,
        is_known_to_hold: bool,
    ) {
        let arrived = edit.prompt().arrived();
        let env = Env { start: edit.prompt().tokens(), input: 0 };
        let session = edit.prompt().history().session_from();
        let activation = Activation { env, arrived: [self.seen, arrived], session, marks, ambient };
        self.seen = arrived;
        let Some(first) = self.rungs.first_mut() else { return };
        if !is_known_to_hold && !first.holds(&self.when, &activation, edit) {
            return;
        }
        let n_edits = edit.prompt().journal().len();
        for (n, rung) in self.rungs.iter_mut().enumerate() {
            if n > 0 && (!rung.is_due(&activation, edit) || rung.begins_done(&activation, edit)) {
                continue;
            }
            edit.set_manner(Manner {
                moment,
                author: rung.author,
                stage: self.index,
                for_request: self.for_request,
                keeps_prefix: self.keeps_prefix,
            });
            if moment == Moment::Entry && rung.takes_one() {
                super::act::enter(rung, edit);
            } else {
                super::act::apply(rung, &activation, edit);
            }
        }
        let has_acted = edit.prompt().journal().len() > n_edits;
        self.firing.count(has_acted);
        if self.is_marked && has_acted {
            let tokens = edit.prompt().tokens();
            marks[usize::from(self.index)] = Some(Mark { session, tokens, arrived });
        }
    }
}

impl CompiledRung {
    fn new(
        rung: &Rung<'_>,
        stage: &Stage,
        author: Author,
        policy: &Policy,
        timeline: &Timeline,
        context: &Context<'_>,
        writer: Option<&Arc<Writer>>,
    ) -> Self {
        let known = context.known;
        let when = rung.when.map_or(Test::Always, |it| Test::new(it, context));
        let goal = rung.until.map(|it| Test::new(it, context));
        let (mut asks_scope, mut asks_raw) = (false, false);
        let mut units = Vec::new();
        let mut look = |test: &Test| match test {
            Test::Scope(..) | Test::Reclaimable(..) => asks_scope = true,
            Test::Raw(..) => (asks_scope, asks_raw) = (true, true),
            Test::Count(unit, ..) => {
                asks_scope = true;
                if matches!(unit, Unit::Messages | Unit::Steps | Unit::Turns) && !units.contains(unit) {
                    units.push(*unit);
                }
            }
            _ => {}
        };
        if let Some(cond) = &stage.when {
            Test::new(cond, context).each(&mut look);
        }
        when.each(&mut look);
        let mut asks_progress = false;
        if let Some(goal) = &goal {
            goal.each(&mut look);
            goal.each(&mut |test| asks_progress |= matches!(test, Test::Taken(_)));
        }
        Self {
            author,
            when,
            goal,
            scope: CompiledScope::new(rung.scope, timeline, known),
            act: Act::new(rung.action, policy, timeline, known, writer),
            settled: Settled::default(),
            asks_progress,
            tracker: asks_scope.then(|| Tracker::new(&units)),
            raw: asks_raw.then(Box::default),
            units: Vec::new(),
        }
    }

    /// Returns whether the goal asks what the activation has taken.
    #[inline]
    pub(super) fn counts_progress(&self) -> bool {
        self.asks_progress
    }

    /// Returns whether nothing but its filters says what the rung does to a single item.
    #[inline]
    fn takes_one(&self) -> bool {
        self.goal.is_none()
            && self.scope.is_whole_part()
            && !matches!(self.act, Act::Summarise(_) | Act::Fold(_))
    }

    fn is_due(&mut self, activation: &Activation<'_>, edit: &mut Editor<'_, '_>) -> bool {
        if let Some(holds) = self.when.at_a_glance(edit.prompt().tokens()) {
            return holds;
        }
        let when = std::mem::replace(&mut self.when, Test::Always);
        let holds = self.holds(&when, activation, edit);
        self.when = when;
        holds
    }

    fn holds(&mut self, test: &Test, activation: &Activation<'_>, edit: &mut Editor<'_, '_>) -> bool {
        let look = self.look(activation, Progress::default(), edit);
        test.holds(&look)
    }

    /// Returns whether the goal is met before anything is taken.
    fn begins_done(&mut self, activation: &Activation<'_>, edit: &mut Editor<'_, '_>) -> bool {
        if self.goal.is_none() {
            return false;
        }
        let region = self.scope.region(edit, &activation.env);
        let progress = super::act::progress(self, region, edit);
        self.is_done(activation, progress, edit)
    }

    /// Returns whether the goal is met; without one it never is.
    #[inline]
    pub(super) fn is_done(
        &mut self,
        activation: &Activation<'_>,
        progress: Progress,
        edit: &mut Editor<'_, '_>,
    ) -> bool {
        let Some(goal) = &self.goal else { return false };
        if let Some(met) = goal.at_a_glance(edit.prompt().tokens()) {
            return met;
        }
        let look = self.look(activation, progress, edit);
        self.goal.as_ref().is_some_and(|it| it.holds(&look))
    }

    /// Returns what conditions may look at now.
    #[inline]
    pub(super) fn look<'a>(
        &mut self,
        activation: &'a Activation<'a>,
        progress: Progress,
        edit: &mut Editor<'_, '_>,
    ) -> Look<'a> {
        let mut look = Look {
            prompt: edit.prompt().tokens(),
            stable: edit.prompt().stable_tokens(),
            raw: 0,
            scope: super::tracker::Totals::default(),
            units: [0; 3],
            progress,
            activation,
        };
        if self.tracker.is_some() {
            self.track(&mut look, edit);
        }
        look
    }

    fn track(&mut self, look: &mut Look<'_>, edit: &mut Editor<'_, '_>) {
        let held = self.scope.bounds();
        if let Some(raw) = &mut self.raw {
            look.raw = raw.of(edit);
        }
        let region = self.scope.region(edit, &look.activation.env);
        let rows = self.act.rows();
        let Some(tracker) = &mut self.tracker else { return };
        if self.scope.protects_slots() {
            // What is protected slot by slot changes with every arrival: the sums are made anew.
            *tracker = Tracker::new(&[Unit::Messages, Unit::Steps, Unit::Turns]);
            let mut slots = std::mem::take(&mut self.units);
            self.scope.next_unit(
                edit,
                &mut region.from.clone(),
                region.to,
                &super::scope::UnitSize::All,
                &mut slots,
            );
            for slot in &slots {
                tracker.add_slot(edit.prompt(), &self.scope.filter, rows, *slot);
            }
            self.units = slots;
        } else {
            edit.track(tracker, &self.scope.filter, rows, region);
        }
        self.scope.restore(&held);
        look.scope = tracker.totals();
        look.units = [Unit::Messages, Unit::Steps, Unit::Turns].map(|unit| tracker.count(unit));
    }

    /// Returns where to begin in a region: behind what is settled, if the memory still holds.
    pub(super) fn resume(&mut self, region: Region, edit: &Editor<'_, '_>) -> SlotIx {
        let settled = &mut self.settled;
        let journal = edit.prompt().journal();
        let is_active = self.scope.part == Part::Active;
        let has_pool = self.act.budget().is_some();
        if region.from != settled.from {
            settled.forget(region.from);
            settled.from = region.from;
            settled.seen_edits = journal.len();
        }
        for change in &journal[settled.seen_edits..] {
            let own = change.after.by == self.author;
            let grows = change.after.tokens > change.before.tokens;
            let comes_back = grows || change.after.by == super::prompt::UNDO || change.after.is_summary();
            // Every unit behind an edit may find more or less in the pool than it did.
            let from_start = is_active || has_pool;
            // A fold adds up what stands of a turn, so that any edit of it counts.
            let is_sum = matches!(self.act, Act::Fold(_));
            let matters = comes_back || from_start || is_sum || self.scope.filter.looks_at_renditions();
            if !own && matters && change.slot < settled.cursor {
                settled.forget(if from_start { region.from } else { change.slot.max(region.from) });
            }
        }
        settled.seen_edits = journal.len();
        settled.cursor
    }
}
