//! Scopes, found by looking at every slot.

use std::ops::Range;

use ctxsim::input::Scope;
use ctxsim::input::policy::{Extent, Keep, PromptPart, Supersedes, Unit, matches_any};
use ctxsim::timeline::{Item, Kind, NO_ITEM, Preserve, Timeline};

use super::history::{History, Stands};
use super::size::{Env, World};
use super::summarise::{goes_by, path_of};

/// A scope with its bounds as they were when it was looked at.
#[derive(Clone, Debug)]
pub(super) struct Place<'p> {
    scope: &'p Scope,
    pub(super) region: Range<usize>,
    /// Per keep: what it is about lies free between these.
    free: Vec<Range<usize>>,
}

fn tool_matches(patterns: &[String], item: &Item, timeline: &Timeline) -> bool {
    timeline.spine.tools.get_index(item.tool as usize).is_some_and(|name| matches_any(patterns, name))
}

fn has_or_empty<T: PartialEq>(list: &[T], value: &T) -> bool {
    list.is_empty() || list.contains(value)
}

/// Whether an item is of one of some kinds, if there are any; an image in a result is part of that, too.
fn is_among(kinds: &[Kind], item: &Item) -> bool {
    let is_in_result = item.kind == Kind::Image && item.tool != u16::MAX;
    has_or_empty(kinds, &item.kind) || is_in_result && kinds.contains(&Kind::ToolResult)
}

/// What scopes know an item as: of what no call says anything, nothing is known to be needed again.
pub(super) fn class(item: &Item) -> Preserve {
    if item.preserve == Preserve::Unset { Preserve::None } else { item.preserve }
}

/// Whether the filters of a scope hold for a slot.
pub(super) fn passes(scope: &Scope, history: &History<'_>, world: &World, slot: usize) -> bool {
    let (item, view) = (history.item(slot), &history.slots[slot].view);
    if !scope.superseded_by.is_empty()
        && !scope.superseded_by.iter().any(|it| is_superseded(*it, history, slot))
    {
        return false;
    }
    match view.stands {
        Stands::Dropped | Stands::Behind | Stands::Told | Stands::Past => false,
        Stands::Summary(_) | Stands::Fold(_) => {
            has_or_empty(scope.kinds(), &Kind::Summary)
                && scope.tools.is_empty()
                && has_or_empty(&scope.preserve, &Preserve::None)
                && scope.shown.is_empty()
        }
        Stands::Shown => {
            is_among(scope.kinds(), item)
                && has_or_empty(&scope.preserve, &class(item))
                && has_or_empty(&scope.shown, &view.rendition)
                && (scope.tools.is_empty() || tool_matches(&scope.tools, item, history.timeline()))
                && !tool_matches(&scope.except_tools, item, history.timeline())
                && scope
                    .larger_than
                    .as_ref()
                    .is_none_or(|size| u64::from(item.raw) > world.size(size, Env::default()))
        }
    }
}

/// Whether something that has come says the same again as a result, or as that of a call.
fn is_superseded(way: Supersedes, history: &History<'_>, slot: usize) -> bool {
    let items = &history.timeline().spine.items;
    let item = history.item(slot);
    let result = match item.kind {
        Kind::ToolResult => item.origin,
        Kind::ToolCall if (item.pair as usize) < history.slots.len() => {
            history.item(item.pair as usize).origin
        }
        _ => return false,
    };
    if result == NO_ITEM {
        return false;
    }
    let call_of = |result: u32| items.get(items[result as usize].pair as usize);
    let is_like = |later: u32| match way {
        Supersedes::SameCall => {
            let calls = [result, later].map(|it| call_of(it).map(|it| (it.tool, it.digest)));
            calls[0].is_some() && calls[0] == calls[1]
        }
        Supersedes::SameFile => {
            let paths = [result, later].map(|it| path_of(history, items[it as usize].pair));
            paths[0].is_some()
                && paths[0] == paths[1]
                && goes_by(&["read_file".to_owned()], &items[later as usize], history)
        }
    };
    let has_come = |it: &u32| history.place_of(*it).is_some();
    let later = (result + 1..items.len() as u32).filter(has_come);
    later.filter(|it| items[*it as usize].kind == Kind::ToolResult).any(is_like)
}

/// Whether a keep is about a slot.
fn keeps(keep: &Keep, history: &History<'_>, slot: usize) -> bool {
    let item = history.item(slot);
    match history.slots[slot].view.stands {
        Stands::Dropped | Stands::Behind | Stands::Told | Stands::Past => false,
        Stands::Summary(_) | Stands::Fold(_) => {
            has_or_empty(&keep.kinds, &Kind::Summary) && keep.tools.is_empty()
        }
        Stands::Shown => {
            is_among(&keep.kinds, item)
                && (keep.tools.is_empty() || tool_matches(&keep.tools, item, history.timeline()))
        }
    }
}

fn part(history: &History<'_>, part: PromptPart) -> Range<usize> {
    let (stable, active, end) = (history.n_stable(), history.active_from(), history.slots.len());
    match part {
        PromptPart::History => stable..end,
        PromptPart::Active => active..end,
        PromptPart::Completed => stable..active,
        PromptPart::Entering => end - 1..end,
    }
}

