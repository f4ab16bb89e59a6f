//! Undoes a harness's changes to its history: what it removed stays, and its replacement is dropped.
//!
//! Sizes are determined before that, with every reset in place, so that they follow the recorded prompts.

use std::sync::{Mutex, PoisonError};

use super::index::Indexed;
use super::lay_out::LayOut;
use super::losses::LossReason;
use super::sizes::{Allotment, Reset};
use crate::import::prelude::*;
use crate::{StepIx, Timeline};

/// Which of the harness's own changes are taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Undo {
    /// None.
    Nothing,
    /// All, what it cleared included.
    All,
    /// The compactions before these requests.
    Compactions(Vec<usize>),
}

/// A session that its harness compacted, before it is laid out: it can be laid out without some of these compactions.
#[derive(Debug)]
pub struct CompactedSession {
    pub(super) transcript: Transcript,
    pub(super) layout: LayOut,
}

impl CompactedSession {
    /// Lays it out as recorded, with what other sessions tell of it.
    pub(super) fn among(&self, neighbours: &Neighbours) -> Timeline {
        Transcript { neighbours: neighbours.clone(), ..self.transcript.clone() }.into_timeline(&self.layout)
    }

    /// Lays it out as if the harness had not compacted the history before the requests of these steps; without
    /// any compaction of its own, what it cleared stays, too.
    pub fn without(&self, compactions: &[StepIx]) -> Timeline {
        let which: Vec<usize> = compactions.iter().map(|it| *it as usize).collect();
        let all = self.transcript.compacted();
        let undo = if all == which { Undo::All } else { Undo::Compactions(which) };
        self.transcript.clone().laid_out(&self.layout, &undo).0
    }
}

/// What was taken back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Undone {
    n_compactions: usize,
    /// The number of results that the harness cleared to make room.
    n_cleared: usize,
    /// How many resets stay, because the user asked for them.
    n_asked: usize,
    /// The first request that has more before it than was recorded.
    pub(super) first: Option<usize>,
    /// The parts that are gone, by their places among all, in order.
    pub(super) gone: Vec<usize>,
}

impl Undone {
    /// Says what was done, in sentences.
    pub(super) fn sentences(&self) -> Vec<String> {
        let asked = match self.n_asked {
            0 => String::new(),
            n => format!(" Compactions and clearings by the user are kept as recorded: {n}."),
        };
        vec![format!(
            "The harness's compactions are undone: {}; the results that it cleared to make room are kept: \
                {}. The removed history is back; summaries and re-attached content are gone; sizes are \
                those of the recorded prompts. The agent's calls are the recorded ones, including those \
                caused by a compaction.{asked}",
            self.n_compactions, self.n_cleared
        )]
    }
}

impl Transcript {
    /// Returns the requests before which the harness compacted a history that the recording shows, on its own account.
    pub(super) fn compacted(&self) -> Vec<usize> {
        let is_own = |it: &Exchange| it.compacts.is_some_and(|it| it.cause == Remover::Harness);
        let exchanges = self.exchanges.iter().enumerate().skip(1);
        exchanges.filter(|it| is_own(it.1)).map(|it| it.0).collect()
    }

