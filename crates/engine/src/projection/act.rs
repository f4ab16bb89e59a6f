//! Actions of stages.
//!
//! Each says what it does otherwise than [`Act`] has it, here or in a file below `act/`, and has one line of [`CompiledAction::new`].

mod fold;
mod summarise;

use crate::prelude::*;
use std::any::Any;
use std::fmt::Debug;
use std::ops::Deref;

use self::fold::CompiledFold;
use self::summarise::CompiledSummary;
use super::tracker::unit_of;
use super::{
    Activation, ActivationProgress, CompiledRung, Editor, Env, Known, Left, Num, Pool, Prompt, Purpose,
    Region, RungParts, SideRequest, SlotIx, TableRows, UnitSize, scope,
};
use ctxsim_input::{Action, Budget, BudgetCounts, Order, PromptPart};

/// An action as a program holds it.
#[derive(Clone, Debug)]
pub(super) struct CompiledAction(Arc<dyn Act>);

impl CompiledAction {
    pub(super) fn new(action: &Action, parts: &RungParts<'_>) -> Self {
        Self(match action {
            Action::Show(_) | Action::Table { .. } => Arc::new(Show::new(action, parts)),
            Action::Drop => Arc::new(Drop),
            Action::Summarise(it) => Arc::new(CompiledSummary::new(it, parts)),
            Action::Fold(it) => Arc::new(CompiledFold::new(it, parts)),
            Action::Ping { output } => Arc::new(Ping::new(output.as_ref(), parts)),
        })
    }
}

impl Deref for CompiledAction {
    type Target = dyn Act;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for CompiledAction {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(&**other)
    }
}

/// What a stage does to its scope; unless it says otherwise, it takes slot by slot, and what it leaves of them is unknown.
pub(super) trait Act: Debug + Send + Sync + Same {
    /// Changes one slot, whose exact tokens come out of a pool; returns how many slots changed.
    fn touch(&self, _slot: SlotIx, _pool: Option<&mut Pool>, _edit: &mut Editor<'_, '_>) -> u32 {
        0
    }

    /// Applies its rung to a region: to the shortest run of units that meets the goal, or to all units.
    fn apply(
        &self,
        rung: &mut CompiledRung,
        region: Region,
        activation: &Activation<'_>,
        edit: &mut Editor<'_, '_>,
    ) {
        let (n_visited, n_changed) = match rung.scope.order {
            Order::Oldest => in_order(self, rung, region, activation, edit),
            Order::Newest | Order::Largest => ranked(self, rung, region, activation, edit),
        };
        edit.note_pass(rung.scope.part == PromptPart::Active, n_visited, n_changed);
    }

    /// Applies its rung to the item that is entering.
    fn enter(&self, rung: &CompiledRung, edit: &mut Editor<'_, '_>) {
        let region = scope::part(edit.prompt(), PromptPart::Entering);
        if rung.scope.has(edit.prompt(), region.from) {
            let mut pool = self.budget().map(|it| OpenPool::new(it, region));
            let pool = pool.as_mut().map(|it| it.at(region.from, rung, edit));
            self.touch(region.from, pool, edit);
        }
    }

    /// Returns whether it takes slot by slot, so that a single item tells what it does to it.
    fn takes_slots(&self) -> bool {
        true
    }

    /// Returns the pool of exact tokens, if it has one.
    #[inline]
    fn budget(&self) -> Option<CompiledBudget> {
        None
    }

    /// Returns whether what an earlier pass has settled would come out the same again, whatever others did meanwhile.
    fn only_shrinks(&self) -> bool {
        true
    }

    /// Returns whether it adds up what stands of a unit, so that any edit of it counts.
    fn adds_up(&self) -> bool {
        false
    }

    /// Returns whether it would change a slot, as far as that is known in advance.
    fn would_change(&self, _prompt: &Prompt<'_>, _slot: SlotIx) -> bool {
        true
    }

    /// Returns the rows that determine its savings, if these are known in advance.
    fn rows(&self) -> Option<&TableRows> {
        None
    }

    /// Renders a slot that it changed, if a template writes it.
    fn text(&self, _prompt: &Prompt<'_>, _slot: SlotIx) -> Option<String> {
        None
    }

    /// Returns how much is left of an item that it showed in part, or that it summed up.
    fn left(&self, _prompt: &Prompt<'_>, _slot: SlotIx) -> Option<Left> {
        None
    }
}

/// Tells whether two actions are the same.
pub(super) trait Same: Any {
    fn is_same(&self, other: &dyn Act) -> bool;
}

