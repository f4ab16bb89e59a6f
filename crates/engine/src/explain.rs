//! Explanation of one request of a run: how every item is shown and why, where its prefix broke,
//! and what the cache knew.
//!
//! The run is played twice: once for its rows, and once up to the request with an observed policy and cache.
//! Other runs pay nothing for this.

mod items;

use crate::cache::{CacheRule, Finding, RequestView};
use crate::engine::{Simulation, erased};
use crate::hindsight;
use crate::ledger::pairing::RequestId;
use crate::ledger::{ExploredRow, NeedRow};
use crate::measure::missed::{Miss, missed_at};
use crate::prelude::*;
use crate::price::{Bill, Models};
use crate::projection::{Edit, Slot, Watch, text_as_it_came};
use ctxsim_base::diag::{Code, Diagnostic};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub use items::{Cached, HeldPart, PrefixCompared, Same, StandingItem, Stood, held};

/// A request of a run, explained.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The row's number in the run, from 1.
    pub n: usize,
    /// The number of rows the run has.
    pub of: usize,
    pub row: RequestRow,
    /// What it is in every run of its load.
    pub id: RequestId,
    /// The stage that made the request; `None` for the agent.
    pub asked_by: Option<By>,
    /// Its cost, by part.
    pub bill: Bill,
    /// The provider's bill, if the timeline was recorded and this is the agent's own request.
    pub recorded: Option<Usage>,
    /// What that request missed of what was cached, by its bill, and why.
    pub missed: Option<Miss>,
    /// Every item that had entered, in order; for a summariser with its own prompt, the items that it
    /// replaces.
    pub items: Vec<StandingItem>,
    /// Tokens of the prompt outside items: recalled memory, or a summariser's instructions and copies.
    pub beside: Tokens,
    /// Tokens of the oldest items that a summariser skips because they are too much for it.
    pub unread: Tokens,
    /// The agent's previous request: its row, and how this prompt compares with it.
    pub prefix: Option<PrefixCompared>,
    /// The changes by stages and others since that request, in order.
    pub since: Vec<Done>,
    /// What the cache knew of the prompt, or nothing if it was not asked.
    pub finding: Option<Finding>,
    /// The needs that were due since that request, and how they were met.
    pub needs: Vec<NeedRow>,
    /// What was looked up anew before it because context was removed.
    pub explored: Option<ExploredRow>,
}

/// Who changed an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    /// A stage of the policy and its step, from 0.
    Stage(usize, usize),
    /// Nobody: an edit for one request was undone.
    TakenBack,
    /// The recorded harness, which removed the item.
    Harness,
    /// The memory, which recalls something else.
    Memory,
}

/// A change of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditCause {
    /// Who made it.
    pub by: By,
    /// The moment at which a stage made it.
    pub at: Option<Moment>,
    /// The row, from 1, of the agent's first request that was sent with it, if any.
    pub request: Option<usize>,
    /// The states before and after.
    pub change: [Stood; 2],
}

/// What someone did to the prompt between two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Who.
    pub by: By,
    pub n_items: usize,
    /// Tokens shown before and after.
    pub tokens: [Tokens; 2],
}

