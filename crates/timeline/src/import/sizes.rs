//! Sizes of recorded parts: the growth between two recorded prompts is split, user text by its characters,
//! everything else in proportion.

use crate::import::prelude::*;

/// What the parts of a recording weigh.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Allotment {
    /// What the first prompt holds beside the parts that the recording shows.
    pub(super) overhead: Tokens,
    /// One size a part, in order.
    pub(super) tokens: Vec<u32>,
    /// What was taken out before a request, in order.
    pub(super) resets: Vec<Reset>,
    /// Parts that no prompt from a request on holds, each with that request, in order.
    pub(super) forgotten: Vec<(usize, usize)>,
    /// How many of them no reset explains.
    pub(super) n_shrunk: usize,
    /// By how much the sizes before a reply exceed its recorded prompt, at most.
    pub(super) excess_max: Tokens,
    /// Of a front that changes: by version, the sizes of its parts.
    pub(super) fronts: Vec<Vec<u32>>,
    /// Whether text had to be scaled down to fit into the first prompt.
    pub(super) is_scaled: bool,
}

/// What the harness took out before a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reset {
    /// The request.
    pub(super) exchange: usize,
    /// Whether the request begins a turn.
    pub(super) begins: bool,
    /// The first part that goes; the first after the stable prefix, when nothing stays.
    pub(super) from: Option<usize>,
    /// The first part after it that stays; all that came before the request goes, when none does.
    pub(super) to: Option<usize>,
    /// Tokens of what represents the others, of which the recording shows nothing.
    pub(super) carried: Tokens,
}

/// Allots the recorded prompts to the parts before them.
pub(super) fn allot(transcript: &Transcript, counting: SizeAssumptions) -> Allotment {
    let exchanges = transcript.exchanges.as_slice();
    let mut state = PromptWalk {
        counting,
        allotment: Allotment::default(),
        open: Vec::new(),
        n_user: 0,
        known: None,
        kept: Vec::new(),
        carried: 0,
        n_stable: transcript.stable.len(),
        marks_compactions: transcript.marks_compactions,
        fronts: Fronts::new(&transcript.fronts),
    };
    let last = exchanges.iter().rposition(|it| it.usage.is_some());
    let stable_max = stable_max(transcript, &counting);
    state.arrive(&transcript.stable);
    for (index, exchange) in exchanges.iter().enumerate() {
        let begins = exchange.begins.is_some();
        if transcript.drops_reasoning || begins && transcript.forgets_reasoning {
            state.forget(index, |_, is_reasoning| is_reasoning);
        }
        if let Some(first) = exchange.rewound_to {
            state.forget(index, |part, _| part >= first);
        }
        if !exchange.cleared.is_empty() {
            state.forget(index, |part, _| exchange.cleared.binary_search(&part).is_ok());
        }
        state.arrive(exchange.user());
        state.n_user = if begins { exchange.user().len() } else { 0 };
        let tail = exchange.usage.filter(|_| transcript.has_breakpoints).map_or(0, |it| it.uncached);
        let request =
            SizedRequest { index, begins, tail, compacts: exchange.compacts.map(|it| it.stays_from) };
        state.change_front(exchange.form.front, request, exchange.usage.map(|it| it.prompt));
        match &exchange.usage {
            Some(usage) => state.settle(request, usage.prompt, stable_max),
            None if exchange.compacts.is_some() => state.compact(request),
            None => {}
        }
        let kept = transcript.kept_of_reply(exchange, counting.placeholder_output_tokens);
        match (exchange.usage, kept) {
            (Some(usage), _) if transcript.counts_output => {
                state.count(&exchange.reply, usage.output, Some(exchange.reasoning));
            }
            (_, Some(tokens)) => state.count(&exchange.reply, tokens, None),
            (Some(usage), _) if Some(index) == last => state.answer(&exchange.reply, &usage),
            _ => state.arrive(&exchange.reply),
        }
        state.arrive(&exchange.results);
    }
    state.push_estimates();
    state.allotment.fronts = state.fronts.sizes(&state.allotment.tokens, counting);
    state.allotment
}

