//! Requests without recorded usage: the report says how many there are, because their sizes are estimates.

use super::{Report, SessionReport};
use crate::prelude::*;

/// Verdicts mention estimates from this share of the requests on. Below it they hardly matter: what came between two bills is known.
const TOLD_FROM: f64 = 0.05;

/// The most sessions that are named.
const NAMES_MAX: usize = 3;

/// How many requests of recorded sessions have sizes that are estimated from their texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Estimated {
    /// The number of these requests.
    pub requests: u64,
    /// The number of all requests.
    pub of: u64,
}

impl Estimated {
    /// Adds sessions up; `None` if all their requests have recorded usage.
    fn new<'s>(sessions: impl Iterator<Item = &'s SessionReport>) -> Option<Self> {
        let (requests, of) = sessions
            .fold((0, 0), |(estimated, all), it| (estimated + it.requests_estimated, all + it.requests));
        (requests > 0).then_some(Self { requests, of })
    }

    /// Says it in a sentence, if it matters to a verdict.
    pub fn words(self) -> Option<String> {
        let is_told = self.requests as f64 >= TOLD_FROM * self.of as f64;
        is_told.then(|| format!("Estimated: {}.", self.fact()))
    }

    fn fact(self) -> String {
        let (requests, of) = (thousands(self.requests), thousands(self.of));
        let (have, their) =
            if self.requests == 1 { ("has", "its size is") } else { ("have", "their sizes are") };
        format!("{requests} of {of} requests {have} no recorded usage, so {their} estimated from the text")
    }
}

impl Report {
    /// Returns how many requests of a scenario or, for a group, of all sessions are estimated.
    pub(super) fn estimated_in(&self, load: &str) -> Option<Estimated> {
        if self.briefs().any(|it| it.scenario == load) {
            return Estimated::new(self.sessions.iter().filter(|it| it.name == load));
        }
        Estimated::new(self.sessions.iter())
    }

    /// Says how many requests of which sessions are estimated, or nothing if none is.
    pub(super) fn estimated_line(&self) -> Option<String> {
        let all = Estimated::new(self.sessions.iter())?;
        let affected: Vec<&SessionReport> =
            self.sessions.iter().filter(|it| it.requests_estimated > 0).listed();
        let named = |it: &&SessionReport| match it.requests_estimated {
            n if n == it.requests => format!("{} (all)", it.name),
            n => format!("{} ({})", it.name, thousands(n)),
        };
        let mut names: Vec<String> = affected.iter().take(NAMES_MAX).map(named).listed();
        if let Some(more) = affected.len().checked_sub(NAMES_MAX).filter(|it| *it > 0) {
            names.push(format!("and {} more", thousands(more as u64)));
        }
        Some(format!("{}: {}.", all.fact(), names.join(", ")))
    }
}
