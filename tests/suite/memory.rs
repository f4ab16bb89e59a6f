//! What memory recalls across sessions, where it stands, what that costs, and what its calls are.

use std::cell::RefCell;
use std::rc::Rc;

use ctxsim::input::policy::memory::State;
use ctxsim::ledger::{CallRow, Loss, MemoryKind, MemorySums, NeedRow, Outcome, ProbeRow, Sink};
use ctxsim::memory::{MemoryView, PolicyMemory, Recalled};
use ctxsim::quantity::Cost;
use ctxsim::timeline::facts::{FactForm, Plant};
use ctxsim::timeline::{Kind, Lifecycle, TurnIx};

use crate::support::*;

/// The rows and what else a run tells.
#[derive(Default)]
struct Told {
    rows: Rows,
    sums: Sums,
    /// Of each row of calls: the turn, what for, the service, how many, how many tokens.
    calls: Vec<(TurnIx, MemoryKind, String, u64, u64)>,
}

impl Sink for Told {
    fn request(&mut self, row: &RequestRow) {
        self.rows.request(row);
        self.sums.request(row);
    }

    fn need(&mut self, row: &NeedRow) {
        self.rows.need(row);
    }

    fn probe(&mut self, row: &ProbeRow) {
        self.rows.probe(row);
    }

    fn memory(&mut self, row: &CallRow) {
        self.calls.push((row.turn_ix, row.kind, row.service.clone(), row.calls, row.tokens));
        self.sums.memory(row);
    }
}

impl Told {
    /// Of all requests: tokens read, written, and neither.
    fn parts(&self) -> [u64; 3] {
        let main = &self.sums.main;
        [main.tokens.read, main.tokens.write[0] + main.tokens.write[1], main.tokens.uncached]
    }

    /// How the one fact that is asked stands, whether that answers, and what lost it.
    fn answer(&self) -> (State, bool, Option<Loss>) {
        let [probe] = self.rows.probes.as_slice() else { panic!("{:?}", self.rows.probes) };
        (probe.state, probe.is_found, probe.loss)
    }
}

/// Nine sessions, a minute from one to the next. The user says where the server listens in the first, that it moved in the
/// fifth, and is asked in the ninth. `before_last` happens to the memory between the last two sessions.
fn nine_sessions(before_last: Option<Lifecycle>) -> Timeline {
    let mut timeline = TimelineBuilder::new("nine sessions", &[]);
    timeline.stable(Kind::System, 2_000);
    for session in 1..=9 {
        if session > 1 {
            timeline.begin_session(&session.to_string(), None);
        }
        if session == 9
            && let Some(event) = before_last
        {
            timeline.lifecycle(event);
        }
        timeline.begin_turn(&[NewItem::plain(Kind::User, 100)]);
        match session {
            1 | 5 => timeline.plant("port", FactForm::Explicit, 0),
            9 => timeline.ask("port"),
            _ => {}
        }
        let at_ms = session * 60_000;
        let result =
            NewItem { kind: Kind::ToolResult, sizes: ItemSizes::whole(200), ..NewItem::call("ls", 0) };
        timeline.step(at_ms, 10, &[NewItem::call("ls", 10)], &[result]);
        timeline.step(at_ms + 10_000, 20, &[NewItem::plain(Kind::Assistant, 20)], &[]);
    }
    timeline.finish()
}

/// A policy that writes every fact into notes of 1,000 tokens each, which stand at a place.
fn notes(place: &str, more: &str) -> Policy {
    let text = format!(
        r#"(name: "notes", about: "Notes.", stages: [], layout: (memory: {place}), memory: facts(
            write: (extract: [(p: 1.0)]), store: entries(tokens_per_fact: 1000), read: all, {more}))"#
    );
    policy_from(&text)
}

