//! What a log tells of a request besides its messages, as far as that bears on what it reads from the cache.

/// Something that a log tells of a request, or of the time before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// A skill or a slash command was expanded.
    Skill,
    /// The model searched for tools for the first time, and what it found enters the prompt's tools.
    ToolsFound,
    /// The session was left and taken up again.
    Restart,
    /// The log marks that history was removed: it was compacted, cleared, or results of tools were.
    Removed,
    /// The provider says why it did not read all of the prompt that it had cached.
    Diagnosed(Diagnosis),
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
