//! A session as a memory sees it: its billed requests, what it fetched, and where that stood in the prompts. No words are kept.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::assumed::HistoryNumbers;
use ctxsim_base::quantity::{Tokens, ix};
use ctxsim_engine::ledger::TokenUse;
use ctxsim_input::policy::memory::SourceKind;
use ctxsim_timeline::tool_form::{Argument, ToolForm};
use ctxsim_timeline::{Capability, EventKind, ItemIx, Kind, NO_ITEM, StepIx, Timeline, Usage};

/// The longest text that is kept of what a source is called, in characters.
const LABEL_MAX: usize = 80;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectSession {
    /// What its recording is called.
    pub name: String,
    /// The session in whose place it counts: its own id, or that of the session whose agent started it.
    pub root: String,
    /// When its first request was sent, in milliseconds since 1970.
    pub began_ms: i64,
    /// The model that was billed for most of it.
    pub model: String,
    /// Tokens of tools and system prompt.
    pub stable: Tokens,
    /// Its requests, in order.
    pub requests: Vec<BilledRequest>,
    /// What it fetched, in order.
    pub fetches: Vec<Fetch>,
    /// The places that its own calls wrote, each with the step.
    pub written: Vec<(StepIx, u64)>,
    /// How often its harness compacted or reset the history.
    pub resets: u32,
    /// The memory files that its calls name, each with the most tokens that a result showed of it.
    pub memory_files: IndexMap<Arc<str>, Tokens>,
}

/// A request, as it was billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BilledRequest {
    /// When it was sent, in milliseconds since 1970.
    pub at_ms: i64,
    /// Its tokens; none where nothing was billed.
    pub tokens: Option<TokenUse>,
}

/// A fetch of a source, and what it observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The source: with its range, if it is a part of a file.
    pub source: u64,
    /// The source without a range.
    pub place: u64,
    /// What it is.
    pub kind: SourceKind,
    /// Its name, for readers.
    pub label: Arc<str>,
    /// The topic that it belongs to: the folder of a path, the first word of a command.
    pub topic: u64,
    /// A digest of its content.
    pub content: u64,
    /// Characters of its content.
    pub characters: u64,
    /// Tokens of the call.
    pub call: Tokens,
    /// Tokens of the result.
    pub result: Tokens,
    /// The request that asked for it.
    pub step: StepIx,
    /// Whether that request asked for nothing else, so that without it there would be one request less.
    pub is_alone: bool,
    /// Where call and result stood.
    pub spans: Vec<ItemSpan>,
}

/// Where an item stood in some requests, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemSpan {
    /// The first of them.
    pub first: StepIx,
    /// The first behind them.
    pub end: StepIx,
    /// The tokens in front of it.
    pub from: Tokens,
    /// The tokens in front of what is behind it.
    pub to: Tokens,
}

impl Fetch {
    pub fn tokens(&self) -> Tokens {
        self.call + self.result
    }

    /// Returns how a request of its session was billed for its tokens.
    pub fn billed(&self, step: StepIx, request: &BilledRequest) -> TokenUse {
        let Some(tokens) = &request.tokens else { return TokenUse::default() };
        let mut sum = TokenUse::default();
        for span in self.spans.iter().filter(|it| (it.first..it.end).contains(&step)) {
            sum += part(tokens, span.from, span.to);
        }
        if step == self.step {
            sum.output += self.call.min(tokens.output);
        }
        sum
    }

    /// Returns how sending the prompt once more was billed, if that was for this alone: what stood in front of it, other than some
    /// other fetches, as far as that was not written.
    pub fn sent_again<'f>(
        &self,
        request: &BilledRequest,
        others: impl Iterator<Item = &'f Self>,
    ) -> TokenUse {
        let (Some(tokens), true) = (&request.tokens, self.is_alone) else { return TokenUse::default() };
        let step = self.step + 1;
        let front = self.spans.iter().filter(|it| it.first == step).map(|span| span.from).min().unwrap_or(0);
        let spans = others
            .flat_map(|it| &it.spans)
            .filter(|span| (span.first..span.end).contains(&step) && span.to <= front);
        let all = part(tokens, 0, front);
        let sum = spans.fold(all, |left, it| left - part(tokens, it.from, it.to));
        TokenUse { write: [0; 2], ..sum }
    }

    /// Returns the requests that it is billed in.
    pub fn steps(&self, session: &ProjectSession) -> std::ops::Range<StepIx> {
        let end = self.spans.iter().map(|it| it.end).max().unwrap_or(0).max(self.step + 1);
        self.step..end.min(ix(session.requests.len()))
    }
}

/// Returns how the tokens between two positions of a prompt are billed: what is read comes first, then what is written, the longer
/// lifetime first, then the rest.
fn part(tokens: &TokenUse, from: Tokens, to: Tokens) -> TokenUse {
    let mut start = 0;
    let mut within = |size: Tokens| {
        let end = start + size;
        let both = to.min(end).saturating_sub(from.max(start));
        start = end;
        both
    };
    let (read, long, short) = (within(tokens.read), within(tokens.write[1]), within(tokens.write[0]));
    TokenUse { read, write: [short, long], uncached: within(tokens.uncached), output: 0 }
}

