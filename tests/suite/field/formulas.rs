//! Break-even formulas, exact to the token: what append-only, masks, batches, compactions and a volatile line come to.
//!
//! Sizes are constant: `p0` tokens of tools and system prompt, `u` of the user's message, and per round a call of `c`, a
//! result of `v` and a marker of `m`; `g = c + v`, and the raw prompt of request k is `p(k) = p0 + u + k g`.

use super::*;

const P0: u64 = 6_000;
const U: u64 = 1_200;
const C: u64 = 160;
const V: u64 = 840;
const M: u64 = 12;
const G: u64 = C + V;
/// Tokens of the final answer.
const O: u64 = 200;

/// The raw prompt of a request, counted from 0.
fn p(k: u64) -> u64 {
    P0 + U + k * G
}

/// The sum of the raw prompts before a request.
fn sum_before(k: u64) -> u64 {
    (0..k).map(p).sum()
}

/// One turn of so many rounds; `tools` of the tokens in front stand in the tools.
fn session(rounds: u64, tools: u64) -> Timeline {
    let text = format!(
        "name = \"it\"\nabout = \"\"\n\
         stable = [{{ kind = \"tool_schema\", tokens = {tools} }}, {{ kind = \"system\", tokens = {} }}]\n\
         [[load.turns]]\nuser_tokens = {U}\nanswer_tokens = {O}\nrounds = {rounds}\nresponse_ms = 2_000\n\
         [[load.turns.calls]]\ntool = \"bash\"\nargs_tokens = {C}\nresult.raw = {V}\ngap_ms = 5_000\n",
        P0 - tools
    );
    let spec: ScenarioFile =
        Source::new("it.toml", Format::Toml, text).decode().unwrap_or_else(|it| panic!("{it}"));
    timeline(&spec)
}

/// A policy of one stage.
fn staged(stage: &str) -> Policy {
    let text = format!("(name: \"it\", about: \"it\", stages: [{stage}])");
    let file: PolicyFile =
        Source::new("it.ron", Format::Ron, text).decode().unwrap_or_else(|it| panic!("{it}"));
    Policy::new(&file).unwrap_or_else(|it| panic!("{it:#?}"))
}

/// A cache that reads every token that two prompts share, at these prices.
fn interval(input: f64, read: f64) -> Profile {
    let text = format!(
        "name = \"it\"\nabout = \"it\"\nas_of = \"2026-11-21\"\nsources = [\"test\"]\n\
         [cache.prefix_interval]\n[[prices]]\ninput = {input:?}\noutput = 5.0\ncache_read = {read:?}\n"
    );
    let file: ProfileFile =
        Source::new("it.toml", Format::Toml, text).decode().unwrap_or_else(|it| panic!("{it}"));
    let profile = Profile::new(&file).unwrap_or_else(|it| panic!("{it:#?}"));
    Profile { limits: Limits { prompt: u64::MAX, window: u64::MAX, output: u64::MAX }, ..profile }
}

/// Read, written or plain, of a request.
fn parts(row: &RequestRow) -> [u64; 2] {
    [row.usage.read, row.usage.write.iter().sum::<u64>() + row.usage.uncached]
}

/// What each of the agent's requests reads and pays in full.
fn requests(timeline: &Timeline, policy: &Policy, profile: &Profile) -> Vec<[u64; 2]> {
    let rows = play(timeline, policy, profile);
    rows.requests.iter().filter(|it| it.role == Role::Main).map(parts).collect()
}

/// What requests cost without their output, a read being worth `r` and what is paid in full `w`.
fn cost(parts: &[[u64; 2]], [r, w]: [u64; 2]) -> u64 {
    parts.iter().map(|[read, paid]| r * read + w * paid).sum()
}

