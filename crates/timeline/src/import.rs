//! Recorded sessions as timelines; the format is detected from the content.
//!
//! `timeline/import` detects the format from the first lines, refuses logs that are known and have no usage by name
//! (`timeline/import/refused.rs`), and reads the rest one line at a time; it keeps the texts and a few words per record. A JSON document is
//! read by `timeline/import/document.rs`, which opens the members that a format names and hands over what is in them piece by piece: one
//! document may have any length, one piece at most 64 MiB, and what breaks off is read up to there. A format declares itself in a
//! `LogFormat`, and fills a `Transcript`. All formats but the usage table do so through the `Assembler` of
//! `timeline/import/transcript.rs`, which assembles requests from the messages in order. `timeline/import/sizes.rs` then divides the growth from one billed prompt to the next among the
//! parts between them. If output counts are reliable (`counts_output`), a reply has the size that was billed for it. Codex drops the
//! reasoning of a turn once the user speaks again (`forgets_reasoning`): in the available rollouts, the next prompt is the previous one,
//! plus its output and the new message, minus the billed reasoning, to within some tokens. So these items leave by a `Reset`, and the
//! cached prefix ends before the first of them. A compaction (`compacts`) says which parts stay; `Assembler::replaced` puts the summary in
//! the place of the others. Where the log has the bill of the request that wrote the summary (`summarised`), that request is none of the
//! agent's: its output is the size of the recorded `Compaction`, and reports of recordings show it by itself. Some logs mark each
//! compaction (`marks_compactions`): a prompt that is a little smaller than the one before without a mark keeps everything, and later
//! growth makes up for it. A log of requests is split into sessions by what each request repeats of an earlier one; its requests are put
//! into the order of their times, and a response that is recorded again counts once. OpenTelemetry and logs of messages, whose objects may
//! stand on several lines, are read as a whole, up to 1 GiB.

mod assumed;
mod atif;
mod bedrock;
mod bodies;
mod claude_code;
mod codex;
mod content;
mod copilot_cli;
mod database;
mod document;
mod documents;
mod dsh;
mod format;
mod gemini_cli;
mod gemini_stream;
mod harness;
pub use harness::{behind_within_ms, hit_share};
mod image;
mod index;
mod inspect_ai;
mod json;
mod kept;
mod kimi;
mod lay_out;
mod lines;
mod losses;
mod messages;
mod opencode;
mod otel;
mod own_cases;
mod pi;
mod prelude;
mod provider_export;
mod redacted;
pub use redacted::PublicName;
mod refused;
mod rows;
mod side_requests;
mod sizes;
mod spread;
mod transcript;
mod tree;
mod undo;
mod usage;
mod usage_csv;
mod values;

use prelude::*;
use std::io::{self, BufRead};
use std::sync::Mutex;

use super::Timeline;
use ctxsim_base::counts::count_one;
use ctxsim_base::foreign::Foreign;
use ctxsim_input::scenario::{Assume, ITEM_TOKENS_MAX};

pub use database::{is_database, with_log};
pub use format::{FormatText, LogFormat};
pub use index::{Glance, Indexed, glances, hear, hear_siblings, index, neighbours, user_of};
use lay_out::LayOut;
pub use lines::{LINE_BYTES_MAX, read_line};
pub use losses::{LossReason, changes_no_bill, is_never_sent, may_be_billed};
pub use provider_export::{ExportedDay, ProviderExport, provider_export};
pub use rows::table::csv_records;
pub use undo::{Among, CompactedSession};

