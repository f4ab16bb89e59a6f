//! Builds a timeline turn by turn; used by generators, scenario files and importers.

use ctxsim_base::rng::Seed;
use ctxsim_input::profile::ImageSize;

use super::evidence::{Need, Recover, TurnEvidence};
use super::facts::{DrawSource, Fact, FactForm, FactPlane, ItemShare, Plant, Probe};
use super::tool_form::ToolForm;
use super::{
    Capability, Compaction, Due, Event, EventKind, FrontItem, Harness, Inferred, Item, ItemIx, Kind, Level,
    Lifecycle, NO_ITEM, Phase, Preserve, Session, SideRequest, StepIx, StepRow, Timeline, TurnIx, TurnRow,
    When,
};
use crate::prelude::*;

#[derive(Debug, Default)]
pub struct TimelineBuilder {
    /// What is built; what is the same for all of it can be set here.
    pub(super) timeline: Timeline,
    file_tools: Vec<String>,
    seed: u64,
    open: OpenTurn,
    /// Events, each with the following step.
    events: Vec<(StepIx, EventKind)>,
    /// Events at the start of a session.
    at_start: Vec<Event>,
    facts: OpenFacts,
    /// The number of results in the session so far.
    n_results: u32,
}

/// The turn that is being appended to.
#[derive(Debug, Default)]
struct OpenTurn {
    needs: [Vec<Need>; 3],
    evidence: TurnEvidence,
    is_open: bool,
}

impl TimelineBuilder {
    /// Begins a timeline; results of `file_tools` can be read again by range.
    pub fn new(name: &str, file_tools: &[String]) -> Self {
        let timeline = Timeline {
            name: name.to_owned(),
            chars_per_token: Decimal::parse("4").unwrap_or(Decimal::ONE),
            ..Timeline::default()
        };
        let seed = xxhash_rust::xxh3::xxh3_64(name.as_bytes());
        Self { timeline, file_tools: file_tools.to_vec(), seed, ..Self::default() }
    }

    /// Sets the characters per token.
    pub fn chars_per_token(&mut self, ratio: Decimal) {
        self.timeline.chars_per_token = ratio;
    }

    /// Appends to the stable prefix; only before the first turn.
    pub fn stable(&mut self, kind: Kind, tokens: u32) {
        self.stable_item(&NewItem::plain(kind, tokens));
    }

    /// Appends an item with its own content to the stable prefix; only before a session's first turn.
    pub fn stable_item(&mut self, item: &NewItem<'_>) {
        self.push(item, NO_ITEM);
        let (end, n_turns) = (self.next_item(), self.n_turns());
        let session = self.session();
        debug_assert!(session.turns.start == n_turns, "the stable prefix comes first");
        session.stable.end = end;
        if n_turns == 0 {
            self.timeline.spine.n_stable = end;
        }
    }

    /// Sets the session's id, and the session whose agent started it.
    pub fn name_session(&mut self, id: &str, parent: Option<&str>) {
        let session = self.session();
        id.clone_into(&mut session.id);
        session.parent = parent.map(str::to_owned);
    }

    /// Begins a session and ends the previous one; without its own stable prefix it uses the previous
    /// session's.
    pub fn begin_session(&mut self, id: &str, parent: Option<&str>) {
        self.end_turn();
        self.n_results = 0;
        let (at, turn_ix) = (self.next_item(), self.n_turns());
        self.session().turns.end = turn_ix;
        let session = Session { stable: at..at, turns: turn_ix..turn_ix, ..Session::default() };
        self.timeline.spine.sessions.push(session);
        self.name_session(id, parent);
    }

    /// Returns the session that is being appended to.
    pub(super) fn session(&mut self) -> &mut Session {
        let sessions = &mut self.timeline.spine.sessions;
        if sessions.is_empty() {
            sessions.push(Session::default());
        }
        let last = sessions.len() - 1;
        &mut sessions[last]
    }

    fn n_turns(&self) -> TurnIx {
        ix(self.timeline.spine.turns.len())
    }

