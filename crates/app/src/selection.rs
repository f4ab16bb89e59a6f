//! Selects recorded sessions by time, number and model.

use super::twins::TWIN;
use super::{Comparison, Load};
use ctxsim_base::diag::{Code, Diagnostic};
use ctxsim_base::error::Error;
use ctxsim_base::grid::numbers::thousands;
use ctxsim_base::list::Listed as _;
use ctxsim_base::order::InOrder as _;
use ctxsim_base::quantity::or_unlimited;
use ctxsim_input::policy::wildcard;
use ctxsim_input::profile::calendar;
use ctxsim_report::Skipped;
use ctxsim_timeline::{RecordedModel, Timeline};

/// A selection of recorded sessions; other scenarios always take part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// Excludes sessions whose last request was before this, in milliseconds since 1970; with the date as
    /// written.
    since: Option<(i64, String)>,
    /// The number of newest sessions to keep.
    pub(super) limit: Option<usize>,
    /// Excludes sessions of other models, by a pattern or a part of the id.
    model: Option<String>,
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
        let since = match &comparison.since {
            None => None,
            Some(day) => match calendar::parse_day(day) {
                Some(ms) => Some((ms, day.clone())),
                None => {
                    let problem = Diagnostic::at(Code::SinceDay, "", format!("`{day}` is not a date"));
                    let mut problem = problem.help("write YYYY-MM-DD, as in `2026-11-01`");
                    "--since".clone_into(&mut problem.place.file);
                    return Err(Box::new(problem));
                }
            },
        };
        Ok(Self { since, limit: comparison.limit, model: comparison.model.clone() })
    }

    /// Returns whether only some recorded sessions are asked for.
    pub(super) fn is_asked(&self) -> bool {
        *self != Self::default()
    }

    /// Returns why a session is excluded; `None` if it is not. Its names are its model and the profiles of
    /// that model.
    fn refusal<'p>(
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
        let asked = self.model.as_ref()?.to_lowercase();
        let model = model.map_or("", |it| it.name.as_str());
        // Tables name the profile that stands for the model.
        let names = std::iter::once(model).chain(profiles);
        let fits =
            |name: &str| if asked.contains('*') { wildcard(&asked, name) } else { name.contains(&asked) };
        let is_asked = names.map(str::to_lowercase).any(|it| fits(&it));
        (!is_asked).then(|| {
            if model.is_empty() {
                "recorded with an unknown model".to_owned()
            } else {
                format!("recorded with {model}")
            }
        })
    }

    /// Returns why a load takes no part as far as no other is asked, or nothing if it does.
    pub(super) fn refusal_of(&self, load: &Load) -> Exclusion {
        match self.of_load(load) {
            NewestCandidate::Refused(reason) => Some(reason),
            NewestCandidate::Always | NewestCandidate::At(_) => None,
        }
    }

    /// Returns what a load is where only the newest sessions are asked for.
    pub(super) fn of_load(&self, load: &Load) -> NewestCandidate {
        if load.is_twin {
            return NewestCandidate::Refused(TWIN.to_owned());
        }
        match load.timeline().filter(|it| it.recorded.is_some()) {
            Some(timeline) => self.candidate(timeline, load.profiles.iter().map(|it| it.name.as_str())),
            None => NewestCandidate::Always,
        }
    }

    /// Returns what a session is where only the newest are asked for.
    pub(super) fn candidate<'p>(
        &self,
        timeline: &'p Timeline,
        profiles: impl Iterator<Item = &'p str>,
    ) -> NewestCandidate {
        self.candidate_of(timeline.last_ms(), timeline.main_model(), profiles)
    }

    /// The same of a session that is not laid out.
    pub(super) fn candidate_of<'p>(
        &self,
        last_ms: Option<i64>,
        model: Option<&'p RecordedModel>,
        profiles: impl Iterator<Item = &'p str>,
    ) -> NewestCandidate {
        let refusal = self.refusal(last_ms, model, profiles);
        refusal.map_or(NewestCandidate::At(last_ms), NewestCandidate::Refused)
    }

    /// Returns why sessions take no part, file by file. Where a limit is asked for, only the newest do, by the times of their last
    /// requests; those without a time come last.
    pub(super) fn left_out(&self, candidates: Vec<Vec<NewestCandidate>>) -> Vec<Vec<Exclusion>> {
        let times = candidates.iter().flatten().filter_map(|it| match it {
            NewestCandidate::At(time) => Some(*time),
            _ => None,
        });
        let limit = or_unlimited(self.limit);
        let mut is_new = newest(limit, &times.listed()).into_iter();
        let older = || format!("older than the newest {}", thousands(limit as u64));
        let mut left_out = |it| match it {
            NewestCandidate::Always => None,
            NewestCandidate::Refused(reason) => Some(reason),
            NewestCandidate::At(_) => (is_new.next() != Some(true)).then(older),
        };
        candidates.into_iter().map(|it| it.into_iter().map(&mut left_out).listed()).listed()
    }
}

/// Returns which of some times are the latest.
fn newest(limit: usize, times: &[Option<i64>]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..times.len()).listed();
    order.order_by_key(|it| std::cmp::Reverse(times[*it]));
    let mut is_in = vec![false; times.len()];
    for index in order.into_iter().take(limit) {
        is_in[index] = true;
    }
    is_in
}

/// Reports that no session is left, and why.
pub(super) fn none_left(skipped: &[Skipped]) -> Error {
    let problem = Diagnostic::at(Code::NothingToRun, "", "no recorded session is left");
    let help = match skipped.len() {
        0 => "name a recording or a folder of them".to_owned(),
        _ => format!("skipped: {}", Skipped::counted(skipped)),
    };
    vec![problem.help(help)].into()
}