/// All formats; the first one that recognises a text reads it.
#[rustfmt::skip]
const FORMATS: &[LogFormat] = &[
    usage_csv::FORMAT,
    redacted::FORMAT,
    // What is found in the first line comes before what takes a look at all of the front.
    claude_code::FORMAT,
    codex::FORMAT,
    opencode::FORMAT,
    gemini_cli::FORMAT,
    gemini_stream::FORMAT,
    atif::FORMAT,
    inspect_ai::FORMAT,
    dsh::FORMAT,
    kimi::FORMAT,
    pi::FORMAT,
    copilot_cli::FORMAT,
    rows::FORMAT,
    otel::FORMAT,
    // Its requests would be read as messages without what only they have.
    bedrock::FORMAT,
    messages::FORMAT,
];

/// The first bytes of every gzip file and of every zstd file, as text, with what unpacks it.
const PACKED: [(&str, &str); 2] = [("\u{1f}\u{fffd}", "gunzip"), ("(\u{fffd}/\u{fffd}", "zstd -d")];

/// A format, and what was read of it.
type ReadLog = (&'static LogFormat, Vec<Transcript>);

/// A recorded session as a timeline.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its name within the file; empty for a single session.
    pub session: String,
    pub timeline: Timeline,
    /// The format that was found.
    pub format: &'static str,
    /// The parts of the recording that are not in the timeline, by first line.
    pub losses: Vec<LossReason>,
}

/// Returns the formats that can be read, by name.
pub fn formats() -> Vec<&'static LogFormat> {
    let mut formats: Vec<&LogFormat> = FORMATS.iter().collect();
    formats.order_by_key(|it| it.name);
    formats
}

/// Returns the format of a text, if it is a recorded session.
pub fn detect(text: &str) -> Option<&'static str> {
    detect_from(&mut text.as_bytes()).ok().flatten()
}

/// Returns every format that recognises a text, in the order in which they are asked: the first one reads it.
pub fn recognised_by(text: &str) -> Vec<&'static str> {
    FORMATS.iter().filter(|it| (it.detect)(text)).map(|it| it.name).collect()
}

/// Returns the format of a reader's content, from its first lines, if it is a recorded session.
///
/// # Errors
/// One of the lines is too long, or a database is damaged or not one that is read.
pub fn detect_from(reader: &mut dyn BufRead) -> Result<Option<&'static str>, Box<Diagnostic>> {
    // What cannot be read is told when it is.
    if inspect_ai::begins(reader).unwrap_or(false) {
        return Ok(Some(inspect_ai::FORMAT.name));
    }
    if let Some(format) = database::format(reader).ok().flatten() {
        return format.map(Some);
    }
    let lines = LogLines::new(reader);
    match (found(lines.head()), lines.too_long) {
        (None, Some(line)) => Err(Box::new(too_long(line))),
        (found, _) => Ok(found.map(|it| it.name)),
    }
}

/// Reads a recorded session; results of `file_tools` can be read again by range.
///
/// # Errors
/// The text has no known format, contains no request or several sessions, or an assumption is invalid.
pub fn import(text: &str, name: &str, assume: &Assume, file_tools: &[String]) -> ImportResult<Imported> {
    let mut all = import_all(text, name, assume, file_tools)?;
    match (all.pop(), all.len()) {
        (Some(one), 0) => Ok(one),
        (_, n) => {
            let message = format!("the recording contains {} sessions", n + 1);
            Err(vec![
                Diagnostic::at(Code("recording-several"), "", message).help("put each into its own file"),
            ])
        }
    }
}

/// Reads all recorded sessions of a text, in order.
///
/// # Errors
/// The text has no known format, contains no request, or an assumption is invalid.
pub fn import_all(
    text: &str,
    name: &str,
    assume: &Assume,
    file_tools: &[String],
) -> ImportResult<Vec<Imported>> {
    // Reading from memory does not fail.
    import_from(&mut text.as_bytes(), name, assume, file_tools).unwrap_or_else(|_| Err(vec![unknown("")]))
}

