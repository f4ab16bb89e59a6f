//! Searches for a policy: the presets and a grammar of stages, chosen on one part of the sessions and tested on the other.
//!
//! The search over policies (`app/design/`): `DesignGrammar` (`assumptions/design.toml`) → `Candidate` → `DesignPlays` (each session
//! opened once) → `DesignSearch` (halving over sessions, then coordinates) → `Tuned` on the sessions held out.

mod grammar;
mod plays;
mod search;

pub use grammar::{Candidate, DesignGrammar, DesignKind, DesignValues};
pub use plays::{DesignPlay, DesignPlays, DesignSession};
pub use search::{DesignChoice, DesignScore, DesignSearch, DesignTerms};

use std::fmt::Write as _;

use crate::prelude::*;

use ctxsim_base::grid::prose::wrap;
use ctxsim_input::profile::calendar;
use ctxsim_report::tune::design::{DESIGN_METHOD, DesignSearchResult, DesignTested, DesignedSearch};
use ctxsim_report::tune::{SessionSplit, TunedSession};

/// How wide the comments of a policy file are.
const COMMENT_WIDTH: usize = 120;

/// What a design came to: the report, and the policy.
pub struct DesignResult {
    pub designed: DesignSearchResult,
    /// The policy as a file, but for its name.
    file: PolicyFile,
    /// What each of its own stages does, by the stage's name; the empty name is the layout's.
    says: Vec<(String, String)>,
}

/// Searches on the older half of the sessions, and judges the choice on the other half.
///
/// # Errors
/// Every problem of the inputs and the sessions.
pub fn design_policy(
    catalog: &Catalog,
    comparison: &Comparison,
    terms: DesignTerms,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<DesignResult> {
    let mut plays = DesignPlays::open(catalog, comparison, threads, &|_, _| {})?;
    let parts = SessionSplit::new(&plays.to_tuned_sessions(Vec::new()), terms.seed).part_indices();
    let found = DesignSearch::new(&mut plays, &parts[0], terms, progress).search()?;
    // Played on all sessions: the choice first, then the front and the presets that came nearest.
    let mut policies = IndexSet::from([found.chosen.clone()]);
    let front = found.front.iter().map(|it| policies.insert_full(it.clone()).0).listed();
    let best_preset = found.preset.map(|it| policies.insert_full(plays.preset_candidate(it)).0);
    policies.extend(found.ranked.iter().filter(|it| it.is_preset()).cloned());
    let tested = DesignTested {
        names: policies.iter().map(|it| (plays.candidate_name(it), it.is_preset())).listed(),
        stages: plays.grammar.stages_of(&found.chosen).map(|it| it.0.description(it.1)).listed(),
        front,
        best_preset,
        ceiling: plays.hindsight_and_bound_usd()?,
        min_evidence: terms.min_evidence,
        search: DesignedSearch {
            method: DESIGN_METHOD,
            seed: terms.seed,
            budget: terms.budget,
            plays: found.plays,
            policies: found.policies,
            presets: plays.presets.len(),
            is_cut: found.is_cut,
        },
    };
    let sessions = plays.to_tuned_sessions(plays.tally_by_session(&policies.into_iter().listed())?);
    let designed = DesignSearchResult::new(&plays.base, &sessions, tested);
    plays.design_result(designed, &found.chosen)
}

impl DesignPlays<'_> {
    /// Returns the sessions with what each came to under the base and under others; with nothing to say when they were.
    fn to_tuned_sessions(&self, tallies_by_session: Vec<Vec<Tally>>) -> Vec<TunedSession> {
        let mut tallies = tallies_by_session.into_iter();
        let mut sessions = Vec::new();
        for session in &self.sessions {
            let mut own = tallies.next().unwrap_or_default().into_iter();
            sessions.push(TunedSession {
                project: session.load.project.clone(),
                last_ms: session.last_ms,
                base: own.next().unwrap_or_else(Tally::empty),
                variants: own.listed(),
                remembered: None,
                numbers: Vec::new(),
            });
        }
        sessions
    }

    /// Puts the report of a choice together with its policy file.
    fn design_result(&self, designed: DesignSearchResult, chosen: &Candidate) -> Result<DesignResult> {
        let about = match &designed.preset {
            Some(preset) => format!("The preset {preset}, which no policy that was tried is sure to beat."),
            None => format!("Found by a search: {}.", designed.name),
        };
        let newest = self.sessions.iter().filter_map(|it| it.last_ms).max().map(calendar::date_text);
        // Of sessions without dates, it has the day on which the sources of the grammar were read.
        let as_of = Some(newest.unwrap_or_else(|| self.grammar.as_of.clone()));
        let sources = vec![designed.provenance_sentence()];
        let file = PolicyFile { about, as_of, sources, ..self.policy_file(chosen, "")? };
        let mut stages = file.stages.iter();
        let mut says = Vec::new();
        for (kind, values) in self.grammar.stages_of(chosen) {
            let stage = if kind.is_stage() { stages.next() } else { None };
            says.push((stage.map(|it| it.name.clone()).unwrap_or_default(), kind.description(values)));
        }
        Ok(DesignResult { designed, file, says })
    }
}

impl DesignResult {
    /// Returns the policy as the text of a file, with comments: where it comes from, what it beat, and what each stage does.
    ///
    /// # Errors
    /// The format cannot hold it.
    pub fn to_policy_text(&self, name: &str, format: Format) -> Result<String> {
        let written = encode(&PolicyFile { name: name.to_owned(), ..self.file.clone() }, format)?;
        let mark = if format == Format::Ron { "// " } else { "# " };
        let comment = |words: &str, indent: &str| {
            let mut text = String::new();
            wrap(words, "", Some(COMMENT_WIDTH - mark.len() - indent.len()), &mut text);
            text.lines().map(|it| format!("{indent}{mark}{it}\n")).collect::<String>()
        };
        let mut left = self.says.clone();
        let mut text: String =
            self.designed.provenance_paragraphs().iter().map(|it| comment(it, "")).collect();
        for line in written.lines() {
            let trimmed = line.trim_start();
            let indent = &line[..line.len() - trimmed.len()];
            let of_stage = |name: &str| match format {
                Format::Ron if name.is_empty() => trimmed.starts_with("layout:"),
                Format::Ron => trimmed == format!("name: \"{name}\","),
                Format::Toml if name.is_empty() => {
                    trimmed == "[layout]" || trimmed == "[[layout.breakpoints]]"
                }
                Format::Toml => trimmed == format!("name = \"{name}\""),
            };
            if let Some(at) = left.iter().position(|it| of_stage(&it.0)) {
                text.push_str(&comment(&left.remove(at).1, indent));
            }
            let _ = writeln!(text, "{line}");
        }
        Ok(text)
    }
}
