//! From the parts of a view to what each slot of the prompt is to hold: every rule that a view must keep is checked here.

use crate::prelude::*;

use super::view::{ItemId, Kind, Part, PartForm};
use super::{ModelCall, Text};

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
fn replaced<'p>(
    parts: &'p [Part],
    known: &[NamedEntry],
    placed: &mut PlacedView<'p>,
) -> Result<(), Misplaced> {
    for id in parts.iter().flat_map(|it| &it.replaces).copied() {
        let entry = find(known, id)?;
        if entry.is_stable {
            return Err(Misplaced::Stable(id));
        }
        if placed.slots.insert(entry.slot, Target::Absorbed).is_some() {
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
