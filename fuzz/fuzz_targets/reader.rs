//! The reader that `CTXSIM_FUZZ_TARGET` names, for libFuzzer.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/suite/fuzz/targets.rs"]
mod targets;

static READ: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("CTXSIM_FUZZ_TARGET").unwrap_or_default();
    let known = targets::TARGETS.map(|it| it.0);
    if name == "own" {
        // Own code panics on purpose, and the hook of libFuzzer ends the process at any panic.
        std::panic::set_hook(Box::new(|_| {}));
    }
    let found = targets::TARGETS.into_iter().find(|it| it.0 == name);
    found.unwrap_or_else(|| panic!("CTXSIM_FUZZ_TARGET is one of {known:?}")).1
});

fuzz_target!(|data: &[u8]| (*READ)(data));
