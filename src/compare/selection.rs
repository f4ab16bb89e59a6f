//! Which of the recorded sessions take part: by their time, their number and their model.

use super::{Comparison, Load};
use crate::diag::Diagnostic;
use crate::input::policy::wildcard;
use crate::input::profile::calendar;

/// Which recorded sessions take part; other scenarios always do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// No session whose last request was before this, in milliseconds since 1970, and the day as it was written.
    since: Option<(i64, String)>,
    /// No more sessions than this, the newest.
    pub(super) limit: Option<usize>,
    /// No session of another model, by a pattern or a part of its id.
    model: Option<String>,
}

/// Why something takes no part; nothing where it does.
pub(super) type LeftOut = Option<String>;

/// A load where only the newest sessions are asked for.
pub(super) enum Candidate {
    /// No recorded session: it takes part whatever is asked for.
    Always,
    /// It takes no part, for this reason.
    Refused(String),
    /// It takes part if it is among the newest; the time of its last request, in milliseconds since 1970.
    At(Option<i64>),
}

impl Selection {
    /// Reads what a comparison says.
    pub(super) fn new(comparison: &Comparison) -> Result<Self, Box<Diagnostic>> {
        let since = match &comparison.since {
            None => None,
            Some(day) => match calendar::day(day) {
                Some(ms) => Some((ms, day.clone())),
                None => {
                    let problem = Diagnostic::at("since-day", "", format!("`{day}` is not a date"));
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

    /// Returns why a session takes no part; nothing where it does.
    pub(super) fn refusal(&self, load: &Load) -> LeftOut {
        let timeline = load.workload.items().filter(|it| it.recorded.is_some())?;
        if let Some((since_ms, day)) = &self.since
            && timeline.last_ms().is_none_or(|it| it < *since_ms)
        {
            return Some(format!("before {day}"));
        }
        let asked = self.model.as_ref()?.to_lowercase();
        let model = timeline.main_model().map_or("", |it| it.name.as_str());
        // Tables name the profile that stands for the model.
        let names = std::iter::once(model).chain(load.profiles.iter().map(|it| it.name.as_str()));
        let fits =
            |name: &str| if asked.contains('*') { wildcard(&asked, name) } else { name.contains(&asked) };
        let is_asked = names.map(str::to_lowercase).any(|it| fits(&it));
        (!is_asked).then(|| {
            if model.is_empty() { "of no known model".to_owned() } else { format!("of the model {model}") }
        })
    }

    /// Returns what a load is where only the newest sessions are asked for.
    pub(super) fn candidate(&self, load: &Load) -> Candidate {
        match (self.refusal(load), load.workload.items().filter(|it| it.recorded.is_some())) {
            (Some(reason), _) => Candidate::Refused(reason),
            (None, Some(timeline)) => Candidate::At(timeline.last_ms()),
            (None, None) => Candidate::Always,
        }
    }

    /// Returns which of some sessions are the newest, by the times of their last requests; those without come last.
    pub(super) fn newest(&self, times: &[Option<i64>]) -> Vec<bool> {
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by_key(|it| std::cmp::Reverse(times[*it]));
        let mut is_in = vec![false; times.len()];
        for index in order.into_iter().take(self.limit.unwrap_or(usize::MAX)) {
            is_in[index] = true;
        }
        is_in
    }
}
