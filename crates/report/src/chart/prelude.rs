//! What charts are drawn with: an axis, colours, a legend, names, and what a scene is made of.

pub(super) use super::axis::Axis;
pub(super) use super::ink;
pub(super) use super::legend::{self, Swatch};
pub(super) use super::names::{PolicyLabel, PolicyLabels, shortened};
pub(super) use super::scene::{
    Anchor, DrawnMark, LINE, Path, Scene, SceneText, WIDTH, cut, fit, line, rectangle, round, shape, width,
};
pub(super) use super::{ChartData, Picture, fewest};
pub(super) use crate::prelude::*;
