//! Plays a memory over the sessions of a project: what it adds to each request, what writing it costs,
//! and what of the fetches it would have answered, right or with what had changed.

use indexmap::IndexSet;

use super::assumed::HistoryNumbers;
use super::session::{Fetch, ProjectSession};
use super::store::NoteStore;
use super::stream::{FetchSeen, LAGS, ProjectStream, lag_of};
use ctxsim_base::quantity::{Tokens, ix};
use ctxsim_base::rng::Seed;
use ctxsim_engine::ledger::{
    CacheUse, MemoryKind, MemoryRow, NeedRow, RequestRow, Role, Sink, Sums, TokenUse,
};
use ctxsim_engine::price::PriceRows;
use ctxsim_input::Policy;
use ctxsim_input::policy::memory::{NoteRewrite, NoteWriter, ServiceCall, SourceMemory, SourceStore};
use ctxsim_input::policy::{LayoutSpec, MemoryPlace};
use ctxsim_timeline::{Level, StepIx};

/// What a memory came to over a stream, with what is noted decided, and what an agent makes of it left open.
#[derive(Debug, Default)]
pub struct PlayedHistory {
    /// The requests: as billed, without what was fetched again, and with the memory.
    pub sums: Sums,
    /// The same by length and time, if they are kept.
    pub rows: PriceRows,
    /// What fetching again cost that the memory tells nothing of.
    pub unknown: FetchBill,
    /// What it would have answered as it is.
    pub fresh: FetchBill,
    /// What it would have answered as it was, before it changed.
    pub stale: FetchBill,
    /// By lag: how much it would have answered as it is, and as it was.
    pub by_lag: [[u64; 2]; LAGS.len()],
    /// What the memory added to the bill of requests, with the prefixes that its changes broke.
    pub carried: TokenUse<i64>,
    /// Of it, the broken prefixes of what was fetched again.
    broken: TokenUse<i64>,
    /// What its texts in prompts come to, over all requests.
    pub shown: u64,
    /// The most tokens that a prompt held of it.
    pub shown_max: Tokens,
    /// How often it was written.
    pub writes: u64,
    /// What that was billed.
    pub written: TokenUse,
    /// What reading topics would cost, if the agent always went by what they tell.
    pub topics: TokenUse<f64>,
}

/// Fetches, and what the session was billed for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchBill {
    /// How many there are.
    pub n: u64,
    pub tokens: Tokens,
    /// What was billed.
    pub cost: TokenUse,
}

impl FetchBill {
    /// Adds a fetch.
    pub fn add(&mut self, fetch: &Fetch, seen: &FetchSeen) {
        self.n += 1;
        self.tokens += fetch.tokens();
        self.cost += seen.cost;
    }
}

/// What an agent makes of notes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoteTrust {
    /// The probability that it goes by one.
    pub trusts: f64,
    /// What going by an old one costs, in fetches.
    pub stale_fetches: f64,
}

impl PlayedHistory {
    /// Returns the fetches that are still expected, and what they cost.
    pub fn recovery(&self, trust: NoteTrust) -> (f64, TokenUse<f64>) {
        let NoteTrust { trusts, stale_fetches } = trust;
        let of_stale = 1.0 - trusts + trusts * stale_fetches;
        let shares = [(&self.unknown, 1.0), (&self.fresh, 1.0 - trusts), (&self.stale, of_stale)];
        let mut cost = scaled(&self.topics, trusts);
        cost += expected(&self.broken);
        let mut calls = 0.0;
        for (answered, share) in shares {
            calls += share * answered.n as f64;
            cost += scaled(&floats(&answered.cost), share);
        }
        (calls, cost)
    }

    /// Returns the sums with the fetches that are still expected.
    pub fn sums(&self, trust: NoteTrust) -> Sums {
        let (calls, refetched) = self.recovery(trust);
        let mut sums = self.sums;
        // Not evidence: whether a session fetches something again is no matter of what its prompts kept.
        let level = Level::GlobalConclusion;
        sums.need(&NeedRow { level, weight: 1.0, calls, refetched: Some(refetched), ..NeedRow::default() });
        sums
    }
}

