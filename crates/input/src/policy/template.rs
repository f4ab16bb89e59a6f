//! Texts written by templates.

use crate::prelude::*;
use serde_json::{Value, json};

use super::Template;
use super::render::{self, HAS_ENGINE};

/// Checks a policy's templates. Without the engine, prompts would lack what they write, so a policy with templates is refused.
pub(super) fn check(templates: &IndexMap<String, Template>, problems: &mut Problems) {
    if !HAS_ENGINE && !templates.is_empty() {
        let help = "enable its feature `templates`";
        let message = "this build of ctxsim has no text templates";
        problems.push_at(Code("templates-missing"), "templates", message, help);
        return;
    }
    for (name, template) in templates {
        problems.within(format_args!("templates.{name}"), |to| template.check(to));
    }
}

impl Template {
    /// Checks a template by rendering it with empty values.
    fn check(&self, problems: &mut Problems) {
        let nothing = json!({ "tool": "", "input": {}, "output": "", "shown": "raw", "head": 1 });
        for (field, text) in [("write", Some(&self.write)), ("exact", self.exact.as_ref())] {
            let Some(Err(fault)) = text.map(|it| render::try_out(it, &nothing)) else { continue };
            let line = fault.line.map(|it| format!(" on line {it}")).unwrap_or_default();
            problems.within(field, |problems| {
                let help =
                    "`{{ … }}` inserts a value, `{% … %}` is a condition; the schema lists the variables";
                let message = format!("invalid template{line}: {}", fault.why);
                problems.push(Code("template-broken"), message, help);
            });
        }
    }

    /// Returns the rendered text without blank lines, or `None` if rendering fails.
    pub fn write(&self, context: &Value) -> Option<String> {
        let text = render::write(&self.write, context).ok()?;
        let lines: Vec<&str> = text.lines().filter(|it| !it.trim().is_empty()).collect();
        Some(lines.join("\n"))
    }

    /// Returns the part of a tool result that is exact evidence, or `None` if all of it is.
    pub fn exact(&self, context: &Value) -> Option<String> {
        render::write(self.exact.as_ref()?, context).ok()
    }
}
