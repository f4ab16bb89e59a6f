//! The slots as the oracle holds them: a plain list, counted anew whenever something is asked.

use std::ops::Range;

use ctxsim::ledger::Change;
use ctxsim::model::policy::Moment;
use ctxsim::model::size::Unit;
use ctxsim::spec::policy::ShownSpec;
use ctxsim::timeline::{Item, Kind, Preserve, Timeline};

/// Where an item stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    Shown,
    Dropped,
    Behind,
    /// A summary stands in its slot: the n-th that was written.
    Summary(u64),
    /// Told of in the folded summary of an earlier slot.
    Told,
    /// A folded summary stands in its slot: the n-th that says something of its own.
    Fold(u64),
}

/// What stands in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) tokens: u64,
    pub(super) rendition: ShownSpec,
    pub(super) exact: bool,
    pub(super) stands: Stands,
}

impl View {
    pub(super) fn is_visible(&self) -> bool {
        matches!(self.stands, Stands::Shown | Stands::Summary(_) | Stands::Fold(_))
    }

    pub(super) fn is_behind(&self) -> bool {
        matches!(self.stands, Stands::Behind | Stands::Summary(_))
    }
}

/// A slot with its past.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) view: View,
    /// What the cache knows it by.
    pub(super) identity: View,
    /// What returns after the request.
    before_request: Option<(View, View, u64)>,
    /// Tokens of the item's last rendition.
    pub(super) last_tokens: u64,
    pub(super) was_compressed: bool,
}

/// How many of each unit have come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) items: u64,
    pub(super) tool_uses: u64,
    pub(super) messages: u64,
    pub(super) steps: u64,
    pub(super) turns: u64,
}

/// A pass of a stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) moment: Moment,
    pub(super) is_active: bool,
    pub(super) n_changed: u32,
    pub(super) tokens_before_steps: u64,
}

/// A summariser's request.
#[derive(Clone, Copy, Debug)]
pub(super) struct SideRequest {
    pub(super) prompt: u64,
    pub(super) output: u64,
    pub(super) n_turns: u32,
}

/// How edits are meant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) moment: Moment,
    pub(super) stage: u16,
    pub(super) for_request: bool,
    pub(super) keeps_prefix: bool,
}

/// Everything that has come.
#[derive(Clone, Debug)]
pub(super) struct History<'a> {
    timeline: &'a Timeline,
    pub(super) slots: Vec<Slot>,
    pub(super) messages: Vec<usize>,
    pub(super) n_turns: u64,
    pub(super) n_steps: u64,
    n_summaries: u64,
    /// What folded summaries have said: each slot of theirs, and how it stood.
    folds: Vec<Vec<(usize, View, bool)>>,
    pub(super) visits: Vec<Visit>,
    pub(super) requests: Vec<SideRequest>,
    pub(super) change: Change,
}

impl<'a> History<'a> {
    pub(super) fn new(timeline: &'a Timeline) -> Self {
        let mut history = Self {
            timeline,
            slots: Vec::new(),
            messages: Vec::new(),
            n_turns: 0,
            n_steps: 0,
            n_summaries: 0,
            folds: Vec::new(),
            visits: Vec::new(),
            requests: Vec::new(),
            change: Change::default(),
        };
        for item in 0..timeline.spine.n_stable {
            history.arrive(item);
        }
        history
    }

    pub(super) fn begin_message(&mut self) {
        self.messages.push(self.slots.len());
    }

    pub(super) fn arrive_message(&mut self, items: Range<u32>) {
        if !items.is_empty() {
            self.begin_message();
        }
        items.for_each(|item| self.arrive(item));
    }

    pub(super) fn arrive(&mut self, item: u32) {
        assert_eq!(item as usize, self.slots.len());
        let item = &self.timeline.spine.items[item as usize];
        let view = View {
            tokens: u64::from(item.raw),
            rendition: ShownSpec::Raw,
            exact: item.preserve == Preserve::WorkingEvidence,
            stands: Stands::Shown,
        };
        self.slots.push(Slot {
            view,
            identity: view,
            before_request: None,
            last_tokens: view.tokens,
            was_compressed: false,
        });
    }

    pub(super) fn n_stable(&self) -> usize {
        self.timeline.spine.n_stable as usize
    }

