//! Errors as JavaScript has them, with every problem as an object.

use ctxsim::Problem;
use js_sys::{Error, JSON, Reflect};
use serde::Serialize;
use wasm_bindgen::JsValue;

/// The name by which callers tell these errors from others.
const NAME: &str = "CtxsimError";

/// A problem as JavaScript writes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Told {
    code: &'static str,
    message: String,
    file: String,
    field: String,
    line: Option<usize>,
    column: Option<usize>,
    help: Option<String>,
    is_warning: bool,
}

impl Told {
    pub(crate) fn new(it: Problem, is_warning: bool) -> Self {
        Self {
            code: it.code,
            message: it.message,
            file: it.file,
            field: it.field,
            line: it.line_column.map(|it| it.0),
            column: it.line_column.map(|it| it.1),
            help: it.help,
            is_warning,
        }
    }
}

/// Returns what is thrown for an error.
pub(crate) fn thrown(error: &ctxsim::Error) -> JsValue {
    let problems: Vec<Told> = error.problems().into_iter().map(|it| Told::new(it, false)).collect();
    with_problems(&error.to_string(), object(&problems).unwrap_or(JsValue::NULL))
}

/// Returns what is thrown for words alone.
pub(crate) fn said(words: &str) -> JsValue {
    with_problems(words, js_sys::Array::new().into())
}

fn with_problems(words: &str, problems: JsValue) -> JsValue {
    let error = Error::new(words);
    error.set_name(NAME);
    // An object that was just made takes any property.
    let _ = Reflect::set(&error, &"problems".into(), &problems);
    error.into()
}

/// Returns a value as JavaScript has it.
pub(crate) fn object(value: &impl Serialize) -> Result<JsValue, JsValue> {
    let text = serde_json::to_string(value).map_err(|it| said(&it.to_string()))?;
    JSON::parse(&text)
}
