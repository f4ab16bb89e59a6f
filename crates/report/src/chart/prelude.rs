//! What charts are drawn with: an axis, colours, a legend, names, and what a scene is made of.

pub(super) use super::axis::Axis;
pub(super) use super::ink;
pub(super) use super::legend::{self, Swatch};
pub(super) use super::names::{PolicyLabel, PolicyLabels, shorten_names};
pub(super) use super::scene::{
    Anchor, LINE, Scene, SceneText, SvgPath, WIDTH, box_path, line_path, policy_shape_path, shorten_end,
    shorten_middle, text_width, to_tenth,
};
pub(super) use super::{ChartData, Picture, cheapest_with_note};
pub(super) use crate::prelude::*;
