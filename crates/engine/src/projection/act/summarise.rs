//! Summaries: the shortest run of units whose predicted result meets the goal gives way to one text.

use xxhash_rust::xxh3::xxh3_64;

use super::fold::extend;
use crate::prelude::*;
use crate::projection;
use crate::projection::filter::FileOfResult;
use crate::projection::rendition::Render;
use crate::projection::tracker::unit_of;
use crate::projection::{
    Act, Activation, ClassMask, CompiledRung, Env, Known, Num, PromptText, Purpose, Region, Rendered,
    RungParts, SideRequest, UnitSize,
};
use ctxsim_input::{
    Count, KeptItems, PromptPart, Restore, SecondCall, SecondReads, Summarise, SummaryPer, SummaryPrompt,
    SummaryWords,
};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompiledSummary {
    output: Num,
    copy: Vec<Kind>,
    pub(super) overhead: Num,
    at_least: u64,
    per_unit: bool,
    says: SummaryWords,
    pub(super) request: Option<SummaryPrompt>,
    /// Whether a model other than the session's writes it, which finds nothing in the session's cache.
    pub(super) is_elsewhere: bool,
    /// The most that the summariser reads.
    pub(super) reads: Option<Num>,
    pub(super) again: Option<CompiledSecond>,
    stay: Option<Box<Stay>>,
    /// Other restored content, as a part of the summary.
    more: Num,
}

impl CompiledSummary {
    pub(super) fn new(summary: &Summarise, parts: &RungParts<'_>) -> Self {
        let known = parts.context.known;
        let size = |it: Option<&Size>| it.map_or(Num::Const(0), |it| Num::new(it, known));
        let restore = summary.restore.as_ref();
        Self {
            output: Num::new(&summary.output, known),
            copy: summary.copy.clone(),
            overhead: size(summary.overhead.as_ref()),
            at_least: summary.at_least.as_ref().map_or(1, Count::get),
            per_unit: summary.per == SummaryPer::Unit,
            says: summary.says,
            request: Some(summary.prompt).filter(|it| *it != SummaryPrompt::Free),
            is_elsewhere: parts.policy.summariser.is_some(),
            reads: summary.reads.as_ref().map(|it| Num::new(it, known)),
            again: summary.again.as_ref().map(|it| CompiledSecond::new(it, known)),
            stay: Stay::new(summary.keeps.as_ref(), restore, parts.timeline, known).map(Box::new),
            more: size(restore.and_then(|it| it.more.as_ref())),
        }
    }
    /// Puts a summary of its own in the place of each unit, up to the goal.
    fn apply_each(
        &self,
        rung: &mut CompiledRung,
        region: Region,
        activation: &Activation<'_>,
        edit: &mut Editor<'_, '_>,
    ) {
        let size = rung.scope.unit_size(edit, region);
        let is_active = rung.scope.part == PromptPart::Active;
        let resumes = !is_active
            && !rung.scope.protects_slots()
            && size.divides_alike()
            && !rung.counts_progress()
            && matches!(self.output, Num::Const(_))
            && self.stay.is_none();
        let mut at = if resumes { rung.resume(region, edit) } else { region.from };
        at = begin_of_unit(edit, at, region, &size);
        let mut begun = at;
        let mut taken = rung.progress(region, edit);
        let mut units = std::mem::take(&mut rung.units);
        let mut n_replaced = 0;
        while !rung.is_done(activation, taken, edit) {
            rung.scope.next_unit(edit, &mut at, region.to, &size, &mut units);
            let Some(first) = units.first() else { break };
            begun = *first;
            let mut batch = Batch::new(std::mem::take(&mut rung.batch));
            batch.extend(edit.prompt(), &units, &self.copy);
            if rung.counts_progress() {
                units.iter().for_each(|it| taken.take(edit.prompt(), *it));
            }
            if batch.has_items {
                n_replaced += self.replace(&batch, activation, edit);
            }
            rung.batch = batch.slots;
        }
        rung.units = units;
        if resumes {
            // The last unit may not be complete yet.
            rung.settled.cursor = rung.settled.cursor.max(begun);
        }
        edit.note_pass(is_active, n_replaced, n_replaced);
    }

