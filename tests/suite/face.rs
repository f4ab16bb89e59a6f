//! The face of the crate: what it exports, what its examples take, and own code in it.

mod embedding;
mod examples;
mod failures;
mod folders;
mod list;
mod own_code;
mod reports;
mod verbs;
