//! A text template as written.

use serde::{Deserialize, Serialize};

/// What an item, or a turn that is folded, says in the prompt; for loads with text.
///
/// The language is Jinja's. Lines that come out blank are left out. A tool result's template sees `tool`, `input` (what
/// the call asked for), `output`, `shown` (the rendition's name) and `head` (the tokens that the rendition gives it); a
/// turn's sees `results` (their texts) and `quotes`. Of a recording it sees the same in words that all harnesses share: `call`
/// with `capability` and what that takes (`path`, `offset`, `limit`, `command`, `cwd`, `process_id`, `cursor`, `query`, `url`),
/// `result` with `content`, `around` (what the harness writes around it), `offset`, `returned_lines`, `next_offset`, `exit_code`,
/// `process_id` and `status`, as far as the tables in `assumptions/tools/` say.
///
/// Filters of its own: `tag(NAME)` is what stands between `<NAME>` and `</NAME>`, or nothing; `json` reads a text, or is
/// undefined; `compact` writes a value on one line; `one_line`; `preview(TOKENS)` is the text on one line, cut behind four
/// characters a token if it has more tokens; `prefix(TEXT)` puts a text in front of each line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// The text.
    pub write: String,
    /// Of a tool result: what of it is exact evidence, whose tokens a pool is charged with; all of it, when silent. A result of
    /// which this leaves nothing is never exact, and is shown as over the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<String>,
}
