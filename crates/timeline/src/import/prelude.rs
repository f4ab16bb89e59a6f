//! What most importers write with, besides what the package does: records, losses, parts of a transcript.

pub(super) use crate::prelude::*;

pub(super) use super::content::{Content, Measured};
pub(super) use super::losses::Losses;
pub(super) use super::transcript::{Named, Part};
pub(super) use super::usage::Shaped;
pub(super) use super::values::{Count, MessageContent, Text};
