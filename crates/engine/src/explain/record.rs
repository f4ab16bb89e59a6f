//! What is recorded of a run to explain one of its requests: edits, prompts, the cache's knowledge, and due needs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::cache::{CacheRule, Finding, RequestView};
use crate::engine::Watch;
use crate::ledger::NeedRow;
use crate::prelude::*;
use crate::projection::{Edit, Slot};
use ctxsim_timeline::Texts;

/// An edit, and when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotedEdit {
    /// What changed.
    pub(super) edit: Edit,
    /// The moment at which the policy made it; `None` for undone edits and the harness's.
    pub(super) at: Option<Moment>,
    /// The number of agent requests sent before.
    pub(super) n_sent: usize,
    /// The number of items that had entered.
    pub(super) n_items: SlotIx,
}

/// A prompt as it was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SentPrompt {
    /// Its slots, visible or not.
    pub(super) slots: Vec<Slot>,
    /// Its chained prefixes, as a cache knows them.
    pub(super) links: Vec<Link>,
    /// The number of edits recorded before.
    pub(super) n_edits: usize,
    /// The slots that were sent, if not all.
    pub(super) only: Option<BTreeSet<SlotIx>>,
    /// Their content, slot by slot, as far as it is known.
    pub(super) texts: Vec<Option<String>>,
}

/// Observes a policy.
#[derive(Debug)]
pub(super) struct Eyes<'t> {
    texts: &'t Texts,
    /// The agent requests whose prompts are recorded, from 0.
    pub(super) wanted: [Option<usize>; 2],
    /// The last agent request up to which edits are recorded.
    pub(super) until: usize,
    /// The number of agent requests sent so far.
    n_sent: usize,
    n_seen: usize,
    /// Every edit, in order.
    pub(super) edits: Vec<NotedEdit>,
    /// The items that have entered, by slot.
    pub(super) items: Vec<Item>,
    /// Of these, the slots that code added for words of its own, in order.
    pub(super) spares: Vec<SlotIx>,
    /// The recorded prompts.
    pub(super) sent: [Option<SentPrompt>; 2],
}

impl<'t> Eyes<'t> {
    pub(super) fn new(texts: &'t Texts, wanted: [Option<usize>; 2], until: usize) -> Self {
        Self {
            texts,
            wanted,
            until,
            n_sent: 0,
            n_seen: 0,
            edits: Vec::new(),
            spares: Vec::new(),
            items: Vec::new(),
            sent: [None, None],
        }
    }

    /// Records edits made since the last time.
    fn note(&mut self, at: Option<Moment>, edit: &Editor<'_, '_>) {
        if self.n_sent > self.until {
            return;
        }
        let items = edit.prompt().history().items();
        self.items.extend(items.get(self.items.len()..).unwrap_or_default());
        if let Some(memory) = edit.prompt().memory() {
            self.items[memory as usize] = items[memory as usize];
        }
        let journal = edit.prompt().journal();
        let (n_sent, n_items) = (self.n_sent, edit.prompt().len());
        let new = journal.get(self.n_seen..).unwrap_or_default();
        self.edits.extend(new.iter().map(|edit| NotedEdit { edit: *edit, at, n_sent, n_items }));
        self.n_seen = journal.len();
    }
}

impl Watch for Eyes<'_> {
    fn before(&mut self, _: Moment, edit: &mut Editor<'_, '_>) {
        self.note(None, edit);
    }

    fn after(&mut self, moment: Moment, policy: &dyn Projector, edit: &mut Editor<'_, '_>) {
        self.note(Some(moment), edit);
        self.spares = edit.prompt().spares().to_vec();
        if moment != Moment::Request {
            return;
        }
        for (wanted, sent) in self.wanted.iter().zip(&mut self.sent) {
            if *wanted == Some(self.n_sent) {
                let links = edit.chain().links().to_vec();
                let prompt = edit.prompt();
                let slots = (0..prompt.len()).map(|it| *prompt.slot(it)).collect();
                let texts = (0..prompt.len()).map(|it| policy.text(prompt, self.texts, it)).collect();
                *sent = Some(SentPrompt { slots, links, n_edits: self.edits.len(), only: None, texts });
            }
        }
        self.n_sent += 1;
    }
}

/// The cache lookup of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CacheLookup {
    now_ms: i64,
    pub(super) links: Vec<Link>,
    pub(super) finding: Finding,
}

/// State shared by the sink and the cache.
#[derive(Debug)]
pub(super) struct SinkState {
    /// The wanted row, counted from 0.
    wanted: usize,
    /// The number of rows so far.
    n_rows: Cell<usize>,
    asked: RefCell<Option<CacheLookup>>,
}

impl SinkState {
    pub(super) fn new(wanted: usize) -> Rc<Self> {
        Rc::new(Self { wanted, n_rows: Cell::new(0), asked: RefCell::new(None) })
    }

    /// Inspects the cache before it receives the wanted request.
    pub(super) fn look(&self, cache: &dyn CacheRule, request: &RequestView<'_>) {
        if self.n_rows.get() == self.wanted {
            let links = request.chain.links().to_vec();
            let asked = CacheLookup { now_ms: request.now_ms, links, finding: cache.look(request) };
            self.asked.replace(Some(asked));
        }
    }

    /// Takes the row's cache lookup; `None` if the cache was not consulted.
    pub(super) fn take(&self, row: &RequestRow) -> Option<CacheLookup> {
        self.asked.take().filter(|it| it.now_ms == row.at_ms)
    }
}

/// Receives the wanted row and the needs due since the agent's previous request.
pub(super) struct WantedRow {
    pub(super) shared: Rc<SinkState>,
    pub(super) row: Option<RequestRow>,
    pub(super) needs: Vec<NeedRow>,
}

impl Sink for WantedRow {
    fn request(&mut self, row: &RequestRow) {
        let n = self.shared.n_rows.get();
        self.shared.n_rows.set(n + 1);
        if n == self.shared.wanted {
            self.row = Some(*row);
        } else if self.row.is_none() && row.role == Role::Main {
            self.needs.clear();
        }
    }

    fn need(&mut self, row: &NeedRow) {
        if self.row.is_none() {
            self.needs.push(*row);
        }
    }
}