impl<T: Act + PartialEq> Same for T {
    fn is_same(&self, other: &dyn Act) -> bool {
        (other as &dyn Any).downcast_ref::<T>() == Some(self)
    }
}

impl ActivationProgress {
    /// Counts a slot about to be changed.
    fn take(&mut self, prompt: &Prompt<'_>, index: SlotIx) {
        self.items += 1;
        self.tool_uses += u64::from(prompt.kind(index) == Kind::ToolResult);
        self.tokens += Tokens::from(prompt.slot(index).tokens);
        let now = Unit::GATHERED.map(|unit| unit_of(prompt, index, unit) + 1);
        for (n, counted) in self.gathered.iter_mut().enumerate() {
            *counted += u64::from(self.last[n] != now[n]);
        }
        self.last = now;
    }

    /// Counts messages, groups, steps and turns once each where slots are not taken in order.
    fn recount(&mut self, prompt: &Prompt<'_>, index: SlotIx, seen: &mut [BTreeSet<usize>; 4]) {
        for (unit, seen) in Unit::GATHERED.into_iter().zip(seen.iter_mut()) {
            seen.insert(unit_of(prompt, index, unit));
        }
        self.gathered = std::array::from_fn(|n| seen[n].len() as u64);
    }
}

// Drops: a call and its result go together.

/// Takes each slot out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Drop;

impl Act for Drop {
    #[inline]
    fn touch(&self, slot: SlotIx, _: Option<&mut Pool>, edit: &mut Editor<'_, '_>) -> u32 {
        edit.take_out(slot)
    }
}

// Pings: the prompt is sent as it stands, for a short answer, so that the provider's cache keeps it.

/// Sends the prompt again; the size of the answer.
#[derive(Clone, Debug, PartialEq)]
struct Ping(Num);

impl Ping {
    fn new(output: Option<&Size>, parts: &RungParts<'_>) -> Self {
        Self(output.map_or(Num::Const(1), |it| Num::new(it, parts.context.known)))
    }
}

impl Act for Ping {
    fn apply(&self, _: &mut CompiledRung, _: Region, activation: &Activation<'_>, edit: &mut Editor<'_, '_>) {
        let output = self.0.eval(&activation.env);
        let (prompt, chain) = (edit.prompt().tokens(), Some(edit.chain()));
        edit.ask(SideRequest { prompt, chain, output, items: 0, purpose: Purpose::KeepAlive });
    }

    fn takes_slots(&self) -> bool {
        false
    }

    fn would_change(&self, _: &Prompt<'_>, _: SlotIx) -> bool {
        false
    }
}

// Items shown in another way: all alike, or by the rows of a table.

/// Shows each item by the first row that matches it.
#[derive(Clone, Debug, PartialEq)]
struct Show {
    rows: TableRows,
    budget: Option<CompiledBudget>,
    grows: bool,
}

impl Show {
    fn new(action: &Action, parts: &RungParts<'_>) -> Self {
        let (spine, known) = (&parts.timeline.spine, parts.context.known);
        let rows = TableRows::new(&action.rows(&parts.policy.tables), spine, known);
        let Action::Table { budget, template, grows, .. } = action else {
            return Self { rows, budget: None, grows: false };
        };
        Self {
            rows: rows.write(parts.policy.template(template.as_ref()), spine, parts.writer),
            budget: budget.as_ref().map(|it| CompiledBudget::new(it, known)),
            grows: *grows,
        }
    }
}

impl Act for Show {
    #[inline]
    fn touch(&self, slot: SlotIx, pool: Option<&mut Pool>, edit: &mut Editor<'_, '_>) -> u32 {
        let Some(rendered) = self.rows.at(edit.prompt().item(slot), pool) else { return 0 };
        u32::from(if self.grows { edit.resize(slot, rendered) } else { edit.shrink(slot, rendered) })
    }

    fn budget(&self) -> Option<CompiledBudget> {
        self.budget
    }

    fn only_shrinks(&self) -> bool {
        !self.grows
    }

    fn would_change(&self, prompt: &Prompt<'_>, slot: SlotIx) -> bool {
        let stands = prompt.slot(slot);
        let rendered = self.rows.at(prompt.item(slot), None);
        stands.state == State::Shown && rendered.is_some_and(|it| it.tokens < stands.tokens)
    }

    fn rows(&self) -> Option<&TableRows> {
        Some(&self.rows)
    }

