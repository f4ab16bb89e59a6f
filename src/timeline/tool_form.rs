//! What a harness's tools do and how they write it: one table a harness, in `assumptions/tools/`.

mod answer;
mod patch;

use std::sync::OnceLock;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::input::text::decode::{Format, decode};

pub use answer::Answer;

/// The tables by their files, each named after the format of recordings that it is for.
const TABLES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/tool_tables.rs"));

/// What a tool does, in a word that no harness has of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Reads a file, or a range of it.
    ReadFile,
    /// Writes a file.
    WriteFile,
    /// Changes a file.
    EditFile,
    /// Searches files for a text.
    Search,
    /// Lists files.
    ListFiles,
    /// Runs a command.
    ProcessStart,
    /// Asks a running command for its output.
    ProcessRead,
    /// Ends a running command.
    ProcessStop,
    /// Searches the web.
    WebSearch,
    /// Fetches a page.
    WebFetch,
}

impl Capability {
    /// Returns its name in policies and templates.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadFile => "read_file",
            Self::WriteFile => "write_file",
            Self::EditFile => "edit_file",
            Self::Search => "search",
            Self::ListFiles => "list_files",
            Self::ProcessStart => "process_start",
            Self::ProcessRead => "process_read",
            Self::ProcessStop => "process_stop",
            Self::WebSearch => "web_search",
            Self::WebFetch => "web_fetch",
        }
    }
}

/// What an argument says, whatever a harness calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// The file or folder.
    Path,
    /// The first line of a range.
    Offset,
    /// How many lines a range has.
    Limit,
    /// What is run.
    Command,
    /// Where it runs.
    Cwd,
    /// A running command.
    ProcessId,
    /// How its output is read.
    Mode,
    /// From where on it is read.
    Cursor,
    /// What is searched for.
    Query,
    /// A page.
    Url,
    /// What an edit replaces.
    OldText,
    /// Edits of several files in one text.
    Patch,
}

impl Argument {
    /// Returns its name in templates and in the rules of needs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Offset => "offset",
            Self::Limit => "limit",
            Self::Command => "command",
            Self::Cwd => "cwd",
            Self::ProcessId => "process_id",
            Self::Mode => "mode",
            Self::Cursor => "cursor",
            Self::Query => "query",
            Self::Url => "url",
            Self::OldText => "old_text",
            Self::Patch => "patch",
        }
    }
}

/// What one tool of a harness does, and how it writes it.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolForm {
    /// What it does.
    pub capability: Capability,
    /// By what an argument says: its own names for it.
    #[serde(default)]
    arguments: IndexMap<Argument, Names>,
    /// Whether the files that its command names are taken to stand in its result.
    #[serde(default)]
    pub names_files: bool,
    /// How a result is written.
    #[serde(default)]
    result: ResultForm,
}

/// One name, or several of which any may be used.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Any(Vec<String>),
}

impl Names {
    fn iter(&self) -> impl Iterator<Item = &String> {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Any(names) => names.as_slice(),
        }
        .iter()
    }
}

/// What of a result is its content, and what stands around it.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ResultForm {
    /// The tag that holds the content, where there is one.
    inside: Option<String>,
    /// How lines in front of the content begin.
    head: Vec<String>,
    /// What the last line behind the content holds.
    tail: Vec<String>,
    /// What the content ends in front of.
    until: Option<String>,
    /// Whether its lines begin with their number.
    numbered: bool,
    /// By what it says: what a word around the content stands behind.
    facts: IndexMap<String, String>,
}

/// The tools of one harness.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Where it comes from.
    #[cfg_attr(not(test), expect(dead_code, reason = "for people"))]
    sources: Vec<String>,
    /// The tables in which other names are looked up.
    #[serde(default)]
    also: Vec<String>,
    tools: IndexMap<String, ToolForm>,
}

/// Returns what a tool of a harness does, and how it writes it, as far as its table says.
#[must_use]
pub fn of(harness: &str, tool: &str) -> Option<&'static ToolForm> {
    static READ: OnceLock<IndexMap<&'static str, Table>> = OnceLock::new();
    let tables = READ.get_or_init(|| {
        TABLES
            .iter()
            .map(|(file, text)| (format_of(file), decode(text, Format::Toml).unwrap_or_default()))
            .collect()
    });
    let table = tables.get(harness)?;
    let others = table.also.iter().filter_map(|it| tables.get(it.as_str()));
    std::iter::once(table).chain(others).find_map(|it| it.tools.get(tool))
}

