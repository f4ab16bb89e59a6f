//! The tools of harnesses: one table per harness, in `assumptions/tools/`.
//!
//! The tools of each harness are described in one table (`assumptions/tools/`, read by `timeline/tool_form.rs`): each tool's capability,
//! which argument is the path, the range or the cursor, and what part of a result is content. Policies match a tool by its name or its
//! capability; a scenario's `counts_as` replaces both. Templates see `call` and `result` in these terms, and the rules of needs take
//! arguments by them (a patch needs the lines that it replaces). A result of which a template leaves nothing is never exact.

mod answer;
mod patch;

use std::sync::OnceLock;

use crate::prelude::*;
use serde_json::Map;

use ctxsim_input::text::name_of;
use ctxsim_input::text::source::declared;

pub use answer::AnswerForm;

/// The tables by file, each named after its format of recordings.
const TABLES: &[(&str, &str)] = ctxsim_assumptions::TOOLS;

/// A tool's capability, independent of the harness's name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Reads the output of a running command.
    ProcessRead,
    /// Stops a running command.
    ProcessStop,
    /// Searches the web.
    WebSearch,
    /// Fetches a page.
    WebFetch,
}

impl Capability {
    /// Returns its name in policies and templates.
    pub fn name(self) -> &'static str {
        name_of(&self)
    }
}

/// The meaning of an argument, independent of the harness's name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Argument {
    /// The file or folder.
    Path,
    /// The first line of a range.
    Offset,
    /// The number of lines of a range.
    Limit,
    /// The command to run.
    Command,
    /// The working directory.
    Cwd,
    /// A running command.
    ProcessId,
    /// How its output is read.
    Mode,
    /// The position from which it is read.
    Cursor,
    /// The search text.
    Query,
    /// A URL.
    Url,
    /// The text that an edit replaces.
    OldText,
    /// Edits of several files in one text.
    Patch,
}

impl Argument {
    /// Returns its name in templates and in the rules of needs.
    pub fn name(self) -> &'static str {
        name_of(&self)
    }
}

/// One tool of a harness, and how it writes its results.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolForm {
    /// Its capability.
    pub capability: Capability,
    /// By meaning: the tool's own names of the argument.
    #[serde(default)]
    arguments: IndexMap<Argument, ToolNames>,
    /// Whether its result contains the files that its command names.
    #[serde(default)]
    pub names_files: bool,
    /// How a result is written.
    #[serde(default)]
    result: ResultForm,
}

/// One name, or several of which any may be used.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum ToolNames {
    One(String),
    Any(Vec<String>),
}

impl ToolNames {
    fn iter(&self) -> impl Iterator<Item = &String> {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Any(names) => names.as_slice(),
        }
        .iter()
    }
}

/// Which part of a result is its content, and what surrounds it.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ResultForm {
    /// The tag around the content, if there is one.
    inside: Option<String>,
    /// The beginnings of lines before the content.
    head: Vec<String>,
    /// A text in the last line after the content.
    tail: Vec<String>,
    /// The text before which the content ends.
    until: Option<String>,
    /// Whether its lines begin with line numbers.
    numbered: bool,
    /// By meaning: the word that precedes a value around the content.
    facts: IndexMap<String, String>,
}

/// The tools of one harness.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolTable {
    /// Its source.
    #[cfg_attr(not(test), expect(dead_code, reason = "for people"))]
    sources: Vec<String>,
    /// The tables in which other names are looked up.
    #[serde(default)]
    also: Vec<String>,
    tools: IndexMap<String, ToolForm>,
}

/// Returns a harness's tool, as far as its table describes it.
pub fn form_of(harness: &str, tool: &str) -> Option<&'static ToolForm> {
    static READ: OnceLock<IndexMap<&'static str, ToolTable>> = OnceLock::new();
    let read = |(file, text): &(&'static str, &'static str)| (format_of(file), declared(text));
    let tables = READ.get_or_init(|| TABLES.iter().map(read).collect());
    let table = tables.get(harness)?;
    let others = table.also.iter().filter_map(|it| tables.get(it.as_str()));
    std::iter::once(table).chain(others).find_map(|it| it.tools.get(tool))
}

/// Returns the format of recordings after which a table's file is named.
fn format_of(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".toml").unwrap_or(name)
}

impl ToolForm {
    /// Returns the meaning of an argument by its name.
    pub fn says(&self, name: &str) -> Option<Argument> {
        let mut arguments = self.arguments.iter();
        arguments.find(|(_, names)| names.iter().any(|it| it == name)).map(|(argument, _)| *argument)
    }

    /// Returns a call's arguments by meaning, in the table's order. A patch refers to its first file.
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

    /// Returns the files that a call's patch changes, each with a replaced text.
    pub fn patched(&self, input: &str) -> Vec<(String, String)> {
        let Some(names) = self.arguments.get(&Argument::Patch) else { return Vec::new() };
        let fields = fields(input);
        // A tool that takes one text takes no names.
        let text = value(&fields, names).and_then(Value::as_str).unwrap_or(input);
        patch::files(text).map(|it| (it.path.to_owned(), it.old)).collect()
    }

    /// Returns a result's content and what surrounds it.
    pub fn answer<'o>(&self, output: &'o str, asked: &[(Argument, Value)]) -> AnswerForm<'o> {
        AnswerForm::read(&self.result, output, asked)
    }
}

/// Returns the arguments of a call by their own names, or none if it is not an object.
fn fields(input: &str) -> Map<String, Value> {
    serde_json::from_str(input).unwrap_or_default()
}

/// Returns the first of some arguments that says anything.
fn value<'f>(fields: &'f Map<String, Value>, names: &ToolNames) -> Option<&'f Value> {
    names.iter().find_map(|it| fields.get(it)).filter(|value| !value.is_null())
}

/// Returns a command as one text: the words of a list, or the script that they pass to a shell.
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
    use ctxsim_input::text::source::{Format, decode_table};

    #[test]
    fn every_table_is_read_and_names_its_sources() {
        let names: Vec<&str> = TABLES.iter().map(|(file, _)| format_of(file)).collect();
        for (name, text) in TABLES {
            let table: ToolTable = decode_table(text, Format::Toml).unwrap();
            assert!(!table.tools.is_empty() && !table.sources.is_empty(), "{name}");
            assert!(table.also.iter().all(|it| names.contains(&it.as_str())), "{name}");
            assert!(crate::import::formats().iter().any(|it| it.name == format_of(name)), "{name}");
        }
    }

    #[test]
    fn a_log_of_messages_may_hold_the_tools_of_any_harness() {
        assert_eq!(form_of("messages", "Read"), form_of("claude-code", "Read"));
        assert_eq!(form_of("messages", "exec_command"), form_of("codex", "exec_command"));
        assert!(form_of("claude-code", "read").is_none(), "another harness's tool");
    }

    #[test]
    fn a_command_is_one_text_however_it_is_written() {
        let form = form_of("codex", "shell").unwrap();
        let asked = |input| form.asked(input);

        let script = asked(r#"{"command":["bash","-lc","cargo test"],"workdir":"/w"}"#);
        assert_eq!(script, [(Argument::Command, "cargo test".into()), (Argument::Cwd, "/w".into())]);
        assert_eq!(asked(r#"{"command":["ls","-a"]}"#), [(Argument::Command, "ls -a".into())]);
    }
}
