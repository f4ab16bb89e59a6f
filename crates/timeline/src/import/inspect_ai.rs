//! Eval logs of inspect_ai, as JSON or as an archive of samples: every request has the whole list of messages that it sent.

mod archive;
mod lane;
mod record;
mod sample;

use self::sample::InspectSample;
use super::document::{self, DocumentPiece};
use crate::import::prelude::*;

pub(super) use self::archive::{begins, read as read_archive};

pub(super) const FORMAT: LogFormat = LogFormat { name: "inspect-ai", detect, read };

/// The members that are read piece by piece, below a sample.
const OPENED: [&str; 5] = ["events", "message_pool", "attachments", "events_data", "events_data.messages"];

/// Returns whether the front is that of a log.
fn detect(head: &str) -> bool {
    if !head.contains("\"eval\"") || !head.contains("\"status\"") {
        return false;
    }
    let outline = FrontOutline::of(head);
    outline.has("eval.task") && outline.has("eval.model") && outline.has("status")
}

/// Reads all samples of a log.
fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    const SAMPLE: &str = "samples[]";
    let of_samples: Vec<String> = OPENED.iter().map(|it| format!("{SAMPLE}.{it}")).collect();
    let opened: Vec<&str> = of_samples.iter().map(String::as_str).chain(["samples", SAMPLE]).collect();
    let (mut samples, mut sample) = (Vec::new(), InspectSample::default());
    document::each(lines, &opened, losses, |piece, losses| {
        let Some(path) = piece.path.strip_prefix(SAMPLE) else { return };
        if path.is_empty() {
            return samples.push(std::mem::take(&mut sample));
        }
        sample.take(DocumentPiece { path: path.trim_start_matches('.'), ..piece }, losses);
    });
    transcripts(samples, losses)
}

/// Returns the sessions of all samples.
fn transcripts(samples: Vec<InspectSample>, losses: &mut Losses) -> Vec<Transcript> {
    let mut all: Vec<Transcript> = samples.into_iter().flat_map(|it| it.finish(losses)).collect();
    if let [only] = all.as_mut_slice() {
        only.name.clear();
    }
    all
}
