//! What a comparison compares, as JavaScript says it.

use std::collections::BTreeMap;

use ctxsim::{Comparison, Policy};
use js_sys::JSON;
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::bench::Codes;
use crate::error::{said, thrown};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** What is compared. Each list that is left out comes from the suite, else from the suite `default`. */
export interface Options {
  /** Names of bundled policies and of functions added with `code`, or texts of policy files; the first is the baseline. */
  policies?: (string | { ron: string } | { toml: string })[];
  /** Bundled scenarios beside the sessions that were added. */
  scenarios?: string[];
  profiles?: string[];
  suite?: string;
  /** Overrides, as `--set PATH=VALUE` has them. */
  set?: Record<string, string | number | boolean>;
  /** Runs each session under the profile of its own model. */
  ownModels?: boolean;
  seed?: number;
  trials?: number;
  /** Leaves out sessions whose last request was before a date, YYYY-MM-DD. */
  since?: string;
  /** Leaves out all sessions but the newest. */
  limit?: number;
  /** Leaves out sessions of other models: a part of the model's id, or a pattern with `*`. */
  model?: string;
  /** The share of evidence, from 0 to 1, that a policy must keep to be recommended; 0.9 by default. */
  minEvidence?: number;
  /** Runs functions twice, and fails where they answer differently. */
  playTwice?: boolean;
  /** Leaves out sessions that cannot be used, as the command line does in a folder; the report lists them with the reason. */
  skipUnusable?: boolean;
  /** Only these of the sessions that were added: the first, and the one behind the last, counted from 0. What the others tell of them is not used. */
  sessions?: [number, number];
}
/** What advice is asked for. */
export interface AdviceOptions extends Options {
  /** The agent, where the format of the logs does not tell. */
  agent?: string;
  /** The name and the text of the agent's settings file. */
  settings?: [name: string, text: string];
}
"#;

#[wasm_bindgen]
extern "C" {
    /// The options of a comparison.
    #[wasm_bindgen(typescript_type = "Options")]
    pub type Given;
}

/// The options of a comparison, read.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct Options {
    policies: Vec<PolicyIs>,
    pub(crate) scenarios: Vec<String>,
    profiles: Vec<String>,
    suite: Option<String>,
    set: BTreeMap<String, serde_json::Value>,
    own_models: bool,
    seed: Option<u64>,
    trials: Option<u64>,
    since: Option<String>,
    limit: Option<usize>,
    model: Option<String>,
    min_evidence: Option<f64>,
    play_twice: bool,
    skip_unusable: bool,
    pub(crate) sessions: Option<[usize; 2]>,
    pub(crate) agent: Option<String>,
    pub(crate) settings: Option<[String; 2]>,
}

/// A policy: a name, or a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum PolicyIs {
    Named(String),
    Written(Written),
}

/// The text of a policy file.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    Ron(String),
    Toml(String),
}

impl Options {
    /// Reads what a caller gave.
    pub(crate) fn read(given: Option<&JsValue>) -> Result<Self, JsValue> {
        let Some(given) = given.filter(|it| !it.is_undefined() && !it.is_null()) else {
            return Ok(Self::default());
        };
        let text = String::from(JSON::stringify(given)?);
        serde_json::from_str(&text).map_err(|it| said(&format!("the options cannot be read: {it}")))
    }

    /// Makes a comparison of everything but the sessions.
    pub(crate) fn comparison(self, codes: &Codes) -> Result<Comparison, JsValue> {
        let mut it = Comparison::new();
        for policy in self.policies {
            it = match policy {
                PolicyIs::Named(name) => match codes.find(&name) {
                    Some(code) => it.policy(code),
                    None => it.policy(name),
                },
                PolicyIs::Written(Written::Ron(text)) => {
                    it.policy(Policy::ron(text).map_err(|it| thrown(&it))?)
                }
                PolicyIs::Written(Written::Toml(text)) => {
                    it.policy(Policy::toml(text).map_err(|it| thrown(&it))?)
                }
            };
        }
        for name in self.scenarios {
            it = it.scenario(name);
        }
        for name in self.profiles {
            it = it.profile(name);
        }
        for (path, value) in self.set {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            it = it.set(&path, value);
        }
        it = with(it, self.suite, Comparison::suite);
        it = with(it, self.seed, Comparison::seed);
        it = with(it, self.trials, Comparison::trials);
        it = with(it, self.since, Comparison::since);
        it = with(it, self.limit, Comparison::limit);
        it = with(it, self.model, Comparison::model);
        it = with(it, self.min_evidence, Comparison::min_evidence);
        it = if self.own_models { it.own_models() } else { it };
        it = if self.skip_unusable { it.skip_unusable() } else { it };
        Ok(if self.play_twice { it.play_twice() } else { it })
    }
}

fn with<T>(it: Comparison, value: Option<T>, set: impl FnOnce(Comparison, T) -> Comparison) -> Comparison {
    match value {
        Some(value) => set(it, value),
        None => it,
    }
}
