//! The rules of a profile.

pub(super) mod cache;
pub(super) mod price;