/// Explains a row of a run, numbered from 1 as in `run --rows requests`.
///
/// # Errors
/// The run has no such row.
pub fn explain(
    timeline: &Timeline,
    policy: &Policy,
    profile: &Profile,
    n: usize,
) -> Result<Explanation, Box<Diagnostic>> {
    let policy = &*hindsight::under(policy, timeline, profile, &profile.limits);
    let mut rows = Rows::default();
    let play = || Simulation::new(timeline, policy, &profile.limits, &profile.cache);
    let outcome = play().run(&mut rows);
    if let Some(fault) = outcome.fault {
        return Err(Box::new(Diagnostic::at(Code("run-failed"), "", fault.to_string())));
    }
    let (rows, explored) = (rows.requests, rows.explored);
    let wanted = n.checked_sub(1).filter(|it| *it < rows.len()).ok_or_else(|| out_of_range(n, rows.len()))?;
    let ids = RequestId::of_all(&rows);
    let mains: Vec<usize> = (0..rows.len()).filter(|it| rows[*it].role == Role::Main).collect();
    let n_before = mains.partition_point(|it| *it < wanted);
    let is_main = rows[wanted].role == Role::Main;
    let shared = SinkState::new(wanted);
    let mut eyes =
        Eyes::new(&timeline.texts, [n_before.checked_sub(1), is_main.then_some(n_before)], n_before);
    let mut sink = WantedRow { shared: shared.clone(), row: None, needs: Vec::new() };
    let asked = shared.clone();
    let play = play().overseen(move |cache, request| asked.look(cache, request));
    play.run_watched(&mut eyes, &mut [&mut sink]);
    let row = sink.row.unwrap_or(rows[wanted]);
    let asked = shared.take(&row);
    let aside_before = rows[..wanted].iter().rev().take_while(|it| it.role != Role::Main);
    let nth = aside_before.filter(|it| it.role == Role::Summariser).count();
    let [before, this] = std::mem::take(&mut eyes.sent);
    let (this, asked_by) = match this {
        Some(sent) => (sent, None),
        None if row.role == Role::KeepAlive => {
            (kept_alive(timeline, &eyes, n_before, row.prompt, asked.as_ref()), None)
        }
        None => aside(timeline, policy, &eyes, n_before, nth, asked.as_ref()),
    };
    let story = RequestStory {
        timeline,
        policy,
        mains: &mains,
        edits: &eyes.edits[..this.n_edits],
        items: &eyes.items,
        spares: &eyes.spares,
    };
    let n_seen = before.as_ref().map_or(0, |it| it.slots.len());
    let items = story.items(&this, n_seen, &row);
    let shown: Tokens = items.iter().map(|it| Tokens::from(it.now.tokens)).sum();
    let since = story.since(n_before);
    let compared = before.filter(|_| !this.links.is_empty());
    let prefix =
        compared.map(|before| story.prefix(&before, &this, mains[n_before - 1] + 1, n_before, row.step));
    let list = Models::new(profile, policy.summariser()).of(row.role).prices.at(row.at_ms);
    let recorded = timeline.recorded.as_ref().filter(|_| is_main && row.n == 0);
    Ok(Explanation {
        n,
        of: rows.len(),
        row,
        id: ids[wanted],
        asked_by,
        bill: Bill::of_request(list, &row.tokens()),
        recorded: recorded.and_then(|it| *it.usage.get(row.step as usize)?),
        missed: recorded.and_then(|_| missed_at(timeline, profile, row.step)),
        items,
        beside: row.prompt.saturating_sub(shown),
        unread: shown.saturating_sub(row.prompt),
        prefix,
        since,
        finding: asked.map(|it| story.numbered(it.finding)),
        needs: sink.needs,
        explored: explored.into_iter().find(|it| is_main && row.n == 0 && it.step == row.step),
    })
}

/// Reports that a run has no such request.
fn out_of_range(n: usize, n_requests: usize) -> Box<Diagnostic> {
    let message = match n_requests {
        0 => "this run makes no requests".to_owned(),
        1 => format!("there is no request {n}: this run makes one"),
        _ => format!("there is no request {n}: this run makes {n_requests}"),
    };
    let help = if n_requests == 0 {
        "name a scenario with at least one step".to_owned()
    } else {
        format!(
            "write a number from 1 to {n_requests}; `ctxsim run --rows requests` lists them in this order"
        )
    };
    Box::new(Diagnostic::at(Code("request-out-of-range"), "", message).help(help))
}

/// The facts from which a request is explained.
struct RequestStory<'a> {
    timeline: &'a Timeline,
    policy: &'a Policy,
    /// The rows of the agent's requests.
    mains: &'a [usize],
    /// The edits before the request.
    edits: &'a [NotedEdit],
    /// The items that had entered, by slot.
    items: &'a [Item],
    /// The slots that code added for words of its own, in order.
    spares: &'a [u32],
}

