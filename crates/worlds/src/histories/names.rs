//! Reads a summary's names, which are known: of kinds of sources, of lags and of verdicts.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, de};

use super::stream::LAGS;
use super::summary::{DAYS, VERDICTS};
use ctxsim_input::policy::memory::SourceKind;

/// Reads a name.
pub(super) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    known(&String::deserialize(from)?).map_err(de::Error::custom)
}

/// Reads what stands by name, in its order.
pub(super) fn by_name<'de, D, T>(from: D) -> Result<IndexMap<&'static str, T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let read: IndexMap<String, T> = IndexMap::deserialize(from)?;
    read.into_iter().map(|(name, it)| Ok((known(&name).map_err(de::Error::custom)?, it))).collect()
}

fn known(name: &str) -> Result<&'static str, String> {
    let kinds = SourceKind::ALL.iter().map(|it| it.name());
    let lags = LAGS.iter().map(|it| it.2).chain(DAYS.iter().map(|days| days.1));
    let mut all = kinds.chain(lags).chain(VERDICTS);
    all.find(|it| *it == name).ok_or_else(|| format!("a history has no `{name}`"))
}
