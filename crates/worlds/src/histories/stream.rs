//! The sessions of a project in the order of time, and what each of their fetches found,
//! something new, or what an earlier session had fetched, the same or changed.

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use super::session::{Fetch, ProjectSession};
use ctxsim_base::digest::ByDigest;
use ctxsim_base::quantity::{Tokens, ix};
use ctxsim_engine::ledger::TokenUse;
use ctxsim_input::policy::memory::SourceKind;
use ctxsim_timeline::StepIx;

/// The sessions of one project or user.
#[derive(Debug, Default)]
pub struct ProjectStream {
    /// The sessions, in the order of their first requests.
    pub sessions: Vec<ProjectSession>,
    /// By session: which of the agent's sessions it belongs to, from 0; a sub-agent's is that of the agent that started it.
    pub numbers: Vec<u32>,
    /// What each fetch found, in order.
    pub seen: Vec<FetchSeen>,
}

/// What a fetch found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchSeen {
    pub session: usize,
    pub fetch: usize,
    /// What it found.
    pub class: FetchClass,
    /// How long ago an earlier session fetched the same, if one did.
    pub lag: Option<Lag>,
    /// Whether calls of the agent itself wrote the file since then.
    pub is_own_change: bool,
    /// What the session was billed because of it, if it fetches again what an earlier session had: its tokens in every request, and the
    /// request that nothing else was asked for in.
    pub cost: TokenUse,
    /// The part of it that is that request.
    pub sent_again: TokenUse,
}

/// How long ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Lag {
    /// In sessions, at least 1.
    pub sessions: u32,
    /// In milliseconds.
    pub ms: i64,
}

/// What a fetch found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FetchClass {
    /// No session had fetched it.
    New,
    /// An earlier session had fetched another part of the file.
    OtherPart,
    /// The same session had fetched it, and the prompt still held that.
    Again,
    /// The same session had fetched it, and its harness had taken that out since, by a compaction or another reset.
    Lost,
    /// An earlier session had, and it is the same.
    Unchanged,
    /// An earlier session had, and it has changed.
    Changed,
}

impl FetchClass {
    /// All, in the order of tables.
    pub const ALL: [Self; 6] =
        [Self::New, Self::OtherPart, Self::Again, Self::Lost, Self::Unchanged, Self::Changed];

    /// Returns its name in tables and rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::OtherPart => "other_part",
            Self::Again => "again",
            Self::Lost => "lost",
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
        }
    }

    /// Returns whether it finds again what an earlier session had found.
    pub fn is_rediscovery(self) -> bool {
        matches!(self, Self::Unchanged | Self::Changed)
    }
}

/// What was last known of a source.
#[derive(Clone, Copy)]
struct LastKnown {
    content: u64,
    /// The number of the session, and the place of the fetch among all.
    number: u32,
    at: (usize, StepIx),
    at_ms: i64,
}

impl ProjectStream {
    /// Puts sessions into order, and finds what each fetch found.
    pub fn new(mut sessions: Vec<ProjectSession>) -> Self {
        let mut began: IndexMap<String, i64> = IndexMap::new();
        for it in &sessions {
            let first = began.entry(it.root.clone()).or_insert(it.began_ms);
            *first = it.began_ms.min(*first);
        }
        let key = |it: &ProjectSession| (began[&it.root], it.root.clone(), it.began_ms, it.name.clone());
        sessions.sort_by_cached_key(key);
        let mut roots: IndexSet<&str> = IndexSet::new();
        let numbers: Vec<u32> = sessions.iter().map(|it| ix(roots.insert_full(&it.root).0)).collect();
        let seen = observe(&sessions, &numbers);
        Self { sessions, numbers, seen }
    }

    /// Returns the fetch of an observation.
    pub fn fetch(&self, seen: &FetchSeen) -> &Fetch {
        &self.sessions[seen.session].fetches[seen.fetch]
    }

    /// Returns the fetches that find again what an earlier session had found.
    pub fn probes(&self) -> impl Iterator<Item = &FetchSeen> {
        self.seen.iter().filter(|it| it.class.is_rediscovery())
    }

    /// Returns how many of the agent's own sessions there are.
    pub fn n_sessions(&self) -> u32 {
        self.numbers.last().map_or(0, |it| it + 1)
    }

    /// Returns the tokens of all requests.
    pub fn billed(&self) -> TokenUse {
        let requests = self.sessions.iter().flat_map(|it| &it.requests);
        requests.filter_map(|it| it.tokens).fold(TokenUse::default(), |mut sum, it| {
            sum += it;
            sum
        })
    }

