//! Chats of many sessions, and questions about what was said in them.

use std::sync::Arc;

use super::{Writing, found, rows};
use crate::diag::Diagnostic;
use crate::input::policy::memory::Memory;
use crate::input::scenario::Load as Form;
use crate::take::{Kind, World};
use crate::worlds::Registered;
use crate::worlds::chats::{self, ChatScenario, Numbers};

/// What chats read of a policy.
pub(super) static KIND: Kind = Kind {
    prompt: false,
    facts: false,
    sessions: false,
    service: true,
    is_of_memories: true,
    words: ["reads `memory.service`", "memory_runners/entries"],
};

/// Chats.
pub(in crate::floors::worlds) const WORLD: Registered = Registered {
    kind: |load| matches!(load, Form::Chats(_)).then_some(&KIND),
    check: |load| if let Form::Chats(load) = load { chats::check(&load.numbers) } else { Vec::new() },
    check_memory: |memory| {
        if let Memory::Service(it) = memory { chats::check_policy(it) } else { Vec::new() }
    },
    make: |scenario, text| {
        let Form::Chats(load) = &scenario.load else { return None };
        let users = text.map(|it| chats::long_mem_eval::read(it, Numbers::declared())).transpose();
        Some(users.map(|users| vec![Arc::new(ChatScenario::new(scenario, load, users)) as _]))
    },
    rows: rows::kinds,
    findings: Some(&found::KIND),
    ..Registered::NEW
};

impl World for ChatScenario {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static Kind {
        &KIND
    }

    fn trials(&self) -> Option<u64> {
        Some(self.trials)
    }

    fn premises(&self) -> Option<[&'static str; 2]> {
        Some([
            "Memory losses are sampled with the numbers in `assumptions/memory_runners`; no model \
                ran.",
            "Costs, calls and times are of the first trial. Each request starts with the system \
                prompt and the document; a request for an entry contains only its message.",
        ])
    }

    fn service(self: Arc<Self>, _seed: u64) -> Option<Arc<dyn World>> {
        Some(Arc::new(Writing::of_chats(self)))
    }

    fn without_rows(&self, _of_needs: bool) -> Option<Diagnostic> {
        let message = format!("{} has no request rows: it reports totals of its trials", self.name);
        let help = "use `--rows calls`, `--rows log` or `--rows probes`";
        Some(Diagnostic::at("rows-aging", "", message).help(help))
    }
}
