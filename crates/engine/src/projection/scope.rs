//! Where a stage acts: a region of slots, the protected part of it, and its units.

use crate::prelude::*;

use super::filter::Superseded;
use super::tracker::unit_of;
use super::{Editor, Env, Filter, Known, Num, Prompt, Region, SlotIx};
use ctxsim_input::{Extent, Order, PromptPart, Scope};

/// A scope as a program holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledScope {
    /// Which part of the prompt.
    pub part: PromptPart,
    /// Which slots of it.
    pub filter: Filter,
    /// Which unit goes first.
    pub order: Order,
    keep: Vec<Protected>,
    /// Whether single slots are protected.
    protects_slots: bool,
    keep_first: Option<Reach>,
    keep_recent: Option<Reach>,
    only_recent: Option<Reach>,
    by: Reach,
    /// What later results supersede; nothing else is in the scope.
    superseded: Option<Arc<Superseded>>,
    /// Of which units only complete ones are in the scope.
    whole: Option<(Unit, u64)>,
}

/// Slots that are protected, with the bounds that hold during one activation.
#[derive(Clone, Debug, PartialEq)]
struct Protected {
    filter: Filter,
    first: Option<Reach>,
    recent: Option<Reach>,
    bounds: Region,
}

impl CompiledScope {
    /// Prepares a scope.
    pub fn new(scope: &Scope, timeline: &Timeline, known: &Known) -> Self {
        let spine = &timeline.spine;
        let reach = |extent: &Option<Extent>| extent.as_ref().map(|it| Reach::new(it, known));
        let keep = scope.keep.iter().map(|it| Protected {
            filter: Filter::of_kinds_and_tools(&it.kinds, &it.tools, spine),
            first: reach(&it.first),
            recent: reach(&it.recent),
            bounds: Region::default(),
        });
        Self {
            part: scope.part,
            filter: Filter::new(scope, spine, known),
            order: scope.order,
            keep: keep.collect(),
            protects_slots: !scope.keep.is_empty() || !scope.superseded_by.is_empty(),
            keep_first: reach(&scope.keep_first),
            keep_recent: reach(&scope.keep_recent),
            only_recent: reach(&scope.only_recent),
            by: reach(&scope.by).unwrap_or(Reach::Units(Unit::Items, 1)),
            superseded: Superseded::new(&scope.superseded_by, timeline).map(Arc::new),
            whole: scope.by.as_ref().filter(|_| scope.whole).and_then(Extent::units),
        }
    }

    /// Returns whether nothing but the part bounds the scope.
    pub fn is_whole_part(&self) -> bool {
        self.keep_first.is_none()
            && self.keep_recent.is_none()
            && self.only_recent.is_none()
            && !self.protects_slots
            && self.whole.is_none()
    }

    /// Returns whether single slots inside the region are protected, as long as nothing comes after them.
    pub fn protects_slots(&self) -> bool {
        self.protects_slots
    }

    /// Returns the region in which the stage acts now.
    #[inline]
    pub fn region(&mut self, edit: &mut Editor<'_, '_>, env: &Env) -> Region {
        let whole = part(edit.prompt(), self.part);
        if self.is_whole_part() {
            return whole;
        }
        let history = part(edit.prompt(), PromptPart::History);
        for keep in &mut self.keep {
            let Protected { filter, first, recent, bounds } = keep;
            let ask = ReachQuery {
                region: history,
                env,
                has: &|prompt: &Prompt<'_>, index| filter.has(prompt, index),
            };
            bounds.from = first.as_ref().map_or(history.from, |reach| ask.first(edit, reach));
            bounds.to = recent.as_ref().map_or(history.to, |reach| ask.recent(edit, reach));
            if first.is_none() && recent.is_none() {
                bounds.from = history.to;
            }
        }
        let mut region = whole;
        if let Some(reach) = &self.keep_first {
            region.from = self.ask(region, env).first(edit, reach);
        }
        if let Some(reach) = &self.keep_recent {
            region.to = self.ask(region, env).recent(edit, reach).max(region.from);
        }
        if let Some(reach) = &self.only_recent {
            region.from = self.ask(region, env).recent(edit, reach).max(region.from);
        }
        if let Some((unit, count)) = self.whole {
            region.to = self.end_of_whole(edit, region, unit, count);
        }
        region
    }

