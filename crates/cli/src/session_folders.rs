//! Where agents keep their sessions: what `ctxsim` alone reads.

use crate::prelude::*;

/// Where an agent keeps its sessions: below the folder that a variable of the environment names, or else below the usual one.
struct SessionFolder {
    agent: &'static str,
    variable: &'static str,
    usual: &'static str,
    below: &'static str,
}

/// As the agents' documentation has it on 2026-11-29; of opencode, as its database is where `XDG_DATA_HOME` says.
#[rustfmt::skip]
const FOLDERS: [SessionFolder; 6] = [
    SessionFolder { agent: "Claude Code", variable: "CLAUDE_CONFIG_DIR", usual: "~/.claude", below: "projects" },
    SessionFolder { agent: "Codex", variable: "CODEX_HOME", usual: "~/.codex", below: "sessions" },
    SessionFolder { agent: "Gemini CLI", variable: "GEMINI_CLI_HOME", usual: "~", below: ".gemini/tmp" },
    SessionFolder { agent: "opencode", variable: "XDG_DATA_HOME", usual: "~/.local/share", below: "opencode/opencode.db" },
    SessionFolder { agent: "pi", variable: "PI_CODING_AGENT_DIR", usual: "~/.pi/agent", below: "sessions" },
    SessionFolder { agent: "Copilot CLI", variable: "COPILOT_HOME", usual: "~/.copilot", below: "session-state" },
];

/// A session that ships, as an example.
const EXAMPLE: &str = "recorded/claude-code";

impl SessionFolder {
    fn path(&self) -> String {
        let set = std::env::var_os(self.variable).map(|it| it.to_string_lossy().into_owned());
        let set = set.filter(|it| !it.is_empty());
        format!("{}/{}", set.as_deref().unwrap_or(self.usual).trim_end_matches('/'), self.below)
    }
}

/// Returns the sessions that are read where nobody names any, and a sentence that says which these are: those of the agents on this machine, or where
/// there are none, and in CI, an example.
pub(crate) fn usual_sessions(catalog: &Catalog) -> (Vec<String>, String) {
    let paths = own_sessions(catalog);
    if !paths.is_empty() {
        let read = format!("Read from {}; `ctxsim FOLDER` reads others.", listed(&paths));
        return (paths, read);
    }
    let agents = listed(&FOLDERS.iter().map(|it| it.agent.to_owned()).listed());
    let reason =
        if is_in_ci() { "`CI` is set" } else { &format!("there are none where {agents} keep theirs") };
    let example = format!("An example, a bundled session: {reason}. `ctxsim FOLDER` reads yours.");
    (vec![EXAMPLE.to_owned()], example)
}

/// Returns where the agents on this machine keep sessions, if they have any; none in CI.
pub(crate) fn own_sessions(catalog: &Catalog) -> Vec<String> {
    let paths = FOLDERS.iter().map(SessionFolder::path);
    paths.filter(|path| !is_in_ci() && catalog.has_recordings(path)).listed()
}

fn is_in_ci() -> bool {
    std::env::var_os("CI").is_some()
}
