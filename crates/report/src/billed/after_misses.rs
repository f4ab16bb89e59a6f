//! Cache misses that a habit causes: what they cost beyond reads is what another habit saves.

use super::*;

/// Misses of some causes.
pub(super) struct CacheMissLever {
    causes: &'static [MissCause],
    title: &'static str,
    /// What happened, in so many words.
    met: &'static str,
    /// What doing otherwise costs.
    unjudged: Option<&'static str>,
}

/// Models that change within a session: each has a cache of its own.
pub(super) const MODELS: CacheMissLever = CacheMissLever {
    causes: &[MissCause::Model],
    title: "Stay with one model within a session",
    met: "the model changed",
    unjudged: Some("whether another model was worth it is yours to judge"),
};

/// Sessions that are left and taken up again while their entries live.
pub(super) const RESUMED: CacheMissLever = CacheMissLever {
    causes: &[MissCause::Resumed],
    title: "Keep sessions open instead of resuming them",
    met: "a session was resumed before its cache entries expired",
    unjudged: None,
};

/// System prompts that change within a session, such as those with a date, a version or an id in them.
pub(super) const SYSTEM: CacheMissLever = CacheMissLever {
    causes: &[MissCause::System],
    title: "Keep what changes out of the system prompt",
    met: "the system prompt changed",
    unjudged: None,
};

/// Tools that change within a session: servers that start or stop, and tools that are searched for.
pub(super) const TOOLS: CacheMissLever = CacheMissLever {
    causes: &[MissCause::Tools],
    title: "Start tools and servers before a session does",
    met: "the tools changed",
    unjudged: None,
};

/// The same tools, listed or written in another order: a cache knows them by their bytes.
pub(super) const TOOL_ORDER: CacheMissLever = CacheMissLever {
    causes: &[MissCause::ToolOrder],
    title: "Send tools in one order and spelling",
    met: "the same tools came in another order or spelling",
    unjudged: None,
};

impl BilledLever for CacheMissLever {
    fn net_savings_by_choice(&self, session: &BilledSession<'_>) -> Vec<BilledSaving> {
        let mut told = BilledSaving::default();
        for request in session.requests.iter().filter(|request| request.has_miss_of(self.causes)) {
            told.saved += request.cache_miss_usd();
            told.times += 1;
        }
        told.into_vec_if_occurred()
    }

    fn lever_in_words(&self, row: &LeverRow) -> Lever {
        let [sessions, times] = row.sessions_and_times("time");
        Lever {
            title: self.title.to_owned(),
            about: format!(
                "In {sessions}, {} ({times}), and the prompt was sent again without the cache",
                self.met
            ),
            unjudged: self.unjudged.map(str::to_owned),
            ..row.lever.clone()
        }
    }
}
