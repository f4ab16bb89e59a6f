//! Requests that the logs of sessions bill, with the prices of their own time.

use crate::prelude::*;
use ctxsim_engine::ledger::TokenUse;
use ctxsim_input::profile::cache::Setting;
use ctxsim_input::profile::calendar::DAY_MS;
use ctxsim_input::profile::price::PriceList;
use ctxsim_timeline::{AsideBill, AsideKind, EventKind, Usage};

/// Finds the profile whose prices a model has.
pub type ProfileOf<'p> = &'p dyn Fn(&str) -> Option<&'p Profile>;

/// What a request was made for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum MadeFor {
    /// A step, by its number.
    Step(usize),
    Aside(AsideKind),
}

/// A request that a log bills.
pub(super) struct LoggedRequest<'l, 'p> {
    /// The model in force; empty if none is named.
    pub(super) model: &'l str,
    /// When it was sent, in milliseconds since 1970; `None` if the log tells no times.
    pub(super) at_ms: Option<i64>,
    profile: Option<&'p Profile>,
    usage: &'l Usage,
    pub(super) made_for: MadeFor,
}

impl<'p> LoggedRequest<'_, 'p> {
    /// Returns its tokens.
    pub(super) fn token_use(&self) -> TokenUse {
        let Usage { cache_read, uncached, output, .. } = *self.usage;
        TokenUse { read: cache_read, write: self.usage.writes(None), uncached, output }
    }

    /// Returns its day since 1970; `None` if the log tells no times.
    pub(super) fn day_since_1970(&self) -> Option<i64> {
        self.at_ms.map(|it| it.div_euclid(DAY_MS))
    }

    /// Returns the prices of its own time; where a log tells no times, those of the day on which a list was read.
    pub(super) fn price_list(&self) -> Option<&'p PriceList> {
        self.profile_and_prices().map(|it| it.1)
    }

    /// Returns the profile of its model, with these prices.
    pub(super) fn profile_and_prices(&self) -> Option<(&'p Profile, &'p PriceList)> {
        self.profile.map(|profile| (profile, profile.prices.on_day_of(self.at_ms)))
    }
}

/// Hands over what a session was billed for, request by request.
pub(super) fn for_each_logged_request<'l, 'p>(
    timeline: &'l Timeline,
    profile_of: ProfileOf<'p>,
    mut each: impl FnMut(&LoggedRequest<'l, 'p>),
) {
    let Some(recorded) = &timeline.recorded else { return };
    let mut model = timeline.models.first().map_or("", |it| it.name.as_str());
    let mut changes = timeline.events.iter().filter_map(|event| match event.kind {
        EventKind::Change(Setting::Model, number) => Some((timeline.spine.step_at(event.at), number)),
        _ => None,
    });
    let mut change = changes.next();
    // A profile is looked up by patterns, so once for each model in force, and not for each request.
    let mut profile = profile_of(model);
    for (nth, (step, usage)) in timeline.spine.steps.iter().zip(&recorded.usage).enumerate() {
        while let Some((_, number)) = change.filter(|it| it.0 as usize <= nth) {
            model = timeline.models.get(number as usize).map_or(model, |it| it.name.as_str());
            profile = profile_of(model);
            change = changes.next();
        }
        if let Some(usage) = usage {
            let at_ms = timeline.began_ms.map(|it| it.saturating_add(step.at_ms));
            each(&LoggedRequest { model, at_ms, profile, usage, made_for: MadeFor::Step(nth) });
        }
    }
    for AsideBill { kind, usage, model: own, at_ms } in &recorded.aside {
        let (model, profile) =
            if own.is_empty() { (model, profile) } else { (own.as_str(), profile_of(own)) };
        let at_ms = at_ms.or(timeline.began_ms);
        each(&LoggedRequest { model, at_ms, profile, usage, made_for: MadeFor::Aside(*kind) });
    }
}
