//! What nearly every file of this package writes with: lists in their order, numbers as text, tables, values of rows, quantities, runs.

pub(crate) use std::collections::{BTreeMap, BTreeSet};

pub(crate) use ctxsim_base::foreign::in_one_line;
pub(crate) use ctxsim_base::grid::markdown::Markdown;
pub(crate) use ctxsim_base::grid::numbers::{
    self, NONE, counted, fixed, interval, listed, or_none, percent, signed, thousands,
};
pub(crate) use ctxsim_base::grid::prose::{wrap, wrap_all};
pub(crate) use ctxsim_base::grid::terminal::{draw_whole, draw_with_note};
pub(crate) use ctxsim_base::grid::tint::{Terminal, Tint};
pub(crate) use ctxsim_base::grid::{CellKind, Grid, Hue, Of};
pub(crate) use ctxsim_base::list::Listed as _;
pub(crate) use ctxsim_base::order::InOrder as _;
pub(crate) use ctxsim_base::quantity::{Cost, Tokens};
pub(crate) use ctxsim_engine::measure::Tally;
pub(crate) use ctxsim_engine::measure::missed::MissCause;
pub(crate) use ctxsim_engine::price::Bill;
pub(crate) use ctxsim_engine::take::Run;
pub(crate) use ctxsim_input::Profile;
pub(crate) use ctxsim_timeline::Timeline;
pub(crate) use ctxsim_timeline::row::json::json_text;
pub(crate) use ctxsim_timeline::row::{Rows, Value, group};
pub(crate) use indexmap::{IndexMap, IndexSet};
pub(crate) use serde::{Deserialize, Serialize};

pub(crate) use crate::names::{
    capitalise, first_few, format_usd, last_folder_name, names_and_more, or_nothing, text_if, text_if_any,
    usd_decimals_up_to,
};
pub(crate) use crate::{Report, grouped, serialized_name, sum_if_any};