    fn result_of(&self, batch: &Batch, activation: &Activation<'_>, prompt: &Prompt<'_>) -> SummaryOutcome {
        let left = self.stay.as_ref().map(|it| it.left(&batch.slots, prompt, &activation.env));
        let env = Env { input: left.as_ref().map_or(batch.input, |it| it.input), ..activation.env };
        SummaryOutcome { left, env, output: self.output.eval(&env), more: self.more.eval(&env) }
    }

    /// Puts the summary in the place of what it replaces, if that makes it smaller; returns how many slots that are.
    fn replace(&self, batch: &Batch, activation: &Activation<'_>, edit: &mut Editor<'_, '_>) -> u32 {
        let result = self.result_of(batch, activation, edit.prompt());
        let slots = result.replaced(batch);
        if slots.is_empty() || result.stands() >= result.env.input {
            return 0;
        }
        // What no model writes is the same whenever it is made of the same.
        let content = self.request.is_none().then(|| {
            let mut bytes = result.stands().to_le_bytes().to_vec();
            slots.iter().for_each(|it| extend(&mut bytes, edit.prompt(), *it));
            xxh3_64(&bytes)
        });
        let made = SummaryTokens {
            read: batch.input.saturating_add(batch.copied),
            written: result.output.saturating_add(batch.copied),
            n_turns: batch.n_turns(result.left.as_ref(), edit.prompt()),
        };
        self.ask(&made, &result.env, edit);
        for (slot, rendered) in result.left.iter().flat_map(|it| &it.shown) {
            edit.resize(*slot, *rendered);
        }
        let tokens = saturated(result.stands());
        match content {
            Some(digest) => edit.absorb_as(slots, PromptText::sized(tokens, digest), None),
            None => edit.absorb(slots, tokens, None),
        }
        ix(slots.len())
    }

    /// Sends the requests that write a summary, or none if no model does.
    pub(super) fn ask(&self, made: &SummaryTokens, env: &Env, edit: &mut Editor<'_, '_>) {
        let Some(prompt) = self.request else { return };
        let is_aligned = prompt == SummaryPrompt::Aligned;
        let history = if is_aligned {
            edit.prompt().tokens()
        } else {
            self.reads.as_ref().map_or(made.read, |it| made.read.min(it.eval(env)))
        };
        let mut ask = |overhead: Tokens, history: Option<Tokens>, output, items| {
            let finds = is_aligned && !self.is_elsewhere && history.is_some();
            let chain = finds.then(|| edit.chain().asking(overhead));
            let prompt = overhead.saturating_add(history.unwrap_or(0));
            edit.ask(SideRequest { prompt, chain, output, items, purpose: Purpose::Summary });
        };
        ask(self.overhead.eval(env), Some(history), made.written, made.n_turns);
        if let Some(again) = &self.again {
            let overhead = again.overhead.eval(env).saturating_add(made.written);
            let history = (again.reads == SecondReads::History).then_some(history);
            let output = again.output.as_ref().map_or(made.written, |it| it.eval(env));
            ask(overhead, history, output, 0);
        }
    }
}