    /// Returns where the last complete unit of a region ends; units are counted from its front.
    fn end_of_whole(&self, edit: &mut Editor<'_, '_>, region: Region, unit: Unit, count: u64) -> SlotIx {
        let (mut n, mut last, mut begun) = (0_u64, None, region.from);
        let mut index = edit.prompt.visible_from(region.from);
        while index < region.to {
            edit.prompt.touch(1);
            let key = self.has(edit.prompt(), index).then(|| unit_of(edit.prompt(), index, unit));
            if key.is_some() && last != key {
                if n.is_multiple_of(count) {
                    begun = index;
                }
                n += 1;
                last = key;
            }
            index = edit.prompt.visible_from(index + 1);
        }
        if n.is_multiple_of(count) { region.to } else { begun }
    }

    /// Returns a region without the steps that one of its ends cuts, if it is taken by steps or turns: what a
    /// summary leaves of a step would be a call without its result, or a result without its call.
    pub fn of_whole_steps(&self, edit: &mut Editor<'_, '_>, region: Region) -> Region {
        let Region { mut from, mut to } = region;
        if !matches!(self.by, Reach::Units(Unit::Steps | Unit::Turns, _)) || from >= to {
            return region;
        }
        let whole = part(edit.prompt(), self.part);
        let step_of = |prompt: &Prompt<'_>, at: SlotIx| prompt.item(at).step_ix;
        let prompt = edit.prompt();
        let behind = (to..whole.to).find(|it| self.has(prompt, *it));
        let before = (whole.from..from).rev().find(|it| self.has(prompt, *it));
        if let Some(cut) = behind.map(|it| step_of(prompt, it)) {
            while to > from && step_of(prompt, to - 1) == cut {
                to -= 1;
            }
        }
        if let Some(cut) = before.map(|it| step_of(prompt, it)) {
            while from < to && step_of(prompt, from) == cut {
                from += 1;
            }
        }
        let looked_at = behind.unwrap_or(whole.to) - to + from - before.unwrap_or(whole.from);
        edit.prompt.touch(looked_at.into());
        Region { from, to }
    }

    /// Returns the bounds of what is protected, to be put back by [`CompiledScope::restore`].
    pub fn bounds(&self) -> Vec<Region> {
        self.keep.iter().map(|it| it.bounds).collect()
    }

    /// Puts back the bounds that hold during an activation, after a look at where they would be now.
    pub fn restore(&mut self, bounds: &[Region]) {
        for (keep, bounds) in self.keep.iter_mut().zip(bounds) {
            keep.bounds = *bounds;
        }
    }

    fn ask<'a>(
        &'a self,
        region: Region,
        env: &'a Env,
    ) -> ReachQuery<'a, impl Fn(&Prompt<'_>, SlotIx) -> bool + 'a> {
        ReachQuery { region, env, has: move |prompt: &Prompt<'_>, index| self.has(prompt, index) }
    }

    /// Returns whether the stage acts on a slot of its region.
    #[inline(always)]
    pub fn has(&self, prompt: &Prompt<'_>, index: SlotIx) -> bool {
        self.filter.has(prompt, index) && (!self.protects_slots || !self.protects(prompt, index))
    }

    fn protects(&self, prompt: &Prompt<'_>, index: SlotIx) -> bool {
        self.keep.iter().any(|it| it.holds(prompt, index))
            || self.superseded.as_ref().is_some_and(|it| !it.has(prompt, index))
    }

    /// Collects the slots of the next unit from a place on; none are left when it stays empty.
    #[inline]
    pub fn next_unit(
        &self,
        edit: &mut Editor<'_, '_>,
        at: &mut SlotIx,
        to: SlotIx,
        size: &UnitSize,
        unit: &mut Vec<SlotIx>,
    ) {
        unit.clear();
        if let UnitSize::Of(Unit::Messages | Unit::Groups, _) = size {
            edit.prompt.note_units();
        }
        let begin = *at;
        let mut last = None;
        let (mut n, mut n_seen) = (0, 0);
        let mut index = edit.prompt.visible_from(begin);
        while index < to {
            n_seen += 1;
            if self.has(edit.prompt(), index) {
                if let UnitSize::Of(kind, most) = size {
                    let key = Some(unit_of(edit.prompt(), index, *kind));
                    if last != key {
                        if n == *most {
                            break;
                        }
                        n += 1;
                        last = key;
                    }
                }
                unit.push(index);
            }
            index = edit.prompt.visible_from(index + 1);
        }
        *at = index.min(to).max(begin);
        edit.prompt.touch(n_seen);
    }

    /// Returns how the scope is divided now.
    pub fn unit_size(&self, edit: &mut Editor<'_, '_>, region: Region) -> UnitSize {
        match &self.by {
            Reach::Units(unit, count) => UnitSize::Of(*unit, *count),
            Reach::Fraction(share) => {
                let all = self.count(edit, region);
                UnitSize::Of(Unit::Items, share.share_of(all).max(1))
            }
            Reach::Tokens(_) | Reach::All => UnitSize::All,
        }
    }

    /// Counts the slots of the scope.
    pub fn count(&self, edit: &mut Editor<'_, '_>, region: Region) -> u64 {
        let mut unit = Vec::new();
        self.next_unit(edit, &mut region.from.clone(), region.to, &UnitSize::All, &mut unit);
        unit.len() as u64
    }
}

