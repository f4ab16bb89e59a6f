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
use crate::quantity::Tokens;

/// Code that edits the prompt slot by slot; what it edits stays.
pub trait Projector: Send {
    /// Edits the prompt at a moment.
    ///
    /// # Errors
    /// Any error ends the run with a message that names the policy and the request; so does a panic, where panics unwind.
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
    /// A user message is in.
    TurnStart,
    /// A request is about to go out.
    Request,
    /// A tool result has come in.
    Entry,
    /// The final answer of a turn is in.
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

/// An entry and how it stands in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slot<'a> {
    /// The entry, as it came.
    pub entry: Entry<'a>,
    /// Tokens that stand in its place: 0 where it is left out or a summary in another slot replaces it.
    pub tokens: u32,
    /// Whether it stands there as it came.
    pub is_raw: bool,
    /// Whether a summary replaces it, in its own slot or in another.
    pub is_summarised: bool,
    /// Whether it belongs to the active turn.
    pub is_active: bool,
    /// Whether it belongs to the stable prefix, which cannot be edited.
    pub is_stable: bool,
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

/// The prompt behind an editor, whatever its lifetimes are.
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
            items: u32::try_from(at.len()).unwrap_or(u32::MAX),
            purpose: Purpose::Summary,
        });
        self.summarise_as(at, text, request);
        self.take_fault().map_or(Ok(()), Err)
    }
}

impl<'e> Editor<'e> {
    /// Returns what has come of the session, in order, and how it stands.
    pub fn slots(&self) -> impl Iterator<Item = Slot<'_>> {
        self.book.entries.iter().zip(&self.book.known).map(|(entry, known)| {
            let (slot, is_active) = self.edit.slot(known.slot);
            Slot {
                entry: *entry,
                tokens: slot.tokens,
                is_raw: slot.state == State::Shown && slot.rendition == Shown::Raw,
                is_summarised: matches!(slot.state, State::Absorbed | State::Host),
                is_active,
                is_stable: known.is_stable,
            }
        })
    }

    /// Returns the tokens of the prompt as it stands.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.edit.tokens()
    }

    /// Shows an entry as it came.
    ///
    /// # Errors
    /// There is no such entry, it belongs to the stable prefix, or it is a call or a result whose other half is not shown.
    pub fn keep(&mut self, id: ItemId) -> Result<(), EditError> {
        let at = self.find(id)?;
        if self.edit.slot(at).0.state == State::Host {
            return Err(wrong(format!(
                "entry {id} cannot come back: a summary of several entries stands in its place"
            )));
        }
        let pair = self.book.known.iter().find(|it| it.id == id).and_then(|it| it.pair);
        let pair = pair.and_then(|it| self.book.slot_of(it));
        for at in [Some(at), pair].into_iter().flatten() {
            let state = self.edit.slot(at).0.state;
            if state != State::Shown || at == self.find(id)? {
                self.edit.keep(at);
            }
        }
        Ok(())
    }

    /// Shows an entry in other words.
    ///
    /// # Errors
    /// There is no such entry, it belongs to the stable prefix, or the prompt would become too large to count.
    pub fn rewrite(&mut self, id: ItemId, text: impl Into<Text>) -> Result<(), EditError> {
        let at = self.find(id)?;
        let text = text.into().counted(self.book.made().timeline);
        self.edit.rewrite(at, text).map_err(|it| self.fault(it))
    }

    /// Leaves out an entry; a call and its result go together.
    ///
    /// # Errors
    /// There is no such entry, it belongs to the stable prefix, or it is a call whose result has not come.
    pub fn leave_out(&mut self, id: ItemId) -> Result<(), EditError> {
        let at = self.find(id)?;
        self.edit.leave_out(at).map_err(|it| self.fault(it))
    }

    /// Puts a summary into the place of the first of some entries and hides the others, and bills the call that wrote it.
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
        let entry = self.book.known.iter().find(|it| it.id == id);
        let entry = entry.ok_or_else(|| wrong(format!("entry {id} is not in the history")))?;
        if entry.is_stable {
            return Err(wrong(format!("entry {id} belongs to the stable prefix, which stays as it is")));
        }
        Ok(entry.slot)
    }

    /// Says what is wrong in the caller's numbers.
    fn fault(&self, fault: EditFault) -> EditError {
        let id = |slot| self.book.known.iter().find(|it| it.slot == slot).map_or(ItemId(slot), |it| it.id);
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

/// Edits at work.
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