impl<'p> Place<'p> {
    pub(super) fn new(scope: &'p Scope, history: &History<'_>, world: &World, env: Env) -> Self {
        let whole = part(history, PromptPart::History);
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
        if let Some((unit, count)) = scope.by.as_ref().filter(|_| scope.whole).and_then(Extent::units) {
            let by = By::Units(unit, count);
            let slots = place.slots(history, world);
            let mut keys: Vec<usize> = slots.iter().map(|it| history.unit_of(*it, unit)).collect();
            keys.dedup();
            let mut left = keys.len() as u64 / count;
            let mut from = place.region.start;
            while left > 0 {
                from = place.unit_from(from, by, history, world).last().map_or(from, |it| it + 1);
                left -= 1;
            }
            let begun = place.unit_from(from, by, history, world).first().copied();
            place.region.end = begun.unwrap_or(place.region.end);
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

    /// The place without the steps that one of its ends cuts, where it is taken by steps or turns.
    pub(super) fn of_whole_steps(&self, history: &History<'_>, world: &World) -> Self {
        let mut whole = self.clone();
        let units = self.scope.by.as_ref().and_then(Extent::units).map(|it| it.0);
        if !matches!(units, Some(Unit::Steps | Unit::Turns)) || self.region.is_empty() {
            return whole;
        }
        let all = Self { region: part(history, self.scope.part), ..self.clone() }.slots(history, world);
        let step_of = |slot: usize| history.item(slot).step_ix;
        let behind = all.iter().find(|it| **it >= self.region.end).map(|it| step_of(*it));
        let before = all.iter().rev().find(|it| **it < self.region.start).map(|it| step_of(*it));
        let is_cut = |slot: &usize| Some(step_of(*slot)) == behind || Some(step_of(*slot)) == before;
        let rest: Vec<usize> = self.region.clone().filter(|it| !is_cut(it)).collect();
        whole.region = match (rest.first(), rest.last()) {
            (Some(first), Some(last)) => *first..last + 1,
            _ => self.region.start..self.region.start,
        };
        whole
    }

    /// How the scope is divided.
    pub(super) fn by(&self, history: &History<'_>, world: &World) -> By {
        match &self.scope.by {
            None => By::Units(Unit::Items, 1),
            Some(Extent::Fraction(share)) => {
                By::Units(Unit::Items, share.share_of(self.slots(history, world).len() as u64).max(1))
            }
            Some(extent) => extent.units().map_or(By::All, |(unit, count)| By::Units(unit, count)),
        }
    }

    /// Whether a summary of these slots would itself be in the scope.
    pub(super) fn has_summaries(&self) -> bool {
        has_or_empty(self.scope.kinds(), &Kind::Summary)
            && self.scope.tools.is_empty()
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
        let n = match extent.units() {
            Some((_, 0)) => return self.region.start,
            Some((unit, count)) if Unit::GATHERED.contains(&unit) => {
                let starts = self.starts(unit);
                let start = usize::try_from(count).ok().and_then(|it| starts.get(it).copied());
                return start.unwrap_or(self.region.end).max(self.region.start);
            }
            _ => self.n_fitting(extent, false, self.list.iter()),
        };
        self.list.get(n).copied().unwrap_or(self.region.end)
    }

    /// The first slot of what an extent takes from the end.
    fn start_of_recent(&self, extent: &Extent) -> usize {
        let n = match extent.units() {
            Some((_, 0)) => return self.region.end,
            Some((unit, count)) if Unit::GATHERED.contains(&unit) => {
                let starts = self.starts(unit);
                let nth = usize::try_from(count).ok().and_then(|it| starts.len().checked_sub(it));
                return nth.map_or(self.region.start, |it| starts[it].max(self.region.start));
            }
            _ => self.n_fitting(extent, true, self.list.iter().rev()),
        };
        match self.list.len() - n {
            0 => self.region.start,
            nth => self.list.get(nth).copied().unwrap_or(self.region.end),
        }
    }

    /// How many slots fit, one after the other.
    fn n_fitting<'s>(
        &self,
        extent: &Extent,
        is_from_end: bool,
        slots: impl Iterator<Item = &'s usize>,
    ) -> usize {
        let (mut n, mut n_results, mut tokens) = (0, 0, 0_u64);
        for slot in slots {
            n_results += u64::from(self.history.kind(*slot) == Kind::ToolResult);
            tokens = tokens.saturating_add(self.history.slots[*slot].view.tokens);
            let is_image = self.history.kind(*slot) == Kind::Image;
            // From the end on, an image comes before the result that it is in.
            let of_image = is_from_end && is_image && self.history.item(*slot).tool != u16::MAX;
            let fits = match extent {
                Extent::ToolUses(count) => n_results + u64::from(of_image) <= count.get(),
                Extent::Tokens(count) => tokens <= count.get(),
                Extent::Size(size) => tokens <= self.world.size(size, self.env),
                Extent::Fraction(share) => (n as u64) < share.share_of(self.list.len() as u64),
                _ => extent.units().is_none_or(|(_, count)| (n as u64) < count),
            };
            if !fits {
                break;
            }
            n += 1;
        }
        n
    }

    /// Where the units begin that reach into the region.
    fn starts(&self, unit: Unit) -> Vec<usize> {
        let up_to_next = |starts: Vec<usize>| {
            let ends = starts.iter().skip(1).copied().chain([self.history.slots.len()]);
            starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
        };
        let units: Vec<Range<usize>> = match unit {
            Unit::Turns => up_to_next(self.history.turns.iter().map(|it| it.start).collect()),
            Unit::Steps => self.history.steps().collect(),
            Unit::Groups => up_to_next(self.history.groups.clone()),
            _ => up_to_next(self.history.messages.clone()),
        };
        let reaches_in = |it: &Range<usize>| it.start < self.region.end && it.end > self.region.start;
        units.into_iter().filter(reaches_in).map(|it| it.start).collect()
    }
}
