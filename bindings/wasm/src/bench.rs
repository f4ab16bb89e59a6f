//! Sessions that are read once and compared often.

use std::cell::RefCell;
use std::ops::ControlFlow;

use ctxsim::{Code, Comparison, Recording, Report, Scenario};
use js_sys::Function;
use send_wrapper::SendWrapper;
use wasm_bindgen::prelude::*;

use crate::code::code;
use crate::error::{said, thrown};
use crate::options::{Given, Options};

#[wasm_bindgen]
extern "C" {
    /// A function that is told how much is done.
    #[wasm_bindgen(typescript_type = "(done: number, all: number) => void | boolean")]
    pub type Progress;
    /// A function that makes views.
    #[wasm_bindgen(typescript_type = "Make")]
    pub type Make;
}

/// The policies that are functions, by name.
#[derive(Default)]
pub(crate) struct Codes(Vec<Code>);

impl Codes {
    pub(crate) fn find(&self, name: &str) -> Option<Code> {
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
}

impl Bench {
    fn comparison(&self, options: Option<Given>) -> Result<Comparison, JsValue> {
        Ok(Options::read(options.as_ref())?.comparison(&self.codes)?.scenarios(&self.sessions))
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
