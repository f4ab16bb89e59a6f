//! Actions of stages: show differently, drop, summarise, fold.

mod ask;
mod fold;
mod in_order;
pub(super) mod pool;
mod ranked;
mod stay;
mod summarise;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::ask::CompiledSecond;
use self::fold::CompiledFold;
use self::in_order::in_order;
use self::pool::OpenPool;
use self::ranked::ranked;
use self::stay::Stay;
use self::summarise::summarise;
use super::Left;
use super::edit::Editor;
use super::num::{Env, Known, Num};
use super::prompt::{Prompt, SlotIx, State};
use super::region::Region;
use super::rendition::Rows;
use super::rung::CompiledRung;
use super::scope;
use super::test::{Activation, Progress};
use super::tracker::unit_of;
use super::writer::Writer;
use crate::input::Policy;
use crate::input::policy::{
    Action, Budget, Count, Counts, Order, Part, Size, Summarise, SummaryPer, SummaryPrompt, SummaryWords,
    Unit,
};
use crate::quantity::Tokens;
use crate::timeline::{Kind, Timeline};

/// An action as a program holds it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Act {
    Show { rows: Rows, budget: Option<CompiledBudget>, grows: bool },
    Drop,
    Summarise(Arc<CompiledSummary>),
    Fold(Arc<CompiledFold>),
    Ping(Num),
}

/// A pool of exact tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CompiledBudget {
    tokens: Tokens,
    per_turn: bool,
    counts_shown: bool,
}

/// A summary.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompiledSummary {
    output: Num,
    copy: Vec<Kind>,
    overhead: Num,
    at_least: u64,
    per_unit: bool,
    says: SummaryWords,
    request: Option<SummaryPrompt>,
    /// Whether a model other than the session's writes it, which finds nothing in the session's cache.
    is_elsewhere: bool,
    /// The most that the summariser reads.
    reads: Option<Num>,
    again: Option<CompiledSecond>,
    stay: Option<Box<Stay>>,
    /// Other restored content, as a part of the summary.
    more: Num,
}

impl CompiledSummary {
    fn new(summary: &Summarise, policy: &Policy, timeline: &Timeline, known: &Known) -> Self {
        let size = |it: Option<&Size>| it.map_or(Num::Const(0), |it| Num::new(it, known));
        let restore = summary.restore.as_ref();
        Self {
            output: Num::new(&summary.output, known),
            copy: summary.copy.clone(),
            overhead: size(summary.overhead.as_ref()),
            at_least: summary.at_least.as_ref().map_or(1, Count::get),
            per_unit: summary.per == SummaryPer::Unit,
            says: summary.says,
            request: Some(summary.prompt).filter(|it| *it != SummaryPrompt::Free),
            is_elsewhere: policy.summariser.is_some(),
            reads: summary.reads.as_ref().map(|it| Num::new(it, known)),
            again: summary.again.as_ref().map(|it| CompiledSecond::new(it, known)),
            stay: Stay::new(summary.keeps.as_ref(), restore, timeline, known).map(Box::new),
            more: size(restore.and_then(|it| it.more.as_ref())),
        }
    }
}

impl CompiledBudget {
    fn new(budget: &Budget, known: &Known) -> Self {
        Self {
            tokens: Num::new(&budget.tokens, known).eval(&Env::default()),
            per_turn: budget.per.units() == Some((Unit::Turns, 1)),
            counts_shown: budget.counts == Counts::Shown,
        }
    }
}

impl Act {
    pub(super) fn new(
        action: &Action,
        policy: &Policy,
        timeline: &Timeline,
        known: &Known,
        writer: Option<&Arc<Writer>>,
    ) -> Self {
        let spine = &timeline.spine;
        let rows = || Rows::new(&action.rows(&policy.tables), spine, known);
        match action {
            Action::Show(_) => Self::Show { rows: rows(), budget: None, grows: false },
            Action::Table { budget, template, grows, .. } => Self::Show {
                rows: rows().write(policy.template(template.as_ref()), spine, writer),
                budget: budget.as_ref().map(|it| CompiledBudget::new(it, known)),
                grows: *grows,
            },
            Action::Drop => Self::Drop,
            Action::Fold(fold) => Self::Fold(Arc::new(CompiledFold::new(fold, policy, spine, known, writer))),
            Action::Ping { output } => {
                Self::Ping(output.as_ref().map_or(Num::Const(1), |it| Num::new(it, known)))
            }
            Action::Summarise(it) => {
                Self::Summarise(Arc::new(CompiledSummary::new(it, policy, timeline, known)))
            }
        }
    }

