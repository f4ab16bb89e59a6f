//! What changed in a file of inputs from one state to another, field by field.

use indexmap::IndexMap;

use super::contrast::{differences, leaves};
use crate::catalog::Kind;
use ctxsim_input::{Format, PolicyFile, ProfileFile, ScenarioFile, Source, SuiteFile};
use ctxsim_report::contrast::{InputChange, InputFate};

/// Returns what changed in an input from one text of its file to another, either of which may not be there; nothing if both say the same.
pub fn input_change(kind: Kind, name: &str, format: Format, texts: [Option<&str>; 2]) -> Option<InputChange> {
    let how = match texts {
        [None, None] => return None,
        [None, Some(_)] => InputFate::Added,
        [Some(_), None] => InputFate::Removed,
        [Some(before), Some(after)] if before == after => return None,
        [Some(_), Some(_)] => InputFate::Changed,
    };
    let said = texts.map(|it| said(kind, &Source::new(name, format, it?)));
    let fields = match (how, said) {
        (InputFate::Changed, [Some(before), Some(after)]) => {
            let fields = differences([before, after]);
            // A comment changes nothing.
            if fields.is_empty() {
                return None;
            }
            fields
        }
        _ => Vec::new(),
    };
    Some(InputChange { kind: kind.noun(), name: name.to_owned(), how, fields })
}

/// Returns what a text says, by field; nothing of what cannot be read.
fn said(kind: Kind, source: &Source) -> Option<IndexMap<String, String>> {
    match kind {
        Kind::Policy => source.decode::<PolicyFile>().ok().map(|it| leaves(&it)),
        Kind::Scenario => source.decode::<ScenarioFile>().ok().map(|it| leaves(&it)),
        Kind::Profile => source.decode::<ProfileFile>().ok().map(|it| leaves(&it)),
        Kind::Suite => source.decode::<SuiteFile>().ok().map(|it| leaves(&it)),
    }
}