impl RequestStory<'_> {
    /// Returns what a cache knows, by the numbers of items.
    fn numbered(&self, mut finding: Finding) -> Finding {
        finding.marks.iter_mut().for_each(|it| it.slot = self.number(it.slot));
        finding.entries.iter_mut().for_each(|it| it.slot = it.slot.map(|slot| self.number(slot)));
        finding
    }

    /// Returns the number of a slot's item, not counting slots that code added for words of its own.
    fn number(&self, slot: u32) -> u32 {
        slot - u32::try_from(self.spares.partition_point(|it| *it < slot)).unwrap_or(slot)
    }

    /// Returns who made an edit.
    fn by(&self, noted: &NotedEdit) -> By {
        let item = &self.items[noted.edit.slot as usize];
        let is_recalled = item.kind == Kind::Memory && item.origin == NO_ITEM;
        if noted.at.is_none() && is_recalled {
            By::Memory
        } else {
            made_by(self.policy, (noted.at, noted.edit))
        }
    }

    /// Describes an edit.
    fn cause(&self, noted: &NotedEdit) -> EditCause {
        EditCause {
            by: self.by(noted),
            at: noted.at,
            request: self.mains.get(noted.n_sent).map(|it| it + 1),
            change: [Stood::of(&noted.edit.before), Stood::of(&noted.edit.after)],
        }
    }

    /// Sums up the edits since so many requests of the agent, by who made them.
    fn since(&self, n_sent: usize) -> Vec<Done> {
        let mut done: Vec<Done> = Vec::new();
        let mut seen: Vec<(By, u32)> = Vec::new();
        for noted in self.edits.iter().filter(|it| it.n_sent == n_sent) {
            let by = self.by(noted);
            let at = done.iter().position(|it| it.by == by).unwrap_or(done.len());
            if at == done.len() {
                done.push(Done { by, n_items: 0, tokens: [0; 2] });
            }
            if !seen.contains(&(by, noted.edit.slot)) {
                seen.push((by, noted.edit.slot));
                done[at].n_items += 1;
            }
            done[at].tokens[0] += Tokens::from(noted.edit.before.tokens);
            done[at].tokens[1] += Tokens::from(noted.edit.after.tokens);
        }
        done
    }
}

/// Returns the stage and the step of an author, whose number counts all steps of all stages from 1; the
/// number after the last stage is code, which belongs to no step.
fn rung(policy: &Policy, author: u8) -> (usize, usize) {
    let mut before = 0;
    if author == 0 {
        return (policy.stages().len(), 0);
    }
    for (stage, it) in policy.stages().iter().enumerate() {
        let step = usize::from(author).saturating_sub(before + 1);
        let n_rungs = policy.rungs(it).count();
        if step < n_rungs {
            return (stage, step);
        }
        before += n_rungs;
    }
    (policy.stages().len(), 0)
}

/// Returns the agent's prompt of a given size when a policy sent it to keep it in the cache: after the first
/// of the edits, since a number of requests, that leave this size.
fn kept_alive(
    timeline: &Timeline,
    eyes: &Eyes<'_>,
    n_sent: usize,
    prompt: Tokens,
    asked: Option<&CacheLookup>,
) -> SentPrompt {
    let links: Vec<Link> = asked.map(|it| it.links.clone()).unwrap_or_default();
    let mut slots = items::as_they_came(&eyes.items, links.last().map_or(0, |it| it.slot + 1));
    let mut n_edits = 0;
    for noted in eyes.edits.iter().take_while(|it| it.n_sent <= n_sent) {
        let stands: Tokens = slots.iter().map(|it| Tokens::from(it.tokens)).sum();
        if noted.n_sent == n_sent && stands == prompt {
            break;
        }
        n_edits += 1;
        if let Some(slot) = slots.get_mut(noted.edit.slot as usize) {
            *slot = noted.edit.after;
        }
    }
    let texts = texts(timeline, eyes, &slots);
    SentPrompt { slots, links, n_edits, only: None, texts }
}

/// Returns the words of slots, where they stand as they came.
fn texts(timeline: &Timeline, eyes: &Eyes<'_>, slots: &[Slot]) -> Vec<Option<String>> {
    let shown = eyes.items.iter().zip(slots);
    shown.map(|(item, slot)| text_as_it_came(slot, &timeline.texts, item.origin)).collect()
}

/// Returns the agent's prompt when a policy made its n-th own request since the agent's last one, and the
/// stage that made it.
fn aside(
    timeline: &Timeline,
    policy: &Policy,
    eyes: &Eyes<'_>,
    n_sent: usize,
    nth: usize,
    asked: Option<&CacheLookup>,
) -> (SentPrompt, Option<By>) {
    let asked_for = |noted: &NotedEdit| {
        let (stage, step) = rung(policy, noted.edit.after.by);
        let action = policy.stages().get(stage).and_then(|it| policy.rungs(it).nth(step)).map(|it| it.action);
        let is_it = noted.n_sent == n_sent && items::is_new_summary(&noted.edit);
        action.filter(|_| is_it).map_or(&[] as &[bool], items::requests)
    };
    let mut requests =
        (0..eyes.edits.len()).flat_map(|it| asked_for(&eyes.edits[it]).iter().map(move |reads| (it, *reads)));
    let (end, reads_items) = requests.nth(nth).unwrap_or((eyes.edits.len(), true));
    // What a summary replaces is edited from its end on, and its own place last.
    let n_edits =
        (0..end).rev().take_while(|it| items::goes_behind(&eyes.edits[*it].edit)).last().unwrap_or(end);
    let n_items = eyes.edits.get(end).map_or(0, |it| it.n_items);
    let mut slots = items::as_they_came(&eyes.items, n_items);
    for noted in &eyes.edits[..n_edits] {
        if let Some(slot) = slots.get_mut(noted.edit.slot as usize) {
            *slot = noted.edit.after;
        }
    }
    let texts = texts(timeline, eyes, &slots);
    let links: Vec<Link> = asked.map(|it| it.links.clone()).unwrap_or_default();
    let replaced = eyes.edits.get(n_edits..=end).unwrap_or_default().iter().map(|it| it.edit.slot);
    let only = asked.is_none().then(|| replaced.filter(|_| reads_items).collect());
    let by = eyes.edits.get(end).map(|it| rung(policy, it.edit.after.by));
    (SentPrompt { slots, links, n_edits, only, texts }, by.map(|(stage, step)| By::Stage(stage, step)))
}