/// Returns how much can have stood before every prompt: what the smallest has beside what the user says and a
/// compaction keeps.
fn stable_max(transcript: &Transcript, counting: &SizeAssumptions) -> Tokens {
    let mut characters: Vec<u64> = transcript.stable.iter().map(|it| it.characters).collect();
    let mut rooms = Vec::with_capacity(transcript.exchanges.len());
    for exchange in &transcript.exchanges {
        if let Some(usage) = &exchange.usage {
            let tail = if transcript.has_breakpoints { usage.uncached } else { 0 };
            let said = |it: &Part| UserText { characters: it.characters, tokens: it.tokens };
            let user: Vec<UserText> = exchange.user().iter().map(said).collect();
            let kept = exchange.compacts.and_then(|it| characters.get(it.stays_from..)).unwrap_or_default();
            let kept = kept.iter().fold(0, |sum: u64, it| sum.saturating_add(*it));
            let shown = counting.user_tokens(&user, tail).saturating_add(counting.tokens(kept));
            rooms.push(usage.prompt.saturating_sub(shown));
        }
        let parts = exchange.user().iter().chain(&exchange.reply).chain(&exchange.results);
        characters.extend(parts.map(|it| it.characters));
    }
    or_unlimited(rooms.into_iter().skip(1).min())
}

/// A request whose prompt is known.
#[derive(Clone, Copy, Debug)]
struct SizedRequest {
    /// Its place.
    index: usize,
    /// Whether it begins a turn.
    begins: bool,
    /// What is after its last breakpoint.
    tail: Tokens,
    /// The first part that stays, where the recording says that the harness compacted the history before it.
    compacts: Option<usize>,
}

/// A part that has no size yet.
#[derive(Clone, Copy, Debug)]
struct OpenPart {
    characters: u64,
    /// Its tokens by a tokenizer.
    estimate: Option<Tokens>,
    /// Its tokens, if they were counted by themselves.
    counted: Option<Tokens>,
    is_reasoning: bool,
    /// Whether no later prompt holds it.
    is_forgotten: bool,
}

impl OpenPart {
    /// Returns what it says, if it is the user's.
    fn said(&self) -> UserText {
        UserText { characters: self.characters, tokens: self.estimate }
    }
}

struct PromptWalk<'t> {
    fronts: Fronts<'t>,
    counting: SizeAssumptions,
    allotment: Allotment,
    open: Vec<OpenPart>,
    /// How many of them, at the end, are the user's.
    n_user: usize,
    /// What is allotted so far, once a prompt is known: the prompt.
    known: Option<Tokens>,
    /// What still stands and has a size.
    kept: Vec<SizedPart>,
    /// Tokens of what represents parts that a reset took out.
    carried: Tokens,
    /// How many parts at the front no reset takes out.
    n_stable: usize,
    /// Whether a prompt that shrinks without a mark lost little that anyone can name.
    marks_compactions: bool,
}

/// A part that is in the prompts and has a size.
#[derive(Clone, Copy, Debug)]
struct SizedPart {
    part: usize,
    tokens: Tokens,
    is_reasoning: bool,
}

