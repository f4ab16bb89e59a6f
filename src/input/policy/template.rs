//! What text templates write.

use std::sync::LazyLock;

use minijinja::value::{Serde, Value};
use minijinja::{Environment, State, UndefinedBehavior, context};

use super::Template;
use crate::diag::Problems;

/// Characters that a preview keeps for each token it may have, and how many at least; selfonomy/duckagent @06550f4.
const PREVIEW_CHARS_PER_TOKEN: u64 = 4;
const PREVIEW_CHARS_MIN: u64 = 64;

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.add_filter("tag", tag);
    environment.add_filter("json", json);
    environment.add_filter("compact", compact);
    environment.add_filter("one_line", one_line);
    environment.add_filter("preview", preview);
    environment.add_filter("prefix", prefix);
    environment
});

impl Template {
    /// Checks a template, by what it writes of nothing.
    pub(super) fn check(&self, problems: &mut Problems) {
        let nothing = context! { tool => "", input => context! {}, output => "", shown => "raw", head => 1 };
        for (field, text) in [("write", Some(&self.write)), ("exact", self.exact.as_ref())] {
            let Some(Err(error)) = text.map(|it| ENVIRONMENT.render_str(it, nothing.clone())) else {
                continue;
            };
            let line = error.line().map(|it| format!(" in its line {it}")).unwrap_or_default();
            let why = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
            problems.within(field, |problems| {
                let help =
                    "`{{ … }}` writes a value, `{% … %}` decides; see the schema for what a template may ask";
                problems.push("template-broken", format!("this is no template{line}: {why}"), help);
            });
        }
    }

    /// Returns what it writes, without blank lines; `None` when it cannot.
    #[must_use]
    pub fn write(&self, context: &Value) -> Option<String> {
        let text = ENVIRONMENT.render_str(&self.write, context.clone()).ok()?;
        let lines: Vec<&str> = text.lines().filter(|it| !it.trim().is_empty()).collect();
        Some(lines.join("\n"))
    }

    /// Returns what of a tool result is exact evidence; `None` when that is all of it.
    #[must_use]
    pub fn exact(&self, context: &Value) -> Option<String> {
        ENVIRONMENT.render_str(self.exact.as_ref()?, context.clone()).ok()
    }
}

/// Returns what stands between a tag's first opening and the closing after it, or nothing.
fn tag(text: &str, name: &str) -> String {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let rest = text.split_once(&open).map(|it| it.1);
    rest.and_then(|it| it.split_once(&close)).map_or_else(String::new, |it| it.0.to_owned())
}

/// Reads a text as JSON.
fn json(text: &str) -> Value {
    serde_json::from_str::<serde_json::Value>(text).map_or(Value::UNDEFINED, |it| Value::from(Serde(it)))
}

/// Writes a value on one line: a text as it is, anything else as JSON.
fn compact(value: Value) -> String {
    match value.as_str() {
        Some(text) => one_line(text),
        None => serde_json::to_string(&value).unwrap_or_default(),
    }
}

/// Puts a text on one line, with single spaces.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text on one line, cut if it has more than so many tokens.
fn preview(state: &State<'_, '_>, text: &str, tokens: u64) -> String {
    let ratio = state.lookup("chars_per_token").and_then(|it| f64::try_from(it).ok()).unwrap_or(4.0);
    let chars = text.chars().count();
    if chars as f64 <= tokens as f64 * ratio {
        return one_line(text);
    }
    let most = tokens.saturating_mul(PREVIEW_CHARS_PER_TOKEN).max(PREVIEW_CHARS_MIN);
    let head: String = text.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect();
    one_line(&format!("{head} ..."))
}

/// Puts a text in front of each line.
fn prefix(text: &str, before: &str) -> String {
    text.lines().map(|it| format!("{before}{it}")).collect::<Vec<_>>().join("\n")
}
