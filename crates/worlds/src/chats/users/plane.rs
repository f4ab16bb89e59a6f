//! A timeline with facts, as chats: its messages are those of its users and agents, its probes are asked when their session is over.

use std::collections::BTreeMap;

use super::{FactWording, Question, QuestionKind, StatementKind, User, UserDraft};
use crate::chats::ChatNumbers;
use ctxsim_base::quantity::ix;
use ctxsim_timeline::facts::{FactForm, FactPlane};
use ctxsim_timeline::{ItemIx, Kind, Timeline, TurnIx};

/// Returns a timeline's one user, or nothing if it has no facts. What is marked as a fact is one, what is not
/// is said in passing.
pub(super) fn user(timeline: &Timeline, numbers: &ChatNumbers) -> Option<User> {
    let plane = timeline.facts.as_ref()?;
    let mut draft = UserDraft::new(timeline.name.clone());
    let messages = messages(timeline, &mut draft, numbers);
    let facts = said(plane, &messages, &mut draft, numbers);
    for probe in &plane.probes {
        let plant = &plane.plants[probe.plant as usize];
        let Some(fact) = facts.get(&plant.fact).copied() else { continue };
        let kind = if plant.version > 1 { QuestionKind::KnowledgeUpdate } else { QuestionKind::SingleFact };
        draft.ask(Question::new(kind, session_of(timeline, probe.at.turn_ix) + 1, vec![fact]));
    }
    Some(draft.finish())
}

/// Begins the sessions; returns each item's session and message.
fn messages(
    timeline: &Timeline,
    draft: &mut UserDraft,
    numbers: &ChatNumbers,
) -> BTreeMap<ItemIx, (u32, u32)> {
    let mut places = BTreeMap::new();
    for session in &timeline.spine.sessions {
        let (mut n, mut tokens) = (0, 0_u64);
        for turn in session.turns.clone() {
            for item in timeline.spine.turns[turn as usize].items.clone() {
                places.insert(item, (draft.n_sessions(), n));
                let it = &timeline.spine.items[item as usize];
                n += u32::from(matches!(it.kind, Kind::User | Kind::Assistant));
                tokens = tokens.saturating_add(it.raw.into());
            }
        }
        let words = (tokens as f64 / numbers.sizes.tokens_per_word.max(f64::MIN_POSITIVE)) as u64;
        draft.session(n.max(1), words);
    }
    places
}

/// Says the plants; returns the first version of each fact.
fn said(
    plane: &FactPlane,
    messages: &BTreeMap<ItemIx, (u32, u32)>,
    draft: &mut UserDraft,
    numbers: &ChatNumbers,
) -> BTreeMap<u32, u32> {
    let mut first: BTreeMap<u32, u32> = BTreeMap::new();
    let mut last: BTreeMap<u32, u32> = BTreeMap::new();
    for plant in &plane.plants {
        let Some(&(session, message)) = messages.get(&plant.item) else { continue };
        let kind = if plant.form == FactForm::Explicit { StatementKind::Fact } else { StatementKind::Detail };
        let n_messages = draft.user().sessions[session as usize].messages;
        let said = FactWording::new(kind, message.min(n_messages - 1), numbers.sizes.statement_words);
        let fact = match last.get(&plant.fact).copied() {
            Some(old) => draft.update(old, session, said),
            None => Some(draft.say(session, said)),
        };
        if let Some(fact) = fact {
            first.entry(plant.fact).or_insert(fact);
            last.insert(plant.fact, fact);
        }
    }
    first
}

/// Returns the session of a turn; what is asked when the load is over belongs to the last.
fn session_of(timeline: &Timeline, turn: TurnIx) -> u32 {
    let sessions = &timeline.spine.sessions;
    let at = sessions.partition_point(|it| it.turns.end <= turn).min(sessions.len().saturating_sub(1));
    ix(at)
}
