//! One request, explained.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::face::Error;
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_engine::explain;
use ctxsim_report::explain::{json, rendered, table};
use ctxsim_report::rows::RowContext;

/// One request of a run, explained: how every entry is shown and why, where the cached prefix broke, and what was billed.
///
/// `Display` is the text that `ctxsim explain` prints.
#[derive(Clone, Debug)]
pub struct Explanation {
    text: String,
    prompt: String,
    value: serde_json::Value,
}

impl Explanation {
    pub(super) fn new(it: &explain::Explanation, context: RowContext<'_>) -> Result<Self, Error> {
        let unwritable = |error: serde_json::Error| Diagnostic::at(Code::Unwritable, "", error.to_string());
        let text = json(it, context, false).map_err(unwritable)?;
        Ok(Self {
            text: table::explanation(it, context, table::ExplainStyle::default()),
            prompt: rendered(it),
            value: serde_json::from_str(&text).map_err(unwritable)?,
        })
    }

    /// Returns the text of the prompt as it was sent, if the scenario has text.
    #[must_use]
    pub fn prompt(&self) -> &str {
        &self.prompt
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.text)
    }
}

impl Serialize for Explanation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}
