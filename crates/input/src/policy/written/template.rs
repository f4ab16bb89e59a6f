//! A text template as written.

use serde::{Deserialize, Serialize};

/// The text of an item, or of a folded turn, in the prompt; for loads with text.
///
/// The language is Jinja's. Blank lines are removed. A tool result's template sees `tool`, `input` (the
/// call's arguments), `output`, `shown` (the rendition's name) and `head` (the rendition's number of tokens);
/// a turn's template sees `results` (their texts) and `quotes`. For a recording it also sees these in words
/// shared by all harnesses: `call` with `capability` and its arguments (`path`, `offset`, `limit`, `command`,
/// `cwd`, `process_id`, `cursor`, `query`, `url`), and `result` with `content`, `around` (what the harness
/// writes around it), `offset`, `returned_lines`, `next_offset`, `exit_code`, `process_id` and `status`, as
/// far as the tables in `assumptions/tools/` describe them.
///
/// Additional filters: `tag(NAME)` returns the text between `<NAME>` and `</NAME>`, or nothing; `json` parses
/// a text, or is undefined; `compact` writes a value on one line; `one_line`; `preview(TOKENS)` is the text
/// on one line, cut at four characters per token if it has more tokens; `prefix(TEXT)` puts a text before
/// each line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// The text.
    pub write: String,
    /// For a tool result: the part that is exact evidence, whose tokens a budget is charged with. Default:
    /// all of it. If the part is empty, the result is never exact and is shown as over the budget.
    pub exact: Option<String>,
}
