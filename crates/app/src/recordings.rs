//! Reads the recordings that a comparison selects without playing them, and how their harnesses compact.
//!
//! **Recorded sessions.** `app/selection.rs` selects sessions by date, count and model, for runs and for `import` alike
//! (`app/recordings.rs`). `app/models.rs` finds their profiles. `report/as_logged.rs` adds up what the logs say was billed,
//! `report/bill_by.rs` divides it, `report/fixed.rs` tells what prompts begin with, and `report/beside_bill.rs` what is estimated beside
//! it; `report/session.rs` reports how well a session's own bill is reproduced. `take/lives.rs` gives each run the session that its policy
//! would have lived: a recorded compaction whose trigger the prompt stays below does not happen, and the session is laid out without it
//! (`timeline/import/undo.rs` keeps the transcript of a compacted session for that). Compactions are decided in order, because a longer
//! history may reach the next trigger after all; what a run's prompt had before each of them is in its `Outcome`, so the plays themselves
//! decide, each in the layout that it was played in. A layout is made once for all parts of a load (`Layouts`), and everything that reads a
//! run plays it. A compaction that does happen is billed with the request that wrote the summary. `report/notes.rs` shows both bills, with
//! all compactions and with none, for every policy. `report/trust.rs` finds what a verdict cannot stand on: bills that are not reproduced,
//! and unknown needs. How long one waits (`measure/waiting.rs`) follows from a run's `Sums`, as its price does: `WaitModel`
//! (`assumptions/waiting.toml`) × tokens → `Waiting`, in whole milliseconds, with the interval of a session's total; a model without data
//! makes it unknown.

use crate::prelude::*;

use crate::catalog::{FoundScenarios, ScenarioHit};
use crate::index::{self, RecordingIndex};
use crate::load::read_sessions;
use crate::models::ModelProfiles;
use crate::selection::{NewestCandidate, Selection, none_left_error};
use ctxsim_engine::calibrate::compaction::compacting;
use ctxsim_engine::calibrate::forecast::Forecast;
use ctxsim_report::recording::FileContents;
use ctxsim_timeline::import::Imported;

/// Returns the recordings that a comparison selects, and those that it skips, each with the reason.
///
/// # Errors
/// A recording that was named directly has problems (all are listed), or no session is left.
pub fn read_selected_recordings(
    catalog: &Catalog,
    comparison: &Comparison,
) -> Result<(Vec<FileContents>, Vec<SkippedFile>)> {
    let selection = Selection::new(comparison)?;
    let models = ModelProfiles::new(ModelProfiles::read_all(catalog));
    let candidate = |timeline: &Timeline| {
        let profile = timeline.main_model().and_then(|it| models.profile_for_model(&it.name).ok());
        selection.candidate_of_timeline(timeline, "", profile.map(|it| it.name.as_str()).into_iter())
    };
    let (mut files, mut skipped, mut all) = (Vec::new(), Vec::new(), Vec::new());
    let mut candidates: Vec<Vec<NewestCandidate>> = Vec::new();
    for given in &comparison.scenarios {
        let FoundScenarios { found, left_out } = catalog.search_scenarios(given)?;
        skipped.extend(left_out.into_iter().map(SkippedFile::from));
        all.extend(found);
    }
    let origins: Vec<_> = all.iter().map(|it| catalog.origin_of_recording(&it.name)).listed();
    let recordings: Vec<_> = origins.iter().map(Option::as_ref).listed();
    let indexed = index::index_recordings(&recordings, comparison.alone);
    for ((hit, indexing), origin) in all.into_iter().zip(indexed).zip(&recordings) {
        let ScenarioHit { name, is_searched } = hit;
        let RecordingIndex { sessions: mut index, twins, beside, .. } = indexing;
        match read_sessions(catalog, &name, &beside) {
            Ok(sessions) => {
                let judged = |session: &Imported| match twins.get(&session.session) {
                    Some(reason) => NewestCandidate::Refused(reason.clone()),
                    None => candidate(&session.timeline),
                };
                candidates.push(sessions.iter().map(judged).listed());
                if index.is_empty() {
                    index = index::scan_recording(*origin);
                }
                let mut file = FileContents::new(&name, &sessions, &|it| models.profile_for_model(it).ok());
                file.assign_owners(&index);
                files.push(file);
            }
            Err(error) if is_searched => skipped.push(SkippedFile::new(&name, error)),
            Err(error) => return Err(error),
        }
    }
    for (file, left_out) in files.iter_mut().zip(selection.exclusions_by_file(candidates)) {
        let mut reasons = left_out.into_iter();
        file.sessions.retain(|_| match reasons.next().flatten() {
            None => true,
            Some(reason) => {
                skipped.push(index::skipped_session(&file.file, reason));
                false
            }
        });
    }
    files.retain(|it| !it.sessions.is_empty());
    if files.is_empty() { Err(none_left_error(&skipped)) } else { Ok((files, skipped)) }
}

/// Policies that compact as harnesses do, by the formats of their logs.
#[derive(Debug)]
pub struct HarnessCompactions(IndexMap<String, Policy>);

impl HarnessCompactions {
    /// Reads them from a catalog.
    ///
    /// # Errors
    /// A policy of that name is broken.
    pub fn read(catalog: &Catalog) -> Result<Self> {
        let mut all = IndexMap::new();
        for (format, name) in &Forecast::declared().compacts_as {
            all.extend(compacting(&catalog.policy(name)?.spec).map(|it| (format.clone(), it)));
        }
        Ok(Self(all))
    }

    /// Returns the one by which the harness of a session compacts, if it is known.
    pub fn policy_for(&self, timeline: &Timeline) -> Option<&Policy> {
        self.0.get(timeline.recorded.as_ref()?.format)
    }
}