    pub(super) fn active_from(&self) -> usize {
        self.timeline.spine.turns[self.n_turns as usize - 1].items.start as usize
    }

    pub(super) fn item(&self, slot: usize) -> &'a Item {
        &self.timeline.spine.items[slot]
    }

    pub(super) fn timeline(&self) -> &'a Timeline {
        self.timeline
    }

    pub(super) fn tokens(&self) -> u64 {
        self.slots.iter().map(|it| it.view.tokens).sum()
    }

    pub(super) fn stable_tokens(&self) -> u64 {
        self.slots[..self.n_stable()].iter().map(|it| it.view.tokens).sum()
    }

    /// Tokens in front of the active turn's first reply.
    fn tokens_before_steps(&self) -> u64 {
        let user_end = self.timeline.spine.turns[self.n_turns as usize - 1].user.end as usize;
        self.slots[..user_end].iter().map(|it| it.view.tokens).sum()
    }

    pub(super) fn counts(&self) -> Counts {
        let results =
            (self.n_stable()..self.slots.len()).filter(|it| self.item(*it).kind == Kind::ToolResult);
        Counts {
            items: (self.slots.len() - self.n_stable()) as u64,
            tool_uses: results.count() as u64,
            messages: self.messages.len() as u64,
            steps: self.n_steps,
            turns: self.n_turns,
        }
    }

    /// What a slot shows.
    pub(super) fn kind(&self, slot: usize) -> Kind {
        match self.slots[slot].view.stands {
            Stands::Summary(_) | Stands::Fold(_) => Kind::Summary,
            _ => self.item(slot).kind,
        }
    }

    /// Which unit of the timeline a slot belongs to.
    pub(super) fn unit_of(&self, slot: usize, unit: Unit) -> usize {
        let item = self.item(slot);
        match unit {
            Unit::Items => slot,
            Unit::ToolUses
                if item.kind == Kind::ToolCall && (item.pair as usize) < self.timeline.spine.items.len() =>
            {
                item.pair as usize
            }
            Unit::ToolUses => slot,
            Unit::Messages => self.messages.iter().filter(|start| **start <= slot).count(),
            Unit::Steps => item.step_ix as usize,
            Unit::Turns => item.turn_ix as usize,
        }
    }

    pub(super) fn next_summary(&mut self) -> u64 {
        self.n_summaries += 1;
        self.n_summaries
    }

    /// Numbers what a folded summary says.
    pub(super) fn number_fold(&mut self, says: Vec<(usize, View, bool)>) -> u64 {
        let known = self.folds.iter().position(|it| *it == says);
        let number = known.unwrap_or(self.folds.len());
        if known.is_none() {
            self.folds.push(says);
        }
        number as u64
    }

    pub(super) fn edit(&mut self, index: usize, after: View, manner: &Manner) {
        let raw = u64::from(self.item(index).raw);
        let slot = &mut self.slots[index];
        if manner.for_request {
            slot.before_request.get_or_insert((slot.view, slot.identity, slot.last_tokens));
        } else {
            slot.before_request = None;
        }
        slot.view = after;
        if !manner.keeps_prefix {
            slot.identity = after;
        }
        if matches!(after.stands, Stands::Shown | Stands::Dropped) {
            slot.last_tokens = after.tokens;
        }
        if after.stands == Stands::Shown && after.tokens < raw {
            slot.was_compressed = true;
        }
        if manner.moment == Moment::Entry {
            return;
        }
        self.change.n_edits += 1;
        if self.change.first_slot.is_none_or(|first| index < first as usize) {
            self.change.first_slot = Some(index as u32);
            self.change.by = Some(manner.stage);
        }
    }

    pub(super) fn note_visit(&mut self, manner: &Manner, is_active: bool, n_visited: u32, n_changed: u32) {
        if n_visited > 0 && manner.moment != Moment::Entry {
            let tokens_before_steps = self.tokens_before_steps();
            self.visits.push(Visit { moment: manner.moment, is_active, n_changed, tokens_before_steps });
        }
    }

    pub(super) fn settle(&mut self) {
        self.visits.clear();
        self.change = Change::default();
        for slot in &mut self.slots {
            if let Some((view, identity, last_tokens)) = slot.before_request.take() {
                (slot.view, slot.identity, slot.last_tokens) = (view, identity, last_tokens);
            }
        }
    }
}
