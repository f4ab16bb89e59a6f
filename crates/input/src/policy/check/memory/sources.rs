//! The rules of a memory of sources.

use crate::policy::memory::{NoteRewrite, SourceMemory, SourceRead, SourceStore};
use ctxsim_base::diag::{Code, Problems};

/// Checks a memory of sources.
pub(super) fn check(spec: &SourceMemory, problems: &mut Problems) {
    let (field, room) = match spec.store {
        SourceStore::File { tokens } => ("store.file.tokens", tokens),
        SourceStore::Topics { tokens } => ("store.topics.tokens", tokens),
        SourceStore::Entries { tokens } => ("store.entries.tokens", tokens),
        SourceStore::Document { tokens } => ("store.document.tokens", tokens),
        SourceStore::Summary { words } => ("store.summary.words", Some(words)),
        SourceStore::Banks { capacity } => ("store.banks.capacity", Some(capacity)),
    };
    if room == Some(0) {
        problems.push_at(Code::CapacityZero, field, "the memory has room for nothing", "write 1 or more");
    }
    let (field, n) = match spec.write.every {
        NoteRewrite::Sessions(n) => ("write.every.sessions", n),
        NoteRewrite::Requests(n) => ("write.every.requests", n),
    };
    if n == 0 {
        problems.push_at(Code::RewriteNever, field, "the notes are never written", "write 1 or more");
    }
    if spec.read == SourceRead::Top(0) {
        problems.push_at(Code::ReadNothing, "read", "the memory never reads anything back", "read 1 or more");
    }
    if matches!(spec.store, SourceStore::Topics { .. }) && spec.read != SourceRead::All {
        let help = "write `read: all`: every prompt holds the index of the topics";
        problems.push_at(Code::ReadWhole, "read", "topics are read by a call, one at a time", help);
    }
    if matches!(spec.store, SourceStore::Summary { .. }) && spec.read != SourceRead::All {
        let help = "write `read: all`, or store `entries`";
        problems.push_at(Code::ReadWhole, "read", "a summary is one text, which is read as a whole", help);
    }
}