/// How a scope is divided into units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitSize {
    /// So many units of a kind go together.
    Of(Unit, u64),
    /// All at once.
    All,
}

impl UnitSize {
    /// Returns whether a scope falls into the same units wherever one begins to divide it.
    pub fn divides_alike(&self) -> bool {
        matches!(self, Self::All | Self::Of(_, 1))
    }
}

impl Protected {
    #[inline]
    fn holds(&self, prompt: &Prompt<'_>, index: SlotIx) -> bool {
        (index < self.bounds.from || index >= self.bounds.to) && self.filter.has(prompt, index)
    }
}

/// Returns the slots of a part of the prompt.
#[inline]
pub fn part(prompt: &Prompt<'_>, part: PromptPart) -> Region {
    let (stable, active, end) = (prompt.history().session_from(), prompt.active_from(), prompt.len());
    match part {
        PromptPart::History => Region { from: stable, to: end },
        PromptPart::Active => Region { from: active, to: end },
        PromptPart::Completed => Region { from: stable, to: active },
        PromptPart::Entering => Region { from: end.saturating_sub(1), to: end },
    }
}

// How far extents reach into a region, from its front and from its end.

/// How far a protection or a progress reaches.
#[derive(Clone, Debug, PartialEq)]
pub enum Reach {
    /// So many units.
    Units(Unit, u64),
    /// Whole items that fit into so many tokens.
    Tokens(Num),
    /// A share of the items, rounded down.
    Fraction(Decimal),
    /// Everything.
    All,
}

impl Reach {
    /// Prepares an extent.
    pub fn new(extent: &Extent, known: &Known) -> Self {
        if let Some((unit, count)) = extent.units() {
            return Self::Units(unit, count);
        }
        match extent {
            Extent::Tokens(count) => Self::Tokens(Num::Const(count.get())),
            Extent::Size(size) => Self::Tokens(Num::new(size, known)),
            Extent::Fraction(share) => Self::Fraction(*share),
            _ => Self::All,
        }
    }
}

/// Asks how far extents reach from either end of a region, counting what passes a test.
pub(super) struct ReachQuery<'a, F> {
    pub(super) region: Region,
    pub(super) env: &'a Env,
    pub(super) has: F,
}

