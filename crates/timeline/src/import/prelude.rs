//! What most importers write with, besides what the package does: records, losses, parts of a transcript.

pub(super) use std::borrow::Cow;

pub(super) use crate::prelude::*;
pub(super) use ctxsim_base::diag::{Code, Diagnostic};
pub(super) use ctxsim_base::order::InOrder as _;
pub(super) use ctxsim_base::quantity::or_unlimited;
pub(super) use ctxsim_input::policy::wildcard;
pub(super) use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

pub(super) use crate::LimitReading;
pub(super) use crate::shared::Neighbours;

pub(super) use super::bodies::list;
pub(super) use super::content::{Arguments, Content, Measured};
pub(super) use super::document::FrontOutline;
pub(super) use super::format::LogFormat;
pub(super) use super::harness::{HarnessRules, Version};
pub(super) use super::image::LoggedFile;
pub(super) use super::json;
pub(super) use super::lines::{LogLines, RecordLine};
pub(super) use super::losses::{Losses, OrderWatch};
pub(super) use super::transcript::{
    Assembler, Exchange, HistorySummary, Part, Remover, Transcript, named_apart,
};
pub(super) use super::usage::{BillReader, ReplyBill, Shaped, billed_apart};
pub(super) use super::values::{
    CallRecord, Count, Flag, Members, MessageBlock, MessageContent, Stamp, Text, dollars, milliseconds,
};
