//! Policies that are code and not stages, found by the name that a policy file gives.

mod asked;
mod clairvoyant;
pub mod hindsight;
pub mod schedule;

use crate::input::policy::Code;
use crate::projection::Projector;
use crate::timeline::Timeline;

pub use clairvoyant::Clairvoyant;
pub use hindsight::Hindsight;

/// Returns the projector of a name, made ready for a timeline.
#[must_use]
pub fn projector(code: Code, timeline: &Timeline) -> Box<dyn Projector> {
    match code {
        Code::Clairvoyant => Box::new(Clairvoyant::new(timeline)),
        // Without a profile's prices no schedule is known to be cheaper than keeping everything.
        Code::Hindsight => Box::new(Hindsight::default()),
        Code::Schedule(made_for) => Box::new(Hindsight::new(timeline, &made_for)),
    }
}
