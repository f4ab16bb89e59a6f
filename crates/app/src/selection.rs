//! Selects recorded sessions by time, number, model, user and project.

use super::index::TWIN;
use crate::prelude::*;
use ctxsim_base::quantity::or_unlimited;
use ctxsim_input::profile::calendar;
use ctxsim_timeline::RecordedModel;

/// A selection of recorded sessions; other scenarios always take part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// Excludes sessions whose last request was before this, in milliseconds since 1970; with the date as
    /// written.
    since: Option<(i64, String)>,
    /// Excludes sessions whose last request was on a later day, by the end of this one.
    until: Option<(i64, String)>,
    /// The number of newest sessions to keep.
    pub(super) limit: Option<usize>,
    /// Excludes sessions of other models, by a pattern or a part of the id.
    model: Option<String>,
    /// Excludes those of others.
    pub(super) whose: OwnerFilter,
}

/// The user and the project whose sessions are asked for, each by a whole folder or by its last part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnerFilter {
    pub(super) user: Option<String>,
    pub(super) project: Option<String>,
}

impl OwnerFilter {
    /// Reads what a comparison says.
    pub(super) fn new(comparison: &Comparison) -> Self {
        Self { user: comparison.user.clone(), project: comparison.project.clone() }
    }

    /// Returns whether somebody is asked for.
    pub(super) fn is_set(&self) -> bool {
        *self != Self::default()
    }

    /// Returns whether a session in a working folder is asked for.
    pub(super) fn includes_folder(&self, folder: &str) -> bool {
        let is = |asked: &Option<String>, name: &str| {
            asked.as_deref().is_none_or(|asked| {
                let asked = asked.trim_end_matches(['/', '\\']);
                name == asked || name.strip_suffix(asked).is_some_and(|it| it.ends_with(['/', '\\']))
            })
        };
        is(&self.user, user_of(folder)) && is(&self.project, folder)
    }

    /// Says whose a session is that is not asked for.
    fn not_asked_reason(&self, folder: &str) -> String {
        let whose = if self.project.is_none() { user_of(folder) } else { folder };
        if whose.is_empty() { "whose is not told".to_owned() } else { format!("of {whose}") }
    }
}

/// Why something is excluded; `None` if it is not.
pub(super) type Exclusion = Option<String>;

/// A load where only the newest sessions are asked for.
pub(super) enum NewestCandidate {
    /// Not a recorded session: always included.
    Always,
    /// Excluded, for this reason.
    Refused(String),
    /// Included if it is among the newest; the time of its last request, in milliseconds since 1970.
    At(Option<i64>),
}

impl Selection {
    /// Reads what a comparison says.
    pub(super) fn new(comparison: &Comparison) -> Result<Self, Box<Diagnostic>> {
        let since = parse_day_option("--since", comparison.since.as_deref())?;
        let until = parse_day_option("--until", comparison.until.as_deref())?;
        let until = until.map(|(ms, day)| (ms.saturating_add(calendar::DAY_MS), day));
        if let (Some((first, since)), Some((end, until))) = (&since, &until)
            && first >= end
        {
            let message = format!("`{since}` is after `--until {until}`, so no session is left");
            let problem = problem_in("--since", Code("since-day"), message).help("swap the two days");
            return Err(Box::new(problem));
        }
        let whose = OwnerFilter::new(comparison);
        Ok(Self { since, until, limit: comparison.limit, model: comparison.model.clone(), whose })
    }

    /// Returns whether only some recorded sessions are asked for.
    pub(super) fn is_set(&self) -> bool {
        *self != Self::default()
    }

