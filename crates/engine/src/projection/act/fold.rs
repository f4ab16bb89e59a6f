//! Folds: each turn of a scope becomes its kept items and one summary, whose size follows from what it contains.

use crate::prelude::*;

use xxhash_rust::xxh3::xxh3_64;

use super::{CompiledBudget, OpenPool};
use crate::projection::text::Passage;
use crate::projection::{
    Act, Activation, ClassMask, CompiledRung, Num, Region, Rendered, RungParts, Slot, TableRows, TextContent,
    UnitSize, Writer,
};
use ctxsim_input::{Fold, PromptPart, Template};

/// A fold as a program holds it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompiledFold {
    having: ClassMask,
    copy: Option<ClassMask>,
    quote: Option<ClassMask>,
    rows: TableRows,
    template: Option<(Template, Arc<Writer>)>,
    budget: Option<CompiledBudget>,
    frame: Tokens,
    each: Tokens,
    grows: bool,
}

impl CompiledFold {
    pub(super) fn new(fold: &Fold, parts: &RungParts<'_>) -> Self {
        let (policy, known, spine) = (parts.policy, parts.context.known, &parts.timeline.spine);
        let some = |kinds: &[Kind]| (!kinds.is_empty()).then(|| ClassMask::of_kinds(kinds));
        let size = |size: &Option<Size>| Num::fixed(size.as_ref(), known).unwrap_or(0);
        let results = fold.results.as_ref();
        let rows = TableRows::new(results.map_or(&[], |it| policy.table(&it.rows)), spine, known);
        let result_template = policy.template(results.and_then(|it| it.template.as_ref()));
        let budget = results.and_then(|it| it.budget.as_ref());
        Self {
            having: ClassMask::of_kinds(&fold.having),
            copy: some(&fold.copy),
            quote: some(&fold.quote),
            rows: rows.write(result_template, spine, parts.writer),
            template: policy.template(fold.template.as_ref()).cloned().zip(parts.writer.cloned()),
            budget: budget.map(|it| CompiledBudget::new(it, known)),
            frame: size(&fold.frame),
            each: size(&fold.each),
            grows: fold.grows,
        }
    }

    /// Returns what folding these slots of one turn would make of them.
    fn draft(
        &self,
        unit: &[SlotIx],
        rung: &CompiledRung,
        mut pool: Option<&mut OpenPool>,
        edit: &mut Editor<'_, '_>,
    ) -> TurnDraft {
        let mut draft = TurnDraft { output: self.frame, ..TurnDraft::default() };
        if !unit.iter().any(|it| self.having.has_kind(edit.prompt().kind(*it))) {
            return draft;
        }
        let has = |mask: Option<ClassMask>, kind| mask.is_some_and(|it| it.has_kind(kind));
        for slot in unit.iter().copied() {
            let kind = edit.prompt().kind(slot);
            if has(self.copy, kind) {
                continue;
            }
            let stands = edit.prompt().slot(slot).tokens;
            draft.input += Tokens::from(stands);
            draft.has_items |= !edit.prompt().slot(slot).is_summary();
            let fate = if kind == Kind::ToolResult {
                let pool = pool.as_deref_mut().map(|it| it.at(slot, rung, edit));
                let rendered = self.rows.at(edit.prompt().item(slot), pool);
                // Words of a template are those of the summary: their size is told with it.
                let rendered = rendered.filter(|it| self.is_written() || it.tokens < stands);
                let tokens = rendered.map_or(stands, |it| it.tokens);
                draft.output = draft.output.saturating_add(self.each).saturating_add(tokens.into());
                FoldFate::Told(rendered)
            } else if has(self.quote, kind) {
                draft.output = draft.output.saturating_add(stands.into());
                FoldFate::Told(None)
            } else {
                FoldFate::Gone
            };
            draft.fates.push((slot, fate));
        }
        if let Some((output, content)) = self.written(&draft, edit.prompt()) {
            (draft.output, draft.content) = (output, Some(content));
        }
        draft
    }
}

/// What becomes of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoldFate {
    /// The summary contains it: as it is, or as it is shown from now on.
    Told(Option<Rendered>),
    /// The summary does not tell of it.
    Gone,
}