// Where the prefixes of a run broke: how many tokens of the previous prompt were no longer at the front,
// and whose edit caused it.

/// A request of the agent whose prompt does not begin with the whole previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Break {
    /// The author of the edit of the first differing item; `None` if no edit caused it, as with a line that
    /// changes with each request.
    pub by: Option<By>,
    /// Tokens of the previous prompt that were no longer at the front.
    pub tokens: Tokens,
}

/// A break, whatever the policy calls the stage that caused it.
#[derive(Clone, Copy, Debug)]
pub struct PrefixBreak {
    edit: Option<MadeEdit>,
    tokens: Tokens,
}

impl PrefixBreak {
    /// Returns it in the words of a policy that shows these prompts.
    pub fn of(self, policy: &Policy) -> Break {
        Break { by: self.edit.map(|it| made_by(policy, it)), tokens: self.tokens }
    }
}

/// Plays into a sink for each way to recover, while an observer compares each prompt with the previous one.
pub fn found_breaks<S: Sink>(play: Simulation<'_>, sinks: &mut [S]) -> (Outcome, Vec<PrefixBreak>) {
    let notes = Rc::new(RefCell::new(Notes::default()));
    let mut eyes = Edits { n_seen: 0, notes: Rc::clone(&notes) };
    let sent = Rc::clone(&notes);
    let look = move |cache: &dyn CacheRule, request: &RequestView<'_>| {
        if !request.chain.is_aside() {
            let intact = (!cache.needs_chain()).then_some(request.intact_tokens);
            sent.borrow_mut().sent(request.prompt, request.chain, intact);
        }
    };
    let outcome = play.overseen(look).run_watched(&mut eyes, &mut erased(sinks));
    let found = std::mem::take(&mut notes.borrow_mut().found);
    (outcome, found)
}

/// Returns whose doing an edit is, unless it is memory's.
fn made_by(policy: &Policy, (at, edit): MadeEdit) -> By {
    match (at, edit.after.is_visible()) {
        (Some(_), _) => {
            let (stage, step) = rung(policy, edit.after.by);
            By::Stage(stage, step)
        }
        (None, true) => By::TakenBack,
        (None, false) => By::Harness,
    }
}

/// An edit, and the moment at which a stage made it.
type MadeEdit = (Option<Moment>, Edit);

/// State shared by the policy's observer and the cache's.
#[derive(Default)]
struct Notes {
    /// The edits since the agent's last request, with the moment at which a stage made them.
    edits: Vec<MadeEdit>,
    /// The prefixes of the agent's last request.
    links: Vec<Link>,
    /// Tokens of its prompt.
    prompt: Tokens,
    /// For each break: the edit of the first differing item, and the tokens no longer at the front.
    found: Vec<PrefixBreak>,
}

impl Notes {
    /// Returns the tokens of the agent's last prompt that these prefixes lack, and the first slot that
    /// differs.
    fn differs(&self, links: &[Link]) -> (Tokens, Option<SlotIx>) {
        // Most prompts only grow; of others, prefixes that once differ never agree again.
        let same = match self.links.last() {
            None => return (0, None),
            Some(last) if links.get(self.links.len() - 1).is_some_and(|it| it.digest == last.digest) => {
                return (0, None);
            }
            Some(_) => self.links.iter().zip(links).take_while(|(a, b)| a.digest == b.digest).count(),
        };
        let kept = same.checked_sub(1).map_or(0, |it| self.links[it].tokens);
        let first = [self.links.get(same), links.get(same)].into_iter().flatten().map(|it| it.slot).min();
        (self.prompt.saturating_sub(kept), first)
    }