impl PromptWalk<'_> {
    fn arrive(&mut self, parts: &[Part]) {
        self.open.extend(parts.iter().map(|it| OpenPart {
            characters: it.characters,
            estimate: it.tokens,
            counted: None,
            is_reasoning: it.kind == Kind::Reasoning,
            is_forgotten: false,
        }));
    }

    /// Takes a reply whose tokens were counted: so many of them reasoning, if that is known, the rest what it says.
    fn count(&mut self, reply: &[Part], tokens: Tokens, reasoning: Option<Tokens>) {
        let first = self.open.len();
        self.arrive(reply);
        let reply = &mut self.open[first..];
        let n_reasoning = reply.iter().filter(|it| it.is_reasoning).count();
        let of_reasoning = match (n_reasoning, reasoning) {
            (0, _) => 0,
            (n, _) if n == reply.len() => tokens,
            (_, Some(reasoning)) => reasoning.min(tokens),
            (_, None) => {
                let characters = |it: &OpenPart| it.characters;
                let sums: [u64; 2] = [true, false].map(|is_reasoning| {
                    reply.iter().filter(|it| it.is_reasoning == is_reasoning).map(characters).sum()
                });
                apportion(tokens, &sums)[0]
            }
        };
        for (is_reasoning, total) in [(true, of_reasoning), (false, tokens - of_reasoning)] {
            let mut parts: Vec<&mut OpenPart> =
                reply.iter_mut().filter(|it| it.is_reasoning == is_reasoning).collect();
            let characters: Vec<u64> = parts.iter().map(|it| it.characters).collect();
            for (part, tokens) in parts.iter_mut().zip(apportion(total, &characters)) {
                part.counted = Some(tokens);
            }
        }
    }

    /// Takes parts out of the prompts from this request on; they are chosen by their place and by whether they are reasoning.
    fn forget(&mut self, exchange: usize, goes: impl Fn(usize, bool) -> bool) {
        let mut parts = Vec::new();
        let mut tokens: Tokens = 0;
        self.kept.retain(|it| {
            let goes = goes(it.part, it.is_reasoning);
            if goes {
                parts.push(it.part);
                tokens = tokens.saturating_add(it.tokens);
            }
            !goes
        });
        self.known = self.known.map(|it| it.saturating_sub(tokens));
        let first = self.allotment.tokens.len();
        for (index, open) in self.open.iter_mut().enumerate() {
            if goes(first + index, open.is_reasoning) && !open.is_forgotten {
                open.is_forgotten = true;
                parts.push(first + index);
            }
        }
        self.allotment.forgotten.extend(parts.into_iter().map(|part| (exchange, part)));
    }

    /// Lets the prompts begin with another version of the front; one that is new takes what nothing else explains of the growth.
    fn change_front(&mut self, to: usize, request: SizedRequest, prompt: Option<Tokens>) {
        let Some(known) = self.known.filter(|_| self.fronts.changes(to)) else { return };
        let mut before = vec![0; self.n_stable];
        for it in self.kept.iter().filter(|it| it.part < self.n_stable) {
            before[it.part] = it.tokens;
        }
        let mut sizes = self.fronts.known_of(to, &before);
        let rest = known.saturating_sub(sum(&before));
        let told: Tokens = sizes.iter().flatten().sum();
        let open = self.open.iter().filter(|it| !it.is_forgotten);
        let (others, user) = self.open.split_at(self.open.len() - self.n_user.min(self.open.len()));
        let said: Vec<UserText> = user.iter().map(OpenPart::said).collect();
        let explained = counted(others).saturating_add(self.counting.user_tokens(&said, request.tail));
        let growth = prompt.map_or(0, |it| it.saturating_sub(rest + told).saturating_sub(explained));
        let new = self.fronts.characters(to, &sizes);
        let characters: u64 = open.filter(|it| it.counted.is_none()).map(|it| it.characters).sum();
        let characters = characters.saturating_sub(user.iter().map(|it| it.characters).sum());
        let shares: Vec<u64> = new.iter().copied().chain([characters]).collect();
        let estimates: Vec<Tokens> = new.iter().map(|it| self.counting.tokens(*it)).collect();
        let shares =
            if growth > 0 && request.compacts.is_none() { apportion(growth, &shares) } else { estimates };
        let mut shares = shares.into_iter();
        for size in sizes.iter_mut().filter(|it| it.is_none()) {
            *size = shares.next();
        }
        let sizes: Vec<Tokens> = sizes.into_iter().map(Option::unwrap_or_default).collect();
        for it in self.kept.iter_mut().filter(|it| it.part < self.n_stable) {
            it.tokens = sizes[it.part];
        }
        self.known = Some(rest.saturating_add(sum(&sizes)));
        self.fronts.change([before, sizes], to);
    }

    /// Gives the open parts what a prompt has more than the ones before it.
    fn settle(&mut self, request: SizedRequest, prompt: Tokens, stable_max: Tokens) {
        let Some(known) = self.known.replace(prompt) else {
            return self.begin(request, prompt, stable_max);
        };
        match prompt.checked_sub(known).filter(|_| request.compacts.is_none()) {
            Some(growth) => self.grow(growth, request.tail),
            // A prompt may lose a little, and nothing says what; and what a new front takes is an estimate.
            None if request.compacts.is_none()
                && (self.marks_compactions
                    && self.counting.is_rewind(known, known.saturating_sub(prompt))
                    || self.fronts.explain(known - prompt)) =>
            {
                self.dent(known, prompt);
            }
            None => self.shrink(request, known, prompt),
        }
    }

    /// Takes the first prompt: what the recording does not show of it is in front, or for what came before.
    fn begin(&mut self, request: SizedRequest, prompt: Tokens, stable_max: Tokens) {
        let estimates: Vec<Tokens> = self.open.iter().map(|it| self.estimate_of(it)).collect();
        let shown = sum(&estimates);
        let unseen = prompt.saturating_sub(shown);
        let of_stable = sum(&estimates[..self.n_stable.min(estimates.len())]);
        self.allotment.overhead = unseen.min(stable_max.saturating_sub(of_stable));
        self.carried = unseen - self.allotment.overhead;
        if self.carried > 0 {
            let (exchange, begins, carried) = (request.index, request.begins, self.carried);
            self.allotment.resets.push(Reset { exchange, begins, from: None, to: None, carried });
        }
        self.allotment.is_scaled = shown > prompt;
        self.push(&apportion(shown.min(prompt), &estimates));
    }

    /// Splits a growth: the user's parts by their characters, the others share what is left; what is forgotten has no share.
    fn grow(&mut self, growth: Tokens, tail: Tokens) {
        let n_others = self.open.len() - self.n_user.min(self.open.len());
        let (others, user) = self.open.split_at(n_others);
        let others: Vec<OpenPart> = others.iter().filter(|it| !it.is_forgotten).copied().collect();
        let counted = counted(&others);
        let said: Vec<UserText> = user.iter().map(OpenPart::said).collect();
        let user: Vec<u64> = user.iter().map(|it| it.characters).collect();
        let is_counted = others.iter().all(|it| it.counted.is_some());
        let of_user = match (user.is_empty(), is_counted) {
            (true, _) => 0,
            (false, true) => growth.saturating_sub(counted),
            (false, false) => self.counting.user_tokens(&said, tail).min(growth),
        };
        let mut of_others = divide(growth - of_user, &others).into_iter();
        let mut of_user = apportion(of_user, &user).into_iter();
        let open = self.open.iter().enumerate();
        let sizes = open.map(|(index, it)| {
            let share = if index < n_others { &mut of_others } else { &mut of_user };
            if it.is_forgotten { self.estimate_of(it) } else { share.next().unwrap_or(0) }
        });
        let sizes: Vec<Tokens> = sizes.collect();
        self.push(&sizes);
    }

    /// Keeps everything, although the prompt is a little smaller than what is known of it: later growth makes up for it first.
    fn dent(&mut self, known: Tokens, prompt: Tokens) {
        self.known = Some(known);
        self.grow(0, 0);
        self.allotment.n_shrunk += 1;
        self.allotment.excess_max = self.allotment.excess_max.max(known - prompt);
    }

    /// Finds what must have gone: what a compaction says, the end, when the user went back, or all of the history.
    fn shrink(&mut self, request: SizedRequest, known: Tokens, prompt: Tokens) {
        let n_gone = self.open.len() - self.n_user.min(self.open.len());
        let said: Vec<UserText> = self.open[n_gone..].iter().map(OpenPart::said).collect();
        let user: Vec<u64> = said.iter().map(|it| it.characters).collect();
        let room = prompt.saturating_sub(self.counting.user_tokens(&said, request.tail));
        let front = self.allotment.overhead.saturating_add(self.carried);
        let is_rewind = request.compacts.is_none()
            && !user.is_empty()
            && front <= room
            && self.counting.is_rewind(known, known.saturating_sub(prompt));
        let n_kept = if is_rewind { self.n_within(room - front) } else { 0 };
        let goes = self.kept.get(n_kept).map_or(self.allotment.tokens.len(), |it| it.part);
        let mut of_user = self.open.split_off(n_gone);
        self.push_estimates();
        self.open.append(&mut of_user);
        let (n_stable, stays) = (self.n_stable, or_unlimited(request.compacts));
        if is_rewind {
            self.kept.truncate(n_kept);
        } else {
            self.kept.retain(|it| it.part < n_stable || it.part >= stays);
            self.carried = 0;
            self.carried = room.saturating_sub(self.standing());
        }
        let rest = prompt.saturating_sub(self.standing());
        self.push(&apportion(if user.is_empty() { 0 } else { rest }, &user));
        self.allotment.resets.push(Reset {
            exchange: request.index,
            begins: request.begins,
            from: is_rewind.then_some(goes),
            to: request.compacts.filter(|it| *it < self.allotment.tokens.len() - user.len()),
            carried: if is_rewind { 0 } else { self.carried },
        });
        let excess = self.standing().abs_diff(prompt);
        if excess > 0 {
            self.allotment.n_shrunk += 1;
            self.allotment.excess_max = self.allotment.excess_max.max(excess);
        }
    }

    /// Takes out what a compaction says, before a request whose prompt is not known.
    fn compact(&mut self, request: SizedRequest) {
        let n_gone = self.open.len() - self.n_user.min(self.open.len());
        let mut of_user = self.open.split_off(n_gone);
        self.push_estimates();
        let (n_stable, stays) = (self.n_stable, or_unlimited(request.compacts));
        self.kept.retain(|it| it.part < n_stable || it.part >= stays);
        self.carried = 0;
        self.known = self.known.map(|_| self.standing());
        let to = request.compacts.filter(|it| *it < self.allotment.tokens.len());
        self.open.append(&mut of_user);
        let (exchange, begins) = (request.index, request.begins);
        self.allotment.resets.push(Reset { exchange, begins, from: None, to, carried: 0 });
    }

    /// Returns how many of the parts that stand fit into so many tokens, from the first on.
    fn n_within(&self, room: Tokens) -> usize {
        let mut sum: Tokens = 0;
        let fits = |it: &&SizedPart| {
            sum = sum.saturating_add(it.tokens);
            sum <= room
        };
        self.kept.iter().take_while(fits).count()
    }

    /// Returns the tokens of everything that stands and has a size.
    fn standing(&self) -> Tokens {
        let front = self.allotment.overhead.saturating_add(self.carried);
        self.kept.iter().fold(front, |sum, it| sum.saturating_add(it.tokens))
    }

    /// Gives the last reply its output, if that is a count and not a placeholder.
    fn answer(&mut self, reply: &[Part], usage: &Usage) {
        if usage.output <= self.counting.placeholder_output_tokens {
            return self.arrive(reply);
        }
        let characters: Vec<u64> = reply.iter().map(|it| it.characters).collect();
        self.arrive(reply);
        self.push(&apportion(usage.output, &characters));
    }

    /// Gives the open parts a size by their own counts, or by their characters alone.
    fn push_estimates(&mut self) {
        let estimates: Vec<Tokens> = self.open.iter().map(|it| self.estimate_of(it)).collect();
        self.push(&estimates);
    }

    fn estimate_of(&self, open: &OpenPart) -> Tokens {
        open.counted.or(open.estimate).unwrap_or_else(|| self.counting.tokens(open.characters))
    }

    /// Gives every open part its size.
    fn push(&mut self, tokens: &[Tokens]) {
        for (open, tokens) in std::mem::take(&mut self.open).into_iter().zip(tokens) {
            let part = self.allotment.tokens.len();
            if !open.is_forgotten {
                self.kept.push(SizedPart { part, tokens: *tokens, is_reasoning: open.is_reasoning });
            }
            self.allotment.tokens.push(saturated(*tokens));
        }
    }
}

