//! A view at work: asked before each request, its answer turned into edits.

use crate::prelude::*;

use super::book::Book;
use super::place::{PlacedView, Target, place};
use super::view::{Cx, Entry, Lasts, ModelCall, Part, View};
use super::{CodeInputs, Guarded, Text, guard};
use crate::projection::{self, Ambient, Chain, Left, Manner, Purpose, SideRequest, Slot, text_as_it_came};
use ctxsim_input::ShownAs;
use ctxsim_timeline::Texts;

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
        let parts = ask(view, &cx, history)?;
        self.book.seen();
        let (end, spares) = (edit.prompt().len(), edit.prompt().spares());
        // Those of earlier sessions are over with them.
        let first = edit.prompt().history().session_from();
        let spares = &spares[spares.partition_point(|it| *it < first)..];
        let placed = place(&parts, &self.book.known, spares, end).map_err(|it| it.to_string())?;
        let timeline = self.book.made().timeline;
        let calls: Vec<_> =
            placed.calls.iter().map(|(text, call, items)| (text.counted(timeline), *call, *items)).collect();
        let prefix =
            calls.iter().any(|it| it.1.shares_prefix).then(|| (edit.chain(), edit.prompt().tokens()));
        edit.set_manner(Manner {
            moment: Moment::Request,
            author: 0,
            stage: 0,
            for_request: lasts == Lasts::Request,
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
            targets.push((edit.add_spare(), Some(target)));
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
        let raw = self.book.made().timeline.texts.text(item.origin);
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
                let (tokens, content) = (says.tokens, Some(says.content));
                Slot { tokens, state: State::Host, exact: false, content, ..before }
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
            return text.counted(self.book.made().timeline);
        };
        if let Some(said) = self.words.get(&index).filter(|it| it.words == words) {
            return said.text;
        }
        let counted = text.counted(self.book.made().timeline);
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

/// Asks a view.
fn ask<V: View>(view: &mut V, cx: &Cx<'_>, history: &[Entry<'_>]) -> Guarded<Vec<Part>> {
    guard("the view", || view.view(cx, history))
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