    /// Compares a prompt with the agent's last.
    fn sent(&mut self, prompt: Tokens, chain: &Chain, intact: Option<Tokens>) {
        let (tokens, slot) = match intact {
            Some(intact) => {
                let first = self.edits.iter().map(|(_, it)| it.slot).min();
                (self.prompt.saturating_sub(intact), first)
            }
            None => self.differs(chain.links()),
        };
        if tokens > 0 {
            let edit = self.edits.iter().rev().find(|(_, it)| Some(it.slot) == slot);
            self.found.push(PrefixBreak { edit: edit.copied(), tokens });
        }
        self.edits.clear();
        self.links.clear();
        self.links.extend_from_slice(chain.links());
        self.prompt = prompt;
    }
}

/// Records a policy's edits.
struct Edits {
    n_seen: usize,
    notes: Rc<RefCell<Notes>>,
}

impl Edits {
    fn note(&mut self, at: Option<Moment>, edit: &Editor<'_, '_>) {
        let journal = edit.prompt().journal();
        let new = journal.get(self.n_seen..).unwrap_or_default();
        self.notes.borrow_mut().edits.extend(new.iter().map(|it| (at, *it)));
        self.n_seen = journal.len();
    }
}

impl Watch for Edits {
    fn before(&mut self, _: Moment, edit: &mut Editor<'_, '_>) {
        self.note(None, edit);
    }

    fn after(&mut self, moment: Moment, _: &dyn Projector, edit: &mut Editor<'_, '_>) {
        self.note(Some(moment), edit);
    }
}

// What is recorded of a run to explain one of its requests: edits, prompts, the cache's knowledge, and due needs.

/// An edit, and when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NotedEdit {
    /// What changed.
    edit: Edit,
    /// The moment at which the policy made it; `None` for undone edits and the harness's.
    at: Option<Moment>,
    /// The number of agent requests sent before.
    n_sent: usize,
    /// The number of items that had entered.
    n_items: SlotIx,
}

/// A prompt as it was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SentPrompt {
    /// Its slots, visible or not.
    slots: Vec<Slot>,
    /// Its chained prefixes, as a cache knows them.
    links: Vec<Link>,
    /// The number of edits recorded before.
    n_edits: usize,
    /// The slots that were sent, if not all.
    only: Option<BTreeSet<SlotIx>>,
    /// Their content, slot by slot, as far as it is known.
    texts: Vec<Option<String>>,
}

/// Observes a policy.
#[derive(Debug)]
struct Eyes<'t> {
    texts: &'t Texts,
    /// The agent requests whose prompts are recorded, from 0.
    wanted: [Option<usize>; 2],
    /// The last agent request up to which edits are recorded.
    until: usize,
    /// The number of agent requests sent so far.
    n_sent: usize,
    n_seen: usize,
    /// Every edit, in order.
    edits: Vec<NotedEdit>,
    /// The items that have entered, by slot.
    items: Vec<Item>,
    /// Of these, the slots that code added for words of its own, in order.
    spares: Vec<SlotIx>,
    /// The recorded prompts.
    sent: [Option<SentPrompt>; 2],
}

impl<'t> Eyes<'t> {
    fn new(texts: &'t Texts, wanted: [Option<usize>; 2], until: usize) -> Self {
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
struct CacheLookup {
    now_ms: i64,
    links: Vec<Link>,
    finding: Finding,
}

/// State shared by the sink and the cache.
#[derive(Debug)]
struct SinkState {
    /// The wanted row, counted from 0.
    wanted: usize,
    /// The number of rows so far.
    n_rows: Cell<usize>,
    asked: RefCell<Option<CacheLookup>>,
}

impl SinkState {
    fn new(wanted: usize) -> Rc<Self> {
        Rc::new(Self { wanted, n_rows: Cell::new(0), asked: RefCell::new(None) })
    }

    /// Inspects the cache before it receives the wanted request.
    fn look(&self, cache: &dyn CacheRule, request: &RequestView<'_>) {
        if self.n_rows.get() == self.wanted {
            let links = request.chain.links().to_vec();
            let asked = CacheLookup { now_ms: request.now_ms, links, finding: cache.look(request) };
            self.asked.replace(Some(asked));
        }
    }

    /// Takes the row's cache lookup; `None` if the cache was not consulted.
    fn take(&self, row: &RequestRow) -> Option<CacheLookup> {
        self.asked.take().filter(|it| it.now_ms == row.at_ms)
    }
}

/// Receives the wanted row and the needs due since the agent's previous request.
struct WantedRow {
    shared: Rc<SinkState>,
    row: Option<RequestRow>,
    needs: Vec<NeedRow>,
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
