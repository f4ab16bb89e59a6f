//! What charts are drawn with: an axis, colours, a legend, names, and what a scene is made of.

pub(super) use super::axis::Axis;
pub(super) use super::ink;
pub(super) use super::legend::{self, Swatch};
pub(super) use super::names::{PolicyLabel, PolicyLabels, shorten_names};
pub(super) use super::scene::{
    Anchor, DrawnMark, LINE, Scene, SceneText, VectorPath, WIDTH, line_path, max_text_width,
    policy_shape_path, rectangle_path, round_to_tenth, shorten_end, shorten_middle,
};
pub(super) use super::{ChartData, Picture, choose_lines_to_draw};
pub(super) use crate::prelude::*;