    fn text(&self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<String> {
        self.rows.text(prompt, slot, prompt.slot(slot).rendition)
    }

    fn left(&self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<Left> {
        self.rows.left(prompt, slot).filter(|_| prompt.slot(slot).state == State::Shown)
    }
}

// Units are taken from the oldest on; what is settled is not visited again.

/// Takes units from the oldest on; returns how many slots were visited and changed.
fn in_order<A: Act + ?Sized>(
    act: &A,
    rung: &mut CompiledRung,
    region: Region,
    activation: &Activation<'_>,
    edit: &mut Editor<'_, '_>,
) -> (u32, u32) {
    let is_active = rung.scope.part == PromptPart::Active;
    let budget = act.budget();
    let size = if rung.goal.is_none() { UnitSize::All } else { rung.scope.unit_size(edit, region) };
    let resumes = budget.is_none_or(|it| !it.counts_shown)
        && !rung.scope.protects_slots()
        && (!is_active || rung.scope.is_whole_part())
        && size.divides_alike()
        && act.only_shrinks()
        && !rung.counts_progress();
    let mut at = if resumes { rung.resume(region, edit) } else { region.from };
    let mut pool = budget.map(|it| OpenPool::new(it, region));
    if let Some(pool) = pool.as_mut().filter(|_| resumes) {
        pool.resume(rung.settled.spent);
    }
    let mut pass = Pass { pool, ..Pass::default() };
    pass.counts_settled = resumes && is_active;
    let n_settled = if resumes { rung.settled.n_settled } else { 0 };
    if rung.goal.is_none() {
        pass.n_visited = n_settled;
        at = pass.take_all(act, rung, at, region.to, edit);
    } else {
        let mut progress = rung.progress(region, edit);
        let mut units = std::mem::take(&mut rung.units);
        let mut is_done = rung.is_done(activation, progress, edit);
        // What is settled is passed again unless the goal is met before anything is taken.
        pass.n_visited = if is_done { 0 } else { n_settled };
        while !is_done {
            rung.scope.next_unit(edit, &mut at, region.to, &size, &mut units);
            if units.is_empty() {
                break;
            }
            for slot in &units {
                if rung.counts_progress() {
                    progress.take(edit.prompt(), *slot);
                }
                pass.take(act, rung, *slot, edit);
            }
            is_done = rung.is_done(activation, progress, edit);
        }
        rung.units = units;
    }
    // What left the scope would not spend from the pool: only without a pool is the same pass the same again.
    if resumes && (pass.pool.is_none() || pass.n_left == 0) {
        rung.settled.cursor = rung.settled.cursor.max(at);
        rung.settled.spent = pass.pool.as_ref().map_or(Spent::default(), OpenPool::spent);
    } else if resumes {
        rung.settled.forget(region.from);
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
    /// Slots that a change took out of the scope.
    n_left: u32,
}

impl Pass {
    /// Takes every slot of the scope from one place to another; returns where it stopped.
    fn take_all<A: Act + ?Sized>(
        &mut self,
        act: &A,
        rung: &mut CompiledRung,
        from: SlotIx,
        to: SlotIx,
        edit: &mut Editor<'_, '_>,
    ) -> SlotIx {
        let mut at = edit.prompt.visible_from(from);
        let begin = at;
        while at < to {
            if rung.scope.has(edit.prompt(), at) {
                self.take(act, rung, at, edit);
            }
            at = edit.prompt.visible_from(at + 1);
        }
        edit.prompt.touch(u64::from(at - begin));
        at.min(to.max(from))
    }

    // The innermost loop of most stages: a call would cost a fifth of it.
    #[inline(always)]
    fn take<A: Act + ?Sized>(
        &mut self,
        act: &A,
        rung: &mut CompiledRung,
        slot: SlotIx,
        edit: &mut Editor<'_, '_>,
    ) {
        let pool = self.pool.as_mut().map(|it| it.at(slot, rung, edit));
        let n_changed = act.touch(slot, pool, edit);
        let is_asked = self.counts_settled || self.pool.is_some();
        let stays = n_changed == 0 || !is_asked || rung.scope.has(edit.prompt(), slot);
        self.n_visited += 1;
        self.n_changed += n_changed;
        self.n_left += u32::from(!stays);
        rung.settled.n_settled += u32::from(stays && self.counts_settled);
    }
}

// Units are taken from the newest or from the largest on: each is looked at again,
// because taking one can take part of another.

/// Takes units from the newest or the largest on.
fn ranked<A: Act + ?Sized>(
    act: &A,
    rung: &mut CompiledRung,
    region: Region,
    activation: &Activation<'_>,
    edit: &mut Editor<'_, '_>,
) -> (u32, u32) {
    let size = rung.scope.unit_size(edit, region);
    let mut progress = rung.progress(region, edit);
    let mut units: Vec<Vec<SlotIx>> = Vec::new();
    let mut at = region.from;
    loop {
        let mut unit = Vec::new();
        rung.scope.next_unit(edit, &mut at, region.to, &size, &mut unit);
        if unit.is_empty() {
            break;
        }
        units.push(unit);
    }
    let tokens = |unit: &Vec<SlotIx>| {
        unit.iter().map(|it| Tokens::from(edit.prompt().slot(*it).tokens)).sum::<Tokens>()
    };
    match rung.scope.order {
        Order::Largest => units.sort_by_key(|unit| std::cmp::Reverse(tokens(unit))),
        Order::Newest | Order::Oldest => units.reverse(),
    }
    let (mut n_visited, mut n_changed) = (0, 0);
    let mut seen: [BTreeSet<usize>; 4] = Default::default();
    for mut unit in units {
        // What went with its call, or with its result, is no longer there to be taken.
        unit.retain(|slot| rung.scope.has(edit.prompt(), *slot));
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
            n_changed += act.touch(slot, None, edit);
        }
    }
    (n_visited, n_changed)
}

// A pool of exact tokens is spent slot by slot, from the oldest on.

/// A pool of exact tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::projection) struct CompiledBudget {
    tokens: Tokens,
    per_turn: bool,
    counts_shown: bool,
}

impl CompiledBudget {
    fn new(budget: &Budget, known: &Known) -> Self {
        Self {
            tokens: Num::new(&budget.tokens, known).eval(&Env::default()),
            per_turn: budget.per.units() == Some((Unit::Turns, 1)),
            counts_shown: budget.counts == BudgetCounts::Shown,
        }
    }
}

/// What the settled slots of a scope have spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::projection) struct Spent {
    tokens: u64,
    /// The turn on which they were spent.
    turn_ix: Option<TurnIx>,
}

