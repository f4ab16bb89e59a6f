//! Advice on the settings of agents.

use std::fmt;

use crate::face::Error;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_report::advise::{self, table};
use ctxsim_report::screen::FirstScreen;

/// The characters of a line.
const WIDTH: usize = 100;

/// Which settings of an agent to change, what that saves and forgets, and what to paste. `Display` is the text that `ctxsim advise` prints.
#[derive(Clone, Debug)]
pub struct Advice {
    inner: advise::Advice,
    screen: Option<FirstScreen>,
}

impl Advice {
    pub(super) fn new(inner: advise::Advice) -> Self {
        Self { inner, screen: None }
    }

    pub(super) fn with_screen((screen, inner): (FirstScreen, advise::Advice)) -> Self {
        Self { inner, screen: Some(screen) }
    }

    /// Returns it as JSON, byte for byte as `ctxsim advise --format json` writes it.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn json(&self) -> Result<String, Error> {
        self.inner.document().map_err(unwritable)
    }

    /// Returns the first screen as JSON, as `ctxsim screen --format json` writes it, without the commands that go on from there; `None` of advice
    /// that is not [`Comparison::screen`](crate::Comparison::screen)'s.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn screen_json(&self) -> Result<Option<String>, Error> {
        self.screen.as_ref().map(FirstScreen::json).transpose().map_err(unwritable)
    }
}

/// Says that something cannot be written.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn unwritable(error: serde_json::Error) -> Error {
    Diagnostic::at(Code::Unwritable, "", error.to_string()).into()
}

impl fmt::Display for Advice {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&table(&self.inner, false, Some(WIDTH)))
    }
}
