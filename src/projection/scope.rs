//! Where a stage acts: a region of slots, what is protected in it, and the units it is taken in.

use super::edit::Editor;
use super::filter::Filter;
use super::num::{Env, Known, Num};
use super::prompt::{Prompt, SlotIx};
use super::tracker::unit_of;
use crate::model::scope::Scope;
use crate::model::size::{Extent, Unit};
use crate::spec::policy::{OrderSpec, PartSpec};
use crate::trace::Spine;
use crate::units::{Decimal, Tokens};

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
    #[must_use]
    pub fn new(extent: &Extent, known: &Known) -> Self {
        match extent {
            Extent::Units(unit, count) => Self::Units(*unit, *count),
            Extent::Size(size) => Self::Tokens(Num::new(size, known)),
            Extent::Fraction(share) => Self::Fraction(*share),
            Extent::All => Self::All,
        }
    }
}

/// Slots from one to before another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// The first.
    pub from: SlotIx,
    /// Behind the last.
    pub to: SlotIx,
}

/// A scope as a program holds it.
#[derive(Clone, Debug)]
pub struct Place {
    /// Which part of the prompt.
    pub part: PartSpec,
    /// Which slots of it.
    pub filter: Filter,
    /// Which unit goes first.
    pub order: OrderSpec,
    keep: Vec<Protected>,
    keep_first: Option<Reach>,
    keep_recent: Option<Reach>,
    only_recent: Option<Reach>,
    by: Reach,
}

/// Slots that are protected, with the bounds that hold during one activation.
#[derive(Clone, Debug)]
struct Protected {
    filter: Filter,
    first: Option<Reach>,
    recent: Option<Reach>,
    bounds: Region,
}

impl Place {
    /// Prepares a scope.
    #[must_use]
    pub fn new(scope: &Scope, spine: &Spine, known: &Known) -> Self {
        let reach = |extent: &Option<Extent>| extent.as_ref().map(|it| Reach::new(it, known));
        let keep = scope.keep.iter().map(|it| Protected {
            filter: Filter::of(&it.kinds, &it.tools, spine),
            first: reach(&it.first),
            recent: reach(&it.recent),
            bounds: Region::default(),
        });
        Self {
            part: scope.part,
            filter: Filter::new(scope, spine, known),
            order: scope.order,
            keep: keep.collect(),
            keep_first: reach(&scope.keep_first),
            keep_recent: reach(&scope.keep_recent),
            only_recent: reach(&scope.only_recent),
            by: Reach::new(&scope.by, known),
        }
    }

    /// Returns whether nothing but the part bounds the scope.
    #[must_use]
    pub fn is_whole_part(&self) -> bool {
        self.keep_first.is_none()
            && self.keep_recent.is_none()
            && self.only_recent.is_none()
            && self.keep.is_empty()
    }

    /// Returns whether single slots inside the region are protected.
    #[must_use]
    pub fn protects_slots(&self) -> bool {
        !self.keep.is_empty()
    }

