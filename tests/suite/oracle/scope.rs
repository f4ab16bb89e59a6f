//! Scopes, found by looking at every slot.

use std::ops::Range;

use ctxsim::model::Scope;
use ctxsim::model::scope::{Keep, Patterns};
use ctxsim::model::size::{Extent, Unit};
use ctxsim::spec::policy::PartSpec;
use ctxsim::timeline::{Item, Kind, Preserve, Timeline};

use super::history::{History, Stands};
use super::size::{Env, World};

/// A scope with its bounds as they were when it was looked at.
#[derive(Clone, Debug)]
pub(super) struct Place<'p> {
    scope: &'p Scope,
    pub(super) region: Range<usize>,
    /// Per keep: what it is about lies free between these.
    free: Vec<Range<usize>>,
}

fn tool_matches(patterns: &Patterns, item: &Item, timeline: &Timeline) -> bool {
    timeline.spine.tools.get_index(item.tool as usize).is_some_and(|name| patterns.matches(name))
}

fn has_or_empty<T: PartialEq>(list: &[T], value: &T) -> bool {
    list.is_empty() || list.contains(value)
}

/// Whether the filters of a scope hold for a slot.
pub(super) fn passes(scope: &Scope, history: &History<'_>, world: &World, slot: usize) -> bool {
    let (item, view) = (history.item(slot), &history.slots[slot].view);
    match view.stands {
        Stands::Dropped | Stands::Behind | Stands::Told => false,
        Stands::Summary(_) | Stands::Fold(_) => {
            has_or_empty(&scope.kinds, &Kind::Summary)
                && scope.tools.0.is_empty()
                && has_or_empty(&scope.preserve, &Preserve::None)
                && scope.shown.is_empty()
        }
        Stands::Shown => {
            has_or_empty(&scope.kinds, &item.kind)
                && has_or_empty(&scope.preserve, &item.preserve)
                && has_or_empty(&scope.shown, &view.rendition)
                && (scope.tools.0.is_empty() || tool_matches(&scope.tools, item, history.timeline()))
                && !tool_matches(&scope.except_tools, item, history.timeline())
                && scope
                    .larger_than
                    .as_ref()
                    .is_none_or(|size| u64::from(item.raw) > world.size(size, Env::default()))
        }
    }
}

/// Whether a keep is about a slot.
fn keeps(keep: &Keep, history: &History<'_>, slot: usize) -> bool {
    let item = history.item(slot);
    match history.slots[slot].view.stands {
        Stands::Dropped | Stands::Behind | Stands::Told => false,
        Stands::Summary(_) | Stands::Fold(_) => {
            has_or_empty(&keep.kinds, &Kind::Summary) && keep.tools.0.is_empty()
        }
        Stands::Shown => {
            has_or_empty(&keep.kinds, &item.kind)
                && (keep.tools.0.is_empty() || tool_matches(&keep.tools, item, history.timeline()))
        }
    }
}

fn part(history: &History<'_>, part: PartSpec) -> Range<usize> {
    let (stable, active, end) = (history.n_stable(), history.active_from(), history.slots.len());
    match part {
        PartSpec::History => stable..end,
        PartSpec::Active => active..end,
        PartSpec::Completed => stable..active,
        PartSpec::Entering => end - 1..end,
    }
}

impl<'p> Place<'p> {
    pub(super) fn new(scope: &'p Scope, history: &History<'_>, world: &World, env: Env) -> Self {
        let whole = part(history, PartSpec::History);
        let free = scope.keep.iter().map(|keep| {
            let list: Vec<usize> = whole.clone().filter(|it| keeps(keep, history, *it)).collect();
            let reach = Reach { list, region: whole.clone(), history, world, env };
            match (&keep.first, &keep.recent) {
                (None, None) => whole.end..whole.end,
                (first, recent) => {
                    first.as_ref().map_or(whole.start, |it| reach.behind_first(it))
                        ..recent.as_ref().map_or(whole.end, |it| reach.start_of_recent(it))
                }
            }
        });
        let mut place = Self { scope, region: part(history, scope.part), free: free.collect() };
        if let Some(extent) = &scope.keep_first {
            place.region.start = place.reach(history, world, env).behind_first(extent);
        }
        if let Some(extent) = &scope.keep_recent {
            place.region.end = place.reach(history, world, env).start_of_recent(extent);
        }
        if let Some(extent) = &scope.only_recent {
            place.region.start = place.reach(history, world, env).start_of_recent(extent);
        }
        place
    }

