//! Recorded sessions as traces: the formats there are, found by content.

mod claude_code;
mod losses;
mod sizes;
mod transcript;

use super::Trace;
use crate::diag::Diagnostic;
use crate::spec::scenario::AssumeSpec;
use crate::units::Decimal;

pub use losses::Loss;
use losses::Losses;
use transcript::Transcript;

/// The formats there are; the first that recognises a text reads it.
const FORMATS: [Format; 1] = [Format {
    name: "claude-code",
    looks_like: "one JSON record a line, with `type`, `uuid` and `message`",
    detect: claude_code::detect,
    read: claude_code::read,
}];

/// A format of recorded sessions.
struct Format {
    /// Its name on the command line.
    name: &'static str,
    /// What its files look like, for people.
    looks_like: &'static str,
    /// Returns whether a text is of this format.
    detect: fn(&str) -> bool,
    /// Reads a text; what is of no use lands among the losses.
    read: fn(&str, &mut Losses) -> Transcript,
}

/// A recorded session as a trace.
#[derive(Clone, Debug)]
pub struct Imported {
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
/// The text is of no known format, holds no request, or an assumption makes no sense.
pub fn import(
    text: &str,
    name: &str,
    assume: &AssumeSpec,
    file_tools: &[String],
) -> Result<Imported, Vec<Diagnostic>> {
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
    let transcript = (format.read)(text, &mut losses);
    let losses = losses.in_order();
    if transcript.exchanges.is_empty() {
        let problem = Diagnostic::at("recording-empty", "", "the recording holds no request");
        let reasons: Vec<String> = losses.iter().take(5).map(ToString::to_string).collect();
        return Err(vec![problem.help(if reasons.is_empty() {
            "record a session in which the model answered".to_owned()
        } else {
            format!("left out: {}", reasons.join("; "))
        })]);
    }
    Ok(Imported { trace: transcript.into_trace(name, assume, file_tools), format: format.name, losses })
}

/// Returns the first format that recognises a text.
fn found(text: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|it| (it.detect)(text))
}
