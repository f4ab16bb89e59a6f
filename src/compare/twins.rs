//! Sessions that several recordings hold, found by the ids in their logs: each is counted once.

use std::collections::BTreeSet;
use std::path::Path;

use indexmap::IndexMap;

use crate::catalog::Origin;
use crate::report::Skipped;
use crate::timeline::import::{Identity, identities};

/// Why a session takes no part.
pub(super) const TWIN: &str = "the same session in another file";

/// Returns for each recording the names of its sessions that another one holds with more detail: texts before usage alone, then
/// the longer file, then the first one. `None` stands for what is not a recording.
pub(super) fn twins(recordings: &[Option<&Origin>]) -> Vec<BTreeSet<String>> {
    let mut twins = vec![BTreeSet::new(); recordings.len()];
    if recordings.iter().flatten().nth(1).is_none() {
        return twins;
    }
    let mut best: IndexMap<String, (Detail, usize, String)> = IndexMap::new();
    for (index, origin) in recordings.iter().enumerate() {
        let Some(origin) = origin else { continue };
        for Identity { id, name, has_texts } in held(origin) {
            let own = ((has_texts, length(origin.path())), index, name);
            match best.get_mut(&id) {
                None => drop(best.insert(id, own)),
                Some((_, at, _)) if *at == index => {}
                Some(known) => {
                    let other = if own.0 > known.0 { std::mem::replace(known, own) } else { own };
                    twins[other.1].insert(other.2);
                }
            }
        }
    }
    twins
}

/// Returns a session that takes no part: because it is counted elsewhere, or because it was not asked for.
pub(super) fn skipped(file: &str, reason: String) -> Skipped {
    if reason == TWIN { Skipped::of(file.to_owned(), TWIN) } else { Skipped::not_asked(file, reason) }
}

/// Whether a recording has texts, and how long it is.
type Detail = (bool, u64);

/// Returns the sessions of a recording; none of one that cannot be read, which is told when it is opened.
fn held(origin: &Origin) -> Vec<Identity> {
    origin.reader().map(|mut it| identities(it.as_mut())).unwrap_or_default()
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |it| it.len())
}
