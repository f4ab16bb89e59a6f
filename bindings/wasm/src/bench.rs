//! Sessions that are read once and compared often.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use ctxsim::app::advise::agents::Agent;
use ctxsim::app::advise::files::pastes_by_place;
use ctxsim::{CodePolicy, Comparison, Recording, Report, RequestRow, Scenario};
use js_sys::Function;
use send_wrapper::SendWrapper;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::code::code;
use crate::error::{object, said, thrown};
use crate::options::{Given, Options};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** One model request; sizes are tokens. */
export interface RequestRow {
  /** The turn, from 0. */
  turn: number;
  /** The step of the session, from 0. */
  step: number;
  /** The request's number within the step, from 0. */
  n: number;
  /** What it is under every policy, to pair the requests of two: the step, the purpose, and its place among these in the step. */
  pair: string;
  role: "main" | "summariser" | "keep_alive";
  /** Milliseconds since the session began. */
  at_ms: number;
  prompt: number;
  cache_read: number;
  cache_write: number;
  uncached: number;
  output: number;
  /** How many entries the policy changed since the request before. */
  edits: number;
  /** The first entry that was changed since the request before. */
  first_changed: number | null;
  /** The first entry that no earlier prompt shares, as far as the cache's rules know it. */
  broke_at: number | null;
  /** The request itself, in US dollars; null where some token has no price. */
  usd: number | null;
  /** With what is expected beside it: over a run, these add up to its cost. */
  total_usd: number | null;
  /** What of it is read from the cache, written to the cache, plain input, and output, in US dollars; null where some token has no price. */
  parts_usd: [read: number, written: number, uncached: number, output: number] | null;
}
/** The requests of one policy on one session. */
export interface RunRows { policy: string; scenario: string; profile: string; rows: RequestRow[] }
/** What the prompts of one policy on one session hold, request by request of the agent: tokens by tool, or by kind. */
export interface RunHeld { policy: string; held: Record<string, number>[] }
/** What to paste, and where. */
export interface Paste { at: string; project: string | null; text: string }
/** The first screen and its advice: the documents that `ctxsim screen` and `ctxsim advise` print, the latter without wishes. */
export interface Screened { screen: string; advice: string }
/** A document, and the text that the command line prints. */
export interface Told { json: string; text: string }
"#;

#[wasm_bindgen]
extern "C" {
    /// The options of advice.
    #[wasm_bindgen(typescript_type = "AdviceOptions")]
    pub type GivenAdvice;
    /// The requests of runs.
    #[wasm_bindgen(typescript_type = "RunRows[]")]
    pub type AllRows;
    /// What prompts hold.
    #[wasm_bindgen(typescript_type = "RunHeld[]")]
    pub type AllHeld;
    /// A first screen and its advice.
    #[wasm_bindgen(typescript_type = "Screened")]
    pub type ScreenedDocuments;
    /// What to paste, place by place.
    #[wasm_bindgen(typescript_type = "Paste[]")]
    pub type Pastes;
    /// A document, and its text.
    #[wasm_bindgen(typescript_type = "Told")]
    pub type Told;
    /// A function that is told how much is done.
    #[wasm_bindgen(typescript_type = "(done: number, all: number) => void | boolean")]
    pub type Progress;
    /// A function that makes views.
    #[wasm_bindgen(typescript_type = "Make")]
    pub type Make;
}

/// The policies that are functions, by name.
#[derive(Default)]
pub(crate) struct Codes(Vec<CodePolicy>);

impl Codes {
    pub(crate) fn find(&self, name: &str) -> Option<CodePolicy> {
        self.0.iter().find(|it| it.name() == name).cloned()
    }
}

/// Sessions that are read once and compared often, and policies that are functions.
#[wasm_bindgen]
#[derive(Default)]
pub struct Bench {
    sessions: Vec<Scenario>,
    codes: Codes,
}

#[wasm_bindgen]
impl Bench {
    /// Makes a bench without sessions.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the sessions of a recording from its bytes, in any format that the command line reads. Returns their names: a single session gets
    /// the name that is given, and several have it in front of their own.
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> Result<Vec<String>, JsValue> {
        let read = Recording::new(name).read(bytes).map_err(|it| thrown(&it))?;
        let names = read.iter().map(|it| it.name().to_owned()).collect();
        self.sessions.extend(read);
        Ok(names)
    }

    /// Adds a policy that is a function, or replaces the one of that name. `make(trace)` is called for each run, and returns
    /// `view(cx, history)`, which is called before each request and answers with parts.
    pub fn code(&mut self, name: &str, make: &Make) -> Result<(), JsValue> {
        let make = make
            .dyn_ref::<Function>()
            .ok_or_else(|| said("a policy in code is a function that makes views"))?;
        self.codes.0.retain(|it| it.name() != name);
        self.codes.0.push(code(name, make.clone()));
        Ok(())
    }