/// Returns the format of recordings that a table's file is named after.
fn format_of(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".toml").unwrap_or(name)
}

impl ToolForm {
    /// Returns what an argument says, by its own name.
    #[must_use]
    pub fn says(&self, name: &str) -> Option<Argument> {
        let mut arguments = self.arguments.iter();
        arguments.find(|(_, names)| names.iter().any(|it| it == name)).map(|(argument, _)| *argument)
    }

    /// Returns what a call asks for: its arguments by what they say, in the table's order. A patch asks for its first file.
    #[must_use]
    pub fn asked(&self, input: &str) -> Vec<(Argument, Value)> {
        let fields = fields(input);
        let mut asked: Vec<(Argument, Value)> = self
            .arguments
            .iter()
            .filter(|(argument, _)| **argument != Argument::Patch)
            .filter_map(|(argument, names)| {
                let value = value(&fields, names)?;
                Some((*argument, if *argument == Argument::Command { command(value) } else { value.clone() }))
            })
            .collect();
        asked.extend(self.patched(input).into_iter().take(1).map(|(path, _)| (Argument::Path, path.into())));
        asked
    }

    /// Returns the files that a call's patch changes, each with a text that it replaces there.
    #[must_use]
    pub fn patched(&self, input: &str) -> Vec<(String, String)> {
        let Some(names) = self.arguments.get(&Argument::Patch) else { return Vec::new() };
        let fields = fields(input);
        // A tool that takes one text takes no names.
        let text = value(&fields, names).and_then(Value::as_str).unwrap_or(input);
        patch::files(text).map(|it| (it.path.to_owned(), it.old)).collect()
    }

    /// Returns what a result says.
    #[must_use]
    pub fn answer<'o>(&self, output: &'o str, asked: &[(Argument, Value)]) -> Answer<'o> {
        Answer::read(&self.result, output, asked)
    }
}

/// Returns the arguments of a call by their own names; none where it is no list of names.
fn fields(input: &str) -> Map<String, Value> {
    serde_json::from_str(input).unwrap_or_default()
}

/// Returns the first of some arguments that says anything.
fn value<'f>(fields: &'f Map<String, Value>, names: &Names) -> Option<&'f Value> {
    names.iter().find_map(|it| fields.get(it)).filter(|it| !it.is_null())
}

/// Returns a command as one text: the words of a list, or what they hand to a shell.
fn command(value: &Value) -> Value {
    let Value::Array(words) = value else { return value.clone() };
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => (*script).into(),
        words => words.join(" ").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_read_and_names_its_sources() {
        let names: Vec<&str> = TABLES.iter().map(|(file, _)| format_of(file)).collect();
        for (name, text) in TABLES {
            let table: Table = decode(text, Format::Toml).unwrap();
            assert!(!table.tools.is_empty() && !table.sources.is_empty(), "{name}");
            assert!(table.also.iter().all(|it| names.contains(&it.as_str())), "{name}");
            assert!(crate::timeline::import::formats().any(|it| it == format_of(name)), "{name}");
        }
    }

    #[test]
    fn a_log_of_messages_may_hold_the_tools_of_any_harness() {
        assert_eq!(of("messages", "Read"), of("claude-code", "Read"));
        assert_eq!(of("messages", "exec_command"), of("codex", "exec_command"));
        assert!(of("claude-code", "read").is_none(), "another harness's tool");
    }

    #[test]
    fn a_command_is_one_text_however_it_is_written() {
        let form = of("codex", "shell").unwrap();
        let asked = |input| form.asked(input);

        let script = asked(r#"{"command":["bash","-lc","cargo test"],"workdir":"/w"}"#);
        assert_eq!(script, [(Argument::Command, "cargo test".into()), (Argument::Cwd, "/w".into())]);
        assert_eq!(asked(r#"{"command":["ls","-a"]}"#), [(Argument::Command, "ls -a".into())]);
    }
}
