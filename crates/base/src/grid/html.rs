//! Tables on a page: macros for its template.

/// The macro `table`, which takes a table whose rows have ids and may have commands, and `said`, which sets what stands in backticks as code.
pub const TABLE: &str = include_str!("table.html");
