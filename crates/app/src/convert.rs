//! One input as text: as written, merged with its bases, in the other format, or beside an earlier one, field by field.

use crate::prelude::*;

use crate::catalog::kind_of_file;
use crate::contrast::{differing_fields, to_field_values};
use ctxsim_input::text::comments::with_comments;
use ctxsim_input::text::source::decode;
use ctxsim_input::text::{Decode, Encode};
use ctxsim_report::contrast::{InputChange, InputFate};

/// Returns the text of an input as its file has it, comments and all, or in another format than that, once it has been read back as the same
/// input. Without a kind, the name is a path, or that of one bundled input.
///
/// # Errors
/// There is no such input, several kinds have one, it cannot be read, it is a recording, or the format cannot hold it.
pub fn input_text(
    catalog: &Catalog,
    kind: Option<InputKind>,
    name: &str,
    format: Option<Format>,
) -> Result<String> {
    let path = Path::new(name);
    if kind.is_none() && path.is_file() {
        catalog.files_read().add_path(path);
        let source = Source::read(path)?;
        return convert_to_format(kind_of_file(path)?, &source, format.unwrap_or(source.format));
    }
    let kind = kind.map_or_else(|| kind_of_only_input(catalog, name), Ok)?;
    let origin = catalog.find_origin(kind, name)?;
    let Some(from) = Format::from_path(origin.path()) else { return Err(recording_refusal(&origin).into()) };
    convert_to_format(kind, &Source::new(origin.label(), from, origin.read_text()?), format.unwrap_or(from))
}

/// Returns the kind of the only input of a name.
fn kind_of_only_input(catalog: &Catalog, name: &str) -> Result<InputKind> {
    let kinds: Vec<InputKind> =
        InputKind::ALL.into_iter().filter(|it| catalog.names(*it).any(|known| known == name)).collect();
    match kinds[..] {
        [kind] => Ok(kind),
        // Its error suggests a name.
        [] => catalog.find_origin(InputKind::Policy, name).map(|_| InputKind::Policy),
        [first, ..] => {
            let nouns: Vec<&str> = kinds.iter().map(|it| it.noun()).collect();
            let message = format!("`{name}` is a {}", nouns.join(" and a "));
            let help = format!("name the kind: `ctxsim show {} {name} --as …`", first.noun());
            Err(Error::refused(Code("usage"), message, help))
        }
    }
}

/// Returns the text of an input of a kind in a format.
fn convert_to_format(kind: InputKind, source: &Source, format: Format) -> Result<String> {
    if source.format == format {
        return Ok(source.text.clone());
    }
    match kind {
        InputKind::Policy => convert_input::<PolicyFile>(source, format),
        InputKind::Scenario => convert_input::<ScenarioFile>(source, format),
        InputKind::Profile => convert_input::<ProfileFile>(source, format),
        InputKind::Suite => convert_input::<SuiteFile>(source, format),
    }
}

/// Returns a policy merged with its bases, as a self-contained file; comments are lost.
///
/// # Errors
/// There is no such policy, it or a base cannot be read, or the format cannot represent it.
pub fn merged_policy_text(catalog: &Catalog, name: &str, format: Option<Format>) -> Result<String> {
    let policy = catalog.policy(name)?;
    let format = format.or_else(|| Format::from_path(policy.origin.path())).unwrap_or(Format::Ron);
    let spec = PolicyFile { base: None, ..policy.spec };
    encode(&spec, format).map_err(|it| it.in_file(policy.origin.label()).into())
}

/// Reports that a recording is not an input file.
fn recording_refusal(origin: &Origin) -> Diagnostic {
    let help = format!("run `ctxsim import {}` to see its contents", origin.path().display());
    let message = "a recorded session is not a scenario file";
    Diagnostic::at(Code("file-format"), "", message).in_file(origin.label()).help(help)
}

fn convert_input<T: Encode + Decode + PartialEq>(source: &Source, format: Format) -> Result<String> {
    let spec: T = source.decode()?;
    let bare = encode(&spec, format).map_err(|it| vec![source.locate(*it)])?;
    let is_same = |text: &String| decode::<T>(text, format).is_ok_and(|it| it == spec);
    if let Some(text) = [with_comments(source, &bare, format), bare].into_iter().find(is_same) {
        return Ok(text);
    }
    let problem = Diagnostic::at(Code("unwritable"), "", "the other format cannot represent this file");
    Err(vec![source.locate(problem.help("keep it as it is"))].into())
}

/// Returns what changed in an input from one text of its file to another, either of which may not be there; nothing if both say the same.
pub fn input_change(
    kind: InputKind,
    name: &str,
    format: Format,
    before_after: [Option<&str>; 2],
) -> Option<InputChange> {
    let how = match before_after {
        [None, None] => return None,
        [None, Some(_)] => InputFate::Added,
        [Some(_), None] => InputFate::Removed,
        [Some(before), Some(after)] if before == after => return None,
        [Some(_), Some(_)] => InputFate::Changed,
    };
    let [before, after] = before_after.map(|it| parse_field_values(kind, &Source::new(name, format, it?)));
    let fields = before.zip(after).map(|(before, after)| differing_fields([before, after]));
    // A comment changes nothing.
    if fields.as_ref().is_some_and(Vec::is_empty) {
        return None;
    }
    let fields = fields.unwrap_or_default();
    Some(InputChange { kind: kind.noun(), name: name.to_owned(), how, fields })
}

/// Returns what a text says, by field; nothing of what cannot be read.
fn parse_field_values(kind: InputKind, source: &Source) -> Option<IndexMap<String, String>> {
    match kind {
        InputKind::Policy => source.decode::<PolicyFile>().ok().map(|it| to_field_values(&it)),
        InputKind::Scenario => source.decode::<ScenarioFile>().ok().map(|it| to_field_values(&it)),
        InputKind::Profile => source.decode::<ProfileFile>().ok().map(|it| to_field_values(&it)),
        InputKind::Suite => source.decode::<SuiteFile>().ok().map(|it| to_field_values(&it)),
    }
}
