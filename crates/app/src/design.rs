//! Searches for a policy: the presets and a grammar of stages, chosen on one part of the sessions and tested on the other.
//!
//! The search over policies (`app/design/`): `DesignGrammar` (`assumptions/design.toml`) → `DesignCandidate` → `DesignPlays` (each session
//! opened once) → `DesignSearch` (halving over sessions, then coordinates) → `Tuned` on the sessions held out.

mod grammar;
mod plays;
mod search;

pub use grammar::{DesignGrammar, DesignKind, DesignStages, DesignValues};
pub use plays::{DesignCandidate, DesignPlay, DesignPlays, DesignSession};
pub use search::{DesignChoice, DesignScore, DesignSearch, DesignTerms};

use std::fmt::Write as _;

use crate::catalog::Catalog;
use crate::{Comparison, Progress};
use ctxsim_base::diag::Diagnostic;
use ctxsim_base::error::Error;
use ctxsim_base::grid::prose::wrap;
use ctxsim_base::list::Listed as _;
use ctxsim_engine::measure::Tally;
use ctxsim_input::profile::calendar;
use ctxsim_input::text::decode::encode;
use ctxsim_input::{Format, PolicyFile};
use ctxsim_report::tune::TunedSession;
use ctxsim_report::tune::design::{DESIGN_METHOD, DesignTested, Designed, DesignedSearch, design_held_out};

/// How wide the comments of a policy file are.
const COMMENT_WIDTH: usize = 120;

/// What a design came to: the report, and the policy.
pub struct DesignResult {
    pub designed: Designed,
    /// The date of the newest session.
    pub day: Option<String>,
    /// The day on which the sources of the grammar were read: of sessions without dates, the file has this one.
    as_of: String,
    /// The policy as a file, but for its name.
    file: PolicyFile,
    /// What each of its own stages does, by the stage's name; the empty name is the layout's.
    says: Vec<(String, String)>,
}

/// Searches on the older half of the sessions, and judges the choice on the other half.
///
/// # Errors
/// Every problem of the inputs and the sessions.
pub fn designed(
    catalog: &Catalog,
    comparison: &Comparison,
    terms: DesignTerms,
    threads: Option<usize>,
    progress: Progress<'_>,
) -> Result<DesignResult, Error> {
    let quiet: Progress<'_> = &|_, _| {};
    let mut plays = DesignPlays::open(catalog, comparison, threads, quiet)?;
    let is_out = design_held_out(&plays.tuned(Vec::new()), terms.seed);
    let own = (0..plays.sessions.len()).filter(|it| !is_out[*it]).listed();
    let found = DesignSearch::new(&mut plays, &own, terms, progress).found()?;
    let (policies, tested) = tested(&plays, &found, terms)?;
    let sessions = plays.tuned(plays.tallies(&policies, quiet)?);
    let designed = Designed::new(&plays.base, &sessions, tested);
    let day = plays.sessions.iter().filter_map(|it| it.last_ms).max().map(calendar::date_text);
    let file = plays.file(&found.chosen, "")?;
    let says = plays.says(&found.chosen, &file);
    let as_of = plays.grammar.as_of.clone();
    Ok(DesignResult { designed, day, as_of, file, says })
}

/// Returns what is played on all sessions: the choice first, then the front and the presets that came nearest.
fn tested(
    plays: &DesignPlays<'_>,
    found: &DesignChoice,
    terms: DesignTerms,
) -> Result<(Vec<DesignCandidate>, DesignTested), Error> {
    let mut policies = vec![found.chosen.clone()];
    let mut place = |it: &DesignCandidate| {
        policies.iter().position(|own| own == it).unwrap_or_else(|| {
            policies.push(it.clone());
            policies.len() - 1
        })
    };
    let front = found.front.iter().map(&mut place).listed();
    let best_preset = found.preset.map(|it| place(&plays.preset(it)));
    found.ranked.iter().filter(|it| plays.is_preset(it)).for_each(|it| {
        place(it);
    });
    let stages = plays.grammar.chosen(&found.chosen.stages).map(|(kind, values)| kind.words(values)).listed();
    let tested = DesignTested {
        names: policies.iter().map(|it| (plays.name(it), plays.is_preset(it))).listed(),
        stages,
        front,
        best_preset,
        ceiling: plays.ceiling(&|_, _| {})?,
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
    Ok((policies, tested))
}

impl DesignPlays<'_> {
    /// Returns the sessions with what each came to under the base and under others; with nothing to say when they were.
    fn tuned(&self, tallies: Vec<Vec<Tally>>) -> Vec<TunedSession> {
        let mut tallies = tallies.into_iter();
        let one = |it: &DesignSession| {
            let mut own = tallies.next().unwrap_or_default().into_iter();
            TunedSession {
                project: it.project.clone(),
                last_ms: it.last_ms,
                base: own.next().unwrap_or_else(Tally::empty),
                variants: own.listed(),
                remembered: None,
                numbers: Vec::new(),
            }
        };
        self.sessions.iter().map(one).listed()
    }

    /// Says what each stage of a policy file that the grammar made does.
    fn says(&self, candidate: &DesignCandidate, file: &PolicyFile) -> Vec<(String, String)> {
        let mut stages = file.stages.iter();
        let one = |(kind, values): (&DesignKind, &DesignValues)| {
            let name = if kind.has_stage() { stages.next().map(|it| it.name.clone()) } else { None };
            (name.unwrap_or_default(), kind.words(values))
        };
        self.grammar.chosen(&candidate.stages).map(one).listed()
    }
}

impl DesignResult {
    /// Returns the policy as the text of a file, with comments: where it comes from, what it beat, and what each stage does.
    ///
    /// # Errors
    /// The format cannot hold it.
    pub fn text(&self, name: &str, format: Format) -> Result<String, Error> {
        let about = match &self.designed.preset {
            Some(preset) => format!("The preset {preset}, which no policy that was tried is sure to beat."),
            None => format!("Found by a search: {}.", self.designed.name),
        };
        let file = PolicyFile {
            name: name.to_owned(),
            about,
            as_of: Some(self.day.clone().unwrap_or_else(|| self.as_of.clone())),
            sources: vec![self.designed.source()],
            ..self.file.clone()
        };
        let written = encode(&file, format).map_err(|it: Box<Diagnostic>| vec![*it])?;
        let mark = if format == Format::Ron { "// " } else { "# " };
        let comment = |words: &str, indent: &str| {
            let mut text = String::new();
            wrap(words, "", Some(COMMENT_WIDTH - mark.len() - indent.len()), &mut text);
            text.lines().map(|it| format!("{indent}{mark}{it}\n")).collect::<String>()
        };
        let mut left = self.says.clone();
        let mut text: String = self.designed.evidence().iter().map(|it| comment(it, "")).collect();
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
