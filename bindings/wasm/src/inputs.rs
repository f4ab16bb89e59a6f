//! Bundled inputs: their names and texts, and what is wrong with the text of a policy.

use ctxsim::{Catalog, Policy, Recording};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::error::{Told, object, said, thrown};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** Something that is wrong with a text, and where. */
export interface Problem {
  /** A stable code in kebab case. */
  code: string;
  message: string;
  /** The input's name; empty if the problem is in none. */
  file: string;
  /** The path of the field, such as `stages.history.until`. */
  field: string;
  /** Counted from 1. */
  line: number | null;
  /** Counted from 1. */
  column: number | null;
  /** How to fix it. */
  help: string | null;
  isWarning: boolean;
}
/** What a policy says of itself, its title in a few words, and its numbers: the path that overrides each, whose end is the unit, and its value; null is computed in a run. */
export interface PolicySaid { name: string; title: string | null; about: string; numbers: { path: string; value: number | null }[] }
/** What functions of this module throw: its message has every problem, and so has `problems`. */
export interface CtxsimError extends Error { name: "CtxsimError"; problems: Problem[]; }
"#;

#[wasm_bindgen]
extern "C" {
    /// A list of problems.
    #[wasm_bindgen(typescript_type = "Problem[]")]
    pub type Problems;
    /// The files of a folder.
    #[wasm_bindgen(typescript_type = "{ path: string; name: string }[]")]
    pub type LaidOut;
    /// A list of policies.
    #[wasm_bindgen(typescript_type = "PolicySaid[]")]
    pub type PolicyList;
    /// What a policy says.
    #[wasm_bindgen(typescript_type = "PolicySaid")]
    pub type PolicySaid;
}

/// Lists the names of bundled inputs of a kind: `policies`, `scenarios`, `profiles` or `suites`.
#[wasm_bindgen]
pub fn names(
    #[wasm_bindgen(unchecked_param_type = r#""policies" | "scenarios" | "profiles" | "suites""#)] kind: &str,
) -> Result<Vec<String>, JsValue> {
    let catalog = Catalog::bundled();
    Ok(match kind {
        "policies" => catalog.policies().map(str::to_owned).collect(),
        "scenarios" => catalog.scenarios().map(str::to_owned).collect(),
        "profiles" => catalog.profiles().map(str::to_owned).collect(),
        "suites" => catalog.suites().map(str::to_owned).collect(),
        other => {
            let words = format!("unknown kind `{other}`: use policies, scenarios, profiles or suites");
            return Err(said(&words));
        }
    })
}

/// Returns the files of a folder of recordings in the order in which the command line takes them, each with the name that its session has in reports.
#[wasm_bindgen(js_name = layOut)]
pub fn lay_out(paths: Vec<String>) -> Result<LaidOut, JsValue> {
    let files = Recording::names(&paths);
    let files = files.into_iter().map(|(path, name)| FileIs { path: path.display().to_string(), name });
    object(&files.collect::<Vec<_>>()).map(JsCast::unchecked_into)
}

/// Returns what bundled policies say of themselves.
#[wasm_bindgen]
pub fn policies() -> Result<PolicyList, JsValue> {
    let catalog = Catalog::bundled();
    let all = catalog.policies().map(|name| {
        let title = catalog.policy_title(name).map_err(|it| thrown(&it))?;
        let about = catalog.policy_about(name).map_err(|it| thrown(&it))?;
        Ok(Said { name: name.to_owned(), title, about, numbers: Vec::new() })
    });
    object(&all.collect::<Result<Vec<_>, JsValue>>()?).map(JsCast::unchecked_into)
}

/// Returns what a policy says of itself, and its numbers: a bundled one by its name, or the text of a policy in RON.
#[wasm_bindgen]
pub fn policy(name: &str, ron: Option<String>) -> Result<PolicySaid, JsValue> {
    let mut catalog = Catalog::bundled();
    let mut name = name.to_owned();
    if let Some(text) = ron {
        Policy::ron(text.as_str()).map_err(|it| thrown(&it))?.name().clone_into(&mut name);
        catalog = catalog.text(&format!("policies/{name}.ron"), text).map_err(|it| thrown(&it))?;
    }
    let title = catalog.policy_title(&name).map_err(|it| thrown(&it))?;
    let about = catalog.policy_about(&name).map_err(|it| thrown(&it))?;
    let numbers = catalog.policy_numbers(&name).map_err(|it| thrown(&it))?;
    let numbers = numbers.into_iter().map(|(path, value)| NumberIs { path, value }).collect();
    object(&Said { name, title, about, numbers }).map(JsCast::unchecked_into)
}

/// A file of a folder.
#[derive(Serialize)]
struct FileIs {
    path: String,
    name: String,
}

/// What a policy says of itself.
#[derive(Serialize)]
struct Said {
    name: String,
    title: Option<String>,
    about: String,
    numbers: Vec<NumberIs>,
}

/// A number of a policy.
#[derive(Serialize)]
struct NumberIs {
    path: String,
    value: Option<f64>,
}

/// Returns the text of a bundled policy's file.
#[wasm_bindgen(js_name = policyText)]
pub fn policy_text(name: &str) -> Result<String, JsValue> {
    Catalog::bundled().policy_text(name).map_err(|it| thrown(&it))
}

/// Returns the text of a bundled profile's file.
#[wasm_bindgen(js_name = profileText)]
pub fn profile_text(name: &str) -> Result<String, JsValue> {
    Catalog::bundled().profile_text(name).map_err(|it| thrown(&it))
}

/// Returns what is wrong with the text of a policy, as `ctxsim validate` tells it; nothing if it is fine.
#[wasm_bindgen]
pub fn diagnose(
    text: &str,
    #[wasm_bindgen(unchecked_param_type = r#""ron" | "toml""#)] format: &str,
) -> Result<Problems, JsValue> {
    let read = match format {
        "ron" => Policy::ron(text),
        "toml" => Policy::toml(text),
        other => return Err(said(&format!("unknown format `{other}`: use ron or toml"))),
    };
    // A text that cannot be read has no name either; checked under any, its problems have their lines.
    let name = read.map_or_else(|_| "policy".to_owned(), |it| it.name().to_owned());
    let held = Catalog::bundled().text(&format!("policies/{name}.{format}"), text);
    let checked = held.and_then(|it| it.check_policy(&name));
    let (problems, is_warning) = match checked {
        Ok(warnings) => (warnings, true),
        Err(error) => (error.problems(), false),
    };
    let told: Vec<Told> = problems.into_iter().map(|it| Told::new(it, is_warning)).collect();
    object(&told).map(JsCast::unchecked_into)
}
