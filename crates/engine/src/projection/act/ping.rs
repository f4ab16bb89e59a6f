//! Pings: the prompt is sent as it stands, for a short answer, so that the provider's cache keeps it.

use crate::prelude::*;
use crate::projection::{Act, Activation, CompiledRung, Num, Purpose, Region, RungParts, SideRequest};

/// Sends the prompt again; the size of the answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ping(Num);

impl Ping {
    pub(super) fn new(output: Option<&Size>, of: &RungParts<'_>) -> Self {
        Self(output.map_or(Num::Const(1), |it| Num::new(it, of.context.known)))
    }
}

impl Act for Ping {
    fn apply(&self, _: &mut CompiledRung, _: Region, activation: &Activation<'_>, edit: &mut Editor<'_, '_>) {
        let output = self.0.eval(&activation.env);
        let (prompt, chain) = (edit.prompt().tokens(), Some(edit.chain()));
        edit.ask(SideRequest { prompt, chain, output, items: 0, purpose: Purpose::KeepAlive });
    }

    fn takes_slots(&self) -> bool {
        false
    }

    fn would_change(&self, _: &Prompt<'_>, _: SlotIx) -> bool {
        false
    }
}
