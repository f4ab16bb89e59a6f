//! Recorded sessions as traces.
