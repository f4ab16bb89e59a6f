//! Tables on a page: a macro for its template.

/// The macro `table`, which takes a [`Grid`](super::Grid).
pub const TABLE: &str = include_str!("table.html");