/// The versions of a front that changes, and what is known of their sizes.
struct Fronts<'t> {
    versions: &'t [Vec<Part>],
    sizes: Vec<Option<Vec<Tokens>>>,
    now: usize,
}

impl<'t> Fronts<'t> {
    fn new(versions: &'t [Vec<Part>]) -> Self {
        Self { versions, sizes: vec![None; versions.len()], now: 0 }
    }

    /// Returns whether another version is to come than the one that stands.
    fn changes(&self, to: usize) -> bool {
        to != self.now && to < self.versions.len()
    }

    /// Returns the sizes of a version's parts, as far as equal parts have one.
    fn known_of(&self, to: usize, before: &[Tokens]) -> Vec<Option<Tokens>> {
        if let Some(sizes) = &self.sizes[to] {
            return sizes.iter().copied().map(Some).collect();
        }
        let now = self.versions[self.now].iter().zip(before.iter().copied());
        let earlier = self.versions.iter().zip(&self.sizes);
        let earlier =
            earlier.filter_map(|(parts, sizes)| Some(parts.iter().zip(sizes.as_ref()?.iter().copied())));
        let known: Vec<(&Part, Tokens)> = now.chain(earlier.flatten()).collect();
        let size = |part: &Part| known.iter().find(|it| it.0.digest == part.digest).map(|it| it.1);
        self.versions[to].iter().map(|it| if it.characters == 0 { Some(0) } else { size(it) }).collect()
    }