    /// Begins a turn with the user's items and ends the previous one.
    pub fn begin_turn(&mut self, user: &[NewItem<'_>]) {
        self.end_turn();
        let first = self.next_item();
        let step = self.next_step();
        self.timeline.spine.turns.push(TurnRow {
            steps: step..step,
            items: first..first,
            user: first..first,
        });
        self.open.is_open = true;
        user.iter().for_each(|it| self.push(it, NO_ITEM));
        let end = self.next_item();
        if let Some(row) = self.timeline.spine.turns.last_mut() {
            row.user.end = end;
            row.items.end = end;
        }
    }

    /// Appends one model request with its reply and the results of its calls.
    pub fn step(&mut self, at_ms: i64, output: Tokens, reply: &[NewItem<'_>], results: &[NewItem<'_>]) {
        debug_assert!(self.open.is_open, "a step belongs to a turn");
        let first = self.next_item();
        reply.iter().for_each(|it| self.push(it, NO_ITEM));
        let is_call = |it: &u32| self.timeline.spine.items[*it as usize].kind == Kind::ToolCall;
        let calls: Vec<u32> = (first..self.next_item()).filter(is_call).collect();
        let middle = self.next_item();
        for item in results {
            let call = calls.get(item.answers).copied().unwrap_or(NO_ITEM);
            self.push(item, call);
        }
        let end = self.next_item();
        self.timeline.spine.steps.push(StepRow {
            at_ms,
            response_ms: at_ms,
            end_ms: at_ms,
            reply: first..middle,
            results: middle..end,
            output_tokens: output,
        });
        let n_steps = self.next_step();
        if let Some(row) = self.timeline.spine.turns.last_mut() {
            row.steps.end = n_steps;
            row.items.end = end;
        }
    }

    /// Sets the start and end of the last step's response, which cannot precede its request.
    pub fn response(&mut self, starts_ms: i64, ends_ms: i64) {
        if let Some(row) = self.timeline.spine.steps.last_mut() {
            row.response_ms = starts_ms.max(row.at_ms);
            row.end_ms = ends_ms.max(row.response_ms);
        }
    }

    /// Sets how the harness uses the provider's cache.
    pub fn harness(&mut self, harness: Harness) {
        self.timeline.harness = harness;
    }

    /// Records a side request after the open turn, and whether the log shows it.
    pub fn side_request(&mut self, at_ms: i64, is_logged: bool) {
        let turn_ix = self.turn_ix();
        self.timeline.side_requests.push(SideRequest { turn_ix, at_ms, is_logged });
    }

    /// Records an event before the next step's request.
    fn before_next(&mut self, event: EventKind) {
        let step = self.next_step();
        self.events.push((step, event));
    }

    /// Records that the harness removed items before the next step's request; the stable prefix stays.
    pub fn reset(&mut self, items: Range<u32>) {
        let items = items.start.max(self.timeline.spine.n_stable)..items.end;
        if !items.is_empty() {
            self.before_next(EventKind::Reset(items));
        }
    }

    /// Records that the harness had the history summarised before the next step's request.
    pub fn compaction(&mut self, request: Compaction) {
        self.before_next(EventKind::Compaction(request));
    }

    /// Records a changed setting from the next step's request on.
    pub fn change(&mut self, setting: Setting, value: u32) {
        self.before_next(EventKind::Change(setting, value));
    }

    /// Returns the digest of an item's content.
    pub fn digest_of(&self, item: ItemIx) -> u64 {
        self.timeline.spine.items.get(item as usize).map_or(0, |it| it.digest)
    }

    /// Records that the prompts begin with other content from the next step's request on.
    pub fn front(&mut self, items: Vec<FrontItem>) {
        if !items.is_empty() {
            self.before_next(EventKind::Front(items.into()));
        }
    }

    /// Records a changed lifetime of entries from the next step's request on.
    pub fn lifetime(&mut self, ttl: TtlClass) {
        self.before_next(EventKind::Lifetime(ttl));
    }

    /// Records that somebody else sends the items before one just before the next step's request.
    pub fn front_sent(&mut self, end: ItemIx) {
        self.before_next(EventKind::FrontSent(end));
    }

    /// Records an event of the memory: at the start of a session without turns, else before the next step's
    /// request.
    pub fn lifecycle(&mut self, event: Lifecycle) {
        let n_turns = self.n_turns();
        if self.session().turns.start == n_turns {
            let at = When { turn_ix: n_turns, phase: Phase::SessionStart };
            self.at_start.push(Event { at, kind: EventKind::Memory(event) });
        } else {
            self.before_next(EventKind::Memory(event));
        }
    }

    /// Adds a need of the open turn.
    pub fn need(&mut self, due: Due, need: Need) {
        self.open.needs[due as usize].push(need);
    }

    /// Adds a step's need for one earlier result, with the other items that name the result's source; in step
    /// order.
    pub fn item_need(&mut self, inferred: Inferred, level: Level, weight: f64, mentions: &[u32]) {
        let Some(item) = self.timeline.spine.items.get(inferred.item as usize) else { return };
        let need = Need::new(item.turn_ix, level, weight, None);
        let is_file = self.timeline.spine.is_one_of(item.tool, &self.file_tools);
        self.timeline.needs.push_item(inferred, need, TurnEvidence::of_item(item, is_file), mentions);
    }

    /// Returns the index of the open turn.
    pub fn turn_ix(&self) -> TurnIx {
        ix(self.timeline.spine.turns.len().saturating_sub(1))
    }

    /// Ends the timeline.
    pub fn finish(mut self) -> Timeline {
        self.end_turn();
        let n_turns = self.n_turns();
        self.session().turns.end = n_turns;
        self.timeline.facts = self.fact_plane();
        let turns = &self.timeline.spine.turns;
        let dated = self.events.into_iter().map(|(step, kind)| {
            let mut at = before_request(turns, step);
            // A summary is made before the message that the turn begins with arrives.
            if matches!(kind, EventKind::Compaction(_)) && at.phase == Phase::TurnStart {
                at.phase = Phase::TurnOpen;
            }
            Event { at, kind }
        });
        self.timeline.events = dated.chain(self.at_start).collect();
        self.timeline.events.sort_by_key(|it| it.at);
        self.timeline
    }

    fn end_turn(&mut self) {
        if self.open.is_open {
            let done = std::mem::take(&mut self.open);
            self.timeline.needs.push_turn(done.needs);
            self.timeline.needs.evidence.push(done.evidence);
        }
    }

    fn push(&mut self, new: &NewItem<'_>, pair: u32) {
        let index = self.next_item();
        let is_result = new.kind == Kind::ToolResult;
        self.n_results += u32::from(is_result);
        let spine = &mut self.timeline.spine;
        let tool = if new.tool.is_empty() {
            u16::MAX as usize
        } else {
            spine.tools.get_index_of(new.tool).unwrap_or_else(|| {
                spine.capabilities.push(new.capability);
                spine.tools.insert_full(new.tool.to_owned()).0
            })
        };
        let digest = new
            .digest
            .unwrap_or_else(|| xxhash_rust::xxh3::xxh3_64_with_seed(&index.to_le_bytes(), self.seed));
        let item = Item {
            digest,
            raw: new.sizes.raw,
            excerpt: new.sizes.excerpt,
            summary: new.sizes.summary,
            handle: new.sizes.handle,
            pair,
            origin: index,
            turn_ix: ix(spine.turns.len().saturating_sub(1)),
            step_ix: ix(spine.steps.len()),
            tool: saturated(tool),
            kind: new.kind,
            preserve: new.preserve,
            rank: if is_result { self.n_results } else { 0 },
        };
        spine.items.push(item);
        if item.kind == Kind::Image {
            self.timeline.images.items.push((index, new.image));
        }
        if let Some(text) = new.text {
            self.timeline.texts.set(index, text);
            if let Some(form) = new.form {
                self.timeline.texts.set_form(index, form);
            }
        }
        if let Some(file) = new.file {
            self.timeline.texts.set_file(index, file);
        }
        if let Some(call) = spine.items.get_mut(pair as usize) {
            call.pair = index;
        }
        if new.kind == Kind::ToolResult {
            self.open.evidence.add(&item, &new.recover, spine.is_one_of(item.tool, &self.file_tools));
        }
    }

    /// Returns the place of the item that comes next.
    pub fn next_item(&self) -> u32 {
        ix(self.timeline.spine.items.len())
    }

    /// Returns the index of the next step.
    pub fn next_step(&self) -> u32 {
        ix(self.timeline.spine.steps.len())
    }
}

/// Returns the moment before a step's request at which earlier events are reported: a turn's first step has
/// none of its own, because the stages of the turn's start come first.
fn before_request(turns: &[TurnRow], step: StepIx) -> When {
    let at = turns.partition_point(|it| it.steps.start < step && it.steps.end <= step);
    let is_first = turns.get(at).is_some_and(|it| it.steps.start >= step);
    let phase = if is_first { Phase::TurnStart } else { Phase::Request(step) };
    When { turn_ix: ix(at), phase }
}

/// The sizes of an item in its renditions, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemSizes {
    /// As received.
    pub raw: u32,
    /// Its exact excerpt.
    pub excerpt: u32,
    pub summary: u32,
    /// Its recovery handle.
    pub handle: u32,
}