/// Returns exact tokens as expected ones.
pub(super) fn floats(tokens: &TokenUse) -> TokenUse<f64> {
    tokens.map(|it| it as f64)
}

/// Returns tokens of any sign as expected ones.
pub(super) fn expected(tokens: &TokenUse<i64>) -> TokenUse<f64> {
    tokens.map(|it| it as f64)
}

/// Returns a multiple of expected tokens.
fn scaled(tokens: &TokenUse<f64>, by: f64) -> TokenUse<f64> {
    tokens.map(|it| it * by)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedMemory<'a> {
    spec: &'a SourceMemory,
    place: MemoryPlace,
}

impl<'a> PlacedMemory<'a> {
    /// Returns the memory of a policy, if it has one of sources.
    pub(super) fn of(policy: &'a Policy) -> Option<Self> {
        let place = policy.layout.as_ref().unwrap_or(LayoutSpec::silent()).memory;
        policy.source_memory().map(|spec| Self { spec, place })
    }
}

/// Plays memories over a stream.
pub(super) struct HistoryPlayer<'a> {
    pub stream: &'a ProjectStream,
    /// The declared numbers, as the load has them.
    pub numbers: &'a HistoryNumbers,
    /// The seed of what is noted.
    pub seed: Seed,
    /// Whether requests are kept by length and time, because some prices depend on these.
    pub keeps_rows: bool,
}

impl HistoryPlayer<'_> {
    /// Plays a memory, or none; each source that a session fetched is noted with this probability, and the draws are the
    /// same whatever it is.
    pub(super) fn play(&self, memory: Option<PlacedMemory<'_>>, takes: f64) -> PlayedHistory {
        let mut run = HistoryRun::new(self, memory.map_or(MemoryPlace::Tail, |it| it.place), takes);
        let mut store = memory.map(|it| (it.spec, NoteStore::new(it.spec, self.numbers)));
        let mut seen = self.stream.seen.iter().peekable();
        for nth in 0..self.stream.sessions.len() {
            let of_session: Vec<&FetchSeen> =
                std::iter::from_fn(|| seen.next_if(|it| it.session == nth)).collect();
            run.session(nth, &of_session, store.as_mut().map(|(spec, store)| (&**spec, store)));
        }
        run.played
    }
}

/// Returns what a text of a fixed size costs that every prompt holds behind the system prompt.
pub(super) fn fixed(stream: &ProjectStream, tokens: Tokens) -> TokenUse<f64> {
    let player =
        HistoryPlayer { stream, numbers: HistoryNumbers::declared(), seed: Seed(0), keeps_rows: false };
    let mut run = HistoryRun::new(&player, MemoryPlace::BehindSystem, 0.0);
    for session in &stream.sessions {
        for billed in session.requests.iter().filter_map(|it| it.tokens) {
            run.carry(session, &billed, &mut billed.clone(), tokens);
        }
    }
    expected(&run.played.carried)
}

/// One play.
struct HistoryRun<'a> {
    player: &'a HistoryPlayer<'a>,
    place: MemoryPlace,
    takes: f64,
    played: PlayedHistory,
    /// The version of the memory that the request before had, if any had one.
    sent: Option<u64>,
    version: u64,
}

impl<'a> HistoryRun<'a> {
    fn new(player: &'a HistoryPlayer<'a>, place: MemoryPlace, takes: f64) -> Self {
        Self { player, place, takes, played: PlayedHistory::default(), sent: None, version: 0 }
    }

