//! A view at work: asked before each request, its answer turned into edits.

use crate::prelude::*;

use super::book::Book;
use super::view::{ItemId, Kind, Lasts, ModelCall, Part, PartForm, View};
use super::{CodeInputs, Guarded, Text, guard};
use crate::projection::{self, Left, Manner, Purpose, SideRequest, Slot, text_as_it_came};
use ctxsim_input::ShownAs;

/// Tokens to which a view may bring a prompt: sums of any number of requests stay within their type.
const TOKENS_MAX: Tokens = u32::MAX as Tokens;

/// A view as a projector.
pub(super) struct Viewed<'t, V> {
    name: Arc<str>,
    view: Guarded<V>,
    book: Book<'t>,
    /// The words that stand in slots, where they were given.
    words: BTreeMap<SlotIx, SlotWords>,
    /// What model calls wrote in the last view: these are not billed again.
    written: Vec<projection::PromptText>,
}

/// Words in a slot.
struct SlotWords {
    words: String,
    /// Their size and content, counted once.
    text: projection::PromptText,
    /// How much of the slot's entry they keep.
    left: Option<Left>,
}

impl<'t, V: View> Viewed<'t, V> {
    pub(super) fn new(name: &Arc<str>, made: CodeInputs<'t>, view: Guarded<V>) -> Self {
        Self {
            name: Arc::clone(name),
            view,
            book: Book::new(made),
            words: BTreeMap::new(),
            written: Vec::new(),
        }
    }

    /// Asks the view, and edits the prompt to what it answers.
    fn answer(&mut self, ambient: &Ambient, edit: &mut Editor<'_, '_>) -> Result<(), String> {
        let view = match &mut self.view {
            Ok(view) => view,
            Err(why) => return Err(std::mem::take(why)),
        };
        let lasts = view.lasts();
        let (cx, history) = (self.book.cx(ambient, edit), &self.book.entries);
        let parts = guard("the view", || view.view(&cx, history))?;
        self.book.seen();
        let (end, spares) = (edit.prompt().len(), edit.prompt().spares());
        // Those of earlier sessions are over with them.
        let first = edit.prompt().history().session_from();
        let spares = &spares[spares.partition_point(|it| *it < first)..];
        let placed = place(&parts, &self.book.known, spares, end).map_err(|it| it.to_string())?;
        let timeline = self.book.made.timeline;
        let calls: Vec<_> =
            placed.calls.iter().map(|(text, call, items)| (text.counted(timeline), *call, *items)).collect();
        let prefix =
            calls.iter().any(|it| it.1.shares_prefix).then(|| (edit.chain(), edit.prompt().tokens()));
        edit.set_manner(Manner {
            moment: Moment::Request,
            author: 0,
            stage: 0,
            lasts: if lasts == Lasts::Request { EditsLast::Request } else { EditsLast::History },
            keeps_prefix: false,
        });
        self.edit(&placed, edit)?;
        self.bill(&calls, prefix.as_ref(), edit)
    }

