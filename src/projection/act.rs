//! What stages do: show in another way, drop, summarise.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::edit::{Editor, SideRequest};
use super::filter::ClassMask;
use super::num::{Env, Known, Num};
use super::program::{Activation, ReadyRung};
use super::prompt::{Prompt, SlotIx};
use super::rendition::{Pool, Rows};
use super::scope::{self, Region, UnitSize};
use super::test::Progress;
use super::tracker::unit_of;
use crate::model::policy::{Action, Budget, Summarise};
use crate::model::size::Unit;
use crate::spec::policy::{OrderSpec, PartSpec, SummaryPromptSpec};
use crate::trace::{Kind, LoopIx, Spine};
use crate::units::Tokens;

/// An action as a program holds it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Act {
    Show { rows: Rows, budget: Option<ReadyBudget> },
    Drop,
    Summarise(Arc<ReadySummary>),
}

/// A pool of exact tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReadyBudget {
    tokens: Tokens,
    per_loop: bool,
    counts_shown: bool,
}

/// A summary.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReadySummary {
    output: Num,
    copy: Vec<Kind>,
    overhead: Num,
    at_least: u64,
    request: Option<SummaryPromptSpec>,
}

impl Act {
    pub(super) fn new(action: &Action, spine: &Spine, known: &Known) -> Self {
        match action {
            Action::Show { rows, budget } => {
                let budget = budget.as_ref().map(|Budget { tokens, per_loop, counts_shown }| ReadyBudget {
                    tokens: Num::new(tokens, known).eval(&Env::default()),
                    per_loop: *per_loop,
                    counts_shown: *counts_shown,
                });
                Self::Show { rows: Rows::new(rows, spine, known), budget }
            }
            Action::Drop => Self::Drop,
            Action::Summarise(Summarise { output, copy, overhead, at_least, request }) => {
                Self::Summarise(Arc::new(ReadySummary {
                    output: Num::new(output, known),
                    copy: copy.clone(),
                    overhead: Num::new(overhead, known),
                    at_least: *at_least,
                    request: *request,
                }))
            }
        }
    }

    /// Returns the pool of exact tokens, if the action has one.
    #[inline]
    fn budget(&self) -> Option<ReadyBudget> {
        match self {
            Self::Show { budget, .. } => *budget,
            Self::Drop | Self::Summarise(_) => None,
        }
    }

    /// Returns the rows that say what the action would free, where that is known beforehand.
    pub(super) fn rows(&self) -> Option<&Rows> {
        match self {
            Self::Show { rows, .. } => Some(rows),
            Self::Drop | Self::Summarise(_) => None,
        }
    }
}

/// Applies a rung: the shortest run of units that meets its goal, or all.
pub(super) fn apply(rung: &mut ReadyRung, activation: &Activation<'_>, edit: &mut Editor<'_, '_>) {
    let region = rung.place.region(edit, &activation.env);
    if let Act::Summarise(summary) = &rung.act {
        let summary = Arc::clone(summary);
        summarise(rung, &summary, region, activation, edit);
        return;
    }
    let n_changed = if rung.place.order == OrderSpec::Oldest {
        in_order(rung, region, activation, edit)
    } else {
        ranked(rung, region, activation, edit)
    };
    let is_active = rung.place.part == PartSpec::Active;
    edit.note_visit(is_active, n_changed.0, n_changed.1);
}

/// Applies a rung to the item that has just entered.
#[inline]
pub(super) fn enter(rung: &ReadyRung, edit: &mut Editor<'_, '_>) {
    let region = scope::part(edit.prompt(), PartSpec::Entering);
    if rung.place.has(edit.prompt(), region.from) {
        let mut pool = rung.act.budget().map(|it| OpenPool::new(it, region));
        touch_slot(rung, region.from, pool.as_mut(), edit);
    }
}

