//! When a recorded session ended and which models answered in it, without laying it out.

use std::io;
use std::io::BufRead;

use ctxsim_base::counts::count_one;

use super::lay_out::{RecordingModels, SessionClock};
use super::read;
use crate::import::prelude::*;
use crate::{RecordedModel, main_model};

/// What is known of a recorded session before it is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glance {
    /// Its name within the file; empty for a single session.
    pub session: String,
    /// When its last request started, in milliseconds since 1970, if the recording says so.
    pub last_ms: Option<i64>,
    /// The models that answered, in the order in which they come.
    models: Vec<RecordedModel>,
}

impl Glance {
    /// Takes what is known of a session.
    pub(super) fn new(session: &str, last_ms: Option<i64>, models: Vec<RecordedModel>) -> Self {
        Self { session: session.to_owned(), last_ms, models }
    }

    /// Returns the model that was billed for the most input.
    pub fn main_model(&self) -> Option<&RecordedModel> {
        main_model(&self.models)
    }
}

/// Glances at the sessions of a recording; none where it cannot be used.
///
/// # Errors
/// The reader fails.
pub fn glances(reader: &mut dyn BufRead) -> io::Result<Vec<Glance>> {
    count_one(|it| &mut it.glances);
    let read = read(reader, &mut Losses::default())?;
    Ok(read.map_or_else(|_| Vec::new(), |(_, transcripts)| transcripts.iter().map(glance).collect()))
}

fn glance(transcript: &Transcript) -> Glance {
    let (mut clock, mut models) = (SessionClock::default(), RecordingModels::default());
    for exchange in &transcript.exchanges {
        clock.since_start(exchange.at_ms);
        models.count(transcript.model_of(exchange), exchange.usage.map_or(0, |it| it.prompt));
    }
    Glance::new(&transcript.name, clock.last_ms(), models.0)
}
