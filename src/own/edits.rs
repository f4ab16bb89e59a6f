//! Code that edits the prompt slot by slot, at every moment of a session.

use std::sync::Arc;

use super::book::Book;
use super::guarded::{self, Guarded};
use super::view::{Cx, Entry, ItemId, ModelCall};
use super::{BoxError, Made, Text};
use crate::input::policy::{self, Shown};
use crate::projection::change::Purpose;
use crate::projection::edit::Manner;
use crate::projection::rendition::Rendered;
use crate::projection::{self, Ambient, EditFault, SideRequest, SlotIx, State, Wrong};
use crate::quantity::{Tokens, ix};

/// Code that edits the prompt slot by slot; its edits persist.
pub trait Projector: Send {
    /// Edits the prompt at a moment.
    ///
    /// # Errors
    /// Any error ends the run with a message that names the policy and the request; so does a panic, if panics unwind.
    fn project(&mut self, at: Moment, cx: &Cx<'_>, edit: &mut Editor<'_>) -> Result<(), BoxError>;
}

impl<F> Projector for F
where
    F: FnMut(Moment, &Cx<'_>, &mut Editor<'_>) -> Result<(), BoxError> + Send,
{
    fn project(&mut self, at: Moment, cx: &Cx<'_>, edit: &mut Editor<'_>) -> Result<(), BoxError> {
        self(at, cx, edit)
    }
}

/// A moment of a session at which code may edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Moment {
    /// A session begins with its stable prefix.
    SessionStart,
    /// A user message has arrived.
    TurnStart,
    /// A request is about to be sent.
    Request,
    /// A tool result has arrived.
    Entry,
    /// The final answer of a turn has arrived.
    TurnEnd,
    /// A session is over.
    SessionEnd,
}

impl Moment {
    fn of(moment: policy::Moment) -> Option<Self> {
        match moment {
            policy::Moment::SessionStart => Some(Self::SessionStart),
            policy::Moment::TurnStart => Some(Self::TurnStart),
            policy::Moment::Request => Some(Self::Request),
            policy::Moment::Entry => Some(Self::Entry),
            policy::Moment::TurnEnd => Some(Self::TurnEnd),
            policy::Moment::SessionEnd => Some(Self::SessionEnd),
            // Code is not asked while nothing happens.
            policy::Moment::Idle => None,
        }
    }
}

/// An entry and how the prompt shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slot<'a> {
    /// The entry in its original form.
    pub entry: Entry<'a>,
    /// The size in tokens of what the prompt shows in its place: 0 if it is omitted or a summary in another slot replaces it.
    pub tokens: u32,
    /// Whether the prompt shows it unchanged.
    pub is_raw: bool,
    /// Whether a summary replaces it, in its own slot or in another.
    pub is_summarised: bool,
    /// Whether it belongs to the active turn.
    pub is_active: bool,
}

/// An edit that cannot be made; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct EditError {
    what: String,
}

/// Edits a prompt. Each edit is checked; one that cannot be made changes nothing.
pub struct Editor<'e> {
    book: &'e Book<'e>,
    edit: &'e mut dyn Prompted,
}

/// The prompt behind an editor, independent of its lifetimes.
trait Prompted {
    fn slot(&self, at: SlotIx) -> (projection::Slot, bool);
    fn tokens(&self) -> Tokens;
    fn rewrite(&mut self, at: SlotIx, text: projection::Text) -> Result<(), EditFault>;
    fn keep(&mut self, at: SlotIx);
    fn leave_out(&mut self, at: SlotIx) -> Result<(), EditFault>;
    fn summarise(
        &mut self,
        at: &[SlotIx],
        text: projection::Text,
        call: Option<ModelCall>,
    ) -> Result<(), EditFault>;
}

impl Prompted for projection::Editor<'_, '_> {
    fn slot(&self, at: SlotIx) -> (projection::Slot, bool) {
        (*self.prompt().slot(at), at >= self.prompt().active_from())
    }

    fn tokens(&self) -> Tokens {
        self.prompt().tokens()
    }

    fn rewrite(&mut self, at: SlotIx, text: projection::Text) -> Result<(), EditFault> {
        self.show_as(at, Rendered::sized(Shown::Truncate, text.tokens, false).saying(text));
        self.take_fault().map_or(Ok(()), Err)
    }

    fn keep(&mut self, at: SlotIx) {
        let after = projection::Slot::as_it_came(self.prompt().item(at));
        self.set(at, after);
    }

    fn leave_out(&mut self, at: SlotIx) -> Result<(), EditFault> {
        self.drop(at);
        self.take_fault().map_or(Ok(()), Err)
    }

    fn summarise(
        &mut self,
        at: &[SlotIx],
        text: projection::Text,
        call: Option<ModelCall>,
    ) -> Result<(), EditFault> {
        let chain = call.filter(|it| it.shares_prefix).map(|it| {
            let asks = it.input.saturating_sub(self.prompt().tokens());
            self.chain().asking(asks)
        });
        let request = call.map(|it| SideRequest {
            prompt: it.input,
            chain,
            output: it.output,
            items: ix(at.len()),
            purpose: Purpose::Summary,
        });
        self.summarise_as(at, text, request);
        self.take_fault().map_or(Ok(()), Err)
    }
}