impl<F: Fn(&Prompt<'_>, SlotIx) -> bool> ReachQuery<'_, F> {
    /// Returns the first slot after what an extent reaches from the front.
    pub(super) fn first(&self, edit: &mut Editor<'_, '_>, reach: &Reach) -> SlotIx {
        let Region { from, to } = self.region;
        match reach {
            Reach::All => to,
            Reach::Units(_, 0) => from,
            Reach::Units(unit, count) if Unit::GATHERED.contains(unit) => {
                let starts = Starts::new(edit.prompt(), *unit, self.region);
                starts.at(starts.from.saturating_add(*count)).unwrap_or(to).clamp(from, to)
            }
            Reach::Units(unit, count) => self.walk_first(edit, Allowance::units(*unit, *count)),
            Reach::Tokens(size) => self.walk_first(edit, Allowance::tokens(size.eval(self.env))),
            Reach::Fraction(share) => {
                let count = share.share_of(self.count(edit));
                self.walk_first(edit, Allowance::units(Unit::Items, count))
            }
        }
    }

    /// Returns the first slot of what an extent reaches from the end.
    pub(super) fn recent(&self, edit: &mut Editor<'_, '_>, reach: &Reach) -> SlotIx {
        let Region { from, to } = self.region;
        match reach {
            Reach::All => from,
            Reach::Units(_, 0) => to,
            Reach::Units(unit, count) if Unit::GATHERED.contains(unit) => {
                let starts = Starts::new(edit.prompt(), *unit, self.region);
                match starts.to.checked_sub(*count) {
                    Some(n) if n >= starts.from => starts.at(n).unwrap_or(to).clamp(from, to),
                    _ => from,
                }
            }
            Reach::Units(unit, count) => self.walk_recent(edit, Allowance::units(*unit, *count)),
            Reach::Tokens(size) => self.walk_recent(edit, Allowance::tokens(size.eval(self.env))),
            Reach::Fraction(share) => {
                let count = share.share_of(self.count(edit));
                self.walk_recent(edit, Allowance::units(Unit::Items, count))
            }
        }
    }

    fn count(&self, edit: &mut Editor<'_, '_>) -> u64 {
        edit.prompt.touch(u64::from(self.region.to - self.region.from.min(self.region.to)));
        (self.region.from..self.region.to).filter(|it| (self.has)(edit.prompt(), *it)).count() as u64
    }

    fn walk_first(&self, edit: &mut Editor<'_, '_>, mut left: Allowance) -> SlotIx {
        let mut at = edit.prompt.visible_from(self.region.from);
        while at < self.region.to {
            edit.prompt.touch(1);
            if (self.has)(edit.prompt(), at) && !left.takes(edit.prompt(), at, false) {
                return at;
            }
            at = edit.prompt.visible_from(at + 1);
        }
        self.region.to
    }

    fn walk_recent(&self, edit: &mut Editor<'_, '_>, mut left: Allowance) -> SlotIx {
        let mut start = self.region.to;
        for at in (self.region.from..self.region.to).rev() {
            edit.prompt.touch(1);
            if !(self.has)(edit.prompt(), at) {
                continue;
            }
            if !left.takes(edit.prompt(), at, true) {
                return start;
            }
            start = at;
        }
        self.region.from
    }
}

/// What an extent may still take.
struct Allowance {
    unit: Unit,
    count: u64,
    tokens: Tokens,
}

impl Allowance {
    /// So many items, or so many tool results with everything around them.
    fn units(unit: Unit, count: u64) -> Self {
        Self { unit, count, tokens: Tokens::MAX }
    }

    /// So many tokens.
    fn tokens(tokens: Tokens) -> Self {
        Self { unit: Unit::Items, count: u64::MAX, tokens }
    }

    /// Takes a slot if it fits; from the end on, an image comes before the result that it is in.
    fn takes(&mut self, prompt: &Prompt<'_>, index: SlotIx, is_from_end: bool) -> bool {
        let (size, kind) = (Tokens::from(prompt.slot(index).tokens), prompt.kind(index));
        let counts = self.unit != Unit::ToolUses || kind == Kind::ToolResult;
        let begins = is_from_end && kind == Kind::Image && prompt.item(index).tool != u16::MAX;
        let fits = self.count >= u64::from(counts || begins) && size <= self.tokens;
        if fits {
            self.count -= u64::from(counts);
            self.tokens -= size;
        }
        fits
    }
}

/// Where the timeline's turns, steps, groups or messages begin; those of a region run from one to before another.
struct Starts<'a> {
    prompt: &'a Prompt<'a>,
    unit: Unit,
    from: u64,
    to: u64,
}

impl<'a> Starts<'a> {
    fn new(prompt: &'a Prompt<'a>, unit: Unit, region: Region) -> Self {
        let active = prompt.active_from();
        let (history, session) = (prompt.history(), prompt.history().session());
        let turn_ix = u64::from(prompt.active_turn());
        let is_active = region.from >= active;
        let steps =
            history.turns().get(prompt.active_turn() as usize).map_or(0, |it| u64::from(it.first_step));
        let (first, middle, end) = match unit {
            Unit::Turns => (session.first_turn.into(), turn_ix, prompt.arrived().turns),
            Unit::Steps => (session.first_step.into(), steps, prompt.arrived().steps),
            _ => {
                let messages = prompt.messages();
                let middle = messages.partition_point(|it| *it < active);
                let ends = [session.first_message, middle, messages.len()];
                let [first, middle, end] =
                    if unit == Unit::Groups { ends.map(|it| prompt.groups_among(it)) } else { ends };
                (first as u64, middle as u64, end as u64)
            }
        };
        let mut starts = Self { prompt, unit, from: if is_active { middle } else { first }, to: end };
        if region.to == active {
            starts.to = middle;
        } else if region.to < prompt.len() {
            starts.to = starts.begun_before(region.to);
        }
        starts
    }

    /// Counts the units that begin before a slot.
    fn begun_before(&self, slot: SlotIx) -> u64 {
        let (mut begun, mut not_begun) = (0, self.to);
        while begun < not_begun {
            let middle = begun + (not_begun - begun) / 2;
            if self.at(middle).is_some_and(|start| start < slot) {
                begun = middle + 1;
            } else {
                not_begun = middle;
            }
        }
        begun
    }

    fn at(&self, n: u64) -> Option<SlotIx> {
        if n >= self.to {
            return None;
        }
        let n = usize::try_from(n).ok()?;
        let history = self.prompt.history();
        match self.unit {
            Unit::Turns => history.turns().get(n).map(|it| it.items.start),
            Unit::Steps => history.replies().get(n).copied(),
            Unit::Groups => self.prompt.group_start(n),
            _ => self.prompt.messages().get(n).copied(),
        }
    }
}
