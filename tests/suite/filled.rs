//! What fills the prompts of recorded sessions and what missed the cache, worked out by hand from their bills.

use ctxsim::input::profile::price::Prices;
use ctxsim::measure::carried::{carried_items, each_prompt};
use ctxsim::measure::missed::MissCause;
use ctxsim::report::filled::{BilledMiss, PromptContents};
use ctxsim::timeline::{Event, Phase, When};
use proptest::prelude::*;

use crate::support::*;

/// Minute, model, tokens that were read and written, of a request of Claude Code with entries of five minutes.
const REQUESTS: [(u32, &str, u64, u64); 6] = [
    (0, "claude-opus-4-5-20251101", 0, 21_000),
    (1, "claude-opus-4-5-20251101", 21_000, 200),
    // Ten minutes later nothing is left: 21,200 tokens are written again, and 300 are new.
    (11, "claude-opus-4-5-20251101", 0, 21_500),
    // Most of it is not read a minute later, and the log does not say why.
    (12, "claude-opus-4-5-20251101", 5_000, 16_600),
    // Half an hour.
    (42, "claude-opus-4-5-20251101", 15_000, 6_700),
    (43, "claude-opus-4-5-20251101", 21_700, 100),
];

/// US dollars per token of Claude Opus 4.5.
const INPUT: f64 = 5.0e-6;

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut text = String::new();
    let mut parent = "null".to_owned();
    for (nth, (minute, model, read, written)) in REQUESTS.iter().enumerate() {
        let mut line = |kind: &str, second: u32, message: &str| {
            let uuid = format!("{kind}{nth}");
            text += &format!(
                "{{\"type\":\"{kind}\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\"cwd\":\"/home/ann/cli\",\"isSidechain\":false,\"timestamp\":\"2026-03-01T10:{minute:02}:{second:02}.000Z\",\"version\":\"2.1.30\",\"message\":{message}}}\n"
            );
            parent = format!("\"{uuid}\"");
        };
        line("user", 0, r#"{"role":"user","content":"Go on."}"#);
        let usage = format!(
            r#"{{"input_tokens":0,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{written},"output_tokens":40,"cache_creation":{{"ephemeral_5m_input_tokens":{written},"ephemeral_1h_input_tokens":0}}}}"#
        );
        line(
            "assistant",
            5,
            &format!(
                r#"{{"id":"m{nth}","role":"assistant","model":"{model}","content":[{{"type":"text","text":"Done {nth}."}}],"usage":{usage}}}"#
            ),
        );
    }
    fs::write(folder.path().join("s.jsonl"), text).unwrap();
    folder
}

fn filled(folder: &TempDir) -> PromptContents {
    let comparison = Comparison {
        own_models: true,
        alone: true,
        ..comparing(&["identity"], &[&folder.path().display().to_string()], &[])
    };
    let report = reported(&comparison);
    report.sessions[0].filled.clone().unwrap()
}

#[test]
fn what_fills_the_prompts_adds_up_to_the_billed_input() {
    let filled = filled(&folder());

    let own: f64 = filled.by_tool.iter().map(|it| it.entered_usd + it.carried_usd).sum();
    let billed: f64 =
        REQUESTS.iter().map(|(_, _, read, written)| *read as f64 * 0.1 + *written as f64 * 1.25).sum();
    assert!((own - billed * INPUT).abs() < 1e-9, "{own} {}", billed * INPUT);
}

/// What the items of a session cost, looked at one by one in each prompt: how often each was sent again, what it cost at first, and later.
fn one_by_one(timeline: &Timeline, prices: &Prices) -> Vec<(u32, u32, f64, f64)> {
    let mut all: IndexMap<u32, (u32, f64, f64)> = IndexMap::new();
    let rates = prices.usual();
    each_prompt(timeline, |prompt| {
        let usage = prompt.usage;
        let written: f64 = usage
            .writes(timeline.harness.ttl)
            .into_iter()
            .enumerate()
            .map(|(class, tokens)| tokens as f64 * rates.write(class).unwrap_or(rates.input).usd())
            .sum();
        let write =
            if usage.cache_write > 0 { written / usage.cache_write as f64 } else { rates.input.usd() };
        let ends = [usage.cache_read, usage.cache_read + usage.cache_write, usage.prompt];
        let parts = ends.into_iter().zip([rates.read().usd(), write, rates.input.usd()]);
        let mut from = 0;
        for item in prompt.items {
            let to = from + u64::from(timeline.spine.items[*item as usize].raw);
            let (mut start, mut cost) = (0, 0.0);
            for (end, rate) in parts.clone() {
                cost += to.min(end).saturating_sub(from.max(start)) as f64 * rate;
                start = end;
            }
            match all.get_mut(item) {
                Some((resent, _, later)) => (*resent, *later) = (*resent + 1, *later + cost),
                None => _ = all.insert(*item, (0, cost, 0.0)),
            }
            from = to;
        }
    });
    all.sort_unstable_keys();
    all.into_iter().map(|(item, (resent, first, later))| (item, resent, first, later)).collect()
}

