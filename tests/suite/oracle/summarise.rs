//! Summaries: what they replace, what stays beside them, and who is asked for them.

use ctxsim::input::policy::{
    Count, Rendition, Restore, Rung, SecondCall, SecondReads, ShownAs, Size, Summarise, SummaryPer,
    SummaryPrompt, matches_any,
};
use ctxsim::timeline::{Item, Kind, NO_ITEM};

use super::apply::rendered;
use super::ask::{Activation, Predicted, Taken};
use super::history::{History, Said, SideRequest, Stands, View};
use super::scope::Place;
use super::size::{Env, World};

use super::*;

/// What becomes of what a summary is taken of.
#[derive(Default)]
struct Plan {
    replaced: Vec<usize>,
    shown: Vec<(usize, View)>,
    /// All that leaves the prompt, and all that comes back.
    input: u64,
    added: u64,
    output: u64,
    more: u64,
}

impl Plan {
    fn stands(&self) -> u64 {
        self.output + self.more
    }

    fn freed(&self) -> u64 {
        self.input.saturating_sub(self.stands() + self.added)
    }
}

/// What calls of a tool of a timeline with text read: the file that they name.
pub(super) fn path_of(history: &History<'_>, call: u32) -> Option<String> {
    let texts = &history.timeline().texts;
    let name = match texts.form(call)?.says("file_path") {
        Some(_) => "file_path",
        None => return None,
    };
    let input: Value = serde_json::from_str(texts.text(call)?).ok()?;
    input.get(name)?.as_str().map(str::to_owned)
}

/// Whether a tool goes by one of some names, its own or that of what it does.
pub(super) fn goes_by(patterns: &[String], item: &Item, history: &History<'_>) -> bool {
    let spine = &history.timeline().spine;
    let name = spine.tools.get_index(item.tool as usize);
    let capability = spine.capabilities.get(item.tool as usize).copied().flatten().map(|it| it.name());
    name.is_some_and(|it| matches_any(patterns, it)) || capability.is_some_and(|it| matches_any(patterns, it))
}

