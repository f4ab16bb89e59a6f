//! Own code driven by bytes: views and cache rules that answer anything, held against a naive count of what was sent.

use std::time::Duration;

use ctxsim::{
    BoxError, CacheRequest, CacheRules, CacheUse, CodePolicy, Comparison, Cx, Entry, ItemId, Kind, Lasts,
    ModelCall, Part, Profile, RequestRow, Role, Scenario, Sink, Text, View,
};

use crate::support::*;

/// Numbers drawn from bytes; behind the last byte all are 0.
#[derive(Clone, Debug)]
struct Choices(Vec<u8>, usize);

impl Choices {
    fn next(&mut self, below: u32) -> u32 {
        let byte = self.0.get(self.1).copied().unwrap_or(0);
        self.1 += 1;
        u32::from(byte) % below.max(1)
    }

    fn text(&mut self) -> Text {
        match self.next(8) {
            0 => "[cleared]".into(),
            1 => Text::sized(u64::MAX, 1),
            nth => Text::sized(u64::from(nth) * 100, u64::from(nth % 3)),
        }
    }

    fn id(&mut self, history: &[Entry<'_>]) -> ItemId {
        let at = self.next(u32::try_from(history.len()).unwrap() + 1) as usize;
        history.get(at).map_or(ItemId(9_999), |it| it.id)
    }
}

/// What a request showed, entry by entry: who says it and as which block, its size, its content.
type Shown = Vec<(Kind, u64, u64)>;

/// The kind as a provider is told it: a summary, a memory and an approval are the user's.
fn said_as(kind: Kind) -> Kind {
    match kind {
        Kind::Summary | Kind::Memory | Kind::Approval => Kind::User,
        kind => kind,
    }
}

/// A view that keeps the rules of views unless its bytes say otherwise, and notes what it answered.
struct Driven {
    choices: Choices,
    lasts: Lasts,
    breaks_rules: bool,
    sent: Arc<Mutex<Vec<Shown>>>,
    contents: Vec<u64>,
}

impl View for Driven {
    fn view(&mut self, cx: &Cx<'_>, history: &[Entry<'_>]) -> Result<Vec<Part>, BoxError> {
        let mut parts = Vec::new();
        let mut shown: Shown = Vec::new();
        let mut fates: Vec<(ItemId, u32)> = Vec::new();
        for entry in history {
            if entry.is_stable {
                shown.push((said_as(entry.kind), entry.tokens, self.content(entry)));
                continue;
            }
            // A result goes with its call.
            let fate = match entry.call {
                Some(call) => fates.iter().find(|it| it.0 == call).map_or(0, |it| it.1),
                None => self.choices.next(10),
            };
            fates.push((entry.id, fate));
            let may_insert = entry.kind == Kind::User;
            if may_insert && self.choices.next(4) == 0 {
                let (text, size) = self.sized();
                parts.push(Part::insert(Kind::User, text));
                shown.push((Kind::User, size.0, size.1));
            }
            match fate {
                0..=5 => {
                    parts.push(Part::keep(entry.id));
                    shown.push((said_as(entry.kind), entry.tokens, self.content(entry)));
                }
                6 | 7 => {
                    let (text, size) = self.sized();
                    parts.push(Part::rewrite(entry.id, text));
                    shown.push((said_as(entry.kind), size.0, size.1));
                }
                8 if entry.kind == Kind::User => {
                    let (text, size) = self.sized();
                    let part = Part::insert(Kind::Summary, text).replacing([entry.id]);
                    parts.push(part.written_by(ModelCall::new(cx.prompt_tokens, 100)));
                    shown.push((Kind::User, size.0, size.1));
                }
                _ => {}
            }
        }
        if self.breaks_rules {
            match self.choices.next(12) {
                0 => return Err("as the bytes say".into()),
                1 => panic!("as the bytes say"),
                2 => parts.push(Part::keep(self.choices.id(history))),
                3 => parts.push(Part::rewrite(self.choices.id(history), self.choices.text())),
                4 => {
                    let ids = [self.choices.id(history), self.choices.id(history)];
                    parts.push(Part::insert(Kind::Summary, self.choices.text()).replacing(ids));
                }
                5 => parts.push(Part::insert(Kind::ToolCall, "call")),
                6 => drop(parts.pop()),
                7 => parts.reverse(),
                8 => {
                    let call = ModelCall::new(u64::MAX, u64::MAX).sharing_prefix();
                    parts.push(Part::insert(Kind::Assistant, self.choices.text()).written_by(call));
                }
                _ => {}
            }
        }
        self.sent.lock().unwrap().push(shown);
        Ok(parts)
    }

    fn lasts(&self) -> Lasts {
        self.lasts
    }
}

impl Driven {
    fn sized(&mut self) -> (Text, (u64, u64)) {
        let (tokens, digest) =
            (u64::from(1 + self.choices.next(5) * 50), u64::from(self.choices.next(3)) + 1_000);
        (Text::sized(tokens, digest), (tokens, digest))
    }