/// A pool that is being spent.
#[derive(Clone, Copy, Debug)]
struct OpenPool {
    budget: CompiledBudget,
    region: Region,
    pool: Pool,
    turn_ix: Option<TurnIx>,
    /// The first slot whose exact tokens have not been charged.
    next: SlotIx,
}

impl OpenPool {
    fn new(budget: CompiledBudget, region: Region) -> Self {
        Self {
            budget,
            region,
            pool: Pool { tokens: budget.tokens, used: 0 },
            turn_ix: None,
            next: region.from,
        }
    }

    /// Goes on where settled slots left the pool.
    fn resume(&mut self, spent: Spent) {
        (self.pool.used, self.turn_ix) = (spent.tokens, spent.turn_ix);
    }

    /// Returns what has been spent.
    fn spent(&self) -> Spent {
        Spent { tokens: self.pool.used, turn_ix: self.turn_ix }
    }

    /// Returns the pool as it is before a slot about to be shown.
    #[inline(always)]
    fn at(&mut self, slot: SlotIx, rung: &CompiledRung, edit: &mut Editor<'_, '_>) -> &mut Pool {
        let turn_ix = edit.prompt().item(slot).turn_ix;
        if self.budget.per_turn && self.turn_ix != Some(turn_ix) {
            self.turn_ix = Some(turn_ix);
            self.pool.used = 0;
            self.next = edit.prompt().history().turns()[turn_ix as usize].items.start;
        }
        if self.budget.counts_shown {
            self.charge_up_to(slot, rung, edit);
        }
        self.next = slot + 1;
        &mut self.pool
    }

    /// Charges what is already exact before a slot and is not for the rung to show.
    fn charge_up_to(&mut self, slot: SlotIx, rung: &CompiledRung, edit: &mut Editor<'_, '_>) {
        let mut at = edit.prompt.visible_from(self.next);
        let mut n_seen = 0;
        while at < slot {
            n_seen += 1;
            let stands = edit.prompt().slot(at);
            if stands.exact && stands.state == State::Shown {
                let is_visited = at >= self.region.from && rung.scope.has(edit.prompt(), at);
                self.pool.used += if is_visited { 0 } else { u64::from(stands.tokens) };
            }
            at = edit.prompt.visible_from(at + 1);
        }
        edit.prompt.touch(n_seen);
    }
}
