//! How far extents reach into a region, from its front and from its end.

use super::{Editor, Env, Known, Num, Prompt, Region, SlotIx};
use crate::prelude::*;
use ctxsim_base::quantity::Decimal;
use ctxsim_input::Extent;

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
        edit.touch(u64::from(self.region.to - self.region.from.min(self.region.to)));
        (self.region.from..self.region.to).filter(|it| (self.has)(edit.prompt(), *it)).count() as u64
    }

    fn walk_first(&self, edit: &mut Editor<'_, '_>, mut left: Allowance) -> SlotIx {
        let mut at = edit.visible_from(self.region.from);
        while at < self.region.to {
            edit.touch(1);
            if (self.has)(edit.prompt(), at) && !left.takes(edit.prompt(), at, false) {
                return at;
            }
            at = edit.visible_from(at + 1);
        }
        self.region.to
    }

    fn walk_recent(&self, edit: &mut Editor<'_, '_>, mut left: Allowance) -> SlotIx {
        let mut start = self.region.to;
        for at in (self.region.from..self.region.to).rev() {
            edit.touch(1);
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