/// Takes units from the oldest on; returns how many slots were visited and changed.
fn in_order(
    rung: &mut ReadyRung,
    region: Region,
    activation: &Activation<'_>,
    edit: &mut Editor<'_, '_>,
) -> (u32, u32) {
    let is_active = rung.place.part == PartSpec::Active;
    let budget = rung.act.budget();
    let size = if rung.goal.is_none() { UnitSize::All } else { rung.place.unit_size(edit, region) };
    let resumes = budget.is_none()
        && !rung.place.protects_slots()
        && (!is_active || rung.place.is_whole_part())
        && divides_alike(&size)
        && !rung.counts_progress();
    let mut at = if resumes { rung.resume(region, edit) } else { region.from };
    let mut pass = Pass { pool: budget.map(|it| OpenPool::new(it, region)), ..Pass::default() };
    pass.counts_settled = resumes && is_active;
    let n_settled = if resumes { rung.memory.n_settled } else { 0 };
    if rung.goal.is_none() {
        pass.n_visited = n_settled;
        at = pass.take_all(rung, at, region.to, edit);
    } else {
        let mut progress = progress(rung, region, edit);
        let mut units = std::mem::take(&mut rung.units);
        let mut is_done = rung.is_done(activation, progress, edit);
        // What is settled is passed again unless the goal is met before anything is taken.
        pass.n_visited = if is_done { 0 } else { n_settled };
        while !is_done {
            rung.place.next_unit(edit, &mut at, region.to, &size, &mut units);
            if units.is_empty() {
                break;
            }
            for slot in &units {
                if rung.counts_progress() {
                    progress.take(edit.prompt(), *slot);
                }
                pass.take(rung, *slot, edit);
            }
            is_done = rung.is_done(activation, progress, edit);
        }
        rung.units = units;
    }
    if resumes {
        rung.memory.cursor = rung.memory.cursor.max(at);
    }
    (pass.n_visited, pass.n_changed)
}

/// A pass over a scope, from the oldest slot on.
#[derive(Default)]
struct Pass {
    pool: Option<OpenPool>,
    n_visited: u32,
    n_changed: u32,
    counts_settled: bool,
}

impl Pass {
    /// Takes every slot of the scope from one place to another; returns where it came to.
    fn take_all(
        &mut self,
        rung: &mut ReadyRung,
        from: SlotIx,
        to: SlotIx,
        edit: &mut Editor<'_, '_>,
    ) -> SlotIx {
        let mut at = edit.visible_from(from);
        let begin = at;
        while at < to {
            if rung.place.has(edit.prompt(), at) {
                self.take(rung, at, edit);
            }
            at = edit.visible_from(at + 1);
        }
        edit.touch(u64::from(at - begin));
        at.min(to.max(from))
    }

    #[inline]
    fn take(&mut self, rung: &mut ReadyRung, slot: SlotIx, edit: &mut Editor<'_, '_>) {
        self.n_visited += 1;
        self.n_changed += touch_slot(rung, slot, self.pool.as_mut(), edit);
        if self.counts_settled && rung.place.has(edit.prompt(), slot) {
            rung.memory.n_settled += 1;
        }
    }
}

/// Returns whether a scope falls into the same units wherever one begins to divide it.
fn divides_alike(size: &UnitSize) -> bool {
    matches!(size, UnitSize::All | UnitSize::Of(_, 1))
}

/// Takes units from the newest or the largest on.
fn ranked(
    rung: &mut ReadyRung,
    region: Region,
    activation: &Activation<'_>,
    edit: &mut Editor<'_, '_>,
) -> (u32, u32) {
    let size = rung.place.unit_size(edit, region);
    let mut progress = progress(rung, region, edit);
    let mut units: Vec<Vec<SlotIx>> = Vec::new();
    let mut at = region.from;
    loop {
        let mut unit = Vec::new();
        rung.place.next_unit(edit, &mut at, region.to, &size, &mut unit);
        if unit.is_empty() {
            break;
        }
        units.push(unit);
    }
    let tokens = |unit: &Vec<SlotIx>| {
        unit.iter().map(|it| Tokens::from(edit.prompt().slot(*it).tokens)).sum::<Tokens>()
    };
    match rung.place.order {
        OrderSpec::Largest => units.sort_by_key(|unit| std::cmp::Reverse(tokens(unit))),
        OrderSpec::Newest | OrderSpec::Oldest => units.reverse(),
    }
    let (mut n_visited, mut n_changed) = (0, 0);
    let mut seen: [BTreeSet<usize>; 3] = Default::default();
    for mut unit in units {
        // What went with its call, or with its result, is no longer there to be taken.
        unit.retain(|slot| rung.place.has(edit.prompt(), *slot));
        if unit.is_empty() {
            continue;
        }
        if rung.is_done(activation, progress, edit) {
            break;
        }
        for slot in unit {
            n_visited += 1;
            progress.take(edit.prompt(), slot);
            progress.recount(edit.prompt(), slot, &mut seen);
            n_changed += touch_slot(rung, slot, None, edit);
        }
    }
    (n_visited, n_changed)
}

