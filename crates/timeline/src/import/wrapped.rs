//! Calls of tools that only forward other calls, under the name of the forwarded tool.

use ctxsim_input::policy::wildcard;
use ctxsim_input::scenario::ToolAssume;

use crate::import::prelude::*;

/// Renames the calls of wrapping tools, and their results, to what a field of the input names.
pub(super) fn unwrap(exchanges: &mut [Exchange], tools: &[ToolAssume]) {
    if tools.iter().all(|it| it.name_from.is_none()) {
        return;
    }
    for exchange in exchanges {
        let calls = exchange.reply.iter_mut().filter(|it| it.kind == Kind::ToolCall);
        let mut names: Vec<Option<String>> = Vec::new();
        for call in calls {
            let name = name(&call.tool, call.text.as_deref().unwrap_or_default(), tools);
            if let Some(name) = &name {
                call.tool.clone_from(name);
            }
            names.push(name);
        }
        for result in exchange.results.iter_mut().filter(|it| it.kind == Kind::ToolResult) {
            if let Some(Some(name)) = names.get(result.answers) {
                result.tool.clone_from(name);
            }
        }
    }
}

/// Returns the name of what a call passes on, or none if its input does not say.
fn name(tool: &str, input: &str, tools: &[ToolAssume]) -> Option<String> {
    let field = tools.iter().find(|it| wildcard(&it.tool, tool))?.name_from.as_deref()?;
    let input: serde_json::Value = serde_json::from_str(input).ok()?;
    let name = input.get(field)?.as_str()?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