    /// Edits the slots that are to hold something else than they do.
    fn edit(&mut self, placed: &PlacedView<'_>, edit: &mut Editor<'_, '_>) -> Result<(), String> {
        let first = edit.prompt().history().session_from();
        let mut targets: Vec<(SlotIx, Option<&Target<'_>>)> =
            (first..edit.prompt().len()).map(|it| (it, placed.slots.get(&it))).collect();
        for target in &placed.behind {
            targets.push((edit.prompt.add_spare(), Some(target)));
        }
        // From the end on, so that a hidden run leads to its end in one step.
        let mut total = edit.prompt().stable_tokens();
        for (index, target) in targets.into_iter().rev() {
            total = total.saturating_add(self.set(index, target, edit));
        }
        edit.note_first_edit();
        if total > TOKENS_MAX {
            return Err(format!(
                "the view would produce a prompt of {total} tokens; at most {TOKENS_MAX} are supported"
            ));
        }
        Ok(())
    }

    /// Makes a slot hold what it is to hold; returns its tokens.
    fn set(&mut self, index: SlotIx, target: Option<&Target<'_>>, edit: &mut Editor<'_, '_>) -> Tokens {
        let (before, item) = (*edit.prompt().slot(index), *edit.prompt().item(index));
        if before.state == State::Past || edit.prompt().memory() == Some(index) {
            return before.tokens.into();
        }
        let hidden = |state| Slot { tokens: 0, state, exact: false, content: None, ..before };
        let raw = self.book.made.timeline.texts.text(item.origin);
        let after = match target {
            None if !before.is_visible() && before.state != State::Absorbed => return 0,
            None => hidden(State::Dropped),
            Some(Target::Absorbed) if before.state == State::Absorbed => return 0,
            Some(Target::Absorbed) => hidden(State::Absorbed),
            Some(Target::Raw) => Slot::as_it_came(&item),
            Some(Target::Words(_, text)) if raw.is_some() && raw == text.words() => Slot::as_it_came(&item),
            Some(Target::Words(part, text)) => {
                let says = self.say(index, text, |words| Some(left(words, raw, item.raw, part.has_handle)));
                let rendition = if part.has_handle { ShownAs::Offload } else { ShownAs::Truncate };
                let exact = part.is_exact && item.preserve.is_exact();
                let (tokens, content) = (says.tokens, Some(says.content));
                Slot { tokens, rendition, state: State::Shown, exact, content, ..before }
            }
            Some(Target::Host(text)) => {
                let says = self.say(index, text, |_| None);
                Slot { tokens: says.tokens, content: Some(says.content), ..hidden(State::Host) }
            }
            Some(Target::Own(kind, text)) => {
                let says = self.say(index, text, |_| None);
                let is_same = before.state == State::Shown && before.content == Some(says.content);
                if !is_same || before.tokens != says.tokens || item.kind != *kind {
                    edit.say(index, *kind, says);
                }
                return says.tokens.into();
            }
        };
        if after.content.is_none() {
            self.words.remove(&index);
        }
        if (Slot { by: before.by, ..after }) != before {
            edit.set(index, after);
        }
        after.tokens.into()
    }

    /// Counts a text, and remembers its words for those who read the prompt; words that stand there already are counted.
    fn say(
        &mut self,
        index: SlotIx,
        text: &Text,
        left: impl FnOnce(&str) -> Option<Left>,
    ) -> projection::PromptText {
        let Some(words) = text.words() else {
            self.words.remove(&index);
            return text.counted(self.book.made.timeline);
        };
        if let Some(said) = self.words.get(&index).filter(|it| it.words == words) {
            return said.text;
        }
        let counted = text.counted(self.book.made.timeline);
        self.words.insert(index, SlotWords { words: words.to_owned(), text: counted, left: left(words) });
        counted
    }

    /// Sends the requests that wrote new parts.
    fn bill(
        &mut self,
        calls: &[(projection::PromptText, ModelCall, u32)],
        prefix: Option<&(Chain, Tokens)>,
        edit: &mut Editor<'_, '_>,
    ) -> Result<(), String> {
        for (text, call, items) in calls {
            if call.input > TOKENS_MAX || call.output > TOKENS_MAX {
                return Err(format!("a model call takes more than {TOKENS_MAX} tokens"));
            }
            if self.written.contains(text) {
                continue;
            }
            let chain = match prefix.filter(|_| call.shares_prefix) {
                Some((chain, tokens)) => {
                    let asks = call.input.checked_sub(*tokens).ok_or_else(|| {
                        format!(
                            "a model call with {} input tokens cannot share a prefix of {tokens} tokens",
                            call.input
                        )
                    })?;
                    Some(chain.clone().asking(asks))
                }
                None => None,
            };
            edit.ask(SideRequest {
                prompt: call.input,
                chain,
                output: call.output,
                items: *items,
                purpose: Purpose::Summary,
            });
        }
        self.written = calls.iter().map(|it| it.0).collect();
        Ok(())
    }
}

/// Returns how much some words keep of a text: their common beginning and end.
fn left(words: &str, raw: Option<&str>, tokens: u32, has_handle: bool) -> Left {
    let Some(raw) = raw.filter(|it| !it.is_empty()) else { return Left { head: 0, tail: 0, has_handle } };
    let common = |pairs: &mut dyn Iterator<Item = (char, char)>| {
        pairs.take_while(|(one, other)| one == other).map(|it| it.0.len_utf8()).sum::<usize>()
    };
    let head = common(&mut words.chars().zip(raw.chars()));
    let (words, rest) = (&words[head..], &raw[head..]);
    let tail = common(&mut words.chars().rev().zip(rest.chars().rev()));
    let share = |bytes: usize| {
        let share = u128::from(tokens) * bytes as u128 / raw.len() as u128;
        u32::try_from(share).unwrap_or(tokens)
    };
    Left { head: share(head), tail: share(tail), has_handle }
}

impl<V: View> Projector for Viewed<'_, V> {
    fn name(&self) -> &str {
        &self.name
    }