/// Applies a show or a drop to one slot; returns how many slots changed.
#[inline]
fn touch_slot(rung: &ReadyRung, slot: SlotIx, pool: Option<&mut OpenPool>, edit: &mut Editor<'_, '_>) -> u32 {
    match &rung.act {
        Act::Show { rows, .. } => {
            let item = edit.prompt().item(slot);
            let pool = pool.map(|pool| pool.at(slot, rung, edit));
            let Some(rendered) = rows.of(item, pool) else { return 0 };
            u32::from(edit.show(slot, rendered))
        }
        Act::Drop => edit.drop(slot),
        Act::Summarise(_) => 0,
    }
}

/// Begins to count what an activation takes.
pub(super) fn progress(rung: &ReadyRung, region: Region, edit: &mut Editor<'_, '_>) -> Progress {
    Progress {
        of: if rung.counts_progress() { rung.place.count(edit, region) } else { 0 },
        ..Progress::default()
    }
}

impl Progress {
    /// Counts a slot about to be changed.
    fn take(&mut self, prompt: &Prompt<'_>, index: SlotIx) {
        self.items += 1;
        self.tool_uses += u64::from(prompt.kind(index) == Kind::ToolResult);
        self.tokens += Tokens::from(prompt.slot(index).tokens);
        let now = [Unit::Messages, Unit::Steps, Unit::Loops].map(|unit| unit_of(prompt, index, unit) + 1);
        for (n, counted) in [&mut self.messages, &mut self.steps, &mut self.loops].into_iter().enumerate() {
            *counted += u64::from(self.last[n] != now[n]);
        }
        self.last = now;
    }

    /// Counts messages, steps and loops once each where slots are not taken in order.
    fn recount(&mut self, prompt: &Prompt<'_>, index: SlotIx, seen: &mut [BTreeSet<usize>; 3]) {
        for (unit, seen) in [Unit::Messages, Unit::Steps, Unit::Loops].into_iter().zip(seen.iter_mut()) {
            seen.insert(unit_of(prompt, index, unit));
        }
        [self.messages, self.steps, self.loops] = [&seen[0], &seen[1], &seen[2]].map(|it| it.len() as u64);
    }
}

/// A pool that is being spent.
struct OpenPool {
    budget: ReadyBudget,
    region: Region,
    pool: Pool,
    loop_ix: Option<LoopIx>,
    /// The first slot whose exact tokens have not been charged.
    next: SlotIx,
}

impl OpenPool {
    fn new(budget: ReadyBudget, region: Region) -> Self {
        Self {
            budget,
            region,
            pool: Pool { tokens: budget.tokens, used: 0 },
            loop_ix: None,
            next: region.from,
        }
    }

    /// Returns the pool as it stands in front of a slot about to be shown.
    fn at(&mut self, slot: SlotIx, rung: &ReadyRung, edit: &mut Editor<'_, '_>) -> &mut Pool {
        let loop_ix = edit.prompt().item(slot).loop_ix;
        if self.budget.per_loop && self.loop_ix != Some(loop_ix) {
            self.loop_ix = Some(loop_ix);
            self.pool.used = 0;
            self.next = edit.prompt().spine().loops[loop_ix as usize].items.start;
        }
        if self.budget.counts_shown {
            self.charge_up_to(slot, rung, edit);
        }
        self.next = slot + 1;
        &mut self.pool
    }

