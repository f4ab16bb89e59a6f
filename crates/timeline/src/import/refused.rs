//! Logs of agents that are known and cannot be read, by the members of their records: each is refused by its name and with the reason.

use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::content::{ignores_the_rest, skip_list};
use super::usage::declared_for;
use ctxsim_base::diag::Diagnostic;

/// A log that cannot be read: an entry of `assumptions/logs/refused.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RefusedLog {
    /// Whose it is.
    name: String,
    /// The members that one record has, all of them.
    has: Vec<String>,
    /// Members of which it has none.
    lacks: Vec<String>,
    /// How its `type` or its `role` begins, if that matters.
    says: Vec<String>,
    /// Of a database: a name that its tables or columns have.
    names: String,
    /// Why it cannot be read, and what to do, if that is not the usual.
    why: Option<String>,
    instead: Option<String>,
}

/// All of them; the first that fits is named.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RefusedLogs {
    /// The usual reason, and what to do about it.
    why: String,
    instead: String,
    logs: Vec<RefusedLog>,
}

static REFUSED: LazyLock<RefusedLogs> = LazyLock::new(|| declared_for("refused"));

/// How the chat histories of Aider begin.
const AIDER: &str = "# aider chat started at";

/// How many lines at the front, and bytes of it, are searched.
const LINES_MAX: usize = 5;
const BYTES_MAX: usize = 64 << 10;

impl RefusedLog {
    fn fits(&self, record: &RefusedRecord) -> bool {
        let is_there = |key: &String| record.keys.contains(key);
        let says = self.says.iter().any(|it| record.said.iter().any(|said| said.starts_with(it)));
        let has_all = self.has.iter().all(is_there) && self.names.is_empty();
        has_all && !self.lacks.iter().any(is_there) && (says || self.says.is_empty())
    }

    fn problem(&self) -> Diagnostic {
        let why = self.why.as_ref().unwrap_or(&REFUSED.why);
        let message = format!("a log of {} cannot be read: {why}", self.name);
        let problem = Diagnostic::at(ctxsim_base::diag::Code("recording-refused"), "", message);
        problem.help(self.instead.as_ref().unwrap_or(&REFUSED.instead))
    }
}

/// Returns why a database with these names is refused, if it is one of an agent that is known.
pub(super) fn database(names: &str) -> Option<Diagnostic> {
    let mut known = REFUSED.logs.iter().filter(|it| !it.names.is_empty());
    known.find(|it| names.contains(&it.names)).map(RefusedLog::problem)
}

/// Returns why another database is refused.
pub(super) fn other_database() -> Diagnostic {
    let why = Some("none of the tables of its database is known to hold requests".to_owned());
    RefusedLog { name: "an unknown agent".to_owned(), why, ..RefusedLog::default() }.problem()
}

/// Returns why a recording with this front is refused, if it is of an agent whose logs cannot be read.
pub(super) fn refused(head: &str) -> Option<Diagnostic> {
    let mut end = head.len().min(BYTES_MAX);
    while !head.is_char_boundary(end) {
        end -= 1;
    }
    let front = head[..end].trim_ascii_start();
    if front.starts_with(AIDER) {
        return Some(RefusedLog { name: "Aider".to_owned(), ..RefusedLog::default() }.problem());
    }
    // A log of mini-swe-agent that keeps the providers' responses has their usage.
    let has_usage = || head.contains("\"usage\"");
    let lines = front.lines().take(LINES_MAX).filter(|it| it.starts_with('{'));
    let first = std::iter::once(front).filter(|it| it.starts_with(['{', '[']));
    let records: Vec<RefusedRecord> = first.chain(lines).flat_map(RefusedRecord::read).collect();
    let found = REFUSED.logs.iter().find(|it| records.iter().any(|record| it.fits(record)))?;
    (found.name != "mini-swe-agent" || !has_usage()).then(|| found.problem())
}

/// The members of a record.
#[derive(Debug, Default)]
struct RefusedRecord {
    keys: Vec<String>,
    /// What those of them say that tell types of records apart.
    said: Vec<String>,
}

/// Members that tell types of records apart.
const TYPES: [&str; 3] = ["type", "role", "trajectory_format"];

/// Members under which documents keep their records.
const LISTS: [&str; 2] = ["items", "records"];

/// The most records of a list that are looked at, and how deep lists may lie in one another.
const RECORDS_MAX: usize = 5;
const DEPTH_MAX: usize = 3;

impl RefusedRecord {
    /// Reads an object, or what is in a list, as far as it goes: the front of a document may be cut.
    fn read(text: &str) -> Vec<Self> {
        let mut found = vec![Self::default()];
        let mut reader = serde_json::Deserializer::from_str(text);
        let _ = MemberReading(&mut found, DEPTH_MAX).deserialize(&mut reader);
        found
    }
}

/// Reads the members of records into a list, of which the last is the open one.
struct MemberReading<'f>(&'f mut Vec<RefusedRecord>, usize);

impl<'de> DeserializeSeed<'de> for MemberReading<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for MemberReading<'_> {
    type Value = ();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(found, depth) = self;
        let index = found.len() - 1;
        while let Some(key) = map.next_key::<String>()? {
            let is_type = TYPES.contains(&key.as_str());
            let is_list = LISTS.contains(&key.as_str());
            found[index].keys.push(key);
            if is_type {
                let said = map.next_value::<serde_json::Value>()?;
                found[index].said.extend(said.as_str().map(str::to_owned));
            } else if is_list && depth > 0 {
                found.push(RefusedRecord::default());
                map.next_value_seed(MemberReading(found, depth - 1))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self(found, depth) = self;
        for _ in 0..RECORDS_MAX {
            found.push(RefusedRecord::default());
            if depth == 0 || list.next_element_seed(MemberReading(found, depth - 1))?.is_none() {
                break;
            }
        }
        skip_list(list)
    }

    ignores_the_rest!((); visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str, visit_unit);
}
