//! What rungs do: show in another way, drop, summarise.

use ctxsim::input::policy::{
    Action, Budget, BudgetCounts, Extent, Moment, Order, PromptPart, Rendition, Rung, ShownAs, Size,
    TableRow, matches_any,
};
use ctxsim::timeline::{Item, Kind};

use super::Run;
use super::ask::{Activation, Predicted, Taken};
use super::history::{SideRequest, Stands, View};
use super::needs::is_exact;
use super::scope::{Place, class};
use super::size::{Env, World};

/// What a rendition makes of an item.
pub(super) fn rendered(world: &World, rendition: &Rendition, exact: Option<bool>, item: &Item) -> View {
    let size = |size: &Size| world.size(size, Env { rank: item.rank, ..Env::default() });
    let [raw, excerpt, summary, handle] = [item.raw, item.excerpt, item.summary, item.handle].map(u64::from);
    let cut = |head, tail: &Option<Size>| size(head).saturating_add(tail.as_ref().map_or(0, size));
    let (shown, tokens) = match rendition {
        Rendition::Raw => (ShownAs::Raw, raw),
        Rendition::Exact => (ShownAs::Exact, excerpt + handle),
        Rendition::Summary => (ShownAs::Summary, summary + handle),
        Rendition::Gist => (ShownAs::Gist, summary),
        Rendition::Handle => (ShownAs::Handle, handle),
        Rendition::Marker(tokens) => (ShownAs::Marker, *tokens),
        Rendition::Preview(head) => (ShownAs::Preview, size(head).saturating_add(handle)),
        Rendition::Truncate { head, tail } => (ShownAs::Truncate, cut(head, tail)),
        Rendition::Offload { head, tail } => (ShownAs::Offload, cut(head, tail).saturating_add(handle)),
    };
    let tokens = tokens.min(raw);
    let is_whole = exact.unwrap_or(match rendition {
        Rendition::Raw | Rendition::Exact => true,
        Rendition::Preview(_) | Rendition::Truncate { .. } | Rendition::Offload { .. } => tokens == raw,
        _ => false,
    });
    let exact = is_whole && is_exact(item);
    View { tokens, rendition: shown, exact, stands: Stands::Shown }
}

/// A pool that is being spent.
#[derive(Clone)]
pub(super) struct Pool<'b> {
    budget: &'b Budget,
    turn_ix: Option<u32>,
    used: u64,
    /// The slots in front of this one have been charged.
    charged_to: usize,
}

impl<'b> Pool<'b> {
    pub(super) fn new(budget: &'b Budget, charged_to: usize) -> Self {
        Self { budget, turn_ix: None, used: 0, charged_to }
    }
}

