//! ctxsim in WebAssembly: sessions from bytes, comparisons with the command line's bytes, and policies as functions.

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
