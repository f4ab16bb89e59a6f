//! Recorded sessions as traces: the formats there are, found by content.

mod claude_code;
mod losses;
mod passage;
mod sizes;
mod transcript;
mod usage_csv;
mod wrapped;

use super::Trace;
use crate::diag::Diagnostic;
use crate::spec::scenario::AssumeSpec;
use crate::units::Decimal;

pub use losses::Loss;
use losses::Losses;
use transcript::Transcript;

/// The formats there are; the first that recognises a text reads it.
const FORMATS: [Format; 2] = [
    USAGE_CSV,
    Format {
        name: "claude-code",
        looks_like: "one JSON record a line, with `type`, `uuid` and `message`",
        detect: claude_code::detect,
        read: claude_code::read,
    },
];

/// Usage of Claude Code sessions without their texts.
const USAGE_CSV: Format = Format {
    name: "claude-code-usage",
    looks_like: "comma-separated values, one request a line, with `session`, `cache_read` and `new_user_chars`",
    detect: usage_csv::detect,
    read: usage_csv::read,
};

/// A format of recorded sessions.
struct Format {
    /// Its name on the command line.
    name: &'static str,
    /// What its files look like, for people.
    looks_like: &'static str,
    /// Returns whether a text is of this format.
    detect: fn(&str) -> bool,
    /// Reads a text; what is of no use lands among the losses.
    read: fn(&str, &mut Losses) -> Vec<Transcript>,
}

/// A recorded session as a trace.
#[derive(Clone, Debug)]
pub struct Imported {
    /// What tells it from others of the same file; empty when it is alone.
    pub session: String,
    /// The trace.
    pub trace: Trace,
    /// The format that was found.
    pub format: &'static str,
    /// What of the recording is not in the trace, by its first line.
    pub losses: Vec<Loss>,
}

/// Returns the names of the formats that can be read.
pub fn formats() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|it| it.name)
}

/// Returns the format of a text, if it is a recorded session.
#[must_use]
pub fn detect(text: &str) -> Option<&'static str> {
    found(text).map(|it| it.name)
}

/// Reads a recorded session; results of `file_tools` can be read again by range.
///
/// # Errors
/// The text is of no known format, holds no request or several sessions, or an assumption makes no sense.
pub fn import(
    text: &str,
    name: &str,
    assume: &AssumeSpec,
    file_tools: &[String],
) -> Result<Imported, Vec<Diagnostic>> {
    let mut all = import_all(text, name, assume, file_tools)?;
    match (all.pop(), all.len()) {
        (Some(one), 0) => Ok(one),
        (_, n) => {
            let message = format!("the recording holds {} sessions", n + 1);
            Err(vec![Diagnostic::at("recording-several", "", message).help("give each a file of its own")])
        }
    }
}

/// Reads all recorded sessions of a text, in order.
///
/// # Errors
/// The text is of no known format, holds no request, or an assumption makes no sense.
pub fn import_all(
    text: &str,
    name: &str,
    assume: &AssumeSpec,
    file_tools: &[String],
) -> Result<Vec<Imported>, Vec<Diagnostic>> {
    if assume.chars_per_token == Some(Decimal::ZERO) {
        let message = "a token has no characters";
        let problem = Diagnostic::at("chars-per-token-zero", "load.recorded.assume.chars_per_token", message);
        return Err(vec![problem.help("write a number above 0, or leave it out for 4")]);
    }
    let Some(format) = found(text) else {
        let known: Vec<String> =
            FORMATS.iter().map(|it| format!("`{}` ({})", it.name, it.looks_like)).collect();
        let problem = Diagnostic::at("recording-unknown", "", "not a recorded session of a known format");
        return Err(vec![problem.help(format!("known formats: {}", known.join(", ")))]);
    };
    let mut losses = Losses::default();
    let mut transcripts = (format.read)(text, &mut losses);
    transcripts.retain(|it| !it.exchanges.is_empty());
    let losses = losses.in_order();
    if transcripts.is_empty() {
        let problem = Diagnostic::at("recording-empty", "", "the recording holds no request");
        let reasons: Vec<String> = losses.iter().take(5).map(ToString::to_string).collect();
        return Err(vec![problem.help(if reasons.is_empty() {
            "record a session in which the model answered".to_owned()
        } else {
            format!("left out: {}", reasons.join("; "))
        })]);
    }
    let all = transcripts.into_iter().map(|transcript| {
        let session = transcript.name.clone();
        let name = if session.is_empty() { name.to_owned() } else { format!("{name}/{session}") };
        let trace = transcript.into_trace(&name, assume, file_tools);
        Imported { session, trace, format: format.name, losses: losses.clone() }
    });
    Ok(all.collect())
}

/// Returns the first format that recognises a text.
fn found(text: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|it| (it.detect)(text))
}
