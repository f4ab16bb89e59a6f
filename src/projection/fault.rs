//! Edits that cannot be made: the first one ends the run of a policy in code.

use super::change::SideRequest;
use super::edit::Editor;
use super::prompt::{Prompt, SlotIx, State};
use crate::quantity::Tokens;
use crate::timeline::{Kind, NO_ITEM};

/// The largest prompt or request that code may create: sums of any number of requests stay within their type.
const TOKENS_MAX: Tokens = u32::MAX as Tokens;

/// An edit that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("slot {slot} {what}")]
pub struct EditFault {
    /// The slot.
    pub slot: SlotIx,
    /// What is wrong with it.
    pub what: Wrong,
}

/// Why an edit cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// No item has arrived there yet.
    #[error("has not arrived yet")]
    NotCome,
    /// It belongs to the stable prefix.
    #[error("belongs to the stable prefix, which cannot be edited")]
    Stable,
    /// There is nothing to summarise.
    #[error("is summarised but is not in the prompt")]
    Hidden,
    /// A summary takes its slots in ascending order, each once.
    #[error("is listed twice or out of order")]
    OutOfOrder,
    /// A call and its result must be hidden together.
    #[error("is summarised without slot {0}, its call or its result")]
    Torn(SlotIx),
    /// The result of this call would arrive without it.
    #[error("is a call whose result has not arrived yet")]
    Waits,
    /// No provider has a context of this size.
    #[error("makes a prompt or a request larger than {TOKENS_MAX} tokens")]
    TooLarge,
    /// A request of the policy's own does not contain the prefixes that it claims to begin with.
    #[error("asks for a request smaller than the prefixes it begins with")]
    Chain,
}

impl Editor<'_, '_> {
    /// Returns whether code may show a slot in so many tokens.
    pub(super) fn may_show(&mut self, slot: SlotIx, tokens: u32) -> bool {
        let fault = known(self.prompt(), slot).or_else(|| self.too_large(slot, tokens));
        self.passes(slot, fault)
    }

    /// Returns whether code may take a slot out.
    pub(super) fn may_drop(&mut self, slot: SlotIx) -> bool {
        let fault = known(self.prompt(), slot).or_else(|| waits(self.prompt(), slot));
        self.passes(slot, fault)
    }

    /// Returns whether code may put a summary of so many tokens in the place of slots.
    pub(super) fn may_summarise(
        &mut self,
        slots: &[SlotIx],
        tokens: u32,
        request: Option<&SideRequest>,
    ) -> bool {
        let prompt = self.prompt();
        let order = slots.windows(2).find(|it| it[0] >= it[1]).map(|it| (it[1], Wrong::OutOfOrder));
        let wrong = |slot: &SlotIx| {
            let what = known(prompt, *slot)
                .or_else(|| (!prompt.slot(*slot).is_visible()).then_some(Wrong::Hidden))
                .or_else(|| waits(prompt, *slot))
                .or_else(|| torn(prompt, *slot, slots))?;
            Some((*slot, what))
        };
        let of_sizes = |host: &SlotIx| {
            let what = self.too_large(*host, tokens).or_else(|| request.and_then(of_request))?;
            Some((*host, what))
        };
        let fault =
            order.or_else(|| slots.iter().find_map(wrong)).or_else(|| slots.first().and_then(of_sizes));
        self.passes(fault.map_or(0, |it| it.0), fault.map(|it| it.1))
    }

    /// Notes what is wrong with an edit, if anything is.
    fn passes(&mut self, slot: SlotIx, fault: Option<Wrong>) -> bool {
        if let Some(what) = fault {
            self.refuse(EditFault { slot, what });
        }
        fault.is_none()
    }

    fn too_large(&self, slot: SlotIx, tokens: u32) -> Option<Wrong> {
        let prompt = self.prompt();
        let stays = prompt.tokens().saturating_sub(prompt.slot(slot).tokens.into());
        let grows = tokens > prompt.slot(slot).tokens;
        (grows && stays.saturating_add(tokens.into()) > TOKENS_MAX).then_some(Wrong::TooLarge)
    }
}

/// Returns what is wrong with a slot that no edit can be of.
fn known(prompt: &Prompt<'_>, slot: SlotIx) -> Option<Wrong> {
    if slot >= prompt.len() {
        return Some(Wrong::NotCome);
    }
    (slot < prompt.history().session_from()).then_some(Wrong::Stable)
}

/// Returns what is wrong with hiding a call whose result the load still holds.
fn waits(prompt: &Prompt<'_>, slot: SlotIx) -> Option<Wrong> {
    let (item, history) = (prompt.item(slot), prompt.history());
    let result = history.load().items.get(item.origin as usize).map_or(NO_ITEM, |it| it.pair);
    let is_due = item.kind == Kind::ToolCall && item.pair >= history.len() && result != NO_ITEM;
    (is_due && history.slot_of(result).is_none()).then_some(Wrong::Waits)
}

/// Returns what is wrong with summarising slots of which one has a call or a result that stays.
fn torn(prompt: &Prompt<'_>, slot: SlotIx, slots: &[SlotIx]) -> Option<Wrong> {
    let pair = prompt.item(slot).pair;
    let stays = pair < prompt.len() && prompt.slot(pair).state == State::Shown;
    let is_torn = prompt.slot(slot).state == State::Shown && stays && slots.binary_search(&pair).is_err();
    is_torn.then_some(Wrong::Torn(pair))
}

/// Returns what is wrong with a request that code makes.
fn of_request(request: &SideRequest) -> Option<Wrong> {
    if request.prompt > TOKENS_MAX || request.output > TOKENS_MAX {
        return Some(Wrong::TooLarge);
    }
    let links = request.chain.as_ref().map_or(&[][..], |it| it.links());
    let grows = links.is_sorted_by_key(|it| it.tokens);
    let fits = links.last().is_none_or(|it| it.tokens <= request.prompt);
    (!grows || !fits).then_some(Wrong::Chain)
}
