//! Advice on the settings of agents.

use std::fmt;

use crate::face::Error;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_report::advise::{self, table};

/// The characters of a line.
const WIDTH: usize = 100;

/// Which settings of an agent to change, what that saves and forgets, and what to paste. `Display` is the text that `ctxsim advise` prints.
#[derive(Clone, Debug)]
pub struct Advice {
    inner: advise::Advice,
}

impl Advice {
    pub(super) fn new(inner: advise::Advice) -> Self {
        Self { inner }
    }

    /// Returns it as JSON, byte for byte as `ctxsim advise --format json` writes it.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn json(&self) -> Result<String, Error> {
        self.inner.document().map_err(|it| Diagnostic::at(Code::Unwritable, "", it.to_string()).into())
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&table(&self.inner, false, Some(WIDTH)))
    }
}
