//! Drops: a call and its result go together.

use super::Act;
use crate::projection::edit::Editor;
use crate::projection::prompt::SlotIx;
use crate::projection::rendition::Pool;

/// Takes each slot out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drop;

impl Act for Drop {
    #[inline]
    fn touch(&self, slot: SlotIx, _: Option<&mut Pool>, edit: &mut Editor<'_, '_>) -> u32 {
        edit.take_out(slot)
    }
}