    /// Takes back what the harness did on its own account to make room.
    pub(super) fn undo(&mut self, allotment: &mut Allotment, undo: &Undo) -> Undone {
        let compacted = match undo {
            Undo::Nothing => return Undone::default(),
            Undo::All => self.compacted(),
            Undo::Compactions(which) => which.clone(),
        };
        let takes_all = *undo == Undo::All;
        let cleared = self.exchanges.iter().enumerate().filter(|(_, it)| takes_all && !it.cleared.is_empty());
        let cleared: Vec<(usize, Vec<usize>)> = cleared.map(|(at, it)| (at, it.cleared.clone())).collect();
        let stays = self.stays(&compacted);
        let undone = Undone {
            n_compactions: compacted.len(),
            n_cleared: cleared.iter().map(|it| it.1.len()).sum(),
            n_asked: self
                .exchanges
                .iter()
                .filter(|it| it.compacts.is_some_and(|compaction| compaction.cause != Remover::Harness))
                .count(),
            gone: (0..stays.len()).filter(|it| !stays[*it]).collect(),
            first: compacted.iter().copied().chain(cleared.iter().map(|it| it.0)).min(),
        };
        allotment.resets.retain(|it| !compacted.contains(&it.exchange));
        let is_cleared = |at: usize, part: usize| cleared.iter().any(|it| it.0 == at && it.1.contains(&part));
        allotment.forgotten.retain(|(at, part)| !is_cleared(*at, *part));
        allotment.keep(&undone.gone);
        cleared.iter().for_each(|(at, _)| self.exchanges[*at].cleared.clear());
        compacted.iter().for_each(|it| self.rejoin(*it));
        // What leaves the prompts when a turn begins is put off where the turn no longer does.
        let next = |at: usize| (at..self.exchanges.len()).find(|it| self.exchanges[*it].begins.is_some());
        let forgotten = std::mem::take(&mut allotment.forgotten).into_iter();
        allotment.forgotten = forgotten.filter_map(|(at, part)| Some((next(at)?, part))).collect();
        allotment.forgotten.order_by_key(|it| it.0);
        undone
    }

    /// Returns of each part whether it stays where these compactions are undone.
    fn stays(&self, compacted: &[usize]) -> Vec<bool> {
        let mut stays = vec![true; self.stable.len()];
        for (index, exchange) in self.exchanges.iter().enumerate() {
            let is_undone = compacted.contains(&index);
            stays.extend(exchange.user().iter().map(|it| !(is_undone && it.stands_in)));
            stays.extend(exchange.reply.iter().chain(&exchange.results).map(|_| true));
        }
        stays
    }

    /// Takes a compaction from a request; where nobody typed anything and calls were open, its turn is that of the one before.
    fn rejoin(&mut self, index: usize) {
        let goes_on = index > 0 && self.exchanges[index - 1].has_calls();
        let exchange = &mut self.exchanges[index];
        exchange.compacts = None;
        if let Some(user) = &mut exchange.begins {
            user.retain(|it| !it.stands_in);
        }
        if goes_on && exchange.user().is_empty() {
            exchange.begins = None;
        }
    }
}

impl Allotment {
    /// Leaves of the parts only those that are not gone.
    fn keep(&mut self, gone: &[usize]) {
        let stays_at = |part: usize| gone.binary_search(&part).is_err();
        let place = |part: usize| part - gone.partition_point(|it| *it < part);
        let tokens = self.tokens.iter().enumerate().filter(|it| stays_at(it.0));
        self.tokens = tokens.map(|it| *it.1).collect();
        for Reset { from, to, .. } in &mut self.resets {
            *from = from.map(place);
            *to = to.map(place);
        }
        self.forgotten.retain(|it| stays_at(it.1));
        self.forgotten.iter_mut().for_each(|it| it.1 = place(it.1));
    }
}

/// A session that is not in a file: what the index tells of it, and the session itself.
#[derive(Debug)]
pub struct Among {
    /// What the index tells of it.
    pub indexed: Indexed,
    /// What it is made of, before it is laid out.
    pub(super) session: CompactedSession,
    /// What its recording is called.
    pub file: String,
    /// The bytes of its recording.
    pub length: usize,
    /// What is left out of it.
    pub(super) losses: Vec<LossReason>,
    /// What it was told last, and what it is then: the same sessions are compared often.
    pub(super) told: Mutex<Option<(Neighbours, Arc<Timeline>)>>,
}

impl Among {
    /// Lays it out with what others tell of it.
    pub fn beside(&self, neighbours: &Neighbours) -> Arc<Timeline> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, timeline)) = told.as_ref().filter(|it| it.0 == *neighbours) {
            return Arc::clone(timeline);
        }
        let mut timeline = self.session.among(neighbours);
        timeline.assumptions.extend(self.losses.iter().map(|it| it.sentence(&self.file)));
        let timeline = Arc::new(timeline);
        *told = Some((neighbours.clone(), Arc::clone(&timeline)));
        timeline
    }
}
