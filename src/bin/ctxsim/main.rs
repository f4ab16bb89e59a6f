//! Reads arguments, calls the library, prints, sets the exit code.
fn main() {}
