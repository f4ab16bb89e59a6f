//! Policies that are code and not stages, found by the name that a policy file gives.

mod clairvoyant;

use crate::projection::Projector;
use crate::spec::policy::CodeSpec;
use crate::timeline::Timeline;

pub use clairvoyant::Clairvoyant;

/// Returns the projector of a name, made ready for a timeline.
#[must_use]
pub fn projector(code: CodeSpec, timeline: &Timeline) -> Box<dyn Projector> {
    match code {
        CodeSpec::Clairvoyant => Box::new(Clairvoyant::new(timeline)),
    }
}
