//! Named deterministic generators of traces.