fn bare(place: &str) -> Policy {
    let text = format!(r#"(name: "bare", about: "Nothing.", stages: [], layout: (memory: {place}))"#);
    policy_from(&text)
}

fn sonnet() -> Profile {
    let text = include_str!("../../profiles/anthropic/claude-sonnet-4.5.toml");
    profile_from(text)
}

fn play(timeline: &Timeline, policy: &Policy) -> Told {
    let (mut told, profile) = (Told::default(), sonnet());
    Simulation::new(timeline, policy, &profile.limits, &profile.cache).run(&mut told);
    told
}

/// What the agent's requests cost, in US dollars, what the model writes excluded.
fn input_usd(told: &Told) -> f64 {
    let [read, written, uncached] = told.parts();
    (read as f64 * 0.3 + written as f64 * 3.75 + uncached as f64 * 3.0) / 1_000_000.0
}

/// The prompt is 1,000 of notes, 2,000 of the system prompt, 100 of the user, then 10 of a call and 200 of its result.
/// The first and the fifth session change the notes: they write all 3,100, then read them and write 210 more. The seven
/// others read the 3,000 that end with the system prompt and write 100, then read 3,100 and write 210.
#[test]
fn notes_at_the_head_are_read_from_the_cache_until_they_change() {
    let told = play(&nine_sessions(None), &notes("head", ""));

    assert_eq!(told.parts(), [2 * 3_100 + 7 * (3_000 + 3_100), 2 * (3_100 + 210) + 7 * (100 + 210), 0]);
    assert_eq!(told.parts(), [48_900, 8_790, 0]);
    assert!((input_usd(&told) - 0.047_632_5).abs() < 1e-12);
    let changed = told.rows.requests.iter().filter(|it| it.change.first_slot == Some(0)).map(|it| it.step);
    assert_eq!(changed.collect::<Vec<_>>(), [0, 8]);
}

/// Nothing ends with the notes, which stand with the user's message: each session reads the system prompt's 2,000 and writes
/// 1,100, whether the notes have changed or not.
#[test]
fn notes_behind_the_system_prompt_leave_it_in_the_cache_when_they_change() {
    let told = play(&nine_sessions(None), &notes("behind_system", ""));

    assert_eq!(told.parts(), [3_100 + 8 * (2_000 + 3_100), 3_310 + 8 * (1_100 + 210), 0]);
}

/// The cache knows 2,000 of the system prompt, 100 and 210 of each session; 1,000 of notes go with all 18 requests, uncached.
#[test]
fn notes_at_the_tail_are_never_cached_and_break_nothing() {
    let told = play(&nine_sessions(None), &notes("tail", ""));

    assert_eq!(told.parts(), [2_100 + 8 * (2_000 + 2_100), 2_310 + 8 * (100 + 210), 18 * 1_000]);
    assert_eq!(told.parts(), [34_900, 4_790, 18_000]);
    assert!((input_usd(&told) - 0.082_432_5).abs() < 1e-12);
}

#[test]
fn notes_are_sent_wherever_they_stand() {
    let prompts = |place: &str| {
        let told = play(&nine_sessions(None), &notes(place, ""));
        told.rows.requests.iter().map(|it| it.prompt).collect::<Vec<_>>()
    };

    assert_eq!(prompts("head"), [3_100, 3_310].repeat(9));
    assert_eq!(prompts("behind_system"), prompts("head"));
    assert_eq!(prompts("tail"), prompts("head"));
}

#[test]
fn what_a_session_says_is_lost_in_the_next_without_a_memory() {
    let told = play(&nine_sessions(None), &bare("head"));

    assert_eq!(told.answer(), (State::Lost, false, Some(Loss::Write)));
    assert_eq!(told.rows.requests[0].prompt, 2_100, "no slot is reserved");
}

#[test]
fn what_happens_to_the_memory_between_sessions_decides_what_it_answers_after_them() {
    let after = |event| {
        let told = play(&nine_sessions(event), &notes("head", ""));
        (told.answer(), told.rows.requests[16].prompt)
    };
    let known = ((State::Summarised, true, None), 3_100);
    let lost = ((State::Lost, false, Some(Loss::Store)), 2_100);

    assert_eq!(after(None), known);
    assert_eq!(after(Some(Lifecycle::Reset { keep: 1 })), known);
    assert_eq!(after(Some(Lifecycle::Budget { entries: 1 })), known);
    assert_eq!(after(Some(Lifecycle::Flush)), lost);
    assert_eq!(after(Some(Lifecycle::Reset { keep: 0 })), lost);
    assert_eq!(after(Some(Lifecycle::Budget { entries: 0 })), lost);
}

#[test]
fn calls_to_a_service_are_rows_and_a_file_makes_none() {
    let (write, read) = (MemoryKind::Write, MemoryKind::Read);
    let row = |turn_ix, kind| (turn_ix, kind, "vault".to_owned(), 1, 1_000);
    let all = [row(0, write), row(0, read), row(4, write), row(4, read)];

    assert_eq!(play(&nine_sessions(None), &notes("head", "service: \"vault\"")).calls, all);
    assert_eq!(play(&nine_sessions(None), &notes("tail", "service: \"vault\"")).calls, all);
    assert_eq!(play(&nine_sessions(None), &notes("head", "")).calls, []);
}

#[test]
fn calls_to_a_service_have_their_price_and_their_time_after_the_ledger() {
    let timeline = nine_sessions(None);
    let told = play(&timeline, &notes("head", "service: \"vault\""));
    let mut profile = sonnet();
    let tally = |profile: &Profile| Tally::new(&told.sums, None, &Outcome::default(), false, profile);
    let free = tally(&profile);
    profile.assumptions.memory_call = Cost::from_usd(Decimal::parse("0.002").unwrap()).unwrap();
    profile.assumptions.memory_latency_ms = 250.0;
    let priced = tally(&profile);

    let memory = MemorySums { writes: 2, write_tokens: 2_000, reads: 2, read_tokens: 2_000, waits: 0 };
    assert_eq!(priced.sums.memory, memory);
    assert!((priced.costs.total().unwrap() - free.costs.total().unwrap() - 4.0 * 0.002).abs() < 1e-12);
    assert!((priced.latency_ms - free.latency_ms - 4.0 * 250.0).abs() < 1e-9);
}

/// A memory in code: a diary, which has a page for each session behind it and can tell all that they said.
#[derive(Default)]
struct Diary {
    n_pages: u32,
    n_seen: u32,
    calls: Vec<CallRow>,
    /// What it was told of, in order.
    heard: Rc<RefCell<Vec<String>>>,
}

impl PolicyMemory for Diary {
    fn recall(&mut self) -> Option<Recalled> {
        let tokens = 50 * self.n_pages;
        (tokens > 0).then_some(Recalled { tokens, digest: tokens.into() })
    }

    fn observe(&mut self, view: &dyn MemoryView) {
        self.n_seen = view.n_items();
    }

    fn turn_end(&mut self, turn: TurnIx) {
        self.heard.borrow_mut().push(format!("turn {turn}"));
    }

    fn session_end(&mut self, session: usize) {
        self.heard.borrow_mut().push(format!("session {session} of {} items", self.n_seen));
        self.n_pages += 1;
        let service = "diary".to_owned();
        self.calls.push(CallRow { turn_ix: 0, kind: MemoryKind::Write, service, calls: 1, tokens: 50 });
    }

    fn event(&mut self, event: Lifecycle) {
        self.heard.borrow_mut().push(format!("{event:?}"));
        self.n_pages = 0;
    }

    fn answer(&mut self, _: &Plant) -> (State, Option<Loss>) {
        if self.n_pages > 0 { (State::Summarised, None) } else { (State::Lost, Some(Loss::Store)) }
    }

    fn take_calls(&mut self) -> Vec<CallRow> {
        std::mem::take(&mut self.calls)
    }
}

fn play_diary(event: Option<Lifecycle>) -> (Told, Vec<String>) {
    let (mut told, profile) = (Told::default(), sonnet());
    let (diary, timeline) = (Diary::default(), nine_sessions(event));
    let heard = diary.heard.clone();
    let policy = bare("head");
    let play = Simulation::new(&timeline, &policy, &profile.limits, &profile.cache);
    play.with_memory(Box::new(diary)).run(&mut told);
    let heard = heard.borrow().clone();
    (told, heard)
}

#[test]
fn a_memory_in_code_is_told_what_happens_and_recalls_what_it_likes() {
    let (told, heard) = play_diary(None);

    let firsts: Vec<u64> = told.rows.requests.iter().step_by(2).map(|it| it.prompt).collect();
    assert_eq!(firsts, [2_100, 2_150, 2_200, 2_250, 2_300, 2_350, 2_400, 2_450, 2_500]);
    assert_eq!(heard[..4], ["turn 0", "session 0 of 5 items", "turn 1", "session 1 of 9 items"]);
    assert_eq!(told.answer(), (State::Summarised, true, None));
    assert_eq!(told.calls.len(), 9);
    assert_eq!(told.calls[8], (8, MemoryKind::Write, "diary".to_owned(), 1, 50));
}

#[test]
fn a_memory_in_code_can_be_flushed() {
    let (told, heard) = play_diary(Some(Lifecycle::Flush));

    assert_eq!(told.rows.requests[16].prompt, 2_100);
    assert_eq!(told.answer(), (State::Lost, false, Some(Loss::Store)));
    assert_eq!(heard[16], "Flush");
}
