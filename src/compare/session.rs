//! A recorded session in a report, and how well its bill is reproduced.

use crate::calibrate::Calibration;
use crate::calibrate::lifetimes::Pauses;
use crate::engine;
use crate::input::{Limits, Policy, Profile};
use crate::ledger::Rows;
use crate::report::{BillCheck, Session, SharedFront};
use crate::timeline::Timeline;

use crate::take::Load;

impl Load {
    /// Returns what a report says of it, if it is recorded; the rows are those that its bill is compared with, where they are known.
    pub(super) fn session(&self, as_recorded: &Policy, rows: Option<&Rows>) -> Option<Session> {
        let timeline = self.timeline().filter(|it| it.recorded.is_some())?;
        let n_billed = timeline.recorded.iter().flat_map(|it| &it.usage).flatten().count() as u64;
        let requests = timeline.spine.steps.len() as u64;
        let profile = self.profiles.first().filter(|_| self.is_under_own_model);
        let compared = profile.map(|it| calibration(timeline, as_recorded, rows, it));
        Some(Session {
            name: self.name.clone(),
            format: timeline.recorded.as_ref().map_or("", |it| it.format),
            model: timeline.main_model().map(|it| it.name.clone()),
            parent: timeline.spine.sessions.first().and_then(|it| it.parent.clone()),
            is_under_own_model: self.is_under_own_model,
            requests,
            requests_estimated: requests.saturating_sub(n_billed),
            requests_of_others: timeline.models.iter().map(|it| it.requests).sum::<u64>()
                - timeline.main_model().map_or(0, |it| it.requests),
            bill: compared.as_ref().and_then(BillCheck::new),
            first_request: compared.as_ref().map(|it| it.first).filter(|it| it.requests > 0),
            pauses: profile.and_then(|it| Pauses::of(timeline, it)),
            shared: SharedFront::of(timeline),
        })
    }

    /// Notes whose tokens the sizes are, if a profile is of another maker.
    pub(super) fn note_on_tokens(&self) -> Option<String> {
        let model = self.timeline()?.main_model()?;
        let family: String = model.name.chars().take_while(char::is_ascii_alphabetic).collect();
        let is_other = |it: &&Profile| {
            !it.name.contains(&family) && !it.models.iter().any(|pattern| pattern.contains(&family))
        };
        let others: Vec<&str> = self.profiles.iter().filter(is_other).map(|it| it.name.as_str()).collect();
        (!family.is_empty() && !others.is_empty()).then(|| {
            const SHOWN: usize = 4;
            let more = if others.len() > SHOWN {
                format!(" and {} more", others.len() - SHOWN)
            } else {
                String::new()
            };
            let names = others.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
            format!(
                "Recorded sizes are token counts of {family} models; {names}{more} would count differently."
            )
        })
    }
}

/// Compares a session's bill with its profile's prediction when everything is kept; no limit stops a session
/// that took place. It is played only where no run of the load has these rows.
fn calibration(
    timeline: &Timeline,
    as_recorded: &Policy,
    rows: Option<&Rows>,
    profile: &Profile,
) -> Calibration {
    if let Some(rows) = rows {
        return Calibration::new(timeline, rows, &profile.prices);
    }
    let mut rows = Rows::default();
    engine::simulate(timeline, as_recorded, &Limits::NONE, &profile.cache, &mut rows);
    Calibration::new(timeline, &rows, &profile.prices)
}
