//! ctxsim in WebAssembly: sessions from bytes, comparisons with the command line's bytes, and policies as functions.
//!
//! `bindings/wasm` is the same face in WebAssembly, from bytes alone. A policy in JavaScript is a `View` as one in Python is. Panics abort
//! there, so `js/worker-bench.js` keeps a bench in a worker and starts a new one after a crash. Both must give the digests of
//! `tests/data/digests.txt`. `web/` is a static page over it: one worker holds all sessions, so that sums have these bytes.

mod bench;
mod code;
mod error;
mod inputs;
mod options;

use wasm_bindgen::prelude::*;

/// Makes a panic say where it was, before it aborts.
#[wasm_bindgen(start)]
fn start() {
    console_error_panic_hook::set_once();
}

/// Returns the version of ctxsim.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