    fn may_act(&self, moment: Moment, _prompt: Tokens) -> bool {
        matches!(moment, Moment::SessionStart | Moment::Request | Moment::TurnEnd)
    }

    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        // Who watches a policy asks it at every moment.
        if !self.may_act(moment, edit.prompt().tokens()) {
            return;
        }
        self.book.follow(moment, edit);
        self.book.add_spares(moment, edit);
        if moment == Moment::Request
            && let Err(why) = self.answer(ambient, edit)
        {
            edit.fail(match &mut self.view {
                Ok(view) => view.refused(why),
                Err(_) => why,
            });
        }
    }

    fn left(&self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<Left> {
        let stands = prompt.slot(slot);
        if stands.state != State::Shown || !matches!(stands.rendition, ShownAs::Truncate | ShownAs::Offload) {
            return None;
        }
        let unknown = Left { head: 0, tail: 0, has_handle: stands.rendition == ShownAs::Offload };
        Some(self.words.get(&slot).and_then(|it| it.left).unwrap_or(unknown))
    }

    fn text(&self, prompt: &Prompt<'_>, texts: &Texts, slot: SlotIx) -> Option<String> {
        if prompt.slot(slot).is_visible()
            && let Some(said) = self.words.get(&slot)
        {
            return Some(said.words.clone());
        }
        text_as_it_came(prompt.slot(slot), texts, prompt.item(slot).origin)
    }
}

// From the parts of a view to what each slot of the prompt is to hold: every rule that a view must keep is checked here.

/// An entry that a view can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedEntry {
    /// Its number.
    pub(super) id: ItemId,
    /// Where it stands.
    pub(super) slot: SlotIx,
    /// Its call or its result, where that has come, too.
    pub(super) pair: Option<ItemId>,
    /// Whether it belongs to the stable prefix.
    pub(super) is_stable: bool,
    /// Whether it is a call whose result has not come.
    pub(super) waits: bool,
}