impl Act for CompiledSummary {
    /// Puts a summary in the place of the shortest run of units whose predicted result meets the goal, or of all.
    fn apply(
        &self,
        rung: &mut CompiledRung,
        region: Region,
        activation: &Activation<'_>,
        edit: &mut Editor<'_, '_>,
    ) {
        let region = rung.scope.of_whole_steps(edit, region);
        if self.per_unit {
            return self.apply_each(rung, region, activation, edit);
        }
        let size = rung.scope.unit_size(edit, region);
        let added = |rung: &CompiledRung, kind| rung.counter.as_ref().map_or(0, |it| it.added_to(kind));
        let added_to_summary = added(rung, Kind::Summary);
        let mut look = rung.look(activation, rung.progress(region, edit), edit);
        let (prompt, counted, scope) = (look.prompt, look.counted, look.scope.tokens);
        let stays_in_scope = rung.scope.filter.has_summary();
        let mut batch = Batch::new(std::mem::take(&mut rung.batch));
        let mut units = std::mem::take(&mut rung.units);
        let mut at = region.from;
        loop {
            // No summary frees more than its input: the length of the output is asked only when the goal is within reach.
            look.prompt = prompt.saturating_sub(batch.input);
            if rung.goal.as_ref().is_some_and(|goal| !goal.wants_less_than(look.prompt)) {
                let result = self.result_of(&batch, activation, edit.prompt());
                look.prompt = prompt.saturating_sub(result.freed());
                let more = if result.replaced(&batch).is_empty() { 0 } else { added_to_summary };
                let less = match &result.left {
                    None => batch.added,
                    Some(it) => it.replaced.iter().map(|it| added(rung, edit.prompt().kind(*it))).sum(),
                };
                look.counted = (counted + more).saturating_sub(result.freed() + less);
                look.scope.tokens =
                    scope.saturating_sub(if stays_in_scope { result.freed() } else { result.taken() });
                if rung.goal.as_ref().is_some_and(|goal| goal.holds(&look)) {
                    break;
                }
            }
            rung.scope.next_unit(edit, &mut at, region.to, &size, &mut units);
            if units.is_empty() {
                break;
            }
            batch.n_units += 1;
            let n_before = batch.slots.len();
            batch.extend(edit.prompt(), &units, &self.copy);
            if rung.counter.is_some() {
                let kinds = batch.slots[n_before..].iter().map(|it| edit.prompt().kind(*it));
                batch.added += kinds.map(|it| added(rung, it)).sum::<Tokens>();
            }
            if rung.counts_progress() {
                units.iter().for_each(|it| look.progress.take(edit.prompt(), *it));
            }
        }
        rung.units = units;
        let n = if batch.n_units >= self.at_least { self.replace(&batch, activation, edit) } else { 0 };
        rung.batch = batch.slots;
        if n > 0 {
            edit.note_pass(rung.scope.part == PromptPart::Active, n, n);
        }
    }

    fn takes_slots(&self) -> bool {
        false
    }

    /// Returns how much it says of what stood in a slot.
    fn left(&self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<projection::Left> {
        if !matches!(prompt.slot(slot).state, State::Host | State::Absorbed) {
            return None;
        }
        match self.says {
            SummaryWords::Unknown => None,
            SummaryWords::Facts => Some(projection::Left::ALL),
            SummaryWords::Head => {
                let result = |it: &SlotIx| prompt.item(*it).kind == Kind::ToolResult;
                let host = (0..=slot).rev().find(|it| prompt.slot(*it).state == State::Host)?;
                let before = (host..slot).filter(result).map(|it| prompt.item(it).raw);
                let room = before.fold(prompt.slot(host).tokens, u32::saturating_sub);
                Some(projection::Left {
                    head: if result(&slot) { room } else { 0 },
                    tail: 0,
                    has_handle: false,
                })
            }
        }
    }
}

/// Returns where the unit begins in whose middle a place is.
fn begin_of_unit(edit: &mut Editor<'_, '_>, at: SlotIx, region: Region, size: &UnitSize) -> SlotIx {
    let UnitSize::Of(unit, _) = size else { return at };
    let mut begin = at;
    while begin > region.from
        && begin < edit.prompt().len()
        && unit_of(edit.prompt(), begin - 1, *unit) == unit_of(edit.prompt(), at, *unit)
    {
        begin -= 1;
    }
    edit.prompt.touch(u64::from(at - begin));
    begin
}

/// What a summary of a batch makes of the prompt.
struct SummaryOutcome {
    /// What stays of the batch, where anything can.
    left: Option<SlotFate>,
    env: Env,
    output: Tokens,
    /// What is after it as a part of it.
    more: Tokens,
}

impl SummaryOutcome {
    /// Returns how large the summary is in the prompt.
    fn stands(&self) -> Tokens {
        self.output.saturating_add(self.more)
    }

    /// Returns what comes back into the prompt beside it.
    fn added(&self) -> Tokens {
        self.left.as_ref().map_or(0, |it| it.added)
    }

    /// Returns by how much it makes the prompt smaller.
    fn freed(&self) -> Tokens {
        self.env.input.saturating_sub(self.stands().saturating_add(self.added()))
    }

    /// Returns by how much it makes the scope smaller where the summary is not in it.
    fn taken(&self) -> Tokens {
        self.env.input.saturating_sub(self.added())
    }

