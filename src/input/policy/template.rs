//! Texts written by templates.

use std::sync::LazyLock;

use minijinja::value::{Serde, Value};
use minijinja::{Environment, State, UndefinedBehavior, context};

use super::Template;
use crate::diag::Problems;

/// Characters of a preview per token, and the smallest preview; selfonomy/duckagent @06550f4.
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
    /// Checks a template by rendering it with empty values.
    pub(super) fn check(&self, problems: &mut Problems) {
        let nothing = context! { tool => "", input => context! {}, output => "", shown => "raw", head => 1 };
        for (field, text) in [("write", Some(&self.write)), ("exact", self.exact.as_ref())] {
            let Some(Err(error)) = text.map(|it| ENVIRONMENT.render_str(it, nothing.clone())) else {
                continue;
            };
            let line = error.line().map(|it| format!(" in line {it}")).unwrap_or_default();
            let why = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
            problems.within(field, |problems| {
                let help =
                    "`{{ … }}` inserts a value, `{% … %}` is a condition; the schema lists the variables";
                problems.push("template-broken", format!("invalid template{line}: {why}"), help);
            });
        }
    }

    /// Returns the rendered text without blank lines, or `None` if rendering fails.
    #[must_use]
    pub fn write(&self, context: &Value) -> Option<String> {
        let text = ENVIRONMENT.render_str(&self.write, context.clone()).ok()?;
        let lines: Vec<&str> = text.lines().filter(|it| !it.trim().is_empty()).collect();
        Some(lines.join("\n"))
    }

    /// Returns the part of a tool result that is exact evidence, or `None` if all of it is.
    #[must_use]
    pub fn exact(&self, context: &Value) -> Option<String> {
        ENVIRONMENT.render_str(self.exact.as_ref()?, context.clone()).ok()
    }
}

/// Returns the text between a tag's first opening and its closing, or nothing.
fn tag(text: &str, name: &str) -> String {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let rest = text.split_once(&open).map(|it| it.1);
    rest.and_then(|it| it.split_once(&close)).map_or_else(String::new, |it| it.0.to_owned())
}

/// Parses a text as JSON.
fn json(text: &str) -> Value {
    serde_json::from_str::<serde_json::Value>(text).map_or(Value::UNDEFINED, |it| Value::from(Serde(it)))
}

/// Writes a value on one line: text as it is, anything else as JSON.
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

/// Returns a text on one line, cut to a number of tokens.
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

/// Prefixes each line with a text.
fn prefix(text: &str, before: &str) -> String {
    text.lines().map(|it| format!("{before}{it}")).collect::<Vec<_>>().join("\n")
}