#[test]
fn f1_append_only_reads_every_prompt_but_the_last_and_writes_the_last() {
    let (n, profile) = (64, profile("sonnet-5"));
    let rows = play(&session(n, 1_500), &policy("none"), &profile);

    let [read, paid] =
        rows.requests.iter().map(parts).fold([0; 2], |sum, it| [sum[0] + it[0], sum[1] + it[1]]);
    assert_eq!([read, paid], [sum_before(n), p(n)]);
    let output = n * C + O;
    let picodollars_due = 200_000 * sum_before(n) + 2_500_000 * p(n) + 10_000_000 * output;
    assert_eq!(picodollars(&rows, &profile), u128::from(picodollars_due));
}

#[test]
fn f2_past_the_transient_a_rolling_mask_reads_tools_and_system_alone() {
    let (rounds, n) = (64, 10);
    let masked = requests(&session(rounds, 1_500), &policy("mask"), &profile("sonnet-5"));

    // While an old entry is still within twenty positions, it is read.
    for k in n + 12..=rounds {
        assert_eq!(masked[k as usize], [P0, U + k * C + (k - n) * M + n * V], "request {k}");
    }
    let appended = requests(&session(rounds, 1_500), &policy("none"), &profile("sonnet-5"));
    let dearer = |k: usize| cost(&masked[k..=k], [8, 100]) > cost(&appended[k..=k], [8, 100]);
    assert!((n as usize + 12..=rounds as usize).all(dearer), "(c + m) / (c + v) is 0.172, above 0.08");
}

#[test]
fn f2_a_cache_of_intervals_reads_up_to_the_newest_mask() {
    let (rounds, n) = (64, 10);
    let masked = requests(&session(rounds, 1_500), &policy("mask"), &interval(1.0, 0.1));

    for k in n + 1..=rounds {
        let read = P0 + U + (k - n) * C + (k - n - 1) * M;
        assert_eq!(masked[k as usize], [read, M + n * G], "request {k}");
    }
}

#[test]
fn f2_masks_pay_from_the_request_on_that_the_inequality_names() {
    let n = 10;
    for (r, w, first, whole) in [(8, 100, 136, 260), (1, 10, 108, 205), (1, 2, 21, 31)] {
        let timeline = session(300, 1_500);
        let rules = interval(1.0, 0.1);
        let [masked, appended] = ["mask", "none"].map(|it| requests(&timeline, &policy(it), &rules));
        let at = |parts: &[[u64; 2]], k: u64| cost(&parts[k as usize..=k as usize], [r, w]);
        let until = |parts: &[[u64; 2]], k: u64| cost(&parts[..=k as usize], [r, w]);
        let saves = |k: u64| r * ((n - 1) * C + (k - 1) * V - (k - n - 1) * M) > w * (M + (n - 1) * G);

        let from = (n + 1..=300).find(|k| at(&masked, *k) < at(&appended, *k));
        assert_eq!((from, (n + 1..=300).find(|k| saves(*k))), (Some(first), Some(first)), "{r} of {w}");
        assert_eq!((n + 1..=300).find(|k| until(&masked, *k) < until(&appended, *k)), Some(whole));
    }
}

#[test]
fn f3_a_batch_pays_after_as_many_requests_as_what_is_rewritten_takes() {
    let (at, n_masked, rounds) = (30, 20, 70);
    let once = staged(
        "(name: \"once\", when: count(of: tool_uses, at_least: 30), \
         scope: (kinds: [tool_result], shown: [raw]), apply: show(marker(12)), until: taken(tool_uses(20)))",
    );
    let timeline = session(rounds, 1_500);
    let [edited, appended] = [&once, &policy("none")].map(|it| requests(&timeline, it, &profile("sonnet-5")));

    // The stage fires once more when thirty raw results have come together again, at twenty more.
    let until = at + n_masked - 1;
    let removed = n_masked * (V - M);
    // The edit is more than twenty positions in front of every mark: the entry that is hit ends with the system prompt.
    let rewritten = p(at - 1) - P0 - removed;
    let (r, w) = (8, 100);
    let extra = |k: u64| {
        let one = |it: &[[u64; 2]]| cost(&it[k as usize..=k as usize], [r, w]) as i128;
        one(&edited) - one(&appended)
    };
    assert_eq!(extra(at), i128::from((w - r) * rewritten) - i128::from(r * removed));
    for k in at + 1..=until {
        assert_eq!(extra(k), -i128::from(r * removed), "request {k}");
    }
    let pays_after = ((w - r) * rewritten).div_ceil(r * removed);
    let total = |m: u64| (at..at + m).map(extra).sum::<i128>();
    assert!(pays_after <= until - at + 1, "{pays_after}");
    assert!(total(pays_after - 1) > 0 && total(pays_after) <= 0, "{pays_after}");
}

