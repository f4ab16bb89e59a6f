//! Policies that are code and not stages, found by the name that a policy file gives.

mod asked;
pub mod bound;
mod clairvoyant;
pub mod hindsight;
pub mod schedule;

use crate::own::{CodeInputs, Own};
use crate::prelude::*;
use ctxsim_input::Builtin;

pub use clairvoyant::Clairvoyant;
pub use hindsight::Hindsight;

/// Returns the projector of a name, made ready for a timeline.
pub fn projector<'t>(code: &Builtin, made: CodeInputs<'t>) -> Box<dyn Projector + 't> {
    match code {
        Builtin::Clairvoyant => Box::new(Clairvoyant::new(made.timeline)),
        // Without a profile's prices no schedule is known to be cheaper than keeping everything.
        Builtin::Hindsight => Box::new(Hindsight::default()),
        Builtin::Schedule(made_for) => Box::new(Hindsight::new(made.timeline, made_for)),
        Builtin::Own(own) => {
            Own::of(own).map_or_else(|| Box::new(Hindsight::default()) as _, |it| it.projector(made))
        }
    }
}