    fn reach<'h>(&self, history: &'h History<'h>, world: &'h World, env: Env) -> Reach<'h> {
        Reach { list: self.slots(history, world), region: self.region.clone(), history, world, env }
    }

    /// Whether a slot of the region is in the scope now.
    pub(super) fn has(&self, history: &History<'_>, world: &World, slot: usize) -> bool {
        let is_kept = |(keep, free): (&Keep, &Range<usize>)| {
            (slot < free.start || slot >= free.end) && keeps(keep, history, slot)
        };
        passes(self.scope, history, world, slot) && !self.scope.keep.iter().zip(&self.free).any(is_kept)
    }

    /// The slots in the scope now.
    pub(super) fn slots(&self, history: &History<'_>, world: &World) -> Vec<usize> {
        self.region.clone().filter(|it| self.has(history, world, *it)).collect()
    }

    /// The slots of the next unit from a slot on.
    pub(super) fn unit_from(&self, from: usize, by: By, history: &History<'_>, world: &World) -> Vec<usize> {
        let mut slots = self.slots(history, world);
        slots.retain(|it| *it >= from);
        let By::Units(unit, most) = by else { return slots };
        let mut keys = Vec::new();
        for (n, slot) in slots.iter().enumerate() {
            let key = history.unit_of(*slot, unit);
            if keys.last() != Some(&key) {
                keys.push(key);
            }
            if keys.len() as u64 > most {
                slots.truncate(n);
                break;
            }
        }
        slots
    }

    /// How the scope is divided.
    pub(super) fn by(&self, history: &History<'_>, world: &World) -> By {
        match &self.scope.by {
            Extent::Units(unit, count) => By::Units(*unit, *count),
            Extent::Fraction(share) => {
                By::Units(Unit::Items, share.of(self.slots(history, world).len() as u64).max(1))
            }
            Extent::Size(_) | Extent::All => By::All,
        }
    }

    /// Whether a summary of these slots would itself be in the scope.
    pub(super) fn has_summaries(&self) -> bool {
        has_or_empty(&self.scope.kinds, &Kind::Summary)
            && self.scope.tools.0.is_empty()
            && has_or_empty(&self.scope.preserve, &Preserve::None)
            && self.scope.shown.is_empty()
    }
}

/// How a scope is divided into units.
#[derive(Clone, Copy, Debug)]
pub(super) enum By {
    Units(Unit, u64),
    All,
}

/// Slots from which an extent is measured.
struct Reach<'h> {
    list: Vec<usize>,
    region: Range<usize>,
    history: &'h History<'h>,
    world: &'h World,
    env: Env,
}

impl Reach<'_> {
    /// The first slot behind what an extent takes from the front.
    fn behind_first(&self, extent: &Extent) -> usize {
        let n = match extent {
            Extent::Units(_, 0) => return self.region.start,
            Extent::Units(unit @ (Unit::Turns | Unit::Steps | Unit::Messages), count) => {
                let starts = self.starts(*unit);
                let start = usize::try_from(*count).ok().and_then(|it| starts.get(it).copied());
                return start.unwrap_or(self.region.end).max(self.region.start);
            }
            _ => self.n_fitting(extent, self.list.iter()),
        };
        self.list.get(n).copied().unwrap_or(self.region.end)
    }

    /// The first slot of what an extent takes from the end.
    fn start_of_recent(&self, extent: &Extent) -> usize {
        let n = match extent {
            Extent::Units(_, 0) => return self.region.end,
            Extent::Units(unit @ (Unit::Turns | Unit::Steps | Unit::Messages), count) => {
                let starts = self.starts(*unit);
                let nth = usize::try_from(*count).ok().and_then(|it| starts.len().checked_sub(it));
                return nth.map_or(self.region.start, |it| starts[it].max(self.region.start));
            }
            _ => self.n_fitting(extent, self.list.iter().rev()),
        };
        match self.list.len() - n {
            0 => self.region.start,
            nth => self.list.get(nth).copied().unwrap_or(self.region.end),
        }
    }

    /// How many slots fit, one after the other.
    fn n_fitting<'s>(&self, extent: &Extent, slots: impl Iterator<Item = &'s usize>) -> usize {
        let (mut n, mut n_results, mut tokens) = (0, 0, 0_u64);
        for slot in slots {
            n_results += u64::from(self.history.kind(*slot) == Kind::ToolResult);
            tokens = tokens.saturating_add(self.history.slots[*slot].view.tokens);
            let fits = match extent {
                Extent::Units(Unit::ToolUses, count) => n_results <= *count,
                Extent::Units(_, count) => (n as u64) < *count,
                Extent::Size(size) => tokens <= self.world.size(size, self.env),
                Extent::Fraction(share) => (n as u64) < share.of(self.list.len() as u64),
                Extent::All => true,
            };
            if !fits {
                break;
            }
            n += 1;
        }
        n
    }

    /// Where the units of the timeline begin that reach into the region.
    fn starts(&self, unit: Unit) -> Vec<usize> {
        let spine = &self.history.timeline().spine;
        let units: Vec<Range<usize>> = match unit {
            Unit::Turns => spine.turns[..self.history.n_turns as usize]
                .iter()
                .map(|it| it.items.start as usize..it.items.end as usize)
                .collect(),
            Unit::Steps => spine.steps[..self.history.n_steps as usize]
                .iter()
                .map(|it| it.reply.start as usize..it.results.end as usize)
                .collect(),
            _ => {
                let starts = &self.history.messages;
                let ends = starts[1..].iter().copied().chain([self.history.slots.len()]);
                starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
            }
        };
        let reaches_in = |it: &Range<usize>| it.start < self.region.end && it.end > self.region.start;
        units.into_iter().filter(reaches_in).map(|it| it.start).collect()
    }
}