impl Run<'_> {
    /// Decides slot by slot, from the newest on.
    fn plan_summary(&self, slots: &[usize], summary: &Summarise, activation: &Activation) -> Plan {
        let size = |size: &Size| self.world.size(size, activation.env);
        let mut plan = Plan::default();
        let mut room = summary.keeps.as_ref().map_or(0, |it| size(&it.tokens));
        let mut back: Vec<String> = Vec::new();
        let mut room_for_files =
            summary.restore.as_ref().and_then(|it| it.all.as_ref()).map_or(u64::MAX, size);
        for slot in slots.iter().copied().rev() {
            let view = self.history.slots[slot].view;
            let is_kept =
                summary.keeps.as_ref().is_some_and(|it| it.kinds.contains(&self.history.kind(slot)));
            let fits = is_kept && view.tokens <= room;
            let mut after = None;
            if fits {
                room -= view.tokens;
                continue;
            } else if is_kept && room > 0 {
                let cut = View { tokens: room, rendition: ShownAs::Truncate, exact: false, ..view };
                after = Some(cut);
            } else if let Some(restore) = &summary.restore {
                after = self.restored(slot, restore, activation, &mut back, &mut room_for_files);
            }
            if is_kept {
                room = 0;
            }
            match after {
                Some(after) => {
                    plan.input += view.tokens.saturating_sub(after.tokens);
                    plan.added += after.tokens.saturating_sub(view.tokens);
                    if after != view {
                        plan.shown.push((slot, after));
                    }
                }
                None => {
                    plan.input += view.tokens;
                    plan.replaced.insert(0, slot);
                }
            }
        }
        let env = Env { input: plan.input, ..activation.env };
        plan.output = self.world.size(&summary.output, env);
        let more = summary.restore.as_ref().and_then(|it| it.more.as_ref());
        plan.more = more.map_or(0, |it| self.world.size(it, env));
        plan
    }

    /// How a result stands whose file comes back.
    fn restored(
        &self,
        slot: usize,
        restore: &Restore,
        activation: &Activation,
        back: &mut Vec<String>,
        room: &mut u64,
    ) -> Option<View> {
        let item = self.history.item(slot);
        let is_shown = self.history.slots[slot].view.stands == Stands::Shown;
        let is_read = item.kind == Kind::ToolResult && goes_by(&restore.tools, item, &self.history);
        if !is_shown || !is_read || item.origin == NO_ITEM {
            return None;
        }
        let call = self.timeline.spine.items[item.origin as usize].pair;
        let file = path_of(&self.history, call).unwrap_or_else(|| format!("the file of {}", item.origin));
        if back.contains(&file) || back.len() as u64 >= restore.files.get() {
            return None;
        }
        back.push(file);
        let size = |it: &Option<Size>| it.as_ref().map(|it| self.world.size(it, activation.env));
        let raw = u64::from(item.raw);
        if raw <= size(&restore.each).unwrap_or(u64::MAX) && raw <= *room {
            *room -= raw;
            return Some(rendered(&self.world, &Rendition::Raw, None, item));
        }
        let name = size(&restore.name).unwrap_or(0);
        let named =
            View { tokens: name.min(raw), rendition: ShownAs::Handle, exact: false, stands: Stands::Shown };
        (name > 0).then_some(named)
    }

    pub(super) fn summarise(
        &mut self,
        rung: &Rung<'_>,
        summary: &Summarise,
        place: &Place<'_>,
        activation: &Activation,
        taken: &mut Taken,
    ) -> (u32, u32) {
        let place = &place.of_whole_steps(&self.history, &self.world);
        if summary.per == SummaryPer::Unit {
            return self.summarise_each(rung, summary, place, activation, taken);
        }
        let by = place.by(&self.history, &self.world);
        let (mut from, mut n_units) = (place.region.start, 0);
        let (mut slots, mut copied) = (Vec::new(), 0_u64);
        loop {
            let plan = self.plan_summary(&slots, summary, activation);
            let freed = plan.freed();
            let freed_in_scope =
                if place.has_summaries() { freed } else { plan.input.saturating_sub(plan.added) };
            let gone = plan.replaced.iter().map(|it| self.added_to(self.history.kind(*it))).sum();
            let come = if plan.replaced.is_empty() { 0 } else { self.added_to(Kind::Summary) };
            let predicted = Predicted { freed, freed_in_scope, added: [gone, come] };
            let is_met = |goal| self.holds(goal, rung, activation, taken, predicted);
            if rung.until.is_some_and(is_met) {
                break;
            }
            let unit = place.unit_from(from, by, &self.history, &self.world);
            let Some(last) = unit.last() else { break };
            from = last + 1;
            n_units += 1;
            for slot in unit {
                self.take(taken, slot);
                if summary.copy.contains(&self.history.kind(slot)) {
                    copied += self.history.slots[slot].view.tokens;
                } else {
                    slots.push(slot);
                }
            }
        }
        if n_units < summary.at_least.as_ref().map_or(1, Count::get) {
            return (0, 0);
        }
        self.put_summary(summary, &slots, copied, activation)
    }

    /// Puts a summary of its own in the place of each unit.
    fn summarise_each(
        &mut self,
        rung: &Rung<'_>,
        summary: &Summarise,
        place: &Place<'_>,
        activation: &Activation,
        taken: &mut Taken,
    ) -> (u32, u32) {
        let by = place.by(&self.history, &self.world);
        let (mut from, mut n) = (place.region.start, 0);
        while !self.is_done(rung, activation, taken) {
            let unit = place.unit_from(from, by, &self.history, &self.world);
            let Some(last) = unit.last() else { break };
            from = last + 1;
            unit.iter().for_each(|it| self.take(taken, *it));
            let is_copy = |it: &usize| summary.copy.contains(&self.history.kind(*it));
            let (copies, slots): (Vec<usize>, Vec<usize>) = unit.into_iter().partition(is_copy);
            let copied = copies.iter().map(|it| self.history.slots[*it].view.tokens).sum();
            let is_item = |it: &usize| self.history.kind(*it) != Kind::Summary;
            if slots.iter().any(is_item) {
                n += self.put_summary(summary, &slots, copied, activation).0;
            }
        }
        (n, n)
    }

    /// Puts a summary in the place of slots, if it is smaller.
    fn put_summary(
        &mut self,
        summary: &Summarise,
        slots: &[usize],
        copied: u64,
        activation: &Activation,
    ) -> (u32, u32) {
        let plan = self.plan_summary(slots, summary, activation);
        if plan.replaced.is_empty() || plan.stands() >= plan.input {
            return (0, 0);
        }
        let env = Env { input: plan.input, ..activation.env };
        let is_free = summary.prompt == SummaryPrompt::Free;
        if !is_free {
            let turns: BTreeSet<u32> =
                plan.replaced.iter().map(|it| self.history.item(*it).turn_ix).collect();
            let read = copied + slots.iter().map(|it| self.history.slots[*it].view.tokens).sum::<u64>();
            self.ask_for(summary, env, (read, plan.output + copied), turns.len() as u32);
        }
        let serial = if is_free {
            let told = |slot: &usize| {
                let view = &self.history.slots[*slot].view;
                (self.history.said(*slot, view), view.tokens, view.rendition, false)
            };
            let own = (Said::Item(0), plan.stands(), ShownAs::Raw, false);
            let says = plan.replaced.iter().map(told).chain([own]).collect();
            u64::MAX - self.history.number_fold(says)
        } else {
            self.history.next_summary()
        };
        for (slot, after) in &plan.shown {
            self.history.edit(*slot, *after, &activation.manner);
        }
        for (n, slot) in plan.replaced.iter().enumerate() {
            let before = self.history.slots[*slot].view;
            let (tokens, stands) =
                if n == 0 { (plan.stands(), Stands::Summary(serial)) } else { (0, Stands::Behind) };
            self.history.edit(*slot, View { tokens, stands, ..before }, &activation.manner);
        }
        (plan.replaced.len() as u32, plan.replaced.len() as u32)
    }

    /// Sends what a summary is asked for with.
    fn ask_for(&mut self, summary: &Summarise, env: Env, (read, written): (u64, u64), n_turns: u32) {
        let size =
            |world: &World, it: &Option<Size>, silent| it.as_ref().map_or(silent, |it| world.size(it, env));
        let overhead = size(&self.world, &summary.overhead, 0);
        let history = read.min(size(&self.world, &summary.reads, u64::MAX));
        let prompt = overhead.saturating_add(history);
        self.history.requests.push(SideRequest { prompt, output: written, n_turns, ping: None });
        if let Some(SecondCall { reads, overhead, output }) = &summary.again {
            let history = if *reads == SecondReads::History { history } else { 0 };
            let prompt = size(&self.world, overhead, 0).saturating_add(written).saturating_add(history);
            let output = size(&self.world, output, written);
            self.history.requests.push(SideRequest { prompt, output, n_turns: 0, ping: None });
        }
    }
}
