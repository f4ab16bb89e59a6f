//! The rules of a memory service; a higher floor knows which services exist.

use crate::policy::memory::{Cap, DocSection, ServiceCall, ServiceMemory};
use crate::prelude::*;

/// The largest document: it is rewritten at the end of every session.
const CAP_MAX: u64 = 1_000_000;

/// Checks how a memory service is used.
pub(super) fn check(spec: &ServiceMemory, problems: &mut Problems) {
    use ServiceCall::{AwaitConsistency, GetContext, ListEntries, PutContext};
    calls("read.at_start", spec.starts_with(), &[AwaitConsistency, GetContext, ListEntries], problems);
    calls("write.at_end", spec.ends_with(), &[AwaitConsistency, PutContext], problems);
    if !spec.ends_with().contains(&PutContext) {
        let help = "add `put_context`, or remove `at_end`";
        let message = "the document is never written, so nothing is kept";
        problems.push_at(Code("service-put"), "write.at_end", message, help);
    }
    if !spec.write.entries && spec.write.flush_every.is_some_and(|it| it > 0) {
        let help = "leave it out, or write `entries: true`";
        let message = "without entries, the document is only written at the end of a session";
        problems.push_at(Code("service-flush"), "write.flush_every", message, help);
    }
    problems.within("store", |problems| {
        let (Cap::Words(size) | Cap::Chars(size)) = spec.store.cap;
        if size == 0 {
            let help = "write 1 or more";
            problems.push_at(Code("capacity-zero"), "cap", "a document needs a capacity of at least 1", help);
        }
        if size > CAP_MAX {
            let message = format!("{size} exceeds the largest document size");
            problems.push_at(Code("cap-range"), "cap", message, format!("write at most {CAP_MAX}"));
        }
        let protected =
            [("recent_sessions", spec.store.recent_sessions), ("key_references", spec.store.key_references)];
        for (field, _) in protected.into_iter().filter(|it| it.1 > CAP_MAX) {
            let help = format!("write at most {CAP_MAX}");
            problems.push_at(Code("size-too-large"), field, "no document holds as many", help);
        }
        sections(&spec.store.sections, problems);
    });
    let read = &spec.read;
    if !read.document_alone && read.first.entries == 0 && read.first.shards == 0 {
        let help = "find 1 or more, or write `document_alone: true`";
        problems.push_at(Code("read-nothing"), "read.first", "a search must find at least one entry", help);
    }
}

/// Checks that calls are made at moments that allow them.
fn calls(field: &str, made: &[ServiceCall], allowed: &[ServiceCall], problems: &mut Problems) {
    for (index, call) in made.iter().enumerate() {
        if !allowed.contains(call) {
            let names: Vec<&str> = allowed.iter().map(|it| it.name()).collect();
            let message = format!("`{}` cannot be called at this moment", call.name());
            let help = format!("write one or more of `{}`", names.join("`, `"));
            problems.push_at(Code("service-call"), format!("{field}.{index}"), message, help);
        }
    }
}

fn sections(sections: &[DocSection], problems: &mut Problems) {
    if sections.is_empty() {
        let help = "name at least one section, as in `[facts, notes]`";
        problems.push_at(Code("sections-empty"), "sections", "the document has no sections", help);
    }
    for (index, section) in sections.iter().enumerate() {
        if sections[..index].contains(section) {
            let help = "name each section once";
            let message = "this section is listed twice";
            problems.push_at(Code("section-twice"), format!("sections.{index}"), message, help);
        }
    }
}
