//! Conditions, answered by counting everything anew.

use ctxsim::input::policy::{
    Action, Cond, EditsLast, Extent, PrefixRule, Relation, Rung, SizeBound, Unit, given,
};

use super::apply::rendered;
use super::history::{Counts, Left, Manner, Stands};
use super::scope::Place;
use super::size::Env;

use super::*;

/// One firing of a stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activation {
    pub(super) env: Env,
    pub(super) manner: Manner,
    before: Counts,
    now: Counts,
    /// The stage that asks.
    stage: usize,
}

/// What a rung has taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Taken {
    items: u64,
    tool_uses: u64,
    tokens: u64,
    /// By gathered unit.
    gathered: [BTreeSet<usize>; 4],
    /// What there was to take.
    of: u64,
}

/// What a summary that is not yet written would make of the prompt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Predicted {
    pub(super) freed: u64,
    pub(super) freed_in_scope: u64,
    /// What the harness counts beside the tokens for what would be replaced, and for the summary.
    pub(super) added: [u64; 2],
}

impl Run<'_> {
    /// Considers a stage.
    pub(super) fn consider(&mut self, index: usize, moment: Moment) {
        let policy = self.policy;
        let stage = &policy.stages()[index];
        let now = self.history.counts();
        let before = std::mem::replace(&mut self.seen[index], now);
        let activation = Activation {
            env: Env { start: self.history.tokens(), ..Env::default() },
            manner: Manner {
                moment,
                stage: index as u16,
                lasts: if moment == Moment::TurnEnd && stage.lasts == EditsLast::TurnEnd {
                    EditsLast::History
                } else {
                    stage.lasts
                },
                keeps_prefix: stage.prefix == PrefixRule::Keeps,
            },
            before,
            now,
            stage: index,
        };
        let first = policy.rungs(stage).next().unwrap();
        if !stage.when.as_ref().is_none_or(|it| self.holds_at_start(it, &first, &activation)) {
            return;
        }
        self.outcome.firings[index].fired += 1;
        let n_edits = self.history.n_edits;
        for rung in policy.rungs(stage) {
            let is_met = |cond| self.holds_at_start(cond, &rung, &activation);
            if rung.when.is_none_or(is_met) && !rung.until.is_some_and(is_met) {
                self.apply(&rung, &activation);
            }
        }
        if self.history.n_edits > n_edits {
            let (session, tokens) = (self.history.n_stable(), self.history.tokens());
            self.left[index] = Some(Left { session, tokens, counts: now });
        }
    }

    /// How a stage left a prompt of this session; of the one that asks, where none is named.
    fn left(&self, name: Option<&String>, activation: &Activation) -> Option<&Left> {
        let named = name.map(|name| self.policy.stages().iter().position(|it| it.name == *name).unwrap());
        let left = self.left[named.unwrap_or(activation.stage)].as_ref();
        left.filter(|it| it.session == self.history.n_stable())
    }

    fn holds_at_start(&self, cond: &Cond, rung: &Rung<'_>, activation: &Activation) -> bool {
        self.holds(cond, rung, activation, &self.nothing_taken(rung, activation), Predicted::default())
    }

    pub(super) fn nothing_taken(&self, rung: &Rung<'_>, activation: &Activation) -> Taken {
        let place = Place::new(rung.scope, &self.history, &self.world, activation.env);
        Taken { of: place.slots(&self.history, &self.world).len() as u64, ..Taken::default() }
    }

    pub(super) fn take(&self, taken: &mut Taken, slot: usize) {
        taken.items += 1;
        taken.tool_uses += u64::from(self.history.kind(slot) == Kind::ToolResult);
        taken.tokens += self.history.slots[slot].view.tokens;
        for (unit, seen) in Unit::GATHERED.into_iter().zip(&mut taken.gathered) {
            seen.insert(self.history.unit_of(slot, unit));
        }
    }

    pub(super) fn holds(
        &self,
        cond: &Cond,
        rung: &Rung<'_>,
        activation: &Activation,
        taken: &Taken,
        predicted: Predicted,
    ) -> bool {
        let holds = |part: &Cond| self.holds(part, rung, activation, taken, predicted);
        let compare_with = |relation: Relation, size: &Size, value: u64| {
            let env = Env { behind: self.behind(rung, activation), ..activation.env };
            relation.holds(value, self.world.size(size, env))
        };
        let compare = |bound: &SizeBound, value: u64| {
            let (relation, size) = bound.given().unwrap();
            compare_with(relation, size, value)
        };
        let prompt = self.history.tokens() - predicted.freed;
        match cond {
            Cond::Always => true,
            Cond::Prompt(bound) => compare(bound, prompt),
            Cond::Body(bound) => compare(bound, prompt - self.history.stable_tokens()),
            Cond::Raw(bound) => compare(bound, self.history.raw_tokens()),
            Cond::Grown { stage, above, at_least, below, at_most } => {
                let (relation, size) = given([above, at_least, below, at_most]).unwrap();
                let left = self.left(stage.as_ref(), activation);
                let left = left.map_or_else(|| self.history.stable_tokens(), |it| it.tokens);
                compare_with(relation, size, prompt.saturating_sub(left))
            }
            Cond::Since { stage, of, above, at_least, below, at_most } => {
                let (relation, count) = given([above, at_least, below, at_most]).unwrap();
                let left = self.left(stage.as_ref(), activation);
                let come =
                    left.map_or(u64::MAX, |it| of_unit(&activation.now, *of) - of_unit(&it.counts, *of));
                relation.holds(come, count.get())
            }
            Cond::Counted(bound) => {
                let [less, more] = predicted.added;
                let counted = prompt - self.history.stable_tokens() + self.added() + more - less;
                compare(bound, counted)
            }
            Cond::Scope(bound) => {
                let slots = self.scope_slots(rung, activation);
                let tokens: u64 = slots.iter().map(|it| self.history.slots[*it].view.tokens).sum();
                compare(bound, tokens - predicted.freed_in_scope)
            }
            Cond::Reclaimable(bound) => {
                let slots = self.scope_slots(rung, activation);
                compare(bound, slots.into_iter().map(|it| self.reclaimable(rung, it)).sum())
            }
            Cond::Freed(bound) => compare(bound, activation.env.start.saturating_sub(prompt)),
            Cond::Taken(extent) => self.has_taken(extent, rung, activation, taken),
            Cond::Every(extent) => {
                let (unit, count) = extent.units().unwrap();
                let [before, now] = [&activation.before, &activation.now].map(|it| of_unit(it, unit));
                (before + 1..=now).any(|it| it % count == 0)
            }
            Cond::Count { of, above, at_least, below, at_most } => {
                let (relation, count) = given([above, at_least, below, at_most]).unwrap();
                relation.holds(self.count(*of, rung, activation), count.get())
            }
            Cond::Idle { longer_than } => self.clock.idle_ms > longer_than.0,
            Cond::CacheCold => {
                let since_ping = self.last_ping_ms.map_or(u64::MAX, |it| (self.clock.now_ms - it) as u64);
                self.clock.ttl_ms.is_some_and(|ttl| self.clock.idle_ms > ttl && since_ping > ttl)
            }
            Cond::All(parts) => parts.iter().all(holds),
            Cond::Any(parts) => parts.iter().any(holds),
            Cond::Not(part) => !holds(part),
        }
    }

    fn scope_slots(&self, rung: &Rung<'_>, activation: &Activation) -> Vec<usize> {
        Place::new(rung.scope, &self.history, &self.world, activation.env).slots(&self.history, &self.world)
    }

    fn count(&self, unit: Unit, rung: &Rung<'_>, activation: &Activation) -> u64 {
        let slots = self.scope_slots(rung, activation).into_iter();
        match unit {
            Unit::Items => slots.count() as u64,
            Unit::ToolUses => slots.filter(|it| self.history.kind(*it) == Kind::ToolResult).count() as u64,
            _ => slots.map(|it| self.history.unit_of(it, unit)).collect::<BTreeSet<_>>().len() as u64,
        }
    }

    /// What the harness counts for a kind of item beside its tokens.
    pub(super) fn added_to(&self, kind: Kind) -> u64 {
        let size = self.policy.counter.as_ref().and_then(|it| it.adds.get(&kind));
        size.map_or(0, |it| self.world.size(it, Env::default()))
    }

    fn added(&self) -> u64 {
        let slots = self.history.n_stable()..self.history.slots.len();
        let visible = slots.filter(|it| self.history.slots[*it].view.is_visible());
        visible.map(|it| self.added_to(self.history.kind(it))).sum()
    }

    /// What stands from the first slot on that a rung would change.
    fn behind(&self, rung: &Rung<'_>, activation: &Activation) -> u64 {
        let shows = matches!(rung.action, Action::Show(_) | Action::Table { .. });
        let mut slots = self.scope_slots(rung, activation).into_iter();
        let first = slots.find(|it| !shows || self.reclaimable(rung, *it) > 0);
        first.map_or(0, |it| self.history.slots[it..].iter().map(|it| it.view.tokens).sum())
    }

    /// What a rung would free of one slot.
    fn reclaimable(&self, rung: &Rung<'_>, slot: usize) -> u64 {
        let view = &self.history.slots[slot].view;
        match rung.action {
            Action::Show(_) | Action::Table { .. } if view.stands == Stands::Shown => {
                match rung.action.rows(&self.policy.tables).iter().find(|row| self.row_matches(row, slot)) {
                    Some(row) => {
                        let after = rendered(&self.world, &row.shown_as, row.exact, self.history.item(slot));
                        view.tokens.saturating_sub(after.tokens)
                    }
                    None => 0,
                }
            }
            Action::Show(_) | Action::Table { .. } => 0,
            Action::Drop | Action::Summarise(_) | Action::Fold(_) | Action::Ping { .. } => view.tokens,
        }
    }

    fn has_taken(&self, extent: &Extent, rung: &Rung<'_>, activation: &Activation, taken: &Taken) -> bool {
        match extent {
            Extent::Items(count) => taken.items >= count.get(),
            Extent::ToolUses(count) => taken.tool_uses >= count.get(),
            Extent::Messages(count) => taken.gathered[0].len() as u64 >= count.get(),
            Extent::Groups(count) => taken.gathered[1].len() as u64 >= count.get(),
            Extent::Steps(count) => taken.gathered[2].len() as u64 >= count.get(),
            Extent::Turns(count) => taken.gathered[3].len() as u64 >= count.get(),
            Extent::Tokens(count) => taken.tokens >= count.get(),
            Extent::Size(size) => {
                let env = Env { behind: self.behind(rung, activation), ..activation.env };
                taken.tokens >= self.world.size(size, env)
            }
            Extent::Fraction(share) => taken.items >= share.share_of(taken.of),
            Extent::All => taken.items >= taken.of,
        }
    }
}

/// How many units of a kind have come.
fn of_unit(counts: &Counts, unit: Unit) -> u64 {
    match unit {
        Unit::Items => counts.items,
        Unit::ToolUses => counts.tool_uses,
        Unit::Messages => counts.messages,
        Unit::Groups => counts.groups,
        Unit::Steps => counts.steps,
        Unit::Turns => counts.turns,
    }
}