    /// Leaves out sessions that another one holds, too, by the id in their logs, as the command line does in a folder; returns their names.
    pub fn once(&mut self) -> Vec<String> {
        Recording::remove_duplicates(&mut self.sessions)
    }

    /// The names of its sessions.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.sessions.iter().map(|it| it.name().to_owned()).collect()
    }

    /// Removes its sessions.
    pub fn clear(&mut self) {
        self.sessions.clear();
    }

    /// Compares policies on its sessions. Returns the JSON report: the bytes that `ctxsim run --format json` prints.
    ///
    /// `progress` is told how much of all is done; if it answers `false` or throws, nothing more runs, and this throws.
    pub fn compare(&self, options: Option<Given>, progress: Option<Progress>) -> Result<String, JsValue> {
        let comparison = self.comparison(options)?;
        run(comparison, progress)?.json().map_err(|it| thrown(&it))
    }

    /// Compares policies on its sessions. Returns the report as one page, with charts.
    pub fn page(&self, options: Option<Given>, progress: Option<Progress>) -> Result<String, JsValue> {
        let comparison = self.comparison(options)?.rows();
        run(comparison, progress)?.html().map_err(|it| thrown(&it))
    }

    /// Advises on the settings of the agents that recorded its sessions: the document that `ctxsim advise --format json` prints, and the text.
    pub fn advise(&self, options: Option<GivenAdvice>) -> Result<Told, JsValue> {
        let mut options = Options::read(options.as_ref().map(AsRef::as_ref))?;
        let (agent, settings) = (options.agent.take(), options.settings.take());
        let settings = settings.as_ref().map(|[name, text]| (name.as_str(), text.as_str()));
        let advice = self.comparison_of(options)?.advise(agent.as_deref(), settings);
        let advice = advice.map_err(|it| thrown(&it))?;
        told(advice.json(), &advice.to_string())
    }

    /// Says what its sessions were billed, where that goes, and what can be done about it: the document that `ctxsim screen --format json` prints,
    /// without the commands that go on from there, and the advice that its levers come from.
    pub fn screen(&self, options: Option<GivenAdvice>) -> Result<ScreenedDocuments, JsValue> {
        let mut options = Options::read(options.as_ref().map(AsRef::as_ref))?;
        let settings = options.settings.take();
        let settings = settings.as_ref().map(|[name, text]| (name.as_str(), text.as_str()));
        let (bill, advice) = self.comparison_of(options)?.screen(settings).map_err(|it| thrown(&it))?;
        object(&ScreenedText { screen: bill.json(), advice: advice.json() }).map(JsCast::unchecked_into)
    }

    /// Plays one of its sessions alone, and returns what each of the agent's prompts holds.
    pub fn holds(&self, session: &str, options: Option<Given>) -> Result<AllHeld, JsValue> {
        let plan = self.alone(session, options)?.plan().map_err(|it| thrown(&it))?;
        let mut all = Vec::new();
        for run in plan.runs().map_err(|it| thrown(&it))? {
            let held = plan.prompt_tokens_by_source(&run).map_err(|it| thrown(&it))?;
            all.push(RunHeld { policy: run.policy, held });
        }
        object(&all).map(JsCast::unchecked_into)
    }

    /// Plays one of its sessions alone, and returns each request.
    pub fn requests(&self, session: &str, options: Option<Given>) -> Result<AllRows, JsValue> {
        let report = self.alone(session, options)?.rows().run().map_err(|it| thrown(&it))?;
        report.all_passed().map_err(|it| thrown(&it))?;
        let rows = report.runs().iter().map(|it| RunRows {
            policy: it.policy(),
            scenario: it.scenario(),
            profile: it.profile(),
            rows: it.request_rows().unwrap_or_default().iter().map(PricedRow::new).collect(),
        });
        object(&rows.collect::<Vec<_>>()).map(JsCast::unchecked_into)
    }

    /// Plays one of its sessions alone, and explains a request of the first policy, counted from 1 in the order of `requests`: the document that
    /// `ctxsim explain --format json` prints in one line, and the text.
    pub fn explain(&self, session: &str, request: usize, options: Option<Given>) -> Result<Told, JsValue> {
        let plan = self.alone(session, options)?.plan().map_err(|it| thrown(&it))?;
        let run = plan
            .runs()
            .map_err(|it| thrown(&it))?
            .into_iter()
            .next()
            .ok_or_else(|| said("there is no run to explain"))?;
        let explained = plan.explain(&run, request).map_err(|it| thrown(&it))?;
        let json = serde_json::to_string(&explained).map_err(|it| said(&it.to_string()))?;
        told(&json, &explained.to_string())
    }
}

