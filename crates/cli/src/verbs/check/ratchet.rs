//! The best values of guarded numbers on disk.

use crate::prelude::*;

use ctxsim_report::guard::{GuardVerdict, RATCHET_HEAD, Ratchet};

use super::AcceptedFolder;
use super::snapshots::{read_if_there, snapshot_folder};

/// The file of a suite.
const FILE: &str = "ratchet.toml";

/// Holds numbers against the best ones that are kept, and keeps the better ones; where today's are accepted, they are the best.
pub(super) fn check_and_keep_best(
    AcceptedFolder { root, inputs, bless, .. }: AcceptedFolder<'_>,
    suite: &str,
    verdicts: &[GuardVerdict],
    tolerance: f64,
) -> Result<Vec<GuardVerdict>> {
    let path = snapshot_folder(root, suite).join(FILE);
    // What a link leads to is not shown either.
    output::check_no_link(&path)?;
    let kept = if bless { None } else { read_if_there(&path)? };
    let in_it = |it: Diagnostic| it.in_file(path.display().to_string());
    let before = kept.map_or(Ok(Ratchet::default()), |it| Ratchet::from_toml(&it));
    let before = before.map_err(|problems| problems.into_iter().map(in_it).listed())?;
    let mut ratchet = before.clone();
    let held = ratchet.check_and_update(verdicts, tolerance);
    // In continuous integration nobody would keep what is written, and a check against nothing would always pass.
    let keeps = bless || std::env::var_os("CI").is_none();
    if before.is_empty() && !keeps && !held.is_empty() {
        let help = "run `ctxsim check --ratchet` without `CI`, and commit the file";
        return Err(error_at(Code("ratchet-missing"), &path, "no best values are kept yet", help));
    }
    if ratchet != before && keeps {
        let text = ratchet.to_toml()?;
        let kept = OverwriteRules { inputs, replaced: Replaceable::Beginning(RATCHET_HEAD) };
        output::write_together(&[(path, text)], kept)?;
    }
    Ok(held)
}
