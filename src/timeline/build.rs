//! Puts a timeline together turn by turn; generators, scenario files and importers all end here.

use std::ops::Range;
use std::sync::Arc;

use super::evidence::{Need, Recover, TurnEvidence};
use super::{
    Due, Event, EventKind, Harness, Inferred, Item, Kind, Level, NO_ITEM, Needs, Preserve, Spine, StepRow,
    Texts, Timeline, TurnIx, TurnRow, Usage,
};
use crate::model::cache::Setting;
use crate::quantity::{Cost, Decimal, Tokens};
use crate::spec::scenario::TokenizerSpec;

/// The sizes of an item in its renditions, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// As it came.
    pub raw: u32,
    /// Its exact excerpt.
    pub excerpt: u32,
    /// Its summary.
    pub summary: u32,
    /// Its recovery handle.
    pub handle: u32,
}

impl Sizes {
    /// Sizes of an item that has no other rendition than its whole.
    #[must_use]
    pub fn whole(raw: u32) -> Self {
        Self { raw, excerpt: raw, summary: raw, handle: 0 }
    }
}

/// An item about to be appended.
#[derive(Clone, Copy, Debug)]
pub struct NewItem<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its sizes.
    pub sizes: Sizes,
    /// The tool, for calls and results.
    pub tool: &'a str,
    /// Why it may be needed again.
    pub preserve: Preserve,
    /// What it takes to fetch it again.
    pub recover: Recover,
    /// Of a result: which call of the same step it answers, counted among the reply's calls.
    pub answers: usize,
    /// Stands for its content; made from its place, when silent.
    pub digest: Option<u64>,
    /// Its text, where there is one; of a call, its input as JSON.
    pub text: Option<&'a Arc<str>>,
}

impl<'a> NewItem<'a> {
    /// An item that is nothing but its kind and its size.
    #[must_use]
    pub fn plain(kind: Kind, tokens: u32) -> Self {
        let sizes = Sizes::whole(tokens);
        Self {
            kind,
            sizes,
            tool: "",
            preserve: Preserve::None,
            recover: Recover::default(),
            answers: 0,
            digest: None,
            text: None,
        }
    }

    /// A tool call.
    #[must_use]
    pub fn call(tool: &'a str, tokens: u32) -> Self {
        Self { tool, ..Self::plain(Kind::ToolCall, tokens) }
    }

    /// The result of the reply's n-th call.
    #[must_use]
    pub fn result(tool: &'a str, answers: usize, sizes: Sizes, preserve: Preserve, recover: Recover) -> Self {
        Self { kind: Kind::ToolResult, sizes, tool, preserve, recover, answers, digest: None, text: None }
    }
}

/// Puts a timeline together.
#[derive(Debug)]
pub struct TimelineBuilder {
    timeline: Timeline,
    file_tools: Vec<String>,
    seed: u64,
    open: OpenTurn,
    usage: Vec<Option<Usage>>,
    tails: Vec<Tokens>,
    costs: Vec<Option<Cost>>,
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
    #[must_use]
    pub fn new(name: &str, file_tools: &[String]) -> Self {
        let timeline = Timeline {
            name: name.to_owned(),
            spine: Spine::default(),
            needs: Needs::default(),
            facts: None,
            texts: Texts::default(),
            events: Vec::new(),
            harness: Harness::default(),
            quiet_turns: Vec::new(),
            recorded: None,
            chars_per_token: Decimal::parse("4").unwrap_or(Decimal::ONE),
            tokenizer: None,
            assumptions: Vec::new(),
        };
        let seed = xxhash_rust::xxh3::xxh3_64(name.as_bytes());
        Self {
            timeline,
            file_tools: file_tools.to_vec(),
            seed,
            open: OpenTurn::default(),
            usage: Vec::new(),
            tails: Vec::new(),
            costs: Vec::new(),
        }
    }

    /// Says how many characters a token has.
    pub fn chars_per_token(&mut self, ratio: Decimal) {
        self.timeline.chars_per_token = ratio;
    }

    /// Says what counts texts that a policy writes, where something does.
    pub fn tokenizer(&mut self, tokenizer: Option<TokenizerSpec>) {
        self.timeline.tokenizer = tokenizer;
    }

    /// Notes an assumption for the report.
    pub fn assume(&mut self, sentence: impl Into<String>) {
        self.timeline.assumptions.push(sentence.into());
    }

    /// Appends to the stable prefix; only before the first turn.
    pub fn stable(&mut self, kind: Kind, tokens: u32) {
        self.stable_item(&NewItem::plain(kind, tokens));
    }

    /// Appends an item with its own content to the stable prefix; only before the first turn.
    pub fn stable_item(&mut self, item: &NewItem<'_>) {
        debug_assert!(self.timeline.spine.turns.is_empty(), "the stable prefix comes first");
        self.push(item, NO_ITEM);
        self.timeline.spine.n_stable = self.next_item();
    }

