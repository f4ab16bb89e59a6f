//! One context document is all that is kept: messages gather,
//! and when the session is over the document is written again and put.

use super::{Desk, SessionRunner};
use ctxsim_input::policy::memory::ServiceCall;

/// The runner without entries.
#[derive(Clone, Copy, Debug)]
pub struct ContextOnly;

impl SessionRunner for ContextOnly {
    fn begin(&self, desk: &mut Desk<'_, '_>) {
        desk.start();
    }

    fn message(&self, _desk: &mut Desk<'_, '_>, _message: u32) {}

    fn end(&self, desk: &mut Desk<'_, '_>) {
        for call in desk.ending() {
            if call == ServiceCall::PutContext {
                desk.synthesise();
            }
            desk.call(call);
        }
    }
}
