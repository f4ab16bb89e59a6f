//! JSON Schema of the input files, for editors and for what is said of a mistake.
//!
//! The files in `schema/` are derived from the types that parse the inputs. A test derives them again, so no other build does.

#[cfg(test)]
mod derived;

// Draft 2020-12, with every field's documentation; the rules between fields are those of `ctxsim validate`.
pub use ctxsim_schema::{POLICY, PROFILE, SCENARIO, SUITE};
