//! Commands that stand in the text of replies, as agents write them whose models call no tools: one fenced block a reply.

use crate::import::prelude::*;

/// What trajectories of such agents say of their format.
const FORMATS: [&str; 1] = ["mini-swe-agent"];

/// The tool by which such a command runs.
const TOOL: &str = "bash";

/// How a command begins and ends.
const FENCES: [&str; 2] = ["```bash", "\n```"];

/// Returns whether replies of a trajectory of this format hold commands.
pub(super) fn are_in(format: &str) -> bool {
    FORMATS.iter().any(|it| format.starts_with(it))
}

/// Divides the text of a reply into what is said and the command in it, as a call of this name; returns whether there is one.
pub(super) fn divide(parts: &mut Vec<Named>, call: &str) -> bool {
    let Some(nth) = parts.iter().rposition(|it| it.part.kind == Kind::Assistant) else { return false };
    let Some(text) = parts[nth].part.text.clone() else { return false };
    let Some((said, block)) = command(&text) else { return false };
    let input =
        serde_json::json!({ "command": block.trim_start_matches(FENCES[0]).trim_matches(['\n', '`']) });
    let asked = Content { text: Some(Arc::from(input.to_string())), ..Content::from(Measured::text(block)) };
    parts[nth] = Named::plain(Part::of(Kind::Assistant, Content::new(&said)));
    parts.insert(nth + 1, Named::call(call, TOOL, asked));
    true
}

/// Returns what is around the one command of a text, and the command with its fences; none where there are several or none.
fn command(text: &str) -> Option<(String, &str)> {
    let begins = text.find(FENCES[0])?;
    let ends = begins + text[begins..].find(FENCES[1])? + FENCES[1].len();
    let (before, rest) = text.split_at(begins);
    let (block, after) = rest.split_at(ends - begins);
    (!after.contains(FENCES[0])).then(|| (format!("{before}{after}"), block))
}