impl ProjectSession {
    /// Reads a session that is laid out, in the place of another if a sub-agent had it; its project's folder is cut off paths.
    pub fn read(timeline: &Timeline, root: &str, project: &str) -> Self {
        let (spine, began_ms) = (&timeline.spine, timeline.began_ms.unwrap_or_default());
        let usage = |nth: usize| timeline.recorded.as_ref()?.usage.get(nth).copied().flatten();
        let billed = |it: Usage| TokenUse {
            read: it.cache_read,
            write: it.writes(timeline.harness.ttl),
            uncached: it.uncached,
            output: it.output,
        };
        let requests = spine.steps.iter().enumerate().map(|(nth, step)| BilledRequest {
            at_ms: began_ms.saturating_add(step.at_ms),
            tokens: usage(nth).map(billed),
        });
        let mut session = Self {
            name: timeline.name.clone(),
            root: root.to_owned(),
            began_ms,
            model: timeline.main_model().map(|it| it.name.clone()).unwrap_or_default(),
            stable: timeline.stable_tokens(),
            requests: requests.collect(),
            resets: resets(timeline),
            ..Self::default()
        };
        let mut places: IndexMap<ItemIx, usize> = IndexMap::new();
        for (nth, step) in spine.steps.iter().enumerate() {
            let calls = || step.reply.clone().filter(|it| spine.items[*it as usize].kind == Kind::ToolCall);
            for call in calls() {
                session.take(timeline, call, (ix(nth), calls().count() == 1), project, &mut places);
            }
        }
        session.place(timeline, &places);
        session
    }

    /// Takes a call, if it fetches or writes a source.
    fn take(
        &mut self,
        timeline: &Timeline,
        call: ItemIx,
        (step, is_alone): (StepIx, bool),
        project: &str,
        places: &mut IndexMap<ItemIx, usize>,
    ) {
        let items = &timeline.spine.items;
        let (Some(form), Some(input)) = (timeline.texts.form(call), timeline.texts.of(call)) else { return };
        let asked = FetchCall::new(form, input, project);
        if matches!(form.capability, Capability::EditFile | Capability::WriteFile) {
            self.written.extend(asked.path.as_ref().map(|it| (step, xxh3_64(it.as_bytes()))));
        }
        let result = items[call as usize].pair;
        let (Some(source), true) = (asked.source(form.capability, input), result != NO_ITEM) else { return };
        let output = timeline.texts.of(result).unwrap_or_default();
        let content = form.answer(output, &asked.all).content;
        let tokens = |it: ItemIx| Tokens::from(items[it as usize].raw);
        if let Some(file) = asked.path.as_deref().filter(|it| is_memory_file(it)) {
            let most = self.memory_files.entry(file.into()).or_default();
            *most = tokens(result).max(*most);
        }
        places.insert(call, self.fetches.len());
        places.insert(result, self.fetches.len());
        self.fetches.push(Fetch {
            source: xxh3_64(source.name.as_bytes()),
            place: xxh3_64(source.place.as_bytes()),
            kind: source.kind,
            label: source.place.chars().take(LABEL_MAX).collect::<String>().into(),
            topic: xxh3_64(source.topic().as_bytes()),
            content: xxh3_64(content.as_bytes()),
            characters: content.chars().count() as u64,
            call: tokens(call),
            result: tokens(result),
            step,
            is_alone,
            spans: Vec::new(),
        });
    }

    /// Finds where the items of fetches stood in the prompts.
    fn place(&mut self, timeline: &Timeline, places: &IndexMap<ItemIx, usize>) {
        let spine = &timeline.spine;
        let mut shown: Vec<ItemIx> = (0..spine.n_stable).collect();
        let (mut next, mut events) = (spine.n_stable, timeline.events.iter().peekable());
        let mut open: IndexMap<ItemIx, ItemSpan> = IndexMap::new();
        for (nth, row) in spine.steps.iter().enumerate() {
            let step: StepIx = ix(nth);
            shown.extend(next..row.reply.start.max(next));
            next = next.max(row.reply.start);
            while let Some(event) = events.next_if(|it| spine.step_at(it.at) <= step) {
                if let EventKind::Reset(gone) = &event.kind {
                    shown.retain(|it| !gone.contains(it));
                }
            }
            let mut at = 0;
            for item in &shown {
                let (from, to) = (at, at + Tokens::from(spine.items[*item as usize].raw));
                at = to;
                let Some(fetch) = places.get(item) else { continue };
                let now = ItemSpan { first: step, end: step + 1, from, to };
                match open.get_mut(item) {
                    Some(span) if (span.end, span.from, span.to) == (step, from, to) => span.end = step + 1,
                    Some(span) => self.fetches[*fetch].spans.push(std::mem::replace(span, now)),
                    None => drop(open.insert(*item, now)),
                }
            }
        }
        for (item, span) in open {
            self.fetches[places[&item]].spans.push(span);
        }
    }
}