/// What a slot is to hold; slots that are not told are left out of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target<'p> {
    /// Its entry as it came.
    Raw,
    /// Its entry in other words.
    Words(&'p Part, &'p Text),
    /// A summary of entries, its own among them.
    Host(&'p Text),
    /// Nothing: a summary replaces its entry.
    Absorbed,
    /// Words of the policy's own, in a slot that is no entry's.
    Own(Kind, &'p Text),
}

/// A view in slots, in their order, and behind them what is added at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlacedView<'p> {
    /// By slot.
    pub(super) slots: BTreeMap<SlotIx, Target<'p>>,
    /// Words behind everything else.
    pub(super) behind: Vec<Target<'p>>,
    /// The calls that wrote parts: the words, what wrote them, and how many entries they replace.
    pub(super) calls: Vec<(&'p Text, ModelCall, u32)>,
}

/// A view that cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Misplaced {
    /// No entry has this number, or the recorded harness took it out.
    #[error("the view names entry {0}, which is not in the history")]
    Unknown(ItemId),
    /// An entry is named twice.
    #[error("the view names entry {0} twice")]
    Twice(ItemId),
    /// Entries cannot be reordered.
    #[error("the view shows entry {1} after entry {0}: entries must stay in the order in which they arrived")]
    Order(ItemId, ItemId),
    /// The stable prefix stays as it is.
    #[error("the view changes entry {0}, which is in the stable prefix and must not change")]
    Stable(ItemId),
    /// A call and its result go together.
    #[error(
        "the view keeps entry {shown} but not entry {hidden}: a tool call and its result must be kept or dropped together"
    )]
    Torn {
        /// What it shows.
        shown: ItemId,
        /// What it leaves out.
        hidden: ItemId,
    },
    /// The result of this call would come without it.
    #[error("the view leaves out entry {0}, a tool call whose result has not arrived yet")]
    Waits(ItemId),
    /// Only inserted words replace entries.
    #[error("only inserted parts replace entries; the part for entry {0} does not insert anything")]
    Replaces(ItemId),
    /// No provider takes it there.
    #[error("the view inserts a part of kind `{0:?}`; use user, assistant, summary, memory or system")]
    Kind(Kind),
    /// Slots between old entries cannot be added.
    #[error(
        "the view inserts too many parts after entry {0}: join them into one (two fit between messages, eight before the first)"
    )]
    Full(ItemId),
}

/// Where inserted words can go.
struct Gaps<'a> {
    /// Slots that are no entry's, in order.
    spares: &'a [SlotIx],
    /// Behind everything that has come.
    end: SlotIx,
}

/// Finds what each slot is to hold.
///
/// # Errors
/// The first rule that the view breaks.
pub(super) fn place<'p>(
    parts: &'p [Part],
    known: &[NamedEntry],
    spares: &[SlotIx],
    end: SlotIx,
) -> Result<PlacedView<'p>, Misplaced> {
    let mut placed = PlacedView::default();
    shown(parts, known, &mut placed)?;
    replaced(parts, known, &mut placed)?;
    inserted(parts, known, &Gaps { spares, end }, &mut placed)?;
    whole(known, &placed)?;
    Ok(placed)
}

fn find(known: &[NamedEntry], id: ItemId) -> Result<&NamedEntry, Misplaced> {
    let at = known.binary_search_by_key(&id, |it| it.id).map_err(|_| Misplaced::Unknown(id))?;
    Ok(&known[at])
}

/// Places the entries that are shown, as they came or in other words.
fn shown<'p>(parts: &'p [Part], known: &[NamedEntry], placed: &mut PlacedView<'p>) -> Result<(), Misplaced> {
    let mut last: Option<ItemId> = None;
    for part in parts {
        let (id, target) = match &part.form {
            PartForm::Keep(id) => (*id, Target::Raw),
            PartForm::Rewrite(id, text) => (*id, Target::Words(part, text)),
            PartForm::Insert(..) => continue,
        };
        let entry = find(known, id)?;
        match last {
            Some(before) if before == id => return Err(Misplaced::Twice(id)),
            Some(before) if before > id => return Err(Misplaced::Order(before, id)),
            _ => last = Some(id),
        }
        if !part.replaces.is_empty() || part.written_by.is_some() && target == Target::Raw {
            return Err(Misplaced::Replaces(id));
        }
        if let (Target::Words(_, text), Some(call)) = (&target, part.written_by) {
            placed.calls.push((text, call, 1));
        }
        match (entry.is_stable, &target) {
            (true, Target::Raw) => {}
            (true, _) => return Err(Misplaced::Stable(id)),
            (false, _) => {
                placed.slots.insert(entry.slot, target);
            }
        }
    }
    Ok(())
}