    /// Returns the largest memory file that its calls read, with its tokens.
    pub fn memory_file(&self) -> Option<(&str, Tokens)> {
        let files = self.sessions.iter().flat_map(|it| &it.memory_files);
        files.map(|(name, tokens)| (&**name, *tokens)).filter(|it| it.1 > 0).max_by_key(|file| file.1)
    }
}

/// Goes through all fetches in order.
fn observe(sessions: &[ProjectSession], numbers: &[u32]) -> Vec<FetchSeen> {
    let mut known: ByDigest<u64, LastKnown> = ByDigest::default();
    let mut places: ByDigest<u64, ()> = ByDigest::default();
    let mut written: ByDigest<u64, (usize, StepIx)> = ByDigest::default();
    let mut here: ByDigest<u64, (u64, LastKnown)> = ByDigest::default();
    let mut seen = Vec::new();
    for (nth, session) in sessions.iter().enumerate() {
        if nth > 0 && numbers[nth] != numbers[nth - 1] {
            for (source, (place, it)) in std::mem::take(&mut here) {
                known.insert(source, it);
                places.insert(place, ());
            }
        }
        let first = seen.len();
        let mut writes = session.written.iter().peekable();
        for (index, fetch) in session.fetches.iter().enumerate() {
            while let Some((step, place)) = writes.next_if(|it| it.0 < fetch.step) {
                written.insert(*place, (nth, *step));
            }
            let at_ms = session.requests.get(fetch.step as usize).map_or(session.began_ms, |it| it.at_ms);
            let now =
                LastKnown { content: fetch.content, number: numbers[nth], at: (nth, fetch.step), at_ms };
            let earlier = known.get(&fetch.source).copied();
            let before = here.get(&fetch.source).map(|it| it.1.at);
            let class = match earlier {
                _ if before.is_some_and(|it| is_gone(sessions, it, (nth, fetch.step))) => FetchClass::Lost,
                _ if before.is_some() => FetchClass::Again,
                Some(it) if it.content == fetch.content => FetchClass::Unchanged,
                Some(_) => FetchClass::Changed,
                None if places.contains_key(&fetch.place) => FetchClass::OtherPart,
                None => FetchClass::New,
            };
            here.insert(fetch.source, (fetch.place, now));
            let earlier = earlier.filter(|_| class.is_rediscovery());
            seen.push(FetchSeen {
                session: nth,
                fetch: index,
                class,
                lag: earlier.map(|it| Lag {
                    sessions: now.number - it.number,
                    ms: now.at_ms.saturating_sub(it.at_ms).max(0),
                }),
                is_own_change: class == FetchClass::Changed
                    && earlier.zip(written.get(&fetch.place)).is_some_and(|(it, at)| *at > it.at),
                cost: TokenUse::default(),
                sent_again: TokenUse::default(),
            });
        }
        written.extend(writes.map(|(step, place)| (*place, (nth, *step))));
        charge(session, &mut seen[first..]);
    }
    seen
}

/// Returns whether what one request of a session fetched is in the prompt of another no more.
fn is_gone(sessions: &[ProjectSession], (one, first): (usize, StepIx), (nth, step): (usize, StepIx)) -> bool {
    let mut fetched = sessions[one].fetches.iter().filter(|it| it.step == first);
    one == nth && fetched.all(|it| it.spans.iter().all(|span| span.end <= step))
}

/// Finds what a session was billed because of its fetches of what an earlier session had fetched.
fn charge(session: &ProjectSession, seen: &mut [FetchSeen]) {
    let again: Vec<usize> =
        seen.iter().filter(|it| it.class.is_rediscovery()).map(|again| again.fetch).collect();
    for it in seen.iter_mut().filter(|it| it.class.is_rediscovery()) {
        let fetch = &session.fetches[it.fetch];
        let others = again.iter().filter(|other| **other != it.fetch).map(|other| &session.fetches[*other]);
        let next = session.requests.get(fetch.step as usize + 1).copied().unwrap_or_default();
        it.sent_again = fetch.sent_again(&next, others);
        it.cost = it.sent_again;
        for step in fetch.steps(session) {
            it.cost += fetch.billed(step, &session.requests[step as usize]);
        }
    }
}

/// How often sources that earlier sessions had fetched were fetched again, of how many that might have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefetchRate {
    /// Sources that were fetched again.
    pub again: u64,
    /// Sources that might have been.
    pub of: u64,
}