    /// Returns the characters of a version's parts that have no size.
    fn characters(&self, to: usize, sizes: &[Option<Tokens>]) -> Vec<u64> {
        let parts = self.versions[to].iter().zip(sizes).filter(|it| it.1.is_none());
        parts.map(|it| it.0.characters).collect()
    }

    fn change(&mut self, [before, sizes]: [Vec<Tokens>; 2], to: usize) {
        self.sizes[self.now].get_or_insert(before);
        self.sizes[to] = Some(sizes);
        self.now = to;
    }

    /// Returns whether sizes of fronts may be off by so much.
    fn explain(&self, tokens: Tokens) -> bool {
        let largest = self.sizes.iter().flatten().map(|it| sum(it)).max();
        self.sizes.iter().flatten().count() > 1 && largest.is_some_and(|it| tokens <= it)
    }

    /// Returns the sizes of all versions, of which the first is at the front of all parts.
    fn sizes(&self, tokens: &[u32], counting: SizeAssumptions) -> Vec<Vec<u32>> {
        let version = |(nth, parts): (usize, &Vec<Part>)| {
            if nth == 0 {
                return tokens[..parts.len().min(tokens.len())].to_vec();
            }
            let estimates = || parts.iter().map(|it| counting.tokens(it.characters)).collect();
            let sizes: Vec<Tokens> = self.sizes[nth].clone().unwrap_or_else(estimates);
            sizes.into_iter().map(saturated).collect()
        };
        self.versions.iter().enumerate().map(version).collect()
    }
}