    fn session(
        &mut self,
        nth: usize,
        seen: &[&FetchSeen],
        mut memory: Option<(&SourceMemory, &mut NoteStore<'_>)>,
    ) {
        let session = &self.player.stream.sessions[nth];
        let number = self.player.stream.numbers[nth];
        if let Some((spec, store)) = &memory {
            self.call(spec, store, ServiceCall::GetContext);
        }
        let mut topics = IndexSet::new();
        let mut fetched = seen.iter().peekable();
        let mut unwritten = 0;
        for (index, request) in session.requests.iter().enumerate() {
            let step: StepIx = ix(index);
            let shown = memory.as_ref().map_or(0, |it| it.1.shown());
            self.request(session, step, seen, shown);
            unwritten += u64::from(request.tokens.is_some());
            while let Some(it) = fetched.next_if(|it| session.fetches[it.fetch].step <= step) {
                let fetch = &session.fetches[it.fetch];
                if it.class.is_rediscovery() {
                    self.answer(fetch, it, memory.as_ref().map(|it| &*it.1), &mut topics);
                }
                if let Some((spec, store)) = &mut memory
                    && spec.write.notes(fetch.kind)
                    && self.is_noted(spec, fetch)
                {
                    store.take(fetch, number);
                }
            }
            if let Some((spec, store)) = &mut memory
                && let NoteRewrite::Requests(every) = spec.write.every
                && unwritten >= every
            {
                unwritten = 0;
                self.write(session, step, (spec, store));
            }
        }
        if let Some((spec, store)) = &mut memory {
            let is_due = match spec.write.every {
                NoteRewrite::Sessions(n) => (u64::from(number) + 1).is_multiple_of(n.max(1)),
                NoteRewrite::Requests(_) => true,
            };
            if is_due {
                self.write(session, ix(session.requests.len().saturating_sub(1)), (spec, store));
            }
        }
    }

    /// Returns whether a source is noted: one draw for each, whatever the policy.
    fn is_noted(&self, spec: &SourceMemory, fetch: &Fetch) -> bool {
        spec.write.by == NoteWriter::Harness
            || self.player.seed.nth("note of a source", fetch.source, 0).unit() < self.takes
    }

    /// Sends a request: as it was billed, without what was fetched again, and with the memory.
    fn request(&mut self, session: &ProjectSession, step: StepIx, seen: &[&FetchSeen], shown: Tokens) {
        let request = &session.requests[step as usize];
        let Some(billed) = request.tokens else { return };
        let mut tokens = billed;
        for it in seen.iter().filter(|it| it.class.is_rediscovery()) {
            let fetch = &session.fetches[it.fetch];
            if !fetch.steps(session).contains(&step) {
                continue;
            }
            let mut less = fetch.billed(step, request);
            if step == fetch.step + 1 {
                less += it.sent_again;
            }
            tokens = tokens.zip(less, Tokens::saturating_sub);
        }
        if shown > 0 {
            self.carry(session, &billed, &mut tokens, shown);
        }
        let began_ms = self.player.stream.sessions.first().map_or(0, |it| it.began_ms);
        self.sink(&row(Role::Main, step, request.at_ms.saturating_sub(began_ms), tokens));
    }

    /// Adds the memory to a request, at its place; where its text is another than before, what stood behind it is read no more.
    fn carry(&mut self, session: &ProjectSession, billed: &TokenUse, tokens: &mut TokenUse, shown: Tokens) {
        let (before, mut broken) = (*tokens, TokenUse::<i64>::default());
        let from = match self.place {
            MemoryPlace::Head => Some(0),
            MemoryPlace::BehindSystem => Some(session.stable),
            MemoryPlace::Tail => None,
        };
        let is_new = self.sent.replace(self.version) != Some(self.version);
        match from.map(|it| billed.read.saturating_sub(it)) {
            None => tokens.uncached += shown,
            Some(behind) if behind > 0 && !is_new => tokens.read += shown,
            Some(behind) => {
                // Of what is read no more, a part was fetched again, and stands with that.
                let moved = behind.min(tokens.read);
                tokens.read -= moved;
                *anew(session, billed, tokens) += moved + shown;
                let rest = (behind - moved).cast_signed();
                broken.read -= rest;
                *anew(session, billed, &mut broken) += rest;
            }
        }
        let played = &mut self.played;
        played.shown += shown;
        played.shown_max = played.shown_max.max(shown);
        played.carried +=
            tokens.zip(before, |now, before| now.cast_signed().wrapping_sub(before.cast_signed()));
        played.carried += broken;
        played.broken += broken;
    }

    /// Counts what the memory would have answered of a fetch.
    fn answer(
        &mut self,
        fetch: &Fetch,
        seen: &FetchSeen,
        store: Option<&NoteStore<'_>>,
        topics: &mut IndexSet<u64>,
    ) {
        let played = &mut self.played;
        let Some((store, note)) = store.and_then(|it| Some((it, it.find(fetch.source)?))) else {
            return played.unknown.add(fetch, seen);
        };
        let is_stale = note.content != fetch.content;
        if is_stale { &mut played.stale } else { &mut played.fresh }.add(fetch, seen);
        let lag = seen.lag.map_or(0, |it| lag_of(it.sessions));
        played.by_lag[lag][usize::from(is_stale)] += 1;
        if let Some((topic, tokens)) = store.read(note)
            && topics.insert(topic)
        {
            let read = tokens + self.player.numbers.sizes.call_tokens;
            played.topics += scaled(&floats(&seen.cost), read as f64 / fetch.tokens().max(1) as f64);
        }
    }

    /// Writes notes: the agent in a request of its own that sends the prompt once more, a model from what the session said, or the
    /// harness without any.
    fn write(
        &mut self,
        session: &ProjectSession,
        step: StepIx,
        (spec, store): (&SourceMemory, &mut NoteStore<'_>),
    ) {
        let before = store.tokens();
        let written = store.write();
        if !written.is_written {
            return;
        }
        self.version += u64::from(written.is_changed);
        self.played.writes += 1;
        self.call(spec, store, ServiceCall::PutContext);
        let Some(last) = session.requests.get(step as usize).and_then(|it| it.tokens) else { return };
        let sizes = &self.player.numbers.sizes;
        let mut tokens = match spec.write.by {
            NoteWriter::Harness => return,
            NoteWriter::Agent => {
                TokenUse { output: written.tokens + sizes.call_tokens, ..TokenUse::default() }
            }
            NoteWriter::Model => TokenUse {
                output: store.tokens(),
                uncached: sizes.instruction_tokens + before,
                ..TokenUse::default()
            },
        };
        let is_cached = last.read + last.write[0] + last.write[1] > 0;
        *(if is_cached { &mut tokens.read } else { &mut tokens.uncached }) += last.prompt();
        self.played.written += tokens;
        let began_ms = self.player.stream.sessions.first().map_or(0, |it| it.began_ms);
        let at_ms = session.requests[step as usize].at_ms.saturating_sub(began_ms);
        self.sink(&row(Role::Summariser, step, at_ms, tokens));
    }

    /// Calls the service, if the memory is one of its documents.
    fn call(&mut self, spec: &SourceMemory, store: &NoteStore<'_>, call: ServiceCall) {
        if let SourceStore::Document { .. } = spec.store {
            let kind = MemoryKind::Service(call);
            let row = MemoryRow { turn_ix: 0, kind, service: "", calls: 1, tokens: store.tokens() };
            self.played.sums.memory(&row);
        }
    }

    fn sink(&mut self, row: &RequestRow) {
        self.played.sums.request(row);
        if self.player.keeps_rows {
            self.played.rows.request(row);
        }
    }
}

/// Returns where a request is billed for what its prompt has for the first time.
fn anew<'t, T>(session: &ProjectSession, billed: &TokenUse, tokens: &'t mut TokenUse<T>) -> &'t mut T {
    let writes = |it: &TokenUse| [1, 0].into_iter().find(|class| it.write[*class] > 0);
    let usual = || session.requests.iter().filter_map(|it| it.tokens).find_map(|tokens| writes(&tokens));
    match writes(billed).or_else(usual) {
        Some(class) => &mut tokens.write[class],
        None => &mut tokens.uncached,
    }
}

fn row(role: Role, step: StepIx, at_ms: i64, tokens: TokenUse) -> RequestRow {
    let TokenUse { read, write, uncached, output } = tokens;
    let usage = CacheUse { read, write, uncached, broke_at: None };
    RequestRow { role, step, at_ms, prompt: tokens.prompt(), usage, output, ..RequestRow::default() }
}
