//! Databases of agents (SQLite), for reading alone: their rows as the lines or documents that an importer reads.

mod log;
mod pages;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::io::{BufRead, Read as _};

use serde::de::IgnoredAny;
use serde_json::value::to_raw_value;
use serde_json::{Map, json};

use self::pages::{DatabasePages, DatabaseTable, PageDamage, PageResult};
use super::{opencode, refused, rows};
use crate::import::prelude::*;

pub use self::log::{is_database, with_log};

/// The longest database, in bytes; it is held as it is.
const DATABASE_BYTES_MAX: u64 = 1 << 30;

/// The bytes of the front in which a database is looked for by name that cannot be read.
const FRONT_BYTES: usize = 64 << 10;

/// What follows what is said of a session, at the end of a line.
const MESSAGES: &str = ",\"messages\":[";

/// What is said of a database that comes without its log.
const NO_LOG: &str =
    "what was written last: the database is written through a `-wal` file, and none that fits lies beside it";

/// What stands for a part that is not JSON, so that the importer names it among what is left out.
const BROKEN_PART: &str = "{\"type\":\"text that is not JSON\"}";

/// Returns what a database holds as text; nothing of a reader with another content, which is left as it is.
///
/// # Errors
/// The reader fails; or, inside, the database is damaged or not one that is read.
pub(super) fn text(
    reader: &mut dyn BufRead,
    losses: &mut Losses,
) -> io::Result<Option<Result<String, Box<Diagnostic>>>> {
    let text = |bytes: Result<Vec<u8>, _>| {
        let bytes = bytes?;
        // Written through a log, it may not hold what was written last.
        if bytes.get(log::MODES).is_some_and(|it| it.contains(&2)) {
            losses.add(1, NO_LOG);
        }
        Ok(KnownDatabase::open(&bytes)?.text()?)
    };
    Ok(bytes(reader)?.map(text))
}

/// Returns the format in which a database is read.
///
/// # Errors
/// As [`text`].
pub(super) fn format(reader: &mut dyn BufRead) -> io::Result<Option<Result<&'static str, Box<Diagnostic>>>> {
    let format = |it: KnownDatabase<'_>| if it.is_rows { rows::FORMAT.name } else { opencode::FORMAT.name };
    Ok(bytes(reader)?.map(|bytes| KnownDatabase::open(&bytes?).map(format)))
}

/// Returns the ids of the sessions in such a text.
pub(super) fn ids(text: &str) -> Vec<String> {
    let heads = text.lines().filter_map(|it| it.strip_suffix(MESSAGES)?.strip_prefix("{\"info\":"));
    let id = |head| serde_json::from_str::<Value>(head).ok()?["id"].as_str().map(str::to_owned);
    heads.filter_map(id).collect()
}

/// Reads all of a database.
fn bytes(reader: &mut dyn BufRead) -> io::Result<Option<Result<Vec<u8>, Box<Diagnostic>>>> {
    if !is_database(reader.fill_buf()?) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    reader.take(DATABASE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= DATABASE_BYTES_MAX {
        return Ok(Some(Ok(bytes)));
    }
    let message = format!("the database is larger than {} GiB", DATABASE_BYTES_MAX >> 30);
    let problem = Diagnostic::at(Code("recording-unknown"), "", message);
    Ok(Some(Err(Box::new(problem.help("export its sessions, and use these files")))))
}

impl From<PageDamage> for Box<Diagnostic> {
    fn from(damage: PageDamage) -> Self {
        let message = format!("page {} of the database is damaged: {}", damage.page, damage.what);
        let help = "copy the database again, with its `-wal` file, or let `sqlite3 FILE .recover` repair it";
        Self::new(Diagnostic::at(Code("recording-unknown"), "", message).help(help))
    }
}

/// The tables that are read, each with the columns that it has: requests of ZCode, and what opencode says.
const USAGE: (&str, [&str; 2]) = ("model_usage", ["session_id", "input_tokens"]);
const MESSAGE: (&str, [&str; 3]) = ("message", ["id", "session_id", "data"]);
const PART: (&str, [&str; 3]) = ("part", ["id", "message_id", "data"]);
const SESSION: (&str, [&str; 1]) = ("session", ["id"]);

/// Returns a table that has some columns, and where they are.
fn known<'t, const N: usize>(
    tables: &'t [DatabaseTable],
    (name, columns): (&str, [&str; N]),
) -> Option<(&'t DatabaseTable, [usize; N])> {
    let table = tables.iter().find(|it| it.name == name)?;
    Some((table, table.places(columns)?))
}

/// A database with tables that are read.
struct KnownDatabase<'b> {
    pages: DatabasePages<'b>,
    tables: Vec<DatabaseTable>,
    /// Whether it has rows with usage, one a request.
    is_rows: bool,
}

impl<'b> KnownDatabase<'b> {
    fn open(bytes: &'b [u8]) -> Result<Self, Box<Diagnostic>> {
        let opened = DatabasePages::new(bytes).and_then(|mut it| Ok((it.tables()?, it)));
        let (tables, pages) = opened.map_err(|damage| {
            let front = String::from_utf8_lossy(&bytes[..bytes.len().min(FRONT_BYTES)]);
            refused::database(&front).map_or_else(|| damage.into(), Box::new)
        })?;
        let is_rows = known(&tables, USAGE).is_some();
        if is_rows || known(&tables, MESSAGE).is_some() {
            return Ok(Self { pages, tables, is_rows });
        }
        let names = tables.iter().flat_map(|it| std::iter::once(&it.name).chain(&it.columns));
        let names: Vec<&str> = names.map(String::as_str).collect();
        Err(Box::new(refused::database(&names.join(" ")).unwrap_or_else(refused::other_database)))
    }

