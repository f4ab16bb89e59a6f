//! Usage of Claude Code sessions as comma-separated values: one request per line, with sizes and times but no text.

use super::claude_code::HARNESS;
use super::losses::column_of;
use super::transcript::LoggedCompaction;
use super::usage::TOKENS_MAX;
use crate::import::prelude::*;

/// Columns without which a row says nothing.
const COLUMNS: [&str; 12] = [
    "session",
    "version",
    "t_start",
    "t_first_line",
    "t_last_line",
    "input",
    "cache_read",
    "cache_write_total",
    "output_logged_max",
    "new_user_chars",
    "new_tool_result_chars",
    "asst_text_chars",
];

/// What the column `class`, if there is one, says of a request before which the log has a compaction.
const AFTER_COMPACTION: &str = "after-compaction";

/// The columns of what was billed.
const BILLED: [&str; 5] = ["input", "cache_read", "cache_write_total", "cache_write_1h", "output_logged_max"];

/// The column of a request's place in its session.
const PLACE: &str = "idx";

/// The columns of the texts' sizes.
const TEXTS: [&str; 5] = [
    "new_user_chars",
    "new_tool_result_chars",
    "asst_text_chars",
    "asst_thinking_chars",
    "asst_tool_use_chars",
];

pub(super) const FORMAT: LogFormat = LogFormat { name: "claude-code-usage", detect, read };

/// Returns whether the first line names the columns.
pub(super) fn detect(head: &str) -> bool {
    let names: Vec<&str> = head.lines().next().unwrap_or_default().split(',').map(str::trim).collect();
    COLUMNS.iter().all(|it| names.contains(it))
}

/// Reads the sessions in the order of their first rows, each in the order of its requests.
pub(super) fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let header = lines.next().map_or_else(String::new, |it| it.text.to_owned());
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    let mut sessions: IndexMap<String, Vec<CsvRequest>> = IndexMap::new();
    while let Some(line) = lines.next_new(losses) {
        let number = line.number;
        if line.text.trim().is_empty() {
            continue;
        }
        let row = CsvRow { columns: &columns, fields: line.text.split(',').map(str::trim).collect() };
        row.check(number, losses);
        losses.locate_by(number, |column| {
            (number, column_of(line.text, row.text(column).unwrap_or(line.text)))
        });
        let Some(request) = row.request() else {
            losses.add(number, "rows with a missing number");
            continue;
        };
        let n_surplus = row.fields.len().saturating_sub(columns.len());
        let session = sessions.entry(row.name().to_owned()).or_default();
        let is_late = session.last().is_some_and(|it| it.place > request.place);
        session.push(request);
        if n_surplus > 0 {
            losses.add(number, "fields after the last column");
        }
        if is_late {
            losses.add(number, "rows after a later request of their session; they are ordered by `idx`");
        }
    }
    sessions.into_iter().map(|(name, requests)| transcript(name, requests)).collect()
}

/// Returns the names and the ids of the sessions, in the order of their first rows.
pub(super) fn sessions(lines: &mut LogLines<'_>) -> IndexMap<String, String> {
    let header = lines.next().map_or_else(String::new, |it| it.text.to_owned());
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    let mut sessions = IndexMap::new();
    while let Some(line) = lines.next() {
        let row = CsvRow { columns: &columns, fields: line.text.split(',').map(str::trim).collect() };
        if let Some(id) =
            row.text("session").filter(|it| !it.is_empty() && !sessions.contains_key(row.name()))
        {
            sessions.insert(row.name().to_owned(), id.to_owned());
        }
    }
    sessions
}

/// What a row says.
struct CsvRequest {
    /// Its place in the session.
    place: u64,
    /// The request itself.
    exchange: Exchange,
    /// What the user said before it, and what a tool gave back.
    came: [Option<Part>; 2],
}

/// Makes a session of its rows.
fn transcript(name: String, mut requests: Vec<CsvRequest>) -> Transcript {
    let mut transcript = Transcript {
        name,
        harness: HARNESS,
        has_breakpoints: true,
        makes_side_requests: true,
        ..Transcript::default()
    };
    requests.order_by_key(|it| it.place);
    for CsvRequest { mut exchange, came: [user, result], .. } in requests {
        // User text alone begins a turn, anything else goes on with the one before.
        match transcript.exchanges.last_mut() {
            Some(before) if result.is_some() || user.is_none() => {
                before.results.extend(result.into_iter().chain(user));
            }
            _ => exchange.begins = Some(user.into_iter().collect()),
        }
        transcript.exchanges.push(exchange);
    }
    transcript
}