    /// Returns the slots that it takes the place of.
    fn replaced<'o>(&'o self, batch: &'o Batch) -> &'o [SlotIx] {
        self.left.as_ref().map_or(&batch.slots, |it| &it.replaced)
    }
}

/// What a summary is about to replace.
#[derive(Debug, Default)]
struct Batch {
    slots: Vec<SlotIx>,
    input: Tokens,
    copied: Tokens,
    /// What the harness counts for it beside its tokens.
    added: Tokens,
    n_units: u64,
    /// Whether anything of it is not a summary yet.
    has_items: bool,
    n_turns: u32,
    last_turn: Option<TurnIx>,
}

impl Batch {
    /// Begins with nothing, in a list that may have held another batch.
    fn new(mut slots: Vec<SlotIx>) -> Self {
        slots.clear();
        Self { slots, ..Self::default() }
    }

    /// Returns the number of turns a summary replaces, with what stays left out.
    fn n_turns(&self, left: Option<&SlotFate>, prompt: &Prompt<'_>) -> u32 {
        let Some(left) = left else { return self.n_turns };
        let mut turns: Vec<TurnIx> = left.replaced.iter().map(|it| prompt.item(*it).turn_ix).collect();
        turns.dedup();
        ix(turns.len())
    }

    /// Adds the slots of a unit; what is copied stays as it is.
    fn extend(&mut self, prompt: &Prompt<'_>, unit: &[SlotIx], copy: &[Kind]) {
        let begin = self.slots.len();
        if copy.is_empty() {
            self.slots.extend_from_slice(unit);
        } else {
            let kinds = ClassMask::of_kinds(copy);
            let (copied, rest): (Vec<SlotIx>, Vec<SlotIx>) =
                unit.iter().partition(|it| kinds.has_kind(prompt.kind(**it)));
            self.copied += copied.iter().map(|it| Tokens::from(prompt.slot(*it).tokens)).sum::<Tokens>();
            self.slots.extend(rest);
        }
        for index in self.slots[begin..].iter().copied() {
            let (item, slot) = (prompt.item(index), prompt.slot(index));
            self.n_turns += u32::from(self.last_turn != Some(item.turn_ix));
            self.last_turn = Some(item.turn_ix);
            self.has_items |= !slot.is_summary();
            self.input += Tokens::from(slot.tokens);
        }
    }
}

// The requests that write a summary: the first, and the one that looks over it.

/// The second request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompiledSecond {
    reads: SecondReads,
    overhead: Num,
    output: Option<Num>,
}

impl CompiledSecond {
    pub(super) fn new(again: &SecondCall, known: &Known) -> Self {
        Self {
            reads: again.reads,
            overhead: again.overhead.as_ref().map_or(Num::Const(0), |it| Num::new(it, known)),
            output: again.output.as_ref().map(|it| Num::new(it, known)),
        }
    }
}

/// What a summary is made of, in tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct SummaryTokens {
    /// All that the summary is taken of.
    pub(super) read: Tokens,
    /// What is written, copies included.
    pub(super) written: Tokens,
    /// Turns that it replaces.
    pub(super) n_turns: u32,
}

// What stays of the input of a summary: what the harness keeps, cut to fit, and the files that it restores.

/// What stays beside a summary.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stay {
    keeps: Option<(ClassMask, Num)>,
    restore: Option<CompiledRestore>,
}

/// Files that come back.
#[derive(Clone, Debug, PartialEq)]
struct CompiledRestore {
    n_files: u64,
    files: FileOfResult,
    each: Num,
    all: Num,
    name: Num,
}

/// What becomes of the slots that a summary is taken of.
#[derive(Debug, Default)]
pub(super) struct SlotFate {
    /// Those that it takes the place of.
    pub(super) replaced: Vec<SlotIx>,
    /// Those that stay in another way than they stood, the last first.
    pub(super) shown: Vec<(SlotIx, Rendered)>,
    /// Tokens that leave the prompt.
    pub(super) input: Tokens,
    /// Tokens that come back into it.
    pub(super) added: Tokens,
}