    /// Returns the region in which the stage acts now.
    pub fn region(&mut self, edit: &mut Editor<'_, '_>, env: &Env) -> Region {
        let whole = part(edit.prompt(), self.part);
        if self.is_whole_part() {
            return whole;
        }
        let history = part(edit.prompt(), PartSpec::History);
        for keep in &mut self.keep {
            let Protected { filter, first, recent, bounds } = keep;
            let ask =
                Ask { region: history, env, has: &|prompt: &Prompt<'_>, index| filter.has(prompt, index) };
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
        region
    }

    fn ask<'a>(&'a self, region: Region, env: &'a Env) -> Ask<'a, impl Fn(&Prompt<'_>, SlotIx) -> bool + 'a> {
        Ask { region, env, has: move |prompt: &Prompt<'_>, index| self.has(prompt, index) }
    }

    /// Returns whether the stage acts on a slot of its region.
    #[inline]
    #[must_use]
    pub fn has(&self, prompt: &Prompt<'_>, index: SlotIx) -> bool {
        self.filter.has(prompt, index) && !self.keep.iter().any(|it| it.holds(prompt, index))
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
        let mut last = None;
        let mut n = 0;
        loop {
            let index = edit.visible_from(*at);
            if index >= to {
                *at = to.max(*at);
                return;
            }
            edit.touch(1);
            if self.has(edit.prompt(), index) {
                if let UnitSize::Of(kind, most) = size {
                    let key = Some(unit_of(edit.prompt(), index, *kind));
                    if last != key {
                        if n == *most {
                            *at = index;
                            return;
                        }
                        n += 1;
                        last = key;
                    }
                }
                unit.push(index);
            }
            *at = index + 1;
        }
    }

    /// Returns how the scope is divided now.
    pub fn unit_size(&self, edit: &mut Editor<'_, '_>, region: Region) -> UnitSize {
        match &self.by {
            Reach::Units(unit, count) => UnitSize::Of(*unit, *count),
            Reach::Fraction(share) => {
                let all = self.count(edit, region);
                UnitSize::Of(Unit::Items, share.of(all).max(1))
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

impl Protected {
    #[inline]
    fn holds(&self, prompt: &Prompt<'_>, index: SlotIx) -> bool {
        (index < self.bounds.from || index >= self.bounds.to) && self.filter.has(prompt, index)
    }
}

/// Returns the slots of a part of the prompt.
#[inline]
#[must_use]
pub fn part(prompt: &Prompt<'_>, part: PartSpec) -> Region {
    let (stable, active, end) = (prompt.spine().n_stable, prompt.active_from(), prompt.len());
    match part {
        PartSpec::History => Region { from: stable, to: end },
        PartSpec::Active => Region { from: active, to: end },
        PartSpec::Completed => Region { from: stable, to: active },
        PartSpec::Entering => Region { from: end.saturating_sub(1), to: end },
    }
}

/// Asks how far extents reach from either end of a region, counting what passes a test.
struct Ask<'a, F> {
    region: Region,
    env: &'a Env,
    has: F,
}

impl<F: Fn(&Prompt<'_>, SlotIx) -> bool> Ask<'_, F> {
    /// Returns the first slot behind what an extent reaches from the front.
    fn first(&self, edit: &mut Editor<'_, '_>, reach: &Reach) -> SlotIx {
        let Region { from, to } = self.region;
        match reach {
            Reach::All => to,
            Reach::Units(unit @ (Unit::Loops | Unit::Steps | Unit::Messages), count) => {
                let starts = Starts::new(edit.prompt(), *unit, self.region);
                starts.at(starts.from.saturating_add(*count)).unwrap_or(to).clamp(from, to)
            }
            Reach::Units(_, count) => self.walk_first(edit, *count, Tokens::MAX),
            Reach::Tokens(size) => self.walk_first(edit, u64::MAX, size.eval(self.env)),
            Reach::Fraction(share) => {
                let count = share.of(self.count(edit));
                self.walk_first(edit, count, Tokens::MAX)
            }
        }
    }

    /// Returns the first slot of what an extent reaches from the end.
    fn recent(&self, edit: &mut Editor<'_, '_>, reach: &Reach) -> SlotIx {
        let Region { from, to } = self.region;
        match reach {
            Reach::All => from,
            Reach::Units(unit @ (Unit::Loops | Unit::Steps | Unit::Messages), count) => {
                let starts = Starts::new(edit.prompt(), *unit, self.region);
                match starts.to.checked_sub(*count) {
                    Some(n) if n >= starts.from => starts.at(n).unwrap_or(to).clamp(from, to),
                    _ => from,
                }
            }
            Reach::Units(_, count) => self.walk_recent(edit, *count, Tokens::MAX),
            Reach::Tokens(size) => self.walk_recent(edit, u64::MAX, size.eval(self.env)),
            Reach::Fraction(share) => {
                let count = share.of(self.count(edit));
                self.walk_recent(edit, count, Tokens::MAX)
            }
        }
    }

    fn count(&self, edit: &mut Editor<'_, '_>) -> u64 {
        edit.touch(u64::from(self.region.to - self.region.from.min(self.region.to)));
        (self.region.from..self.region.to).filter(|it| (self.has)(edit.prompt(), *it)).count() as u64
    }

    fn walk_first(&self, edit: &mut Editor<'_, '_>, count: u64, tokens: Tokens) -> SlotIx {
        let mut left = Allowance { count, tokens };
        let mut at = edit.visible_from(self.region.from);
        while at < self.region.to {
            edit.touch(1);
            if (self.has)(edit.prompt(), at) && !left.takes(edit.prompt(), at) {
                return at;
            }
            at = edit.visible_from(at + 1);
        }
        self.region.to
    }

    fn walk_recent(&self, edit: &mut Editor<'_, '_>, count: u64, tokens: Tokens) -> SlotIx {
        let mut left = Allowance { count, tokens };
        let mut start = self.region.to;
        for at in (self.region.from..self.region.to).rev() {
            edit.touch(1);
            if !(self.has)(edit.prompt(), at) {
                continue;
            }
            if !left.takes(edit.prompt(), at) {
                return start;
            }
            start = at;
        }
        self.region.from
    }
}

/// What an extent may still take.
struct Allowance {
    count: u64,
    tokens: Tokens,
}

impl Allowance {
    /// Takes a slot if it fits.
    fn takes(&mut self, prompt: &Prompt<'_>, index: SlotIx) -> bool {
        let size = Tokens::from(prompt.slot(index).tokens);
        let fits = self.count > 0 && size <= self.tokens;
        if fits {
            self.count -= 1;
            self.tokens -= size;
        }
        fits
    }
}

/// Where the trace's loops, steps or messages begin; those of a region run from one to before another.
struct Starts<'a> {
    prompt: &'a Prompt<'a>,
    unit: Unit,
    from: u64,
    to: u64,
}

impl<'a> Starts<'a> {
    fn new(prompt: &'a Prompt<'a>, unit: Unit, region: Region) -> Self {
        let active = prompt.active_from();
        let spine = prompt.spine();
        let loop_ix = u64::from(prompt.active_loop());
        let (is_active, is_completed) = (region.from >= active, region.to <= active);
        let steps = spine.loops.get(prompt.active_loop() as usize).map_or(0, |it| u64::from(it.steps.start));
        let (first, middle, end) = match unit {
            Unit::Loops => (0, loop_ix, prompt.arrived().loops),
            Unit::Steps => (0, steps, prompt.arrived().steps),
            _ => {
                let messages = prompt.messages();
                (0, messages.partition_point(|it| *it < active) as u64, messages.len() as u64)
            }
        };
        Self {
            prompt,
            unit,
            from: if is_active { middle } else { first },
            to: if is_completed { middle } else { end },
        }
    }

    fn at(&self, n: u64) -> Option<SlotIx> {
        if n >= self.to {
            return None;
        }
        let n = usize::try_from(n).ok()?;
        let spine = self.prompt.spine();
        match self.unit {
            Unit::Loops => spine.loops.get(n).map(|it| it.items.start),
            Unit::Steps => spine.steps.get(n).map(|it| it.reply.start),
            _ => self.prompt.messages().get(n).copied(),
        }
    }
}