/// Splits a total: parts that were counted get what they take, the others share the rest; all share, when nothing fits.
fn divide(total: Tokens, parts: &[OpenPart]) -> Vec<Tokens> {
    let counted = counted(parts);
    let others: Vec<u64> =
        parts.iter().filter(|it| it.counted.is_none()).map(|part| part.characters).collect();
    match total.checked_sub(counted) {
        Some(rest) if !others.is_empty() => {
            let mut shares = apportion(rest, &others).into_iter();
            parts.iter().map(|it| it.counted.unwrap_or_else(|| shares.next().unwrap_or(0))).collect()
        }
        _ => {
            let weights: Vec<u64> = parts.iter().map(|it| it.counted.unwrap_or(0)).collect();
            apportion(total, &weights)
        }
    }
}

/// Returns what was counted of some parts.
fn counted(parts: &[OpenPart]) -> Tokens {
    parts.iter().fold(0, |sum: Tokens, it| sum.saturating_add(it.counted.unwrap_or(0)))
}

fn sum(tokens: &[Tokens]) -> Tokens {
    tokens.iter().fold(0, |sum: Tokens, it| sum.saturating_add(*it))
}

/// What is assumed of sizes that no recording says.
#[derive(Clone, Copy, Debug)]
pub(super) struct SizeAssumptions {
    /// Characters to the token of what has no recorded size.
    pub(super) chars_per_token: Decimal,
    /// Characters to the token of what the user types.
    pub(super) user_chars_per_token: Decimal,
    /// Whether the tokens of what the user types are those of the model that was billed, where they were counted.
    pub(super) counts_users: bool,
    /// Tokens of a user's message beside its text.
    pub(super) user_message_tokens: Tokens,
    /// Outputs of at most this many tokens are placeholders, not counts.
    pub(super) placeholder_output_tokens: Tokens,
    /// A prompt that shrinks by less than this share lost its end.
    pub(super) rewind_share_max: Decimal,
}