    /// Returns the pool of exact tokens, if the action has one.
    #[inline]
    pub(super) fn budget(&self) -> Option<CompiledBudget> {
        match self {
            Self::Show { budget, .. } => *budget,
            Self::Drop | Self::Summarise(_) | Self::Fold(_) | Self::Ping(_) => None,
        }
    }

    /// Returns whether what an earlier pass has settled would come out the same again, whatever others did meanwhile.
    fn only_shrinks(&self) -> bool {
        !matches!(self, Self::Show { grows: true, .. })
    }

    /// Renders a slot that it changed, if a template writes it.
    pub(super) fn text(&self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<String> {
        match self {
            Self::Show { rows, .. } => rows.text(prompt, slot, prompt.slot(slot).rendition),
            Self::Fold(fold) => fold.text(prompt, slot),
            Self::Drop | Self::Summarise(_) | Self::Ping(_) => None,
        }
    }

    /// Returns how much is left of an item that it showed in part, or that it summed up.
    pub(super) fn left(&self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<Left> {
        match (self, prompt.slot(slot).state) {
            (Self::Show { rows, .. }, State::Shown) => rows.left(prompt, slot),
            (Self::Summarise(summary), State::Host | State::Absorbed) => summary.left(prompt, slot),
            _ => None,
        }
    }

    /// Returns whether it would change a slot, as far as that is known in advance.
    pub(super) fn would_change(&self, prompt: &Prompt<'_>, slot: SlotIx) -> bool {
        match self {
            Self::Show { rows, .. } => {
                let stands = prompt.slot(slot);
                let rendered = rows.at(prompt.item(slot), None);
                stands.state == State::Shown && rendered.is_some_and(|it| it.tokens < stands.tokens)
            }
            Self::Drop | Self::Summarise(_) | Self::Fold(_) => true,
            Self::Ping(_) => false,
        }
    }

    /// Returns the rows that determine the action's savings, if these are known in advance.
    pub(super) fn rows(&self) -> Option<&Rows> {
        match self {
            Self::Show { rows, .. } => Some(rows),
            Self::Drop | Self::Summarise(_) | Self::Fold(_) | Self::Ping(_) => None,
        }
    }
}

/// Applies a rung: the shortest run of units that meets its goal, or all units.
pub(super) fn apply(rung: &mut CompiledRung, activation: &Activation<'_>, edit: &mut Editor<'_, '_>) {
    let region = rung.scope.region(edit, &activation.env);
    let (n_visited, n_changed) = match &rung.act {
        Act::Summarise(summary) => {
            let summary = Arc::clone(summary);
            return summarise(rung, &summary, region, activation, edit);
        }
        Act::Fold(fold) => {
            let fold = Arc::clone(fold);
            return fold::fold(rung, &fold, region, activation, edit);
        }
        Act::Ping(output) => return ask::ping(output.eval(&activation.env), edit),
        Act::Show { .. } | Act::Drop => match rung.scope.order {
            Order::Oldest => in_order(rung, region, activation, edit),
            Order::Newest | Order::Largest => ranked(rung, region, activation, edit),
        },
    };
    let is_active = rung.scope.part == Part::Active;
    edit.note_pass(is_active, n_visited, n_changed);
}

/// Applies a rung to the item that is entering.
#[inline]
pub(super) fn enter(rung: &CompiledRung, edit: &mut Editor<'_, '_>) {
    let region = scope::part(edit.prompt(), Part::Entering);
    if rung.scope.has(edit.prompt(), region.from) {
        let mut pool = rung.act.budget().map(|it| OpenPool::new(it, region));
        touch_slot(rung, region.from, pool.as_mut(), edit);
    }
}

/// Applies a show or a drop to one slot; returns how many slots changed.
#[inline]
fn touch_slot(
    rung: &CompiledRung,
    slot: SlotIx,
    pool: Option<&mut OpenPool>,
    edit: &mut Editor<'_, '_>,
) -> u32 {
    match &rung.act {
        Act::Show { rows, grows, .. } => {
            let item = *edit.prompt().item(slot);
            let pool = pool.map(|pool| pool.at(slot, rung, edit));
            let Some(rendered) = rows.at(&item, pool) else { return 0 };
            u32::from(if *grows { edit.resize(slot, rendered) } else { edit.shrink(slot, rendered) })
        }
        Act::Drop => edit.take_out(slot),
        Act::Summarise(_) | Act::Fold(_) | Act::Ping(_) => 0,
    }
}

/// Begins to count what an activation takes.
pub(super) fn progress(rung: &CompiledRung, region: Region, edit: &mut Editor<'_, '_>) -> Progress {
    Progress {
        of: if rung.counts_progress() { rung.scope.count(edit, region) } else { 0 },
        ..Progress::default()
    }
}

impl Progress {
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
