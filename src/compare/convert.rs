//! One input in the other format.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::check::kind_of;
use crate::catalog::Kind;
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::source::Source;
use crate::spec::decode::{decode, encode};
use crate::spec::{Format, PolicySpec, ProfileSpec, ScenarioSpec, SuiteSpec};

/// Returns a file's text in a format, once it has been read back as the same spec; its comments are lost.
///
/// # Errors
/// The file cannot be read or decoded, or the format cannot hold it.
pub fn convert(path: &Path, format: Format) -> Result<String, Error> {
    let source = Source::read(path)?;
    match kind_of(path)? {
        Kind::Policy => converted::<PolicySpec>(&source, format),
        Kind::Scenario => converted::<ScenarioSpec>(&source, format),
        Kind::Profile => converted::<ProfileSpec>(&source, format),
        Kind::Suite => converted::<SuiteSpec>(&source, format),
    }
}

fn converted<T: Serialize + DeserializeOwned + PartialEq>(
    source: &Source,
    format: Format,
) -> Result<String, Error> {
    let spec: T = source.decode()?;
    let text = encode(&spec, format).map_err(|it| vec![source.locate(*it)])?;
    if decode::<T>(&text, format).is_ok_and(|it| it == spec) {
        return Ok(text);
    }
    let problem = Diagnostic::at("unwritable", "", "the other format cannot hold this file");
    Err(vec![source.locate(problem.help("keep it as it is"))].into())
}
