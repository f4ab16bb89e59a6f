//! Policies across price lists.

use std::fmt;

use serde::{Serialize, Serializer};

use ctxsim_engine::measure::sensitivity::Sensitivity as Inner;
use ctxsim_report::sensitivity::{document, markdown};

/// How the ranking of policies depends on prices and cache rules.
///
/// `Display` is a Markdown table: which policy is cheapest under which profile, and which pairs swap.
#[derive(Clone, Debug)]
pub struct Sensitivity(Inner);

impl Sensitivity {
    pub(super) fn new(inner: Inner) -> Self {
        Self(inner)
    }
}

impl fmt::Display for Sensitivity {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        markdown(&self.0, false).fmt(to)
    }
}

impl Serialize for Sensitivity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = document(&self.0).map_err(serde::ser::Error::custom)?;
        let value: serde_json::Value = serde_json::from_str(&text).map_err(serde::ser::Error::custom)?;
        value.serialize(serializer)
    }
}
