//! Each message is an entry, and the document beside them is also written and put in mid-session.

use super::{Desk, SessionRunner};
use ctxsim_input::policy::memory::ServiceCall;

#[derive(Clone, Copy, Debug)]
pub struct EntriesRunner;

impl SessionRunner for EntriesRunner {
    fn begin(&self, desk: &mut Desk<'_, '_>) {
        desk.start();
    }

    fn message(&self, desk: &mut Desk<'_, '_>, message: u32) {
        desk.add_entry(message);
        let is_due = desk.flushes_every().is_some_and(|it| (u64::from(message) + 1).is_multiple_of(it));
        if is_due {
            flush(desk);
        }
    }

    fn end(&self, desk: &mut Desk<'_, '_>) {
        flush(desk);
    }
}

/// Makes the calls of a session's end.
fn flush(desk: &mut Desk<'_, '_>) {
    for call in desk.ending() {
        if call == ServiceCall::PutContext {
            desk.synthesise();
        }
        desk.call(call);
    }
}
