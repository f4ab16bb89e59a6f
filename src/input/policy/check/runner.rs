//! The rules of a memory runner; a higher floor knows which services exist.

use super::super::written::{Cap, Runner, Section, ServiceCall};
use crate::diag::Problems;

/// The largest document: it is rewritten at the end of every session.
const CAP_MAX: u64 = 1_000_000;

/// Checks a memory runner.
pub(super) fn runner(spec: &Runner, problems: &mut Problems) {
    use ServiceCall::{AwaitConsistency, GetContext, ListEntries, PutContext};
    calls("at_start", spec.starts_with(), &[AwaitConsistency, GetContext, ListEntries], problems);
    calls("at_end", spec.ends_with(), &[AwaitConsistency, PutContext], problems);
    if !spec.ends_with().contains(&PutContext) {
        let help = "add `put_context`, or remove `at_end`";
        problems.push_at("runner-put", "at_end", "the document is never written, so nothing is kept", help);
    }
    if spec.context_only && spec.flush_every.is_some_and(|it| it > 0) {
        let help = "leave it out, or write `context_only: false`";
        let message = "with `context_only`, the document is only written at the end of a session";
        problems.push_at("runner-flush", "flush_every", message, help);
    }
    problems.within("document", |problems| {
        let (Cap::Words(size) | Cap::Chars(size)) = spec.document.cap;
        if size == 0 {
            problems.push_at(
                "capacity-zero",
                "cap",
                "a document needs a capacity of at least 1",
                "write 1 or more",
            );
        }
        if size > CAP_MAX {
            let message = format!("{size} exceeds the largest document size");
            problems.push_at("cap-range", "cap", message, format!("write at most {CAP_MAX}"));
        }
        let protected = [
            ("recent_sessions", spec.document.recent_sessions),
            ("key_references", spec.document.key_references),
        ];
        for (field, _) in protected.into_iter().filter(|it| it.1 > CAP_MAX) {
            let help = format!("write at most {CAP_MAX}");
            problems.push_at("size-too-large", field, "no document holds as many", help);
        }
        sections(&spec.document.sections, problems);
    });
    let search = &spec.search;
    if !search.document_alone && search.first.entries == 0 && search.first.shards == 0 {
        let help = "find 1 or more, or write `document_alone: true`";
        problems.push_at("read-nothing", "search.first", "a search must find at least one entry", help);
    }
}

/// Checks that calls are made at moments that allow them.
fn calls(field: &str, made: &[ServiceCall], allowed: &[ServiceCall], problems: &mut Problems) {
    for (index, call) in made.iter().enumerate() {
        if !allowed.contains(call) {
            let names: Vec<&str> = allowed.iter().map(|it| it.name()).collect();
            let message = format!("`{}` cannot be called at this moment", call.name());
            let help = format!("write one or more of `{}`", names.join("`, `"));
            problems.push_at("runner-call", format!("{field}.{index}"), message, help);
        }
    }
}

fn sections(sections: &[Section], problems: &mut Problems) {
    if sections.is_empty() {
        let help = "name at least one section, as in `[facts, notes]`";
        problems.push_at("sections-empty", "sections", "the document has no sections", help);
    }
    for (index, section) in sections.iter().enumerate() {
        if sections[..index].contains(section) {
            let help = "name each section once";
            problems.push_at(
                "section-twice",
                format!("sections.{index}"),
                "this section is listed twice",
                help,
            );
        }
    }
}