    /// Returns why a session is excluded; `None` if it is not. Its names are its model and the profiles of
    /// that model.
    fn exclusion_of_session<'p>(
        &self,
        last_ms: Option<i64>,
        model: Option<&'p RecordedModel>,
        profiles: impl Iterator<Item = &'p str>,
    ) -> Exclusion {
        if let Some((since_ms, day)) = &self.since
            && last_ms.is_none_or(|it| it < *since_ms)
        {
            return Some(format!("ended before {day}"));
        }
        if let Some((until_ms, day)) = &self.until
            && last_ms.is_none_or(|it| it >= *until_ms)
        {
            return Some(format!("ended after {day}"));
        }
        let asked = self.model.as_ref()?.to_lowercase();
        let model = model.map_or("", |it| it.name.as_str());
        // Tables name the profile that stands for the model.
        let names = std::iter::once(model).chain(profiles);
        let fits =
            |name: &str| if asked.contains('*') { wildcard(&asked, name) } else { name.contains(&asked) };
        let is_asked = names.map(str::to_lowercase).any(|it| fits(&it));
        let told = if model.is_empty() { "an unknown model" } else { model };
        (!is_asked).then(|| format!("recorded with {told}"))
    }

    /// Returns why a load takes no part as far as no other is asked, or nothing if it does.
    pub(super) fn exclusion_of_load(&self, load: &Load) -> Exclusion {
        if let NewestCandidate::Refused(reason) = self.candidate_of_load(load) { Some(reason) } else { None }
    }

    /// Returns what a load is where only the newest sessions are asked for.
    pub(super) fn candidate_of_load(&self, load: &Load) -> NewestCandidate {
        if load.is_twin {
            return NewestCandidate::Refused(TWIN.to_owned());
        }
        let names = load.profiles.iter().map(|it| it.name.as_str());
        let recorded = load.timeline().filter(|it| it.recorded.is_some());
        let Some(timeline) = recorded else { return NewestCandidate::Always };
        self.candidate_of_timeline(timeline, &load.project, names)
    }

    /// Returns what a session is where only the newest are asked for; its folder is that of its file where its log tells none.
    pub(super) fn candidate_of_timeline<'p>(
        &self,
        timeline: &'p Timeline,
        fallback_folder: &'p str,
        profiles: impl Iterator<Item = &'p str>,
    ) -> NewestCandidate {
        let recorded = timeline.recorded.as_ref().map_or("", |it| it.project.as_str());
        let folder = if recorded.is_empty() { fallback_folder } else { recorded };
        if !self.whose.includes_folder(folder) {
            return NewestCandidate::Refused(self.whose.not_asked_reason(folder));
        }
        self.candidate_of_session(timeline.last_ms(), timeline.main_model(), profiles)
    }

    /// The same of a session that is not laid out.
    pub(super) fn candidate_of_session<'p>(
        &self,
        last_ms: Option<i64>,
        model: Option<&'p RecordedModel>,
        profiles: impl Iterator<Item = &'p str>,
    ) -> NewestCandidate {
        let refusal = self.exclusion_of_session(last_ms, model, profiles);
        refusal.map_or(NewestCandidate::At(last_ms), NewestCandidate::Refused)
    }

    /// Returns why sessions take no part, file by file. Where a limit is asked for, only the newest do, by the times of their last
    /// requests; those without a time come last.
    pub(super) fn exclusions_by_file(&self, candidates: Vec<Vec<NewestCandidate>>) -> Vec<Vec<Exclusion>> {
        let times = candidates.iter().flatten().filter_map(|candidate| match candidate {
            NewestCandidate::At(time) => Some(*time),
            _ => None,
        });
        let limit = or_unlimited(self.limit);
        let mut is_new = newest_flags(limit, &times.listed()).into_iter();
        let older = || format!("older than the newest {}", thousands(limit as u64));
        let mut left_out = |candidate| match candidate {
            NewestCandidate::Always => None,
            NewestCandidate::Refused(reason) => Some(reason),
            NewestCandidate::At(_) => (is_new.next() != Some(true)).then(older),
        };
        candidates.into_iter().map(|it| it.into_iter().map(&mut left_out).listed()).listed()
    }
}

/// Reads a day.
fn parse_day_option(option: &str, day: Option<&str>) -> Result<Option<(i64, String)>, Box<Diagnostic>> {
    day.map(|day| Ok((parse_day_ms(option, day)?, day.to_owned()))).transpose()
}

/// Reads when a day begins, in milliseconds since 1970.
///
/// # Errors
/// It is not a date.
pub(super) fn parse_day_ms(option: &str, day: &str) -> Result<i64, Box<Diagnostic>> {
    calendar::parse_day(day)
        .ok_or_else(|| Box::new(not_a_day_problem(option, format!("`{day}` is not a date"))))
}

/// Says that an option has no day.
pub(super) fn not_a_day_problem(option: &str, message: String) -> Diagnostic {
    problem_in(option, Code("since-day"), message).help("write YYYY-MM-DD, as in `2026-11-01`")
}

/// Returns which of some times are the latest.
fn newest_flags(limit: usize, times: &[Option<i64>]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..times.len()).listed();
    order.order_by_key(|it| std::cmp::Reverse(times[*it]));
    let mut is_in = vec![false; times.len()];
    for index in order.into_iter().take(limit) {
        is_in[index] = true;
    }
    is_in
}

/// Reports that no session is left, and why.
pub(super) fn none_left_error(skipped: &[SkippedFile]) -> Error {
    let help = match skipped.len() {
        0 => "name a recording or a folder of them".to_owned(),
        _ => format!("skipped: {}", SkippedFile::counts_by_reason(skipped)),
    };
    Error::refused(Code("nothing-to-run"), "no recorded session is left", help)
}
