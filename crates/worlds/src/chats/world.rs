//! Chats of many sessions, and questions about what was said in them.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{Writing, found, rows};
use crate::chats::{self, ChatNumbers, ChatScenario};
use crate::{NamedFile, Registered};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_engine::take::{LoadKind, World};
use ctxsim_input::policy::memory::MemorySpec;
use ctxsim_input::scenario::{ChatLoad, ChatSource, LoadSpec as Form};

/// Where a scenario names a file of chats.
const PATH: &str = "load.chats.from.long_mem_eval.path";

/// What chats read of a policy.
pub(super) static KIND: LoadKind = LoadKind {
    service: true,
    is_of_memories: true,
    words: ["reads `memory.service`", "memory_runners/entries"],
    ..LoadKind::NOTHING
};

/// Chats.
pub(crate) const WORLD: Registered = Registered {
    kind: |load| matches!(load, Form::Chats(_)).then_some(&KIND),
    check: |load| if let Form::Chats(load) = load { chats::check(&load.numbers) } else { Vec::new() },
    check_memory: |memory| {
        if let MemorySpec::Service(it) = memory { chats::check_policy(it) } else { Vec::new() }
    },
    make: |scenario, files| {
        let Form::Chats(load) = &scenario.load else { return None };
        let read = |it: &mut NamedFile| {
            let users = chats::long_mem_eval::read(it.reader.as_mut(), ChatNumbers::declared());
            users.map_err(|problems| it.placed(problems))
        };
        let users = files.first_mut().map(read).transpose();
        Some(users.map(|users| vec![Arc::new(ChatScenario::new(scenario, load, users)) as _]))
    },
    of_file: |front, name| chats::long_mem_eval::is_one(front).then(|| Form::Chats(of_file(name).into())),
    beside: |load| {
        let path = if matches!(load, Form::Chats(_)) { load.path() } else { None };
        path.map(|it| (it.to_owned(), PATH.to_owned())).into_iter().collect()
    },
    numbers: || ChatNumbers::declared().names().iter().map(|it| format!("runner.{it}")).collect(),
    rows: rows::kinds,
    findings: Some(&found::KIND),
    ..Registered::NEW
};

/// How often the losses of a file of chats are drawn where no scenario says it.
const TRIALS: u64 = 5;

/// Returns the load of a file that is named itself: its conversations have dates.
fn of_file(name: &str) -> ChatLoad {
    ChatLoad {
        trials: TRIALS,
        conversation_time: true,
        session_seconds: 0,
        numbers: IndexMap::new(),
        from: ChatSource::LongMemEval { path: name.to_owned() },
    }
}

impl World for ChatScenario {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static LoadKind {
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
        Some(Diagnostic::at(Code("rows-aging"), "", message).help(help))
    }
}