/// A turn about to be folded.
#[derive(Debug, Default)]
struct TurnDraft {
    fates: Vec<(SlotIx, FoldFate)>,
    input: Tokens,
    output: Tokens,
    /// What the summary's words are known by, where a template writes them.
    content: Option<TextContent>,
    /// Whether there is more to fold than summaries.
    has_items: bool,
}

impl Act for CompiledFold {
    /// Folds the turns of the scope from the oldest on, until the goal is met.
    fn apply(
        &self,
        rung: &mut CompiledRung,
        region: Region,
        activation: &Activation<'_>,
        edit: &mut Editor<'_, '_>,
    ) {
        let is_active = rung.scope.part == PromptPart::Active;
        // What comes earlier in a pass may say something of a turn.
        let is_per_turn = self.budget.is_none_or(|it| it.per_turn);
        let resumes = !is_active && !rung.scope.protects_slots() && !rung.counts_progress() && is_per_turn;
        let mut at = if resumes { rung.resume(region, edit) } else { region.from };
        at = begin_of_turn(edit, at).max(region.from);
        let mut pool = self.budget.map(|it| OpenPool::new(it, region));
        let mut taken = rung.progress(region, edit);
        let mut units = std::mem::take(&mut rung.units);
        let mut n_folded = 0;
        while !rung.is_done(activation, taken, edit) {
            rung.scope.next_unit(edit, &mut at, region.to, &UnitSize::Of(Unit::Turns, 1), &mut units);
            if units.is_empty() {
                break;
            }
            let before = pool;
            let draft = self.draft(&units, rung, pool.as_mut(), edit);
            // Never of a turn folded before; else whatever its size, or if it gets smaller.
            if !draft.has_items || !self.grows && draft.output >= draft.input {
                pool = before;
                continue;
            }
            for slot in &units {
                taken.take(edit.prompt(), *slot);
            }
            n_folded += ix::<u32>(draft.fates.len());
            draft.make(edit);
        }
        rung.units = units;
        if resumes {
            rung.settled.cursor = rung.settled.cursor.max(at);
        }
        edit.note_pass(is_active, n_folded, n_folded);
    }

    fn takes_slots(&self) -> bool {
        false
    }

    fn adds_up(&self) -> bool {
        true
    }

    /// Writes the summary that is in a slot.
    fn text(&self, prompt: &Prompt<'_>, host: SlotIx) -> Option<String> {
        let (stands, turn_ix) = (prompt.slot(host), prompt.item(host).turn_ix);
        let items = prompt.history().turns().get(turn_ix as usize)?.items.clone();
        let told = (host..items.end.min(prompt.len())).filter(|slot| {
            let kind = prompt.item(*slot).kind;
            let is_told = kind == Kind::ToolResult || self.quote.is_some_and(|it| it.has_kind(kind));
            let in_it = *slot == host || prompt.slot(*slot).state == State::Folded;
            is_told && in_it && prompt.slot(*slot).by == stands.by
        });
        Some(self.write(prompt, told.map(|it| (it, prompt.slot(it).rendition)))?.0)
    }
}

/// Returns where the turn begins in whose middle a place is.
fn begin_of_turn(edit: &Editor<'_, '_>, at: SlotIx) -> SlotIx {
    let items = edit.prompt().history().items();
    let Some(before) = at.checked_sub(1).and_then(|it| items.get(it as usize)) else { return at };
    let is_between = items.get(at as usize).is_none_or(|it| it.turn_ix != before.turn_ix);
    if is_between && at < edit.prompt().len() {
        return at;
    }
    edit.prompt().history().turns().get(before.turn_ix as usize).map_or(at, |it| it.items.start)
}

/// What represents the words of a folded summary.
impl CompiledFold {
    fn is_written(&self) -> bool {
        self.rows.written.is_some() && self.template.is_some()
    }