/// Reads all recorded sessions of a reader, in order, holding only one line at a time.
///
/// # Errors
/// The reader fails; or, inside, as [`import_all`], and a number of the bill is not a count.
pub fn import_from(
    reader: &mut dyn BufRead,
    name: &str,
    assume: &Assume,
    file_tools: &[String],
) -> io::Result<ImportResult<Vec<Imported>>> {
    let under = import_under(reader, name, std::slice::from_ref(assume), file_tools, &BySession::default())?;
    Ok(under.map(|it| it.into_iter().flatten().collect()))
}

/// What was read of a recording, or everything that is wrong with it.
pub type ImportResult<T> = Result<T, Vec<Diagnostic>>;

/// What the neighbours of a recording's sessions tell of each, by its name within the file.
pub type BySession = IndexMap<String, Neighbours>;

/// The same under several assumptions, with what other sessions tell of these: the recording is read once, and its sessions are laid out under
/// each.
///
/// # Errors
/// As [`import_from`].
pub fn import_under(
    reader: &mut dyn BufRead,
    name: &str,
    assumed: &[Assume],
    file_tools: &[String],
    beside: &BySession,
) -> io::Result<ImportResult<Vec<Vec<Imported>>>> {
    let (format, transcripts, losses) = match sessions(reader, assumed)? {
        Ok(read) => read,
        Err(problems) => return Ok(Err(problems)),
    };
    let mut under: Vec<Vec<Imported>> = assumed.iter().map(|_| Vec::new()).collect();
    for mut transcript in transcripts {
        let session = transcript.name.clone();
        transcript.neighbours = beside.get(&session).cloned().unwrap_or_default();
        let layouts = assumed.iter().map(|it| layout(&transcript, format, name, it, file_tools));
        let layouts: Vec<LayOut> = layouts.collect();
        let copies = std::iter::repeat_n(transcript, assumed.len());
        for ((layout, all), transcript) in layouts.iter().zip(&mut under).zip(copies) {
            let timeline = transcript.into_timeline(layout);
            if let Err(problems) = too_many(&timeline) {
                return Ok(Err(problems));
            }
            let session = session.clone();
            all.push(Imported { session, timeline, format: format.name, losses: losses.clone() });
        }
    }
    Ok(Ok(under))
}

/// Reads all recorded sessions of bytes, in order; each can be told later what others tell of it, as those of files are.
///
/// # Errors
/// As [`import_from`].
pub fn import_bytes(
    bytes: &[u8],
    name: &str,
    assume: &Assume,
    file_tools: &[String],
) -> io::Result<ImportResult<Vec<Imported>>> {
    let indexed = index(&mut { bytes })?;
    let (format, transcripts, losses) = match sessions(&mut { bytes }, std::slice::from_ref(assume))? {
        Ok(read) => read,
        Err(problems) => return Ok(Err(problems)),
    };
    let all = transcripts.into_iter().map(|transcript| {
        let session = transcript.name.clone();
        let layout = layout(&transcript, format, name, assume, file_tools);
        let compacted = CompactedSession { transcript, layout };
        let mut timeline = compacted.among(&Neighbours::default());
        too_many(&timeline)?;
        let among = indexed.iter().find(|it| it.session == session).map(|indexed| Among {
            indexed: indexed.clone(),
            session: compacted,
            file: name.to_owned(),
            length: bytes.len(),
            losses: losses.clone(),
            told: Mutex::default(),
        });
        if let Some(recorded) = &mut timeline.recorded {
            recorded.among = among.map(Arc::new);
        }
        Ok(Imported { session, timeline, format: format.name, losses: losses.clone() })
    });
    Ok(all.collect())
}

/// Writes the recorded sessions of a reader without any of their words: what is read back has the same structure, sizes,
/// times, usage and needs. A tool goes by the pattern of `tools` that it matches, if it is in no table of this project, and a model by its `public_name`.
///
/// # Errors
/// As [`import_from`].
pub fn redact(
    reader: &mut dyn BufRead,
    name: &str,
    assume: &Assume,
    file_tools: &[String],
    tools: &[String],
    public_name: &PublicName<'_>,
) -> io::Result<ImportResult<String>> {
    Ok(sessions(reader, std::slice::from_ref(assume))?.map(|(format, transcripts, _)| {
        let kept = transcripts.into_iter().map(|it| {
            let layout = layout(&it, format, name, assume, file_tools);
            it.with_needs(&layout)
        });
        redacted::write(kept, tools, public_name)
    }))
}