/// What a part of a user's message says.
#[derive(Clone, Copy, Debug)]
pub(super) struct UserText {
    pub(super) characters: u64,
    /// Its tokens, where they were counted.
    pub(super) tokens: Option<Tokens>,
}

impl SizeAssumptions {
    /// Returns what so many characters weigh.
    pub(super) fn tokens(&self, characters: u64) -> Tokens {
        tokens_of(characters, self.chars_per_token)
    }

    /// Returns what a user's message weighs, with what is after the prompt's last breakpoint: an estimate, unless all of it was counted.
    pub(super) fn user_tokens(&self, parts: &[UserText], tail: Tokens) -> Tokens {
        if parts.is_empty() {
            return 0;
        }
        let counted: Option<Tokens> = parts.iter().map(|it| it.tokens).sum();
        let of_text = counted.filter(|_| self.counts_users).unwrap_or_else(|| {
            let sum = parts.iter().fold(0, |sum: u64, it| sum.saturating_add(it.characters));
            tokens_of(sum, self.user_chars_per_token)
        });
        of_text.saturating_add(self.user_message_tokens).saturating_add(tail)
    }

    /// Returns whether a prompt that lost so much lost its end alone.
    fn is_rewind(&self, known: Tokens, lost: Tokens) -> bool {
        let fraction = (0..=18).find_map(|places| Some((self.rewind_share_max.scaled(places)?, places)));
        fraction.is_some_and(|(digits, places)| {
            u128::from(lost) * 10_u128.pow(places) < u128::from(known) * u128::from(digits)
        })
    }
}

/// Splits a total in proportion to weights, exactly; the largest remainders get what rounding leaves, of equals the first.
pub(super) fn apportion(total: Tokens, weights: &[u64]) -> Vec<Tokens> {
    let sum: u128 = weights.iter().map(|it| u128::from(*it)).sum();
    let equal = vec![1; weights.len()];
    let (weights, sum) = if sum == 0 { (equal.as_slice(), equal.len() as u128) } else { (weights, sum) };
    let products = weights.iter().map(|it| u128::from(*it) * u128::from(total));
    let mut shares = Vec::with_capacity(weights.len());
    let mut remainders = Vec::with_capacity(weights.len());
    for (index, product) in products.enumerate() {
        shares.push(saturated(product / sum));
        remainders.push((std::cmp::Reverse(product % sum), index));
    }
    remainders.sort_unstable();
    let placed = shares.iter().fold(0, |sum: Tokens, it| sum.saturating_add(*it));
    for (_, index) in remainders.iter().take(saturated(total.saturating_sub(placed))) {
        shares[*index] += 1;
    }
    shares
}

/// Returns what so many characters weigh, rounded up.
fn tokens_of(characters: u64, chars_per_token: Decimal) -> Tokens {
    let fraction = (0..=18).find_map(|places| Some((chars_per_token.scaled(places)?, places)));
    let Some((digits, places)) = fraction.filter(|(digits, _)| *digits > 0) else { return characters };
    saturated((u128::from(characters) * 10_u128.pow(places)).div_ceil(u128::from(digits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_is_exact_and_the_largest_remainders_get_the_rest() {
        assert_eq!(apportion(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(apportion(7, &[10, 0, 25]), [2, 0, 5]);
        assert_eq!(apportion(5, &[0, 0]), [3, 2], "parts without text share alike");
        assert_eq!(apportion(5, &[]), [0; 0]);
    }

    #[test]
    fn characters_become_tokens_by_the_exact_ratio_rounded_up() {
        let ratio = Decimal::parse("2.5").unwrap();

        assert_eq!(tokens_of(0, ratio), 0);
        assert_eq!(tokens_of(5, ratio), 2);
        assert_eq!(tokens_of(6, ratio), 3);
    }
}
