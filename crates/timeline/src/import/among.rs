//! A session that was read from memory alone, and can be laid out again once it is known which others it is among.

use std::sync::{Mutex, PoisonError};

use super::index::Indexed;
use super::losses::LossReason;
use super::undo::CompactedSession;
use crate::Timeline;
use crate::import::prelude::*;
use crate::shared::Neighbours;

/// A session that is not in a file: what the index tells of it, and the session itself.
#[derive(Debug)]
pub struct Among {
    /// What the index tells of it.
    pub indexed: Indexed,
    /// What it is made of, before it is laid out.
    session: CompactedSession,
    /// What its recording is called.
    pub file: String,
    /// The bytes of its recording.
    pub length: usize,
    /// What is left out of it.
    losses: Vec<LossReason>,
    /// What it was told last, and what it is then: the same sessions are compared often.
    told: Mutex<Option<(Neighbours, Arc<Timeline>)>>,
}

impl Among {
    pub(super) fn new(
        indexed: Indexed,
        session: CompactedSession,
        file: &str,
        losses: &[LossReason],
    ) -> Self {
        let (file, losses) = (file.to_owned(), losses.to_vec());
        Self { indexed, session, file, length: 0, losses, told: Mutex::default() }
    }

    /// Notes how long its recording is.
    pub(super) fn of_length(self, length: usize) -> Self {
        Self { length, ..self }
    }

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
