//! Bundled inputs: their names and texts, and what is wrong with the text of a policy.

use ctxsim::{Catalog, Policy};
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
/** What functions of this module throw: its message has every problem, and so has `problems`. */
export interface CtxsimError extends Error { name: "CtxsimError"; problems: Problem[]; }
"#;

#[wasm_bindgen]
extern "C" {
    /// A list of problems.
    #[wasm_bindgen(typescript_type = "Problem[]")]
    pub type Problems;
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
