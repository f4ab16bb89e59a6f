//! Time that a thread has spent on a core, which other programs on the machine do not lengthen.

#![allow(clippy::disallowed_methods, reason = "measures time")]

use std::time::{Duration, Instant};

use criterion::measurement::{Measurement, ValueFormatter, WallTime};

/// Nanoseconds on a core where the system tells them, else of the clock on the wall.
pub struct CoreTime;

/// When a measurement began.
pub enum Start {
    Core(u64),
    Wall(Instant),
}

/// Returns the nanoseconds that this thread has spent on a core, on Linux.
fn core_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

impl Measurement for CoreTime {
    type Intermediate = Start;
    type Value = Duration;

    fn start(&self) -> Start {
        core_ns().map_or_else(|| Start::Wall(Instant::now()), Start::Core)
    }

    fn end(&self, start: Start) -> Duration {
        match start {
            Start::Core(start) => {
                Duration::from_nanos(core_ns().unwrap_or(start).saturating_sub(start).max(1))
            }
            Start::Wall(start) => start.elapsed(),
        }
    }

    fn add(&self, left: &Duration, right: &Duration) -> Duration {
        *left + *right
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