/// The lags by which rates are told apart, in sessions: the first and the last, and what they are called.
pub(super) const LAGS: [(u32, u32, &str); 3] = [(1, 1, "1"), (2, 3, "2 or 3"), (4, u32::MAX, "4 or more")];

pub(super) fn lag_of(sessions: u32) -> usize {
    LAGS.iter().position(|it| (it.0..=it.1).contains(&sessions)).unwrap_or(LAGS.len() - 1)
}

impl ProjectStream {
    /// Returns the rates at which sources were fetched again, by kind and lag: in the first half of the sessions, and in the second.
    pub fn rates(&self) -> IndexMap<(SourceKind, usize), [RefetchRate; 2]> {
        let half = self.n_sessions().div_ceil(2);
        let mut rates: IndexMap<(SourceKind, usize), [RefetchRate; 2]> = IndexMap::new();
        let mut last: IndexMap<u64, (SourceKind, u32)> = IndexMap::new();
        let mut seen = self.seen.iter().peekable();
        for number in 0..self.n_sessions() {
            let of_session: IndexMap<u64, SourceKind> =
                std::iter::from_fn(|| seen.next_if(|it| self.numbers[it.session] == number))
                    .map(|it| self.fetch(it))
                    .map(|it| (it.source, it.kind))
                    .collect();
            for (source, (kind, at)) in &last {
                let rate = rates.entry((*kind, lag_of(number - at))).or_default();
                let rate = &mut rate[usize::from(number >= half)];
                rate.of += 1;
                rate.again += u64::from(of_session.contains_key(source));
            }
            last.extend(of_session.into_iter().map(|(source, kind)| (source, (kind, number))));
        }
        rates.sort_unstable_keys();
        rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histories::generate;
    use ctxsim_input::scenario::GeneratedHistory;

    fn alike(sessions: u64, changes_every: u64) -> ProjectStream {
        let made = GeneratedHistory {
            sessions,
            sources: 4,
            source_tokens: 300,
            more_requests: 2,
            changes_every,
            hours: 24,
            stable_tokens: 1_000,
        };
        ProjectStream::new(generate::sessions(&made))
    }

    #[test]
    fn each_half_of_the_sessions_tells_how_many_sources_it_fetched_again_of_those_that_were_known() {
        let mut stream = alike(6, 0);
        // The last session fetches one source alone.
        stream.sessions[5].fetches.truncate(1);
        let stream = ProjectStream::new(stream.sessions);

        let rates: Vec<_> = stream.rates().into_iter().collect();
        let of = |again, of| RefetchRate { again, of };
        // Sessions 2 and 3 could fetch four each, sessions 4, 5 and 6 as many.
        assert_eq!(rates, [((SourceKind::File, 0), [of(8, 8), of(9, 12)])]);
    }

    #[test]
    fn sessions_are_in_the_order_of_their_roots_and_a_sub_agent_rediscovers_nothing_of_its_own_session() {
        let mut sessions = alike(3, 0).sessions;
        sessions.reverse();
        sessions[1].root = sessions[2].root.clone();

        let stream = ProjectStream::new(sessions);

        assert_eq!(stream.numbers, [0, 0, 1]);
        assert_eq!(stream.n_sessions(), 2);
        let classes: Vec<FetchClass> = stream.seen.iter().map(|it| it.class).collect();
        let of = |class| [class; 4];
        assert_eq!(classes, [of(FetchClass::New), of(FetchClass::Again), of(FetchClass::Unchanged)].concat());
        assert!(stream.probes().all(|it| it.lag.is_some_and(|lag| lag.sessions == 1)));
    }

    #[test]
    fn what_left_the_prompt_is_lost_and_what_is_fetched_for_it_was_billed_once() {
        let mut sessions = alike(2, 1).sessions;
        // The second session compacts behind its first fetch, and fetches the same once more.
        let again = Fetch { step: 3, ..sessions[1].fetches[0].clone() };
        sessions[1].fetches[0].spans.iter_mut().for_each(|it| it.end = 2);
        sessions[1].fetches.insert(3, again);

        let stream = ProjectStream::new(sessions);

        let own: Vec<&FetchSeen> = stream.seen.iter().filter(|it| it.session == 1).collect();
        assert_eq!(own.iter().map(|it| it.class).filter(|class| *class == FetchClass::Lost).count(), 1);
        let first = own[0];
        assert_eq!(first.class, FetchClass::Changed);
        // It was written with the next request, which nothing else was asked for, and then it was gone.
        let cost = TokenUse { read: 1_100, write: [320, 0], uncached: 0, output: 20 };
        assert_eq!((first.cost, first.sent_again.read), (cost, 1_100));
    }
}
