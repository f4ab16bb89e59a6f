//! What most importers write with, besides what the package does: records, losses, parts of a transcript.

pub(super) use crate::prelude::*;

pub(super) use super::bodies::list;
pub(super) use super::content::{Content, Measured};
pub(super) use super::format::{Checked, LogFormat};
pub(super) use super::harness::{HarnessRules, Version};
pub(super) use super::json;
pub(super) use super::lines::LogLines;
pub(super) use super::losses::Losses;
pub(super) use super::transcript::{Assembler, Reply};
pub(super) use super::transcript::{Exchange, Named, Part, Remover, Transcript};
pub(super) use super::usage::{BillReader, Shaped};
pub(super) use super::values::Stamp;
pub(super) use super::values::{Count, Members, MessageContent, Text};