impl Run<'_> {
    pub(super) fn row_matches(&self, row: &TableRow, slot: usize) -> bool {
        let item = self.history.item(slot);
        let tool = self.timeline.spine.tools.get_index(item.tool as usize);
        let has_tool = matches!(item.kind, Kind::ToolCall | Kind::ToolResult | Kind::Image)
            && tool.is_some_and(|name| matches_any(&row.tools, name));
        let larger_than = row.larger_than.as_ref().map(|it| self.world.size(it, Env::default()));
        (row.tools.is_empty() || has_tool)
            && (row.preserve.is_empty() || row.preserve.contains(&class(item)))
            && larger_than.is_none_or(|size| u64::from(item.raw) > size)
    }

    pub(super) fn apply(&mut self, rung: &Rung<'_>, activation: &Activation) {
        let place = Place::new(rung.scope, &self.history, &self.world, activation.env);
        let mut taken = self.nothing_taken(rung, activation);
        let (n_visited, n_changed) = match rung.action {
            Action::Summarise(summary) => self.summarise(rung, summary, &place, activation, &mut taken),
            Action::Fold(fold) => self.fold(rung, fold, &place, activation, &mut taken),
            Action::Ping { output } => {
                let output = output.as_ref().map_or(1, |it| self.world.size(it, activation.env));
                let prompt = self.history.tokens();
                let ping = Some(Box::new(self.history.clone()));
                self.history.requests.push(SideRequest { prompt, output, n_turns: 0, ping });
                return;
            }
            _ if rung.scope.order == Order::Oldest => self.in_order(rung, &place, activation, &mut taken),
            _ => self.ranked(rung, &place, activation, &mut taken),
        };
        let is_active = rung.scope.part == PromptPart::Active;
        self.history.note_visit(&activation.manner, is_active, n_visited, n_changed);
    }

    pub(super) fn is_done(&self, rung: &Rung<'_>, activation: &Activation, taken: &Taken) -> bool {
        let is_met = |goal| self.holds(goal, rung, activation, taken, Predicted::default());
        rung.until.is_some_and(is_met)
    }

    fn in_order(
        &mut self,
        rung: &Rung<'_>,
        place: &Place<'_>,
        activation: &Activation,
        taken: &mut Taken,
    ) -> (u32, u32) {
        let by = place.by(&self.history, &self.world);
        let mut pool = match rung.action {
            Action::Table { budget: Some(budget), .. } => Some(Pool::new(budget, place.region.start)),
            _ => None,
        };
        let (mut from, mut n_visited, mut n_changed) = (place.region.start, 0, 0);
        while !self.is_done(rung, activation, taken) {
            let unit = place.unit_from(from, by, &self.history, &self.world);
            let Some(last) = unit.last() else { break };
            from = last + 1;
            for slot in unit {
                n_visited += 1;
                self.take(taken, slot);
                n_changed += self.touch(rung, place, slot, pool.as_mut(), activation);
            }
        }
        (n_visited, n_changed)
    }

    fn ranked(
        &mut self,
        rung: &Rung<'_>,
        place: &Place<'_>,
        activation: &Activation,
        taken: &mut Taken,
    ) -> (u32, u32) {
        let by = place.by(&self.history, &self.world);
        let mut units = Vec::new();
        let mut from = place.region.start;
        loop {
            let unit = place.unit_from(from, by, &self.history, &self.world);
            let Some(last) = unit.last() else { break };
            from = last + 1;
            units.push(unit);
        }
        let tokens =
            |unit: &Vec<usize>| unit.iter().map(|it| self.history.slots[*it].view.tokens).sum::<u64>();
        match rung.scope.order {
            Order::Largest => units.sort_by_key(|unit| std::cmp::Reverse(tokens(unit))),
            _ => units.reverse(),
        }
        let (mut n_visited, mut n_changed) = (0, 0);
        for mut unit in units {
            unit.retain(|slot| place.has(&self.history, &self.world, *slot));
            if unit.is_empty() {
                continue;
            }
            if self.is_done(rung, activation, taken) {
                break;
            }
            for slot in unit {
                n_visited += 1;
                self.take(taken, slot);
                n_changed += self.touch(rung, place, slot, None, activation);
            }
        }
        (n_visited, n_changed)
    }

    fn touch(
        &mut self,
        rung: &Rung<'_>,
        place: &Place<'_>,
        slot: usize,
        pool: Option<&mut Pool<'_>>,
        activation: &Activation,
    ) -> u32 {
        match rung.action {
            Action::Show(_) | Action::Table { .. } => {
                let after = self.view(&rung.action.rows(&self.policy.tables), place, slot, pool);
                let grows = matches!(rung.action, Action::Table { grows: true, .. });
                self.show(after, grows, slot, activation)
            }
            Action::Drop => self.drop(slot, activation),
            Action::Summarise(_) | Action::Fold(_) | Action::Ping { .. } => 0,
        }
    }

    fn show(&mut self, after: Option<View>, grows: bool, slot: usize, activation: &Activation) -> u32 {
        let (Some(after), before) = (after, self.history.slots[slot].view) else { return 0 };
        let enters = activation.manner.moment == Moment::Entry;
        if before.stands != Stands::Shown || (!enters && !grows && after.tokens >= before.tokens) {
            return 0;
        }
        if grows && after == before {
            return 0;
        }
        self.history.edit(slot, after, &activation.manner);
        1
    }

    /// What a table makes of a slot.
    pub(super) fn view(
        &self,
        rows: &[TableRow],
        place: &Place<'_>,
        slot: usize,
        pool: Option<&mut Pool<'_>>,
    ) -> Option<View> {
        let item = self.history.item(slot);
        let row = rows.iter().find(|row| self.row_matches(row, slot));
        let mut after = row.map(|row| rendered(&self.world, &row.shown_as, row.exact, item));
        if let Some(pool) = pool {
            self.charge(pool, place, slot);
            if let (Some(view), Some(row)) = (&mut after, row)
                && (view.exact || row.charged)
            {
                if pool.used + view.tokens <= self.world.size(&pool.budget.tokens, Env::default()) {
                    pool.used += view.tokens;
                } else {
                    *view = rendered(&self.world, row.over_budget(), row.exact, item);
                }
            }
        }
        after
    }

    /// Charges a pool with what is exact in front of a slot although the rung does not show it.
    fn charge(&self, pool: &mut Pool<'_>, place: &Place<'_>, slot: usize) {
        let turn_ix = self.history.item(slot).turn_ix;
        if pool.budget.per != Extent::All && pool.turn_ix != Some(turn_ix) {
            pool.turn_ix = Some(turn_ix);
            pool.used = 0;
            pool.charged_to = self.history.turns[turn_ix as usize].start;
        }
        if pool.budget.counts == BudgetCounts::Shown {
            for other in pool.charged_to..slot {
                let view = &self.history.slots[other].view;
                let is_exact = view.exact && view.stands == Stands::Shown;
                let is_visited = other >= place.region.start && place.has(&self.history, &self.world, other);
                if is_exact && !is_visited {
                    pool.used += view.tokens;
                }
            }
        }
        pool.charged_to = slot + 1;
    }

    fn drop(&mut self, slot: usize, activation: &Activation) -> u32 {
        let pair = self.history.item(slot).pair as usize;
        let mut n = self.hide(slot, activation);
        if self.history.slots.get(pair).is_some_and(|it| it.view.stands == Stands::Shown) {
            n += self.hide(pair, activation);
        }
        n
    }

    fn hide(&mut self, slot: usize, activation: &Activation) -> u32 {
        let before = self.history.slots[slot].view;
        if !before.is_visible() {
            return 0;
        }
        let stands = if before.stands == Stands::Shown { Stands::Dropped } else { Stands::Behind };
        let after = View { tokens: 0, exact: false, stands, ..before };
        self.history.edit(slot, after, &activation.manner);
        1
    }
}
