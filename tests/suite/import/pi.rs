//! pi sessions.
