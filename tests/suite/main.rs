//! One integration binary.

mod import;