impl ItemSizes {
    /// Sizes of an item with no other rendition than the full one.
    pub fn whole(raw: u32) -> Self {
        Self { raw, excerpt: raw, summary: raw, handle: 0 }
    }
}

/// An item about to be appended.
#[derive(Clone, Copy, Debug)]
pub struct NewItem<'a> {
    /// What it is.
    pub kind: Kind,
    pub sizes: ItemSizes,
    /// The tool, for calls and results.
    pub tool: &'a str,
    /// Why it may be needed again.
    pub preserve: Preserve,
    /// What an agent needs to fetch it again.
    pub recover: Recover,
    /// For a result: the index of the call among the reply's calls.
    pub answers: usize,
    /// Of an image: its size, if it is known.
    pub image: Option<ImageSize>,
    /// A digest of its content. Default: from its index.
    pub digest: Option<u64>,
    /// Its text, if there is one; of a call, its input as JSON.
    pub text: Option<&'a Arc<str>>,
    /// Of a call without text: what stands for the file that it names.
    pub file: Option<u64>,
    /// How its harness writes it, if that is known.
    pub form: Option<&'static ToolForm>,
    /// Its tool's capability, if policies may use it.
    pub capability: Option<Capability>,
}

impl<'a> NewItem<'a> {
    /// An item with only a kind and a size.
    pub fn plain(kind: Kind, tokens: u32) -> Self {
        let sizes = ItemSizes::whole(tokens);
        Self {
            kind,
            sizes,
            tool: "",
            preserve: Preserve::None,
            recover: Recover::default(),
            answers: 0,
            image: None,
            digest: None,
            text: None,
            file: None,
            form: None,
            capability: None,
        }
    }