/// Returns how a session of a file is laid out, which is called after both.
fn layout(session: &Transcript, format: &LogFormat, file: &str, assume: &Assume, tools: &[String]) -> LayOut {
    LayOut {
        name: match session.name.as_str() {
            "" => file.to_owned(),
            name => format!("{file}/{}", Foreign(name)),
        },
        harness: session.tools_of.unwrap_or(format.name),
        assume: assume.clone(),
        file_tools: tools.to_vec(),
    }
}

/// A format, the sessions that were read, and what is left out.
type Sessions = (&'static LogFormat, Vec<Transcript>, Vec<LossReason>);

/// Reads the sessions of a reader; there is at least one.
fn sessions(reader: &mut dyn BufRead, assumed: &[Assume]) -> io::Result<ImportResult<Sessions>> {
    if let Some(problems) = assumed.iter().find_map(|it| it.check().err()) {
        return Ok(Err(problems));
    }
    count_one(|it| &mut it.imports);
    let mut losses = Losses::default();
    Ok(read(reader, &mut losses)?.and_then(|(format, mut transcripts)| {
        let losses = losses.in_order();
        transcripts.iter_mut().for_each(Transcript::count_users);
        if transcripts.is_empty() {
            return Err(vec![empty(format, &losses)]);
        }
        Ok((format, transcripts, losses))
    }))
}

/// Reads the sessions that have requests, whatever the format.
fn read(reader: &mut dyn BufRead, losses: &mut Losses) -> io::Result<ImportResult<ReadLog>> {
    let read = if inspect_ai::begins(reader)? {
        losses.format = inspect_ai::FORMAT.name;
        inspect_ai::read_archive(reader, losses)?.map(|it| (&inspect_ai::FORMAT, it))
    } else {
        match database::text(reader, losses)? {
            Some(Ok(text)) => read_lines(&mut text.as_bytes(), losses)?,
            Some(Err(problem)) => Err(problem),
            None => read_lines(reader, losses)?,
        }
    };
    Ok(read.map_err(|it| vec![*it]).and_then(|(format, mut transcripts)| {
        let refused = losses.problems();
        transcripts.retain(|it| !it.exchanges.is_empty());
        once(&mut transcripts, losses);
        if refused.is_empty() { Ok((format, transcripts)) } else { Err(refused) }
    }))
}

/// Leaves one of the sessions that stand several times in a file.
fn once(transcripts: &mut Vec<Transcript>, losses: &mut Losses) {
    if transcripts.len() < 2 {
        return;
    }
    let mut seen = IndexSet::new();
    let before = transcripts.len();
    transcripts.retain(|it| {
        let times: Vec<_> =
            it.exchanges.iter().map(|it| (it.at_ms, it.usage.map(|usage| usage.prompt))).collect();
        // A session without a name of its own is called by its number.
        let name = Some(&it.name).filter(|it| !it.bytes().all(|byte| byte.is_ascii_digit())).cloned();
        seen.insert((name, it.draws(), times))
    });
    for _ in transcripts.len()..before {
        losses.add(1, "sessions that stand in the file again, which count once");
    }
    // A session that is alone needs no name within its file.
    if let [only] = transcripts.as_mut_slice() {
        only.name.clear();
    }
}

/// Reads the sessions of a text.
fn read_lines(reader: &mut dyn BufRead, losses: &mut Losses) -> io::Result<Result<ReadLog, Box<Diagnostic>>> {
    let mut lines = LogLines::new(reader);
    let Some(format) = found(lines.head()) else {
        let problem = lines.too_long.map_or_else(|| unknown(lines.head()), too_long);
        lines.finish(&mut Losses::default())?;
        return Ok(Err(Box::new(problem)));
    };
    losses.format = format.name;
    let transcripts = (format.read)(&mut lines, losses);
    if let Some(line) = lines.too_long {
        return Ok(Err(Box::new(too_long(line))));
    }
    lines.finish(losses)?;
    Ok(Ok((format, transcripts)))
}

/// The most requests of a session: what a session takes to read and to simulate grows with their number.
const REQUESTS_MAX: usize = 100_000;

/// Refuses what the numbers of a timeline cannot say, and what would take too long: too many tools or requests, or an item that is too large.
fn too_many(timeline: &Timeline) -> ImportResult<()> {
    let (tools, items) = (&timeline.spine.tools, &timeline.spine.items);
    let n_requests = timeline.spine.steps.len();
    if n_requests > REQUESTS_MAX {
        let message = format!("a session of {n_requests} requests is longer than {REQUESTS_MAX}");
        return Err(vec![Diagnostic::at(Code("load-too-large"), "", message).help("split the recording")]);
    }
    if tools.len() >= usize::from(u16::MAX) {
        let message = format!("{} different tool names are too many", tools.len());
        return Err(vec![Diagnostic::at(Code("tools-too-many"), "", message).help("split the recording")]);
    }
    if items.iter().any(|it| Tokens::from(it.raw) > ITEM_TOKENS_MAX) {
        let message = format!("makes an item of more than {ITEM_TOKENS_MAX} tokens");
        let problem = Diagnostic::at(Code("size-too-large"), "chars_per_token", message);
        return Err(vec![problem.help("write how many characters a token has, such as `3.5`")]);
    }
    Ok(())
}

/// Reports a line that is too long to be read.
fn too_long(line: usize) -> Diagnostic {
    let message = format!("line {line} is longer than {} MiB", LINE_BYTES_MAX >> 20);
    let mut problem = Diagnostic::at(Code("recording-line"), "", message);
    problem.place.line_column = Some((line, 1));
    problem.help("write one record per line; a line holds at most one request")
}

/// Reports an unknown format.
fn unknown(head: &str) -> Diagnostic {
    if let Some((_, unpack)) = PACKED.iter().find(|it| head.starts_with(it.0)) {
        let problem = Diagnostic::at(Code("recording-unknown"), "", "the file is compressed");
        return problem.help(format!("unpack it first, for example with `{unpack}`"));
    }
    if head.trim().is_empty() {
        let problem = Diagnostic::at(Code("recording-empty"), "", "the file is empty");
        return problem.help("record a session in which the model answered");
    }
    if let Some(problem) = refused::refused(head) {
        return problem;
    }
    let known: Vec<String> = formats().iter().map(|it| format!("`{}`", it.name)).collect();
    let problem = Diagnostic::at(Code("recording-unknown"), "", "not a recorded session of a known format");
    problem.help(format!(
        "supported formats: {}; `ctxsim list formats` says how their files look and where they are",
        known.join(", ")
    ))
}

/// Reports a recording of a format without requests, with its losses.
fn empty(format: &LogFormat, losses: &[LossReason]) -> Diagnostic {
    let problem = Diagnostic::at(Code("recording-empty"), "", "the recording contains no requests");
    let reasons: Vec<String> = losses.iter().take(5).map(ToString::to_string).collect();
    problem.help(if reasons.is_empty() {
        "record a session in which the model answered".to_owned()
    } else {
        format!("the format is `{}`; left out: {}", format.name, reasons.join("; "))
    })
}

/// Returns the first format that recognises the first lines of a recording; none for one that is known and refused.
fn found(head: &str) -> Option<&'static LogFormat> {
    FORMATS.iter().find(|it| (it.detect)(head)).filter(|_| refused::refused(head).is_none())
}
