//! The engine and its filters.

use crate::prelude::*;

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Error, State, UndefinedBehavior};

use super::RenderFault;
use ctxsim_base::quantity::saturated;

/// Characters that a preview keeps for each token it may have, and how many at least; selfonomy/duckagent @06550f4.
const PREVIEW_CHARS_PER_TOKEN: u64 = 4;
const PREVIEW_CHARS_MIN: u64 = 64;

/// The source of a template is its name, so that each is parsed once, however many results it is rendered for. Nothing is escaped, whatever
/// the source ends with.
static TEXTS: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_loader(|source| Ok(Some(source.to_owned())));
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.add_filter("tag", tag);
    environment.add_filter("json", json);
    environment.add_filter("compact", compact);
    environment.add_filter("one_line", one_line);
    environment.add_filter("preview", preview);
    environment.add_filter("prefix", prefix);
    environment
});

static SETTINGS: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
});

impl From<Error> for RenderFault {
    fn from(error: Error) -> Self {
        let why = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        Self { line: error.line(), why }
    }
}

/// Tries out a text of a policy, which need not be valid.
pub(in crate::policy) fn try_out(template: &str, context: &serde_json::Value) -> Result<String, RenderFault> {
    Ok(TEXTS.render_str(template, Value::from(Serde(context)))?)
}

/// Writes a text of a policy; names that nothing has are empty.
pub(in crate::policy) fn write(template: &str, context: &serde_json::Value) -> Result<String, RenderFault> {
    Ok(TEXTS.get_template(template)?.render(Value::from(Serde(context)))?)
}

/// Writes a setting; a name that nothing has is an error, because a setting with a gap is not a setting.
pub(in crate::policy) fn fill(template: &str, context: &serde_json::Value) -> Result<String, RenderFault> {
    Ok(SETTINGS.render_str(template, Value::from(Serde(context)))?)
}

/// Returns the names that a template asks for, in no order.
pub(in crate::policy) fn undeclared(template: &str) -> Vec<String> {
    let template = SETTINGS.template_from_str(template);
    template.map(|it| it.undeclared_variables(false).into_iter().collect()).unwrap_or_default()
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
    let head: String = text.chars().take(saturated(most)).collect();
    one_line(&format!("{head} ..."))
}

/// Puts a text in front of each line.
fn prefix(text: &str, before: &str) -> String {
    text.lines().map(|it| format!("{before}{it}")).collect::<Vec<_>>().join("\n")
}