    /// An image, which takes so many tokens.
    pub fn image(image: Option<ImageSize>, tokens: u32) -> Self {
        Self { image, ..Self::plain(Kind::Image, tokens) }
    }

    /// A tool call.
    pub fn call(tool: &'a str, tokens: u32) -> Self {
        Self { tool, ..Self::plain(Kind::ToolCall, tokens) }
    }

    /// The result of the reply's n-th call.
    pub fn result(tool: &'a str, nth: usize, sizes: ItemSizes, preserve: Preserve, recover: Recover) -> Self {
        Self { kind: Kind::ToolResult, sizes, preserve, recover, answers: nth, ..Self::call(tool, 0) }
    }
}

/// Facts as they come.
#[derive(Debug, Default)]
struct OpenFacts {
    /// By name: its last plant.
    last: IndexMap<String, u32>,
    plants: Vec<Plant>,
    places: Vec<Option<ItemShare>>,
    repeats: Vec<(u32, ItemIx)>,
    /// Whether everything is asked for at the end of the load.
    asks_at_end: bool,
    /// The questions, each with the following step.
    asked: Vec<(u32, StepIx)>,
}

impl TimelineBuilder {
    /// Records that the last item states a fact, by name: its first version, or the next one, with the change
    /// of a running total.
    pub fn plant(&mut self, fact: &str, form: FactForm, delta: i32) {
        let item = self.next_item().saturating_sub(1);
        let facts = &mut self.facts;
        let nth = ix(facts.plants.len());
        let (fact, before) = facts.last.insert_full(fact.to_owned(), nth);
        let version = before.map_or(0, |it| facts.plants[it as usize].version).saturating_add(1);
        let fact = ix(fact);
        facts.plants.push(Plant { version, delta, ..Plant::new(fact, item, form) });
    }

    /// Sets the position of the last planted fact within its item.
    pub fn placed(&mut self, place: ItemShare) {
        let facts = &mut self.facts;
        facts.places.resize(facts.plants.len(), None);
        if let Some(last) = facts.places.last_mut() {
            *last = Some(place);
        }
    }

    /// Records that the last item repeats a fact's last plant.
    pub fn repeat(&mut self, fact: &str) {
        let item = self.next_item().saturating_sub(1);
        let facts = &mut self.facts;
        facts.repeats.extend(facts.last.get(fact).map(|plant| (*plant, item)));
    }

    /// Asks for the newest version of every fact at the end of the load.
    pub fn ask_at_end(&mut self) {
        self.facts.asks_at_end = true;
    }

    /// Asks for the newest version of a fact before the next step's request; facts that were never stated are
    /// not asked for.
    pub fn ask(&mut self, fact: &str) {
        let step = self.next_step();
        self.facts.asked.extend(self.facts.last.get(fact).map(|it| (*it, step)));
    }

    /// Returns the plane of what was planted and asked, if anything was.
    fn fact_plane(&self) -> Option<FactPlane> {
        let facts = &self.facts;
        let n_items = u64::from(self.next_item().max(1));
        let quartile = |item: ItemIx| u8::try_from(u64::from(item) * 4 / n_items).unwrap_or(3);
        let probe =
            |plant: u32, at| Probe { plant, quartile: quartile(facts.plants[plant as usize].item), at };
        let turns = &self.timeline.spine.turns;
        let asked = facts.asked.iter().map(|(plant, step)| probe(*plant, before_request(turns, *step)));
        let at_end = facts.last.values().filter(|_| facts.asks_at_end);
        let probes = asked.chain(at_end.map(|it| probe(*it, When::END)));
        (!facts.plants.is_empty()).then(|| FactPlane {
            facts: vec![Fact { category: 0 }; facts.last.len()],
            plants: facts.plants.clone(),
            places: facts.places.clone(),
            repeats: facts.repeats.clone(),
            probes: probes.collect(),
            categories: Arc::from(["facts".to_owned()]),
            draws: DrawSource::Named(Seed(self.seed)),
        })
    }
}
