//! Code that may panic: a panic becomes an error, where panics unwind.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::BoxError;

/// Code that was made, or why it could not be.
pub type Guarded<T> = Result<T, String>;

/// Makes code.
pub fn made<T>(make: impl FnOnce() -> Result<T, BoxError>) -> Guarded<T> {
    call("the policy constructor", make)
}

/// Calls code; what it returns or panics with becomes words. After a panic the code is not called again.
pub fn call<T>(what: &str, code: impl FnOnce() -> Result<T, BoxError>) -> Guarded<T> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => Err(format!("{what} panicked: {}", words(panic.as_ref()))),
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let spoken = panic.downcast_ref::<&str>().copied();
    spoken.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