    /// Returns how large the summary is in the template's words, and what these are known by; content without text is
    /// included as it is.
    fn written(&self, draft: &TurnDraft, prompt: &Prompt<'_>) -> Option<(Tokens, TextContent)> {
        let (_, writer) = self.template.as_ref()?;
        let told = draft.fates.iter().filter_map(|(slot, fate)| match fate {
            FoldFate::Told(rendered) => {
                Some((*slot, rendered.map_or(prompt.slot(*slot).rendition, |it| it.shown)))
            }
            FoldFate::Gone => None,
        });
        let (text, silent) = self.write(prompt, told)?;
        let text = writer.count(&text);
        let mut bytes = text.content.digest().to_le_bytes().to_vec();
        let mut tokens = Tokens::from(text.tokens);
        for slot in &silent {
            tokens = tokens.saturating_add(prompt.slot(*slot).tokens.into());
            extend(&mut bytes, prompt, *slot);
        }
        let content = if silent.is_empty() { text.content } else { TextContent::of_digest(xxh3_64(&bytes)) };
        Some((tokens, content))
    }

    /// Writes the summary; also returns which part of its content has no text.
    fn write(
        &self,
        prompt: &Prompt<'_>,
        told: impl Iterator<Item = (SlotIx, ShownAs)>,
    ) -> Option<(String, Vec<SlotIx>)> {
        let (template, writer) = self.template.as_ref()?;
        let text = |slot| writer.text(prompt.item(slot).origin);
        let (mut passages, mut silent) = (Vec::new(), Vec::new());
        for (slot, shown) in told {
            let is_result = prompt.item(slot).kind == Kind::ToolResult;
            let passage = if is_result {
                let written = self.rows.text(prompt, slot, shown);
                written.or_else(|| text(slot).map(str::to_owned)).map(Passage::Result)
            } else {
                text(slot).map(|it| Passage::Quote(it.to_owned()))
            };
            match passage {
                Some(passage) => passages.push(passage),
                None => silent.push(slot),
            }
        }
        Some((writer.block(template, passages)?, silent))
    }
}

impl TurnDraft {
    /// Puts the summary into the first slot that does not stay.
    fn make(self, edit: &mut Editor<'_, '_>) {
        let tokens = saturated(self.output);
        for (slot, fate) in &self.fates {
            if let FoldFate::Told(Some(rendered)) = fate {
                edit.resize(*slot, *rendered);
            }
        }
        let content = Some(self.content.unwrap_or_else(|| self.told(edit.prompt())));
        for (n, (slot, fate)) in self.fates.iter().enumerate() {
            let stands = *edit.prompt().slot(*slot);
            // An earlier fold that is left out takes its content with it.
            let is_behind =
                stands.state == State::Host || (stands.state == State::FoldHost && *fate == FoldFate::Gone);
            let state = match (n, is_behind, fate) {
                (0, true, _) => State::Host,
                (0, false, _) => State::FoldHost,
                (_, true, _) => State::Absorbed,
                (_, false, FoldFate::Told(_)) => State::Folded,
                (_, false, FoldFate::Gone) => State::Dropped,
            };
            let (tokens, content) = if n == 0 { (tokens, content) } else { (0, None) };
            edit.put(*slot, Slot { tokens, content, state, ..stands });
        }
    }

    /// Returns what a summary without text is known by: its content, as it is, and what it leaves out.
    fn told(&self, prompt: &Prompt<'_>) -> TextContent {
        let mut bytes = Vec::with_capacity(self.fates.len() * 15);
        for (slot, fate) in &self.fates {
            extend(&mut bytes, prompt, *slot);
            bytes.push(u8::from(*fate == FoldFate::Gone));
        }
        TextContent::of_digest(xxh3_64(&bytes))
    }
}

/// Appends what a slot shows.
pub(super) fn extend(bytes: &mut Vec<u8>, prompt: &Prompt<'_>, slot: SlotIx) {
    let stands = prompt.slot(slot);
    let digest = stands.content.map_or(prompt.item(slot).digest, TextContent::digest);
    bytes.extend_from_slice(&digest.to_le_bytes());
    bytes.extend_from_slice(&stands.tokens.to_le_bytes());
    bytes.extend_from_slice(&[stands.rendition as u8, u8::from(stands.content.is_some())]);
}
