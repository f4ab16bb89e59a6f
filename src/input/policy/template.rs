//! What text templates write.

use serde_json::{Value, json};

use super::{Template, render};
use crate::diag::Problems;

impl Template {
    /// Checks a template, by what it writes of nothing.
    pub(super) fn check(&self, problems: &mut Problems) {
        let nothing = json!({ "tool": "", "input": {}, "output": "", "shown": "raw", "head": 1 });
        for (field, text) in [("write", Some(&self.write)), ("exact", self.exact.as_ref())] {
            let Some(Err(fault)) = text.map(|it| render::write(it, &nothing)) else { continue };
            let line = fault.line.map(|it| format!(" in its line {it}")).unwrap_or_default();
            problems.within(field, |problems| {
                let help =
                    "`{{ … }}` writes a value, `{% … %}` decides; see the schema for what a template may ask";
                problems.push("template-broken", format!("this is no template{line}: {}", fault.why), help);
            });
        }
    }

    /// Returns what it writes, without blank lines; `None` when it cannot.
    #[must_use]
    pub fn write(&self, context: &Value) -> Option<String> {
        let text = render::write(&self.write, context).ok()?;
        let lines: Vec<&str> = text.lines().filter(|it| !it.trim().is_empty()).collect();
        Some(lines.join("\n"))
    }

    /// Returns what of a tool result is exact evidence; `None` when that is all of it.
    #[must_use]
    pub fn exact(&self, context: &Value) -> Option<String> {
        render::write(self.exact.as_ref()?, context).ok()
    }
}
