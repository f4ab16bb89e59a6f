//! One input as text: as written, merged with its bases, or in the other format.

use std::path::Path;

use crate::catalog::{Catalog, Kind, Origin, kind_of};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_input::text::decode::{decode, encode};
use ctxsim_input::text::{Decode, Encode};
use ctxsim_input::{Format, PolicyFile, ProfileFile, ScenarioFile, Source, SuiteFile};

/// Returns a file's text in a format, once it has been read back as the same spec; its comments are lost.
///
/// # Errors
/// The file cannot be read or decoded, or the format cannot hold it.
pub fn convert(path: &Path, format: Format) -> Result<String, Error> {
    let source = Source::read(path)?;
    match kind_of(path)? {
        Kind::Policy => converted::<PolicyFile>(&source, format),
        Kind::Scenario => converted::<ScenarioFile>(&source, format),
        Kind::Profile => converted::<ProfileFile>(&source, format),
        Kind::Suite => converted::<SuiteFile>(&source, format),
    }
}

/// Returns the text of an input as its file has it, comments and all.
///
/// # Errors
/// There is no such input, it cannot be read, or it is a recording.
pub fn show(catalog: &Catalog, kind: Kind, name: &str) -> Result<String, Error> {
    let origin = catalog.find(kind, name)?;
    if Format::of(origin.path()).is_none() {
        return Err(vec![recorded(&origin)].into());
    }
    Ok(origin.text()?.into_owned())
}

/// Returns a policy merged with its bases, as a self-contained file; comments are lost.
///
/// # Errors
/// There is no such policy, it or a base cannot be read, or the format cannot represent it.
pub fn show_merged(catalog: &Catalog, name: &str) -> Result<String, Error> {
    let policy = catalog.policy(name)?;
    let format = Format::of(policy.origin.path()).unwrap_or(Format::Ron);
    let spec = PolicyFile { base: None, ..policy.spec };
    encode(&spec, format).map_err(|mut problem| {
        problem.place.file = policy.origin.label();
        vec![*problem].into()
    })
}

/// Reports that a recording is not an input file.
fn recorded(origin: &Origin) -> Diagnostic {
    let mut problem = Diagnostic::at(Code::FileFormat, "", "a recorded session is not a scenario file");
    problem.place.file = origin.label();
    problem.help(format!("run `ctxsim import {}` to see its contents", origin.path().display()))
}

fn converted<T: Encode + Decode + PartialEq>(source: &Source, format: Format) -> Result<String, Error> {
    let spec: T = source.decode()?;
    let text = encode(&spec, format).map_err(|it| vec![source.locate(*it)])?;
    if decode::<T>(&text, format).is_ok_and(|it| it == spec) {
        return Ok(text);
    }
    let problem = Diagnostic::at(Code::Unwritable, "", "the other format cannot represent this file");
    Err(vec![source.locate(problem.help("keep it as it is"))].into())
}