impl<'e> Editor<'e> {
    /// Returns the entries of the session so far, in order, and how the prompt shows each.
    pub fn slots(&self) -> impl Iterator<Item = Slot<'_>> {
        self.book.entries.iter().zip(&self.book.known).map(|(entry, known)| {
            let (slot, is_active) = self.edit.slot(known.slot);
            Slot {
                entry: *entry,
                tokens: slot.tokens,
                is_raw: slot.state == State::Shown && slot.rendition == Shown::Raw,
                is_summarised: matches!(slot.state, State::Absorbed | State::Host),
                is_active,
            }
        })
    }

    /// Returns the current size of the prompt in tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.edit.tokens()
    }

    /// Shows an entry unchanged, together with its call or its result.
    ///
    /// # Errors
    /// The entry is unknown, belongs to the stable prefix, or has been replaced by a summary of several entries.
    pub fn keep(&mut self, id: ItemId) -> Result<(), EditError> {
        let at = self.find(id)?;
        let pair = self.book.find(id).and_then(|it| it.pair);
        let pair = pair.and_then(|it| self.book.find(it)).map(|it| it.slot);
        let both = || std::iter::once(at).chain(pair);
        if both().any(|it| self.edit.slot(it).0.state == State::Host) {
            return Err(wrong(format!(
                "entry {id} cannot come back: a summary of several entries stands in its place"
            )));
        }
        // The other half stays as it is shown.
        for slot in
            both().filter(|it| *it == at || self.edit.slot(*it).0.state != State::Shown).collect::<Vec<_>>()
        {
            self.edit.keep(slot);
        }
        Ok(())
    }

    /// Shows an entry with new text.
    ///
    /// # Errors
    /// The entry is unknown, belongs to the stable prefix or is not shown, or the prompt would become too large to count.
    pub fn rewrite(&mut self, id: ItemId, text: impl Into<Text>) -> Result<(), EditError> {
        let at = self.find(id)?;
        if self.edit.slot(at).0.state != State::Shown {
            return Err(wrong(format!("entry {id} is not shown, so it cannot be rewritten")));
        }
        let text = text.into().counted(self.book.made().timeline);
        self.edit.rewrite(at, text).map_err(|it| self.fault(it))
    }

    /// Omits an entry; a call and its result are omitted together.
    ///
    /// # Errors
    /// The entry is unknown, belongs to the stable prefix, or is a call still waiting for its result.
    pub fn leave_out(&mut self, id: ItemId) -> Result<(), EditError> {
        let at = self.find(id)?;
        self.edit.leave_out(at).map_err(|it| self.fault(it))
    }

    /// Puts a summary in the slot of the first of the given entries, hides the others, and bills the call that wrote it.
    ///
    /// # Errors
    /// An entry is unknown, named out of order, stable, or already hidden; a call would lose its result; or a size is too large.
    pub fn summarise(
        &mut self,
        ids: impl IntoIterator<Item = ItemId>,
        text: impl Into<Text>,
        written_by: Option<ModelCall>,
    ) -> Result<(), EditError> {
        let at = ids.into_iter().map(|it| self.find(it)).collect::<Result<Vec<_>, _>>()?;
        let text = text.into().counted(self.book.made().timeline);
        self.edit.summarise(&at, text, written_by).map_err(|it| self.fault(it))
    }

    fn find(&self, id: ItemId) -> Result<SlotIx, EditError> {
        let entry = self.book.find(id);
        let entry = entry.ok_or_else(|| wrong(format!("entry {id} is not in the history")))?;
        if entry.is_stable {
            return Err(wrong(format!("entry {id} belongs to the stable prefix, which stays as it is")));
        }
        Ok(entry.slot)
    }

    /// Describes the problem in terms of the caller's entry numbers.
    fn fault(&self, fault: EditFault) -> EditError {
        let id = |slot| self.book.id_at(slot).unwrap_or(ItemId(slot));
        let entry = id(fault.slot);
        wrong(match fault.what {
            Wrong::Torn(pair) => {
                format!("entry {entry} is summarised without entry {}, its call or its result", id(pair))
            }
            what => format!("entry {entry} {what}"),
        })
    }
}

fn wrong(what: String) -> EditError {
    EditError { what }
}

/// Runs a projector's edits in the engine.
pub(super) struct Edited<'t, E> {
    name: Arc<str>,
    code: Guarded<E>,
    book: Book<'t>,
}

impl<'t, E: Projector> Edited<'t, E> {
    pub(super) fn new(name: &Arc<str>, made: Made<'t>, code: Guarded<E>) -> Self {
        Self { name: Arc::clone(name), code, book: Book::new(made) }
    }
}

impl<E: Projector> projection::Projector for Edited<'_, E> {
    fn name(&self) -> &str {
        &self.name
    }

    fn project(&mut self, moment: policy::Moment, ambient: &Ambient, edit: &mut projection::Editor<'_, '_>) {
        self.book.follow(moment, edit);
        let Some(at) = Moment::of(moment) else { return };
        edit.set_manner(Manner { moment, author: 0, stage: 0, for_request: false, keeps_prefix: false });
        let code = match &mut self.code {
            Ok(code) => code,
            Err(why) => return edit.fail(std::mem::take(why)),
        };
        let cx = self.book.cx(ambient, edit);
        let called =
            guarded::call("the policy", || code.project(at, &cx, &mut Editor { book: &self.book, edit }));
        if let Err(why) = called {
            return edit.fail(why);
        }
        edit.note_first_edit();
        if at == Moment::Request {
            self.book.seen();
        }
    }
}