#[test]
fn f4_a_compaction_pays_for_its_pass_by_what_later_requests_do_not_read() {
    let (s, i) = (1_100, 200);
    let timeline = session(140, 1_500);
    // A read, plain input, a write and output of the profile, in tenths of a dollar per million tokens.
    let [r, input, w, o] = [2, 20, 25, 100];
    let priced = |row: &RequestRow| {
        let it = row.usage;
        r * it.read
            + w * it.write[0]
            + input * it.uncached
            + if row.role == Role::Main { 0 } else { o * row.output }
    };
    let appended = play(&timeline, &policy("none"), &profile("sonnet-5"));
    for (name, break_even) in [("compact", 3), ("compact_separate", 12)] {
        let rows = play(&timeline, &policy(name), &profile("sonnet-5"));
        let k = rows.requests.iter().position(|it| it.role == Role::Summariser).unwrap() as u64;
        let k_usize = usize::try_from(k).unwrap();
        assert!(p(k) >= 80_000 && p(k - 1) < 80_000);
        let extra = |m: usize| -> i128 {
            let ours: u64 = rows.requests[k_usize..=k_usize + m].iter().map(priced).sum();
            let theirs: u64 = appended.requests[k_usize..k_usize + m].iter().map(priced).sum();
            i128::from(ours) - i128::from(theirs)
        };
        let aligned = input * i + (o + w) * s + r * P0;
        let separate = i128::from(input * (500 + p(k) - P0)) - i128::from(r * p(k - 1) + w * G);
        let pass = i128::from(aligned) + if name == "compact" { 0 } else { separate };
        let saved = i128::from(r * (p(k) - P0 - s));

        for m in 1..=20 {
            assert_eq!(extra(m), pass - (m as i128 - 1) * saved, "{name}, {m} requests");
        }
        assert_eq!((1..).find(|m| extra(*m) <= 0), Some(break_even), "{name}");
        assert!(
            (break_even as i128 - 1) * saved >= pass && (break_even as i128 - 2) * saved < pass,
            "{name}"
        );
    }
}

#[test]
fn f5_a_volatile_line_at_the_front_writes_every_prompt_anew() {
    // Tools below the minimum cannot be read either.
    let (n, profile) = (64, profile("sonnet-5"));
    let rows = play(&session(n, 1_000), &policy("volatile"), &profile);
    let all: u64 = sum_before(n + 1) + 25 * (n + 1);

    assert!(rows.requests.iter().all(|it| it.usage.read == 0 && it.usage.uncached == 0));
    let output = n * C + O;
    assert_eq!(picodollars(&rows, &profile), u128::from(2_500_000 * all + 10_000_000 * output));
    // Larger tools in front of the line are read by all requests but the first.
    let rows = play(&session(n, 1_500), &policy("volatile"), &profile);
    assert_eq!(rows.requests.iter().map(|it| it.usage.read).sum::<u64>(), n * 1_500);
}

#[test]
fn f6_without_a_cache_masks_save_a_triangle_of_results() {
    let (rounds, n) = (64, 10);
    let timeline = session(rounds, 1_500);
    let prompt = |name: &str| -> u64 {
        play(&timeline, &policy(name), &profile("sonnet-5-uncached"))
            .requests
            .iter()
            .map(|it| it.prompt)
            .sum()
    };

    assert_eq!(prompt("none"), sum_before(rounds + 1));
    assert_eq!(prompt("none") - prompt("mask"), (rounds - n) * (rounds - n + 1) / 2 * (V - M));
}
