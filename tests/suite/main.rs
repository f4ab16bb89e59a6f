//! The library as its users see it, in one binary.

mod inputs;