    fn content(&self, entry: &Entry<'_>) -> u64 {
        self.contents[entry.id.0 as usize]
    }
}

/// What the requests of a run came to.
#[derive(Default)]
struct Seen(Vec<RequestRow>);

impl Sink for Seen {
    fn request(&mut self, row: &RequestRow) -> ControlFlow<()> {
        assert_eq!(row.cache_read + row.cache_write + row.uncached, row.prompt);
        self.0.push(*row);
        ControlFlow::Continue(())
    }
}

/// Builds a session from bytes; returns the content of each entry beside it.
fn session(choices: &mut Choices) -> (Scenario, Vec<u64>) {
    let mut contents = Vec::new();
    let mut text = |choices: &mut Choices| {
        let digest = u64::from(choices.next(6)) + 1;
        contents.push(digest);
        Text::sized(10 + u64::from(choices.next(40)) * 10, digest)
    };
    let mut builder = Scenario::builder("driven").stable(Kind::System, text(choices));
    for _ in 0..1 + choices.next(5) {
        let user = text(choices);
        let n_calls = choices.next(4);
        let calls: Vec<(Text, Text)> = (0..n_calls).map(|_| (text(choices), text(choices))).collect();
        let answer = text(choices);
        let pause = Duration::from_secs(u64::from(choices.next(3)) * 400);
        builder = builder.turn(user, |turn| {
            turn.pause(pause);
            for (arguments, result) in calls {
                turn.call("read", arguments, result);
            }
            turn.answer(answer);
        });
    }
    (builder.build().unwrap(), contents)
}

/// Plays a view that bytes drive; one that keeps the rules must be sent as it says, and be cached as a naive comparison finds.
pub(crate) fn view(bytes: &[u8], breaks_rules: bool) {
    let mut choices = Choices(bytes.to_vec(), 0);
    let (scenario, contents) = session(&mut choices);
    let lasts = if choices.next(2) == 0 { Lasts::History } else { Lasts::Request };
    let sent: Arc<Mutex<Vec<Shown>>> = Arc::default();
    let noted = Arc::clone(&sent);
    let code = CodePolicy::view("driven", move |_| Driven {
        choices: choices.clone(),
        lasts,
        breaks_rules,
        sent: Arc::clone(&noted),
        contents: contents.clone(),
    });
    let profile =
        Profile::builder("steps").price(1.0, 2.0).cache(CacheRules::prefixes(1, 1)).build().unwrap();
    let plan = Comparison::new().policy(code).scenario(scenario).profile(profile).threads(1).plan().unwrap();
    let played = plan.stream(|_| Seen::default());
    if breaks_rules {
        let said = played.err().map(|it| it.to_string()).unwrap_or_default();
        assert!(said.is_empty() || said.contains("driven failed on driven under steps, in turn "), "{said}");
        return;
    }
    let rows = played.unwrap().remove(0).1.0;
    let sent = sent.lock().unwrap();
    let own: Vec<&RequestRow> = rows.iter().filter(|it| it.role == Role::Main).collect();
    assert_eq!(own.len(), sent.len());
    for (nth, (row, shown)) in own.iter().zip(sent.iter()).enumerate() {
        assert_eq!(row.prompt, shown.iter().map(|it| it.1).sum::<u64>(), "request {nth}");
        let common = |other: &Shown| -> u64 {
            let same = shown.iter().zip(other).take_while(|(one, other)| one == other);
            same.map(|it| it.0.1).sum()
        };
        assert_eq!(row.cache_read, sent[..nth].iter().map(common).max().unwrap_or(0), "request {nth}");
    }
}

/// Plays a history that is kept whole, under a cache that divides prompts as bytes say.
pub(crate) fn cache(bytes: &[u8]) {
    let mut choices = Choices(bytes.to_vec(), 0);
    let (scenario, _) = session(&mut choices);
    let mut of_cache = choices.clone();
    let is_honest = of_cache.next(2) == 0;
    let code = CodePolicy::view("driven", |_| {
        |_: &Cx<'_>, history: &[Entry<'_>]| -> Result<Vec<Part>, BoxError> {
            Ok(history.iter().map(|it| Part::keep(it.id)).collect())
        }
    });
    let rules = CacheRules::custom(move || {
        let mut choices = of_cache.clone();
        move |request: &CacheRequest<'_>| -> Result<CacheUse, BoxError> {
            let known = request.prefixes().nth(choices.next(6) as usize).map_or(0, |it| it.tokens);
            match choices.next(8) {
                0 if !is_honest => Ok(request.reading(u64::MAX)),
                1 if !is_honest => Err("as the bytes say".into()),
                2 if !is_honest => panic!("as the bytes say"),
                _ => Ok(request.reading_and_writing(known, request.prompt_tokens() - known)),
            }
        }
    });
    let profile = Profile::builder("own").price(1.0, 2.0).cache(rules).build().unwrap();
    let plan = Comparison::new().policy(code).scenario(scenario).profile(profile).threads(1).plan().unwrap();
    let played = plan.stream(|_| Seen::default());
    if is_honest {
        played.unwrap();
    }
}