#[test]
fn what_carrying_costs_is_what_each_item_costs_in_each_prompt_whatever_leaves_it() {
    let catalog = bundled_catalog();
    let profile = Profile::new(&catalog.profile("anthropic/claude-opus-4.5").unwrap().spec).unwrap();
    let text = fs::read_to_string("scenarios/recorded/claude-code-session.jsonl").unwrap();
    let timeline = import(&text, "s", &Assume::default(), &[]).unwrap().timeline;
    let n_steps = u32::try_from(timeline.spine.steps.len()).unwrap();
    let n_items = u32::try_from(timeline.spine.items.len()).unwrap();
    let gone = (0..n_steps, 0..n_items, 1..40_u32);
    let cases = prop::collection::vec(gone, 0..6);
    crate::laws::hold(1, cases, |mut cases| {
        let mut timeline = timeline.clone();
        cases.sort_unstable();
        timeline.events = cases
            .iter()
            .map(|(step, from, n)| {
                let turn_ix =
                    timeline.spine.items[timeline.spine.steps[*step as usize].reply.start as usize].turn_ix;
                let at = When { turn_ix, phase: Phase::Request(*step) };
                Event { at, kind: EventKind::Reset(*from..(from + n).min(n_items)) }
            })
            .collect();

        let all = carried_items(&timeline, &profile.prices);

        let plain = one_by_one(&timeline, &profile.prices);
        prop_assert_eq!(all.len(), plain.len());
        for (one, (item, resent, first, later)) in all.iter().zip(plain) {
            prop_assert_eq!((one.item, one.resent), (item, resent));
            prop_assert!((one.entered_usd - first).abs() < 1e-12, "{one:?} {first}");
            prop_assert!((one.carried_usd - later).abs() < 1e-9 * later.max(1e-3), "{one:?} {later}");
        }
        Ok(())
    });
}

#[test]
fn each_miss_has_its_tokens_its_cause_and_what_it_cost_beyond_a_read() {
    let filled = filled(&folder());

    let [began, paused, untold, long]: [BilledMiss; 4] = filled.missed.try_into().unwrap();
    let of = |miss: BilledMiss, request, cause, tokens: u64| {
        assert_eq!((miss.request, miss.cause, miss.tokens), (request, cause, tokens));
        assert!((miss.usd - tokens as f64 * (1.25 - 0.1) * INPUT).abs() < 1e-9, "{miss:?}");
    };
    assert_eq!((began.request, began.cause), (1, MissCause::Began));
    of(paused, 3, MissCause::Paused, 21_200);
    of(untold, 4, MissCause::Untold, 21_500 - 5_000);
    of(long, 5, MissCause::Paused, 21_600 - 15_000);
}

#[test]
fn a_memory_file_costs_a_read_in_each_request_and_a_write_where_nothing_was_read() {
    let writes = REQUESTS.iter().filter(|it| it.2 == 0).count() as f64;
    let reads = REQUESTS.len() as f64 - writes;

    let front = filled(&folder()).front_usd;

    assert!((front - 1_000.0 * INPUT * (writes * 1.25 + reads * 0.1)).abs() < 1e-12, "{front}");
}

#[test]
fn the_first_report_shows_both_and_its_commands_work() {
    let folder = folder();
    let run = |args: &[String]| out(&ctxsim(root(), args));
    let path = folder.path().display().to_string();

    let text = run(&[
        "run".to_owned(),
        path.clone(),
        "--details".to_owned(),
        "--width".to_owned(),
        "400".to_owned(),
    ]);

    assert!(text.contains("What fills the prompts") && text.contains("a pause outlived the cache"), "{text}");
    assert!(text.contains("Each 1,000 tokens at the front of the prompts"), "{text}");
    let look = text.lines().find_map(|it| it.strip_prefix("The most expensive miss: ctxsim ")).unwrap();
    let words: Vec<String> = look.split(' ').map(str::to_owned).collect();
    assert!(run(&words).contains("21.5k") || run(&words).contains("21,500"), "{}", run(&words));
    // Another report on the same sessions, and one that names none, do not repeat it.
    assert!(!run(&[path, "--policy".to_owned(), "identity".to_owned()]).contains("What fills"));
    assert!(!run(&["run".to_owned()]).contains("ctxsim advise"));
}