/// Counts the requests before which a harness took something out of the history.
fn resets(timeline: &Timeline) -> u32 {
    let gone = timeline.events.iter().filter(|it| matches!(it.kind, EventKind::Reset(_)));
    let mut steps: Vec<StepIx> = gone.map(|it| timeline.spine.step_at(it.at)).collect();
    steps.dedup();
    ix(steps.len())
}

/// Returns whether a file is one that harnesses put into every prompt, or their memory.
fn is_memory_file(path: &str) -> bool {
    let name = Path::new(path).file_name().and_then(|it| it.to_str()).unwrap_or_default();
    ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "QWEN.md", "MEMORY.md"].contains(&name)
        || path.contains("/.claude/") && path.contains("/memory/")
}

/// What a call asks for.
struct FetchCall {
    all: Vec<(Argument, Value)>,
    path: Option<String>,
}

/// A source in its canonical form.
struct CanonicalSource {
    kind: SourceKind,
    /// All that tells it from others.
    name: String,
    /// The same without a range.
    place: String,
}

impl FetchCall {
    fn new(form: &ToolForm, input: &str, project: &str) -> Self {
        let all = form.asked(input);
        let path = all.iter().find(|it| it.0 == Argument::Path).and_then(|found| found.1.as_str());
        let path = path.map(|it| canonical(it, project));
        Self { all, path }
    }

    fn text(&self, argument: Argument) -> Option<&str> {
        self.all
            .iter()
            .find(|it| it.0 == argument)
            .and_then(|found| found.1.as_str())
            .filter(|text| !text.is_empty())
    }

    /// Returns what a call of a capability fetches, if it fetches anything.
    fn source(&self, capability: Capability, input: &str) -> Option<CanonicalSource> {
        let of = |kind, name: String| Some(CanonicalSource { kind, place: name.clone(), name });
        match capability {
            Capability::ReadFile => {
                let place = self.path.clone()?;
                let range = |it| self.all.iter().find(|one| one.0 == it).map(|found| found.1.to_string());
                let ranges = [Argument::Offset, Argument::Limit].map(range);
                let name = format!(
                    "{place}#{}+{}",
                    ranges[0].as_deref().unwrap_or(""),
                    ranges[1].as_deref().unwrap_or("")
                );
                Some(CanonicalSource { kind: SourceKind::File, name, place })
            }
            // Objects are sorted by name, however they were written.
            Capability::Search | Capability::ListFiles => {
                of(SourceKind::Search, serde_json::from_str::<Value>(input).ok()?.to_string())
            }
            Capability::ProcessStart => {
                let line = self.text(Argument::Command)?;
                let looks = HistoryNumbers::declared().commands.look(line);
                let kind = if looks { SourceKind::Lookup } else { SourceKind::Action };
                of(kind, line.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            Capability::WebSearch => of(SourceKind::Page, self.text(Argument::Query)?.trim().to_owned()),
            Capability::WebFetch => {
                let url = self.text(Argument::Url)?.split('#').next().unwrap_or_default();
                of(SourceKind::Page, url.trim_end_matches('/').to_owned())
            }
            _ => None,
        }
    }
}

impl CanonicalSource {
    /// Returns what it is filed under.
    fn topic(&self) -> &str {
        match self.kind {
            SourceKind::File => self.place.rsplit_once('/').map_or("", |it| it.0),
            _ => self.place.split_whitespace().next().unwrap_or_default(),
        }
    }
}

/// Returns a path from its project's folder on, a worktree's as that of the checkout.
fn canonical(path: &str, project: &str) -> String {
    let mut plain = path.replace('\\', "/");
    for marker in ["/.claude/worktrees/", "/.worktrees/", "/.git/worktrees/"] {
        if let Some(at) = plain.find(marker) {
            let rest = &plain[at + marker.len()..];
            let inner = rest.find('/').map_or("", |it| &rest[it..]);
            plain = format!("{}{inner}", &plain[..at]);
        }
    }
    let own = plain.strip_prefix(project).filter(|it| it.starts_with('/') && !project.is_empty());
    own.map_or(plain.strip_prefix("./").unwrap_or(&plain), |it| it.trim_start_matches('/')).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_same_from_a_checkout_and_from_its_worktrees() {
        for path in ["/w/cli/src/a.rs", "/w/cli/.worktrees/2/src/a.rs", "src/a.rs", "./src/a.rs"] {
            assert_eq!(canonical(path, "/w/cli"), "src/a.rs", "{path}");
        }
        assert_eq!(canonical("/w/client/a.rs", "/w/cli"), "/w/client/a.rs");
    }

    #[test]
    fn a_part_of_a_prompt_is_billed_as_what_it_lies_in() {
        let tokens = TokenUse { read: 100, write: [10, 20], uncached: 5, output: 7 };

        assert_eq!(part(&tokens, 90, 125), TokenUse { read: 10, write: [5, 20], uncached: 0, output: 0 });
        assert_eq!(part(&tokens, 0, 1_000), TokenUse { output: 0, ..tokens });
    }
}