impl Stay {
    pub(super) fn new(
        keeps: Option<&KeptItems>,
        restore: Option<&Restore>,
        timeline: &Timeline,
        known: &Known,
    ) -> Option<Self> {
        let size =
            |it: &Option<Size>, silent| it.as_ref().map_or(Num::Const(silent), |it| Num::new(it, known));
        let restored = |it: &Restore| CompiledRestore {
            n_files: it.files.get(),
            files: FileOfResult::new(&it.tools, timeline),
            each: size(&it.each, Tokens::MAX),
            all: size(&it.all, Tokens::MAX),
            name: size(&it.name, 0),
        };
        let kept = |it: &KeptItems| (ClassMask::of_kinds(&it.kinds), Num::new(&it.tokens, known));
        let (keeps, restore) = (keeps.map(kept), restore.map(restored));
        (keeps.is_some() || restore.is_some()).then_some(Self { keeps, restore })
    }

    /// Says what becomes of slots, in ascending order, that a summary is taken of.
    pub(super) fn left(&self, slots: &[SlotIx], prompt: &Prompt<'_>, env: &Env) -> SlotFate {
        let mut room = self.keeps.as_ref().map_or(0, |it| it.1.eval(env));
        let mut back = self.restore.as_ref().map(|it| Back::new(it, env));
        let mut left = SlotFate::default();
        for slot in slots.iter().rev().copied() {
            let stands = Tokens::from(prompt.slot(slot).tokens);
            let kept = if self.keeps(prompt, slot) { fit(stands, &mut room) } else { None };
            let rendered = match kept {
                Some(kept) if kept == stands => continue,
                Some(kept) => Some(cut(kept)),
                None => back.as_mut().and_then(|it| it.shown(prompt, slot)),
            };
            left.take(slot, stands, rendered);
        }
        left.replaced.reverse();
        left
    }

    /// Returns whether a slot is of a kind that is kept.
    fn keeps(&self, prompt: &Prompt<'_>, slot: SlotIx) -> bool {
        self.keeps.as_ref().is_some_and(|it| it.0.has_kind(prompt.kind(slot)))
    }
}

impl SlotFate {
    /// Notes that something is in a slot from now on, or nothing.
    fn take(&mut self, slot: SlotIx, stands: Tokens, rendered: Option<Rendered>) {
        match rendered {
            Some(rendered) => {
                let tokens = Tokens::from(rendered.tokens);
                self.input += stands.saturating_sub(tokens);
                self.added += tokens.saturating_sub(stands);
                self.shown.push((slot, rendered));
            }
            None => {
                self.input += stands;
                self.replaced.push(slot);
            }
        }
    }
}

/// Returns how much of an item fits; once an item had to be cut, nothing more does.
fn fit(stands: Tokens, room: &mut Tokens) -> Option<Tokens> {
    let kept = stands.min(*room);
    *room = if kept == stands { *room - kept } else { 0 };
    (kept > 0 || stands == 0).then_some(kept)
}

/// The beginning of an item.
fn cut(tokens: Tokens) -> Rendered {
    Rendered::sized(ShownAs::Truncate, saturated(tokens), false)
}

/// Files that are coming back, from the last used on.
struct Back<'a> {
    restore: &'a CompiledRestore,
    seen: Vec<u64>,
    each: Tokens,
    room: Tokens,
    name: u32,
}

impl<'a> Back<'a> {
    fn new(restore: &'a CompiledRestore, env: &Env) -> Self {
        Self {
            restore,
            seen: Vec::new(),
            each: restore.each.eval(env),
            room: restore.all.eval(env),
            name: saturated(restore.name.eval(env)),
        }
    }

    /// Returns how a result stands from now on whose file comes back, whole or by its name.
    fn shown(&mut self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<Rendered> {
        let is_result = prompt.kind(slot) == Kind::ToolResult && prompt.slot(slot).state == State::Shown;
        let item = prompt.item(slot);
        let file = self.restore.files.of(item).filter(|it| is_result && !self.seen.contains(it))?;
        if self.seen.len() as u64 >= self.restore.n_files {
            return None;
        }
        self.seen.push(file);
        let raw = Tokens::from(item.raw);
        if raw <= self.each && raw <= self.room {
            self.room -= raw;
            return Some(Render::raw().of(item));
        }
        (self.name > 0).then(|| Rendered::sized(ShownAs::Handle, self.name.min(item.raw), false))
    }
}
