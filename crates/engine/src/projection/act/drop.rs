//! Drops: a call and its result go together.

use crate::prelude::*;
use crate::projection::{Act, Pool};

/// Takes each slot out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drop;

impl Act for Drop {
    #[inline]
    fn touch(&self, slot: SlotIx, _: Option<&mut Pool>, edit: &mut Editor<'_, '_>) -> u32 {
        edit.take_out(slot)
    }
}