/// The requests of one policy on one session.
#[derive(Serialize)]
struct RunRows<'a> {
    policy: &'a str,
    scenario: &'a str,
    profile: &'a str,
    rows: Vec<PricedRow<'a>>,
}

/// A request, with what its parts cost.
#[derive(Serialize)]
struct PricedRow<'a> {
    #[serde(flatten)]
    row: &'a RequestRow,
    parts_usd: Option<[f64; 4]>,
}

impl<'a> PricedRow<'a> {
    fn new(row: &'a RequestRow) -> Self {
        let usd = |picodollars: u128| picodollars as f64 / 1e12;
        Self { row, parts_usd: row.parts.map(|it| [it.read, it.write, it.uncached, it.output].map(usd)) }
    }
}

/// What the prompts of a run hold.
#[derive(Serialize)]
struct RunHeld {
    policy: String,
    held: Vec<BTreeMap<String, u64>>,
}

/// A first screen and its advice, as texts.
#[derive(Serialize)]
struct ScreenedText<'a> {
    screen: &'a str,
    advice: &'a str,
}

/// Returns what to paste to give an agent settings, `KEY=VALUE` each; nothing for an agent or a setting that is not known.
#[wasm_bindgen(js_name = pasteOf)]
pub fn paste_of(agent: &str, set: Vec<String>) -> Result<Pastes, JsValue> {
    let wrong = |it: Vec<_>| said(&format!("{} problems of the agents' files", it.len()));
    let agent = Agent::all_by_file_name().map_err(wrong)?.values().find(|it| it.name == agent);
    let pairs = set.iter().filter_map(|it| it.split_once('='));
    let chosen: Vec<_> = pairs.filter_map(|(key, value)| Some((agent?.setting(key)?, value))).collect();
    object(&pastes_by_place(&chosen)).map(JsCast::unchecked_into)
}

/// Returns a document and its text.
fn told(json: &str, text: &str) -> Result<Told, JsValue> {
    #[derive(Serialize)]
    struct Both<'a> {
        json: &'a str,
        text: &'a str,
    }
    object(&Both { json, text }).map(JsCast::unchecked_into)
}

impl Bench {
    fn comparison(&self, options: Option<Given>) -> Result<Comparison, JsValue> {
        self.comparison_of(Options::read(options.as_ref().map(AsRef::as_ref))?)
    }

    fn comparison_of(&self, mut options: Options) -> Result<Comparison, JsValue> {
        let all = self.sessions.len();
        let [from, to] = options.sessions.take().unwrap_or([0, all]);
        let to = to.min(all);
        let sessions = self.sessions.get(from.min(to)..to).unwrap_or_default();
        Ok(options.comparison(&self.codes)?.scenarios(sessions))
    }

    /// Compares on one session alone, or on one of the bundled scenarios that are asked for.
    fn alone(&self, session: &str, options: Option<Given>) -> Result<Comparison, JsValue> {
        let mut options = Options::read(options.as_ref().map(AsRef::as_ref))?;
        let is_bundled = std::mem::take(&mut options.scenarios).iter().any(|it| it == session);
        let comparison = options.comparison(&self.codes)?;
        match self.sessions.iter().find(|it| it.name() == session) {
            Some(found) => Ok(comparison.scenario(found.clone())),
            None if is_bundled => Ok(comparison.scenario(session)),
            None => Err(said(&format!("there is no session `{session}`"))),
        }
    }
}

/// Plans and runs a comparison. What `progress` throws is thrown again.
fn run(comparison: Comparison, progress: Option<Progress>) -> Result<Report, JsValue> {
    let progress = SendWrapper::new(progress.and_then(|it| it.dyn_into::<Function>().ok()));
    let raised = SendWrapper::new(RefCell::new(None));
    let told = |it: ctxsim::Progress| {
        let Some(progress) = progress.as_ref() else { return ControlFlow::Continue(()) };
        match progress.call2(&JsValue::NULL, &it.done.into(), &it.all.into()) {
            Ok(answer) if answer.as_bool() != Some(false) => ControlFlow::Continue(()),
            Ok(_) => ControlFlow::Break(()),
            Err(error) => {
                raised.replace(Some(error));
                ControlFlow::Break(())
            }
        }
    };
    let report = comparison.plan().and_then(|it| it.run_with(told));
    report.map_err(|it| raised.borrow_mut().take().unwrap_or_else(|| thrown(&it)))
}