    /// Charges what is already exact in front of a slot and is not for the rung to show.
    fn charge_up_to(&mut self, slot: SlotIx, rung: &ReadyRung, edit: &mut Editor<'_, '_>) {
        let mut at = edit.visible_from(self.next);
        while at < slot {
            edit.touch(1);
            let stands = *edit.prompt().slot(at);
            let is_visited = at >= self.region.from && rung.place.has(edit.prompt(), at);
            if stands.exact && stands.state == super::State::Shown && !is_visited {
                self.pool.used += u64::from(stands.tokens);
            }
            at = edit.visible_from(at + 1);
        }
    }
}

/// Puts a summary in the place of the shortest run of units whose predicted result meets the goal, or of all.
fn summarise(
    rung: &mut ReadyRung,
    summary: &ReadySummary,
    region: Region,
    activation: &Activation<'_>,
    edit: &mut Editor<'_, '_>,
) {
    let size = rung.place.unit_size(edit, region);
    let mut look = rung.look(activation, progress(rung, region, edit), edit);
    let (prompt, scope) = (look.prompt, look.scope.tokens);
    let stays_in_scope = rung.place.filter.has_summary();
    let mut batch = Batch::default();
    let mut units = std::mem::take(&mut rung.units);
    let mut at = region.from;
    loop {
        // No summary frees more than its input: the length of the output is asked only when the goal is within reach.
        look.prompt = prompt.saturating_sub(batch.input);
        if rung.goal.as_ref().is_some_and(|goal| !goal.wants_less_than(look.prompt)) {
            let freed = batch.input.saturating_sub(summary.output_of(&batch, activation));
            look.prompt = prompt.saturating_sub(freed);
            look.scope.tokens = scope.saturating_sub(if stays_in_scope { freed } else { batch.input });
            if rung.goal.as_ref().is_some_and(|goal| goal.holds(&look)) {
                break;
            }
        }
        rung.place.next_unit(edit, &mut at, region.to, &size, &mut units);
        if units.is_empty() {
            break;
        }
        batch.n_units += 1;
        for slot in &units {
            if rung.counts_progress() {
                look.progress.take(edit.prompt(), *slot);
            }
            batch.add(edit.prompt(), *slot, &summary.copy);
        }
    }
    rung.units = units;
    let output = summary.output_of(&batch, activation);
    if batch.slots.is_empty() || batch.n_units < summary.at_least || output >= batch.input {
        return;
    }
    let overhead = summary.overhead.eval(&Env { input: batch.input, ..activation.env });
    let request = summary.request.map(|prompt| {
        let aligned = prompt == SummaryPromptSpec::Aligned;
        let input = if aligned { edit.prompt().tokens() } else { batch.input.saturating_add(batch.copied) };
        SideRequest {
            prompt: overhead.saturating_add(input),
            chain: aligned.then(|| edit.chain()),
            output: output.saturating_add(batch.copied),
            items: batch.n_loops,
        }
    });
    edit.summarise(&batch.slots, u32::try_from(output).unwrap_or(u32::MAX), request);
    let n = u32::try_from(batch.slots.len()).unwrap_or(u32::MAX);
    edit.note_visit(rung.place.part == PartSpec::Active, n, n);
}

impl ReadySummary {
    fn output_of(&self, batch: &Batch, activation: &Activation<'_>) -> Tokens {
        self.output.eval(&Env { input: batch.input, ..activation.env })
    }
}

/// What a summary is about to replace.
#[derive(Debug, Default)]
struct Batch {
    slots: Vec<SlotIx>,
    input: Tokens,
    copied: Tokens,
    n_units: u64,
    n_loops: u32,
    last_loop: Option<LoopIx>,
}

impl Batch {
    fn add(&mut self, prompt: &Prompt<'_>, index: SlotIx, copy: &[Kind]) {
        let tokens = Tokens::from(prompt.slot(index).tokens);
        if !copy.is_empty() && ClassMask::of_kinds(copy).has_kind(prompt.kind(index)) {
            self.copied += tokens;
            return;
        }
        let loop_ix = prompt.item(index).loop_ix;
        self.n_loops += u32::from(self.last_loop != Some(loop_ix));
        self.last_loop = Some(loop_ix);
        self.input += tokens;
        self.slots.push(index);
    }
}