    /// Begins a turn with the user's items, ending the one before.
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
        for item in user {
            self.push(item, NO_ITEM);
        }
        let end = self.next_item();
        if let Some(row) = self.timeline.spine.turns.last_mut() {
            row.user.end = end;
            row.items.end = end;
        }
    }

    /// Appends one model request: what it answers and what its calls give back.
    pub fn step(
        &mut self,
        at_ms: i64,
        output_tokens: Tokens,
        reply: &[NewItem<'_>],
        results: &[NewItem<'_>],
    ) {
        debug_assert!(self.open.is_open, "a step belongs to a turn");
        let first = self.next_item();
        for item in reply {
            self.push(item, NO_ITEM);
        }
        let calls: Vec<u32> = (first..self.next_item())
            .filter(|it| self.timeline.spine.items[*it as usize].kind == Kind::ToolCall)
            .collect();
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
            output_tokens,
        });
        self.usage.push(None);
        let n_steps = self.next_step();
        if let Some(row) = self.timeline.spine.turns.last_mut() {
            row.steps.end = n_steps;
            row.items.end = end;
        }
    }

    /// Says when the last step's response starts and ends; not before its request does.
    pub fn response(&mut self, starts_ms: i64, ends_ms: i64) {
        if let Some(row) = self.timeline.spine.steps.last_mut() {
            row.response_ms = starts_ms.max(row.at_ms);
            row.end_ms = ends_ms.max(row.response_ms);
        }
    }

    /// Says how the harness uses the provider's cache.
    pub fn harness(&mut self, harness: Harness) {
        self.timeline.harness = harness;
    }

    /// Says that the harness makes no side request after the open turn.
    pub fn quiet(&mut self) {
        let open = self.turn_ix();
        self.timeline.quiet_turns.push(open);
    }

    /// Says that the harness took items out before the request of the step that comes next; the stable prefix stays.
    pub fn reset(&mut self, items: Range<u32>) {
        let items = items.start.max(self.timeline.spine.n_stable)..items.end;
        if !items.is_empty() {
            let step = self.next_step();
            self.timeline.events.push(Event { step, kind: EventKind::Reset(items) });
        }
    }

    /// Says that a setting has another value from the request of the step that comes next on.
    pub fn change(&mut self, setting: Setting, value: u32) {
        let step = self.next_step();
        self.timeline.events.push(Event { step, kind: EventKind::Change(setting, value) });
    }

    /// Says how many tokens of the last step's prompt stand behind its last breakpoint.
    pub fn tail(&mut self, tokens: Tokens) {
        self.tails.resize(self.timeline.spine.steps.len(), 0);
        if let Some(last) = self.tails.last_mut() {
            *last = tokens;
        }
    }

    /// Says what the provider billed for the last step.
    pub fn usage(&mut self, usage: Usage) {
        if let Some(last) = self.usage.last_mut() {
            *last = Some(usage);
            self.timeline.recorded.get_or_insert_default();
        }
    }

    /// Says what the recording itself says that the last step cost.
    pub fn cost(&mut self, cost: Cost) {
        self.costs.resize(self.timeline.spine.steps.len(), None);
        if let Some(last) = self.costs.last_mut() {
            *last = Some(cost);
            self.timeline.recorded.get_or_insert_default();
        }
    }

    /// Says that something is due in the open turn.
    pub fn need(&mut self, due: Due, need: Need) {
        self.open.needs[due as usize].push(need);
    }

    /// Says that a step's call needs one earlier result, and which other items name what that was fetched by; steps in order.
    pub fn item_need(&mut self, inferred: Inferred, level: Level, weight: f64, mentions: &[u32]) {
        let Some(item) = self.timeline.spine.items.get(inferred.item as usize) else { return };
        let need = Need { source: item.turn_ix, level, weight, recover_tokens: None };
        let tool = self.timeline.spine.tools.get_index(usize::from(item.tool));
        let is_file = tool.is_some_and(|tool| self.file_tools.contains(tool));
        let evidence = TurnEvidence::of_item(item, is_file);
        self.timeline.needs.push_item(inferred, need, evidence, mentions);
    }

    /// Returns the index of the open turn.
    #[must_use]
    pub fn turn_ix(&self) -> TurnIx {
        TurnIx::try_from(self.timeline.spine.turns.len().saturating_sub(1)).unwrap_or(TurnIx::MAX)
    }

    /// Ends the timeline.
    #[must_use]
    pub fn finish(mut self) -> Timeline {
        self.end_turn();
        if let Some(recorded) = &mut self.timeline.recorded {
            recorded.usage = self.usage;
            recorded.tails = self.tails;
            recorded.costs = self.costs;
        }
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
        let spine = &mut self.timeline.spine;
        let tool = if new.tool.is_empty() {
            u16::MAX as usize
        } else {
            spine
                .tools
                .get_index_of(new.tool)
                .unwrap_or_else(|| spine.tools.insert_full(new.tool.to_owned()).0)
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
            turn_ix: TurnIx::try_from(spine.turns.len().saturating_sub(1)).unwrap_or(TurnIx::MAX),
            step_ix: u32::try_from(spine.steps.len()).unwrap_or(u32::MAX),
            tool: u16::try_from(tool).unwrap_or(u16::MAX),
            kind: new.kind,
            preserve: new.preserve,
        };
        spine.items.push(item);
        if let Some(text) = new.text {
            self.timeline.texts.set(index, text);
        }
        if let Some(call) = spine.items.get_mut(pair as usize) {
            call.pair = index;
        }
        if new.kind == Kind::ToolResult {
            let is_file = self.file_tools.iter().any(|it| it == new.tool);
            self.open.evidence.add(&item, &new.recover, is_file);
        }
    }

    /// Returns the place of the item that comes next.
    #[must_use]
    pub fn next_item(&self) -> u32 {
        u32::try_from(self.timeline.spine.items.len()).unwrap_or(u32::MAX)
    }

    fn next_step(&self) -> u32 {
        u32::try_from(self.timeline.spine.steps.len()).unwrap_or(u32::MAX)
    }
}