/// A row with the names of its fields.
struct CsvRow<'a> {
    columns: &'a [&'a str],
    fields: Vec<&'a str>,
}

impl<'a> CsvRow<'a> {
    fn text(&self, column: &str) -> Option<&'a str> {
        self.fields.get(self.columns.iter().rposition(|it| *it == column)?).copied()
    }

    /// Returns the name of its session within the file.
    fn name(&self) -> &'a str {
        self.text("file").filter(|it| !it.is_empty()).or(self.text("session")).unwrap_or_default()
    }

    fn number(&self, column: &str) -> Option<u64> {
        self.text(column)?.parse().ok().filter(|it| *it <= TOKENS_MAX)
    }

    /// Reports fields that are there but are not counts.
    fn check(&self, line: usize, losses: &mut Losses) {
        let written = |column: &str| self.text(column).filter(|it| !it.is_empty());
        let count = |column| Some((column, Count::of_text(written(column)?)));
        let is_large = |it: &(&str, Count)| matches!(it.1.0, Ok(it) if it > TOKENS_MAX);
        let mut bill = BillReader::new(line, "", losses);
        for (column, count) in BILLED.into_iter().filter_map(count) {
            bill.count(column, count);
        }
        // A place says nothing about tokens, and neither does a text's size.
        for (column, _) in TEXTS.into_iter().chain([PLACE]).filter_map(count).filter(is_large) {
            bill.refuse(column, "more than 100,000,000");
        }
        if let Some((Err(why), place)) = count(PLACE).map(|it| (it.1.0, it.0)) {
            bill.refuse(place, why);
        }
        if TEXTS.into_iter().filter_map(count).any(|it| !is_large(&it) && self.number(it.0).is_none()) {
            losses.add(line, "sizes of texts that are not counts; these texts are left out");
        }
    }

    /// Reads seconds since 1970 as milliseconds.
    fn milliseconds(&self, column: &str) -> Option<i64> {
        let (seconds, fraction) = self.text(column)?.split_once('.').unwrap_or((self.text(column)?, ""));
        let digits: String = fraction.chars().take_while(char::is_ascii_digit).take(3).collect();
        let ms: i64 = format!("{digits:0<3}").parse().ok()?;
        seconds.parse::<i64>().ok()?.checked_mul(1_000)?.checked_add(ms)
    }

    /// Reads what the row says.
    fn request(&self) -> Option<CsvRequest> {
        let uncached: Tokens = self.number("input")?;
        let (cache_read, cache_write) = (self.number("cache_read")?, self.number("cache_write_total")?);
        let usage = Usage {
            prompt: uncached + cache_read + cache_write,
            cache_read,
            cache_write,
            cache_write_long: self.number("cache_write_1h").filter(|it| *it <= cache_write),
            uncached,
            output: self.number("output_logged_max")?,
        };
        let reply = [
            (Kind::Reasoning, "asst_thinking_chars"),
            (Kind::Assistant, "asst_text_chars"),
            (Kind::ToolCall, "asst_tool_use_chars"),
        ];
        let mut reply: Vec<Part> =
            reply.into_iter().filter_map(|(kind, column)| self.part(kind, column)).collect();
        if reply.is_empty() {
            reply.push(Part::new(Kind::Assistant, 0, 0));
        }
        let exchange = Exchange {
            at_ms: Some(self.milliseconds("t_start")?),
            response_ms: self.milliseconds("t_first_line"),
            end_ms: self.milliseconds("t_last_line"),
            compacts: (self.text("class") == Some(AFTER_COMPACTION))
                .then_some(LoggedCompaction { stays_from: usize::MAX, cause: Remover::Harness }),
            version: Version::parse(self.text("version").unwrap_or_default()),
            model: self.text("model").unwrap_or_default().to_owned(),
            usage: Some(usage).filter(|it| it.prompt > 0),
            reply,
            ..Exchange::default()
        };
        let user = self.part(Kind::User, "new_user_chars");
        let result = self.part(Kind::ToolResult, "new_tool_result_chars");
        Some(CsvRequest { place: self.number(PLACE).unwrap_or(0), exchange, came: [user, result] })
    }

    /// Makes a part of a number of characters; its place makes it unique.
    fn part(&self, kind: Kind, column: &str) -> Option<Part> {
        let characters = self.number(column).filter(|it| *it > 0)?;
        let digest = self.number(PLACE).unwrap_or(0) << 32 | characters & 0xffff_ffff;
        Some(Part::new(kind, characters, digest))
    }
}