/// Places the entries that inserted words replace.
fn replaced<'p>(parts: &'p [Part], known: &[NamedEntry], view: &mut PlacedView<'p>) -> Result<(), Misplaced> {
    for id in parts.iter().flat_map(|it| &it.replaces).copied() {
        let entry = find(known, id)?;
        if entry.is_stable {
            return Err(Misplaced::Stable(id));
        }
        if view.slots.insert(entry.slot, Target::Absorbed).is_some() {
            return Err(Misplaced::Twice(id));
        }
    }
    Ok(())
}

/// Places the words that are inserted, each between its neighbours.
fn inserted<'p>(
    parts: &'p [Part],
    known: &[NamedEntry],
    gaps: &Gaps<'_>,
    placed: &mut PlacedView<'p>,
) -> Result<(), Misplaced> {
    let slot_of = |part: &Part| match part.form {
        PartForm::Keep(id) | PartForm::Rewrite(id, _) => find(known, id).ok().filter(|it| !it.is_stable),
        PartForm::Insert(..) => None,
    };
    let first = known.iter().rev().find(|it| it.is_stable).map_or(0, |it| it.slot.saturating_add(1));
    let mut from = first;
    let mut behind = known.iter().rev().find(|it| it.is_stable).map_or(ItemId(0), |it| it.id);
    for (nth, part) in parts.iter().enumerate() {
        let PartForm::Insert(kind, text) = &part.form else {
            if let Some(entry) = slot_of(part) {
                (from, behind) = (entry.slot.saturating_add(1), entry.id);
            }
            continue;
        };
        if matches!(
            kind,
            Kind::ToolCall
                | Kind::ToolResult
                | Kind::ToolSchema
                | Kind::Reasoning
                | Kind::Approval
                | Kind::Image
        ) {
            return Err(Misplaced::Kind(*kind));
        }
        if let Some(call) = part.written_by {
            let n_replaced = ix(part.replaces.len());
            placed.calls.push((text, call, n_replaced));
        }
        let until = parts[nth..].iter().find_map(slot_of).map_or(gaps.end, |it| it.slot);
        // A summary stands where the first entry stood that it replaces, if that is between its neighbours.
        let host = part.replaces.iter().filter_map(|it| find(known, *it).ok()).map(|it| it.slot);
        let host = host
            .filter(|it| (from..until).contains(it) && placed.slots.get(it) == Some(&Target::Absorbed))
            .min();
        if let Some(host) = host.filter(|_| matches!(kind, Kind::Summary)) {
            placed.slots.insert(host, Target::Host(text));
            from = host.saturating_add(1);
            continue;
        }
        let is_last = until == gaps.end;
        match gaps.spare(from..until, placed) {
            Some(spare) => {
                placed.slots.insert(spare, Target::Own(*kind, text));
                from = spare.saturating_add(1);
            }
            None if is_last => placed.behind.push(Target::Own(*kind, text)),
            None => return Err(Misplaced::Full(behind)),
        }
        if is_last && !placed.behind.is_empty() {
            from = gaps.end;
        }
    }
    Ok(())
}

impl Gaps<'_> {
    /// Returns the first free slot of a range that is no entry's.
    fn spare(&self, range: Range<SlotIx>, placed: &PlacedView<'_>) -> Option<SlotIx> {
        let first = self.spares.partition_point(|it| *it < range.start);
        let within = self.spares[first..].iter().take_while(|it| **it < range.end);
        within.copied().find(|it| !placed.slots.contains_key(it))
    }
}

/// Checks that calls and results are shown or left out together.
fn whole(known: &[NamedEntry], placed: &PlacedView<'_>) -> Result<(), Misplaced> {
    let is_shown = |it: &NamedEntry| {
        it.is_stable || matches!(placed.slots.get(&it.slot), Some(Target::Raw | Target::Words(..)))
    };
    for entry in known {
        let shows = is_shown(entry);
        if entry.waits && !shows {
            return Err(Misplaced::Waits(entry.id));
        }
        if let Some(pair) = entry.pair.filter(|_| shows)
            && let Ok(other) = find(known, pair)
            && !is_shown(other)
        {
            return Err(Misplaced::Torn { shown: entry.id, hidden: pair });
        }
    }
    Ok(())
}
