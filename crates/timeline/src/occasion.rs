//! What a log tells of a request besides its messages, as far as that bears on what it reads from the cache.

/// Something that a log tells of a request, or of the time before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A skill or a slash command was expanded.
    Skill,
    /// The model searched for tools for the first time, and what it found enters the prompt's tools.
    ToolsFound,
    /// The harness connected the session to a remote control, which has tools of its own.
    RemoteControl,
    /// The tools of the request are those of the one before in another order or spelling.
    ToolsReordered,
    /// The session was left and taken up again.
    Restart,
    /// The log marks that history was removed: it was compacted, cleared, or results of tools were.
    Removed,
    /// The provider says why it did not read all of the prompt that it had cached.
    Diagnosed(Diagnosis),
    /// The harness adds a text of its own to the prompt, of so many characters.
    Injected(InjectedText, u32),
}

/// What a harness adds to a prompt on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InjectedText {
    /// What a user's hook says.
    Hook,
    /// A file that somebody else changed after the agent had read it.
    ChangedFile,
    /// A reminder of tasks or of a mode.
    Reminder,
    /// What an editor finds wrong.
    Diagnostics,
    /// A list of skills, sub-agents or tools.
    Listing,
}

/// What a log calls them, in prefixes of its names for attachments, and what this project does.
const INJECTED: [(&str, &str, InjectedText); 9] = [
    ("hook_additional_context", "hook", InjectedText::Hook),
    ("edited_text_file", "changed_file", InjectedText::ChangedFile),
    ("task_reminder", "reminder", InjectedText::Reminder),
    ("todo_reminder", "reminder", InjectedText::Reminder),
    ("diagnostics", "diagnostics", InjectedText::Diagnostics),
    ("skill_listing", "listing", InjectedText::Listing),
    ("agent_listing", "listing", InjectedText::Listing),
    ("deferred_tools", "listing", InjectedText::Listing),
    ("mcp_instructions", "listing", InjectedText::Listing),
];

impl InjectedText {
    /// Finds what an attachment of Claude Code adds to a prompt; `None` where it adds nothing of the harness's own.
    pub(crate) fn of_attachment(name: &str) -> Option<Self> {
        INJECTED.iter().find(|it| name.starts_with(it.0)).map(|it| it.2)
    }

    /// Finds the one of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        INJECTED.iter().find(|it| it.1 == name).map(|it| it.2)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        INJECTED.iter().find(|it| it.2 == self).map_or("", |it| it.1)
    }
}

/// Why a provider says that it did not read what it had cached: it compares the request with the one before. Anthropic's cache
/// diagnostics, beta `cache-diagnosis-2026-04-07`. Its sixth value, `unavailable`, stands on full reads as well, and says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// Another model answers.
    Model,
    /// The system prompt is another.
    System,
    /// The tools are others.
    Tools,
    /// An earlier message is another.
    Messages,
    /// It no longer knows the request before.
    Forgotten,
}

/// What a provider calls them.
const DIAGNOSES: [(&str, Diagnosis); 5] = [
    ("model_changed", Diagnosis::Model),
    ("system_changed", Diagnosis::System),
    ("tools_changed", Diagnosis::Tools),
    ("messages_changed", Diagnosis::Messages),
    ("previous_message_not_found", Diagnosis::Forgotten),
];

impl Diagnosis {
    /// Finds the one that a provider calls so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        DIAGNOSES.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    /// Returns what the provider calls it.
    pub(crate) fn name(self) -> &'static str {
        DIAGNOSES.iter().find(|it| it.1 == self).map_or("", |it| it.0)
    }
}
