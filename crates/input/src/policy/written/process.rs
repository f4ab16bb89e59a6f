//! A policy that is a program in any language.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Duration;

/// A program that answers each request with a view of the history, over its standard input and output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProcessFile {
    /// The program and its arguments. It runs in the policy file's folder and is not passed through a shell.
    pub command: Vec<String>,
    /// How long it may take to start, and to answer a request; 10 seconds, when silent.
    pub deadline: Option<Duration>,
    /// The folder of the file that says so; none for a file that is not on disk.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

impl ProcessFile {
    /// How long a program may take where its file says nothing.
    pub const DEADLINE: Duration = Duration(10_000);

    /// Returns how long the program may take.
    pub fn deadline(&self) -> Duration {
        self.deadline.unwrap_or(Self::DEADLINE)
    }
}