    /// Writes the rows of requests, or opencode's sessions as it exports them: a document each, with a message a line.
    fn text(self) -> PageResult<String> {
        let Self { mut pages, tables, .. } = self;
        if let Some((table, _)) = known(&tables, USAGE) {
            // Rows are objects, one a line.
            let mut text = String::new();
            pages.each(table, |cells| {
                let row: Map<String, Value> = table.columns.iter().cloned().zip(cells).collect();
                // Writing to a text does not fail.
                let _ = writeln!(text, "{}", Value::Object(row));
            })?;
            return Ok(text);
        }
        let Some(table) = known(&tables, MESSAGE) else { return Ok(String::new()) };
        let mut sessions = messages(&mut pages, table)?;
        // Sessions in which nobody answered have no requests.
        sessions.retain(|_, it| it.messages.values().any(|it| it.0.contains("assistant")));
        if let Some(table) = known(&tables, PART) {
            add_parts(&mut pages, table, &mut sessions)?;
        }
        if let Some(table) = known(&tables, SESSION) {
            add_infos(&mut pages, table, &mut sessions)?;
        }
        Ok(sessions.into_iter().map(|(id, it)| it.export(&id)).collect())
    }
}

/// What a database says of a session.
#[derive(Default)]
struct StoredSession {
    info: Value,
    /// The messages by time and id, each with what is said of it and its parts.
    messages: BTreeMap<(i64, String), (String, Vec<String>)>,
}

/// Returns the text of a cell.
fn said(cells: &[Value], at: usize) -> String {
    cells[at].as_str().unwrap_or_default().to_owned()
}

/// Reads opencode's sessions and their messages.
fn messages(
    pages: &mut DatabasePages<'_>,
    (table, [id, session, data]): (&DatabaseTable, [usize; 3]),
) -> PageResult<IndexMap<String, StoredSession>> {
    let mut sessions: IndexMap<String, StoredSession> = IndexMap::new();
    let created = table.places(["time_created"]);
    pages.each(table, |cells| {
        let at_ms = created.and_then(|it| cells[it[0]].as_i64()).unwrap_or_default();
        let of_session = sessions.entry(said(&cells, session)).or_default();
        of_session.messages.insert((at_ms, said(&cells, id)), (said(&cells, data), Vec::new()));
    })?;
    Ok(sessions)
}

/// Puts the parts of messages into them, in the order of their ids.
fn add_parts(
    pages: &mut DatabasePages<'_>,
    (table, [id, message, data]): (&DatabaseTable, [usize; 3]),
    sessions: &mut IndexMap<String, StoredSession>,
) -> PageResult<()> {
    let mut parts: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    pages.each(table, |cells| {
        parts.entry(said(&cells, message)).or_default().push((said(&cells, id), said(&cells, data)));
    })?;
    for ((_, id), message) in sessions.values_mut().flat_map(|it| &mut it.messages) {
        let mut of_message = parts.remove(id).unwrap_or_default();
        of_message.sort_unstable();
        message.1 = of_message.into_iter().map(|it| it.1).collect();
    }
    Ok(())
}

/// Puts into sessions what is said of them.
fn add_infos(
    pages: &mut DatabasePages<'_>,
    (table, [id]): (&DatabaseTable, [usize; 1]),
    sessions: &mut IndexMap<String, StoredSession>,
) -> PageResult<()> {
    let [parent, folder] = [["parent_id"], ["directory"]].map(|it| table.places(it));
    pages.each(table, |cells| {
        let of = |it: Option<[usize; 1]>| it.map_or(&Value::Null, |it| &cells[it[0]]);
        if let Some(session) = sessions.get_mut(&said(&cells, id)) {
            session.info = json!({"id": cells[id], "parentID": of(parent), "directory": of(folder)});
        }
    })
}

impl StoredSession {
    fn export(self, session: &str) -> String {
        let info = if self.info.is_null() { json!({ "id": session }) } else { self.info };
        let mut text = format!("{{\"info\":{info}{MESSAGES}");
        let mut between = "\n";
        for ((_, id), (data, parts)) in self.messages {
            let is_json = |it: &str| serde_json::from_str::<IgnoredAny>(it).is_ok();
            let parts = parts.iter().map(|it| if is_json(it) { it } else { BROKEN_PART });
            let parts: Vec<&str> = parts.collect();
            let _ =
                write!(text, "{between}{{\"info\":{},\"parts\":[{}]}}", about(&id, &data), parts.join(","));
            between = ",\n";
        }
        text + "\n]}\n"
    }
}

/// Returns what is said of a message, with its id, which stands in a column of its own; `null` for what is not JSON.
fn about(id: &str, data: &str) -> String {
    let Ok(mut about) = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(data) else {
        return "null".to_owned();
    };
    if let Ok(id) = to_raw_value(id) {
        about.insert("id".to_owned(), id);
    }
    serde_json::to_string(&about).unwrap_or_else(|_| "null".to_owned())
}
