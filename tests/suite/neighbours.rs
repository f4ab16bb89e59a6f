//! What sessions of one folder tell of each other's caches, against tables that were worked out by hand.

use ctxsim::timeline::own::SeenCases;
use ctxsim::timeline::shared::Chance;

use crate::support::*;

/// A Claude Code session: when each request was asked, and what was billed for it.
#[derive(Clone, Copy)]
struct Session {
    id: &'static str,
    /// The sub-agent whose session it is, if it is one's.
    agent: &'static str,
    folder: &'static str,
    version: &'static str,
    /// Whether entries are asked to live for an hour.
    is_long: bool,
    /// By request: the minute of the day, and what was read and written.
    requests: &'static [(u32, u64, u64)],
}

impl Session {
    /// Writes it: each request begins a turn, and is answered five seconds later.
    fn text(&self) -> String {
        let mut text = String::new();
        let mut parent = "null".to_owned();
        for (nth, (minute, read, written)) in self.requests.iter().enumerate() {
            let mut line = |kind: &str, second: u32, message: &str| {
                let uuid = format!("{kind}{}{nth}", self.agent);
                let _ = writeln!(
                    text,
                    r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"{}","cwd":"{}","agentId":"{}","isSidechain":{},"timestamp":"2026-02-01T{:02}:{:02}:{second:02}.000Z","version":"{}","message":{message}}}"#,
                    self.id,
                    self.folder,
                    self.agent,
                    !self.agent.is_empty(),
                    minute / 60,
                    minute % 60,
                    self.version
                );
                parent = format!("\"{uuid}\"");
            };
            line("user", 0, r#"{"role":"user","content":"Go on."}"#);
            let [short, long] = if self.is_long { [0, *written] } else { [*written, 0] };
            let usage = format!(
                r#"{{"input_tokens":3,"cache_read_input_tokens":{read},"cache_creation_input_tokens":{written},"output_tokens":40,"cache_creation":{{"ephemeral_5m_input_tokens":{short},"ephemeral_1h_input_tokens":{long}}}}}"#
            );
            let message = format!(
                r#"{{"id":"m{}{nth}","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"text","text":"Done {nth}."}}],"usage":{usage}}}"#,
                self.agent
            );
            line("assistant", 5, &message);
        }
        text
    }
}

/// A session of ann's under entries of an hour.
const ANN: Session =
    Session { id: "a", agent: "", folder: "/Users/ann/cli", version: "2.1.30", is_long: true, requests: &[] };

/// Sessions of two users and two versions within a day.
const DAY: [Session; 6] = [
    // What it reads first shows the size of tools and system prompt: 15,000.
    Session { requests: &[(600, 15_000, 6_000), (601, 21_000, 200)], ..ANN },
    Session {
        id: "b",
        folder: "/Users/ann/web/.worktrees/2",
        requests: &[(620, 0, 21_500), (800, 15_000, 7_000)],
        ..ANN
    },
    Session { id: "c", requests: &[(780, 0, 21_000), (781, 21_000, 100)], ..ANN },
    Session { id: "d", folder: "/home/bob/cli", requests: &[(605, 0, 21_000)], ..ANN },
    Session { id: "e", version: "2.1.31", requests: &[(610, 0, 21_000)], ..ANN },
    Session { id: "f", is_long: false, requests: &[(630, 0, 21_000)], ..ANN },
];

fn folder(sessions: &[Session], names: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (session, name) in sessions.iter().zip(names) {
        fs::write(folder.path().join(format!("{name}.jsonl")), session.text()).unwrap();
    }
    folder
}

fn plan(folder: &Path, alone: bool) -> Plan {
    let comparison = Comparison {
        own_models: true,
        alone,
        set: vec!["scenario.load.recorded.assume.side_request=none".to_owned()],
        ..comparing(&["identity"], &[&folder.display().to_string()], &[])
    };
    planned(&comparison)
}

/// By request of the agent: its session's first model's id is not told, so its prompt, what is read, what is written for five
/// minutes and for an hour, and what may have been left, in thousandths of a token.
fn rows(plan: &Plan, threads: usize) -> Vec<(u64, u64, [u64; 2], u64)> {
    let all = plan.map_loads(Some(threads), &|_, _| {}, |load, _| {
        let (_, rows) = load.rows(&|_, _| {}).pop().unwrap();
        let main = rows.requests.iter().enumerate().filter(|it| it.1.role == Role::Main);
        let left = |nth: usize| rows.expected.iter().find(|it| it.0 == nth).map_or(0.0, |it| it.1.left[0]);
        main.map(|(nth, it)| (it.prompt, it.usage.read, it.usage.write, (left(nth) * 1_000.0).round() as u64))
            .collect::<Vec<_>>()
    });
    all.unwrap().into_iter().flatten().collect()
}

fn report(plan: &Plan) -> Report {
    plan.report(Some(1), &|_, _| {}).unwrap()
}

#[test]
fn what_neighbours_left_is_read_to_the_token_as_worked_out_by_hand() {
    let folder = folder(&DAY, &["a", "b", "c", "d", "e", "f"]);

    let found = rows(&plan(folder.path(), false), 1);

    // 27 of 106 sessions without a known neighbour read something.
    let chance = |tokens: u64| tokens * 255;
    let expected = [
        // a: nobody before it. What b and c show later, 15,000 by b's second request, is what may have been left.
        (21_003, 0, [0, 21_000], chance(15_000)),
        (21_203, 21_000, [0, 200], 0),
        // b, 19 minutes after a's last answer: within the hour.
        (21_503, 15_000, [0, 6_500], 0),
        // Three hours later its own entries are gone, but c had sent tools and system prompt 18 minutes before.
        (22_003, 15_000, [0, 7_000], 0),
        // c, 2 hours and 29 minutes after f.
        (21_003, 0, [0, 21_000], chance(15_000)),
        (21_103, 21_000, [0, 100], 0),
        // d, of another user, who shows no size: 66% of what the log hides.
        (21_003, 0, [0, 21_000], chance(13_860)),
        // e, of another version.
        (21_003, 0, [0, 21_000], chance(13_860)),
        // f, 9 minutes and 55 seconds after b, whose entries it asks to live for 5.
        (21_003, 0, [21_000, 0], chance(15_000)),
    ];
    for (nth, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!((found.0, found.1, found.2), (expected.0, expected.1, expected.2), "request {nth}");
        assert!(found.3.abs_diff(expected.3) <= 255_000, "request {nth}: {} is not {}", found.3, expected.3);
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn neither_the_names_of_files_nor_threads_change_what_neighbours_tell() {
    let ordered = folder(&DAY, &["a", "b", "c", "d", "e", "f"]);
    let shuffled = folder(&DAY, &["z", "y", "x", "w", "v", "u"]);

    let mut one = rows(&plan(ordered.path(), false), 1);
    let mut two = rows(&plan(ordered.path(), false), 2);
    let mut other = rows(&plan(shuffled.path(), false), 2);
    [&mut one, &mut two, &mut other].into_iter().for_each(|it| it.sort_unstable());

    assert_eq!(one, two);
    assert_eq!(one, other);
}

#[test]
fn alone_each_session_is_played_as_if_there_were_no_other() {
    let all = folder(&DAY, &["a", "b", "c", "d", "e", "f"]);
    let alone = rows(&plan(all.path(), true), 1);

    let single = DAY.iter().flat_map(|it| {
        let folder = folder(std::slice::from_ref(it), &["one"]);
        rows(&plan(folder.path(), false), 1)
    });

    assert_eq!(alone, single.collect::<Vec<_>>());
    assert!(alone.iter().all(|it| it.3 == 0));
}

#[test]
fn the_report_says_how_many_sessions_shared_a_prefix_and_what_it_was_worth() {
    let folder = folder(&DAY, &["a", "b", "c", "d", "e", "f"]);

    let report = report(&plan(folder.path(), false));

    let first = report.first_request_totals().unwrap();
    assert_eq!((first.requests, first.known, first.known_reads, first.unknown_reads), (6, 1, 0, 1));
    // 15,000 tokens at 0.5 instead of 10 USD a million.
    assert!((first.known_worth_usd - 15_000.0 * 9.5e-6).abs() < 1e-12, "{}", first.known_worth_usd);
    let said = report.sessions_description().join("\n");
    assert_says(&said, &["1 session begins with tools and system prompt that another session had left"]);
    let run = &report.runs[0].tally.costs;
    assert!(run.left.usd() < 0.0 && run.left_ends[1] < run.left && run.left < run.left_ends[0]);
}

/// A session of ann's with two sub-agents, which the same system prompt begins: one in its file, one in a file beside it.
const LANES: [Session; 3] = [
    Session { requests: &[(600, 0, 20_000), (640, 20_000, 500)], ..ANN },
    Session { agent: "inside", is_long: false, requests: &[(601, 6_000, 1_000), (602, 7_000, 100)], ..ANN },
    Session { agent: "beside", is_long: false, requests: &[(606, 0, 7_500), (613, 6_000, 2_000)], ..ANN },
];

/// Writes the session with one sub-agent inside its file and one beside it; under lifetimes of an hour, if it is asked for.
fn lanes(is_long: bool) -> TempDir {
    let folder = TempDir::new().unwrap();
    let [main, inside, beside] = LANES;
    let [inside, beside] = [inside, beside].map(|it| Session { is_long, ..it });
    fs::write(folder.path().join("a.jsonl"), main.text() + &inside.text()).unwrap();
    fs::write(folder.path().join("agent-beside.jsonl"), beside.text()).unwrap();
    folder
}

#[test]
fn sub_agents_are_sessions_of_their_own_with_their_own_lifetimes() {
    let rows_of = |is_long| rows(&plan(lanes(is_long).path(), false), 1);
    let plain = |rows: Vec<(u64, u64, [u64; 2], u64)>| {
        rows.into_iter().map(|it| (it.0, it.1, it.2)).collect::<Vec<_>>()
    };

    // The agent's own two requests: its entries live for an hour. Its sub-agents send another system prompt.
    let main = [(20_003, 0, [0, 20_000]), (20_503, 20_000, [0, 500])];
    let short = [
        // The one inside begins before anyone of its kind.
        (7_003, 0, [7_000, 0]),
        (7_103, 7_000, [100, 0]),
        // The one beside begins 3 minutes and 55 seconds after the last answer of the one inside, which shows 6,000 tokens.
        (7_503, 6_000, [1_500, 0]),
        // Seven minutes later nothing lives.
        (8_003, 0, [8_000, 0]),
    ];
    assert_eq!(plain(rows_of(false)), [main.as_slice(), &short].concat());
    // Of 82 sub-agents without a known neighbour 53 read something: of this one, 66% of what the log hides.
    assert_eq!(rows_of(false)[2].3, (4_620_000.0 * 53.0 / 82.0_f64).round() as u64);

    let long = [
        (7_003, 0, [0, 7_000]),
        (7_103, 7_000, [0, 100]),
        (7_503, 6_000, [0, 1_500]),
        // Within the hour, all of the request before is read.
        (8_003, 7_500, [0, 500]),
    ];
    assert_eq!(plain(rows_of(true)), [main.as_slice(), &long].concat());
}

#[test]
fn a_sub_agent_that_is_started_as_another_was_reads_all_of_its_first_prompt() {
    let [main, inside, beside] = LANES;
    let first = |requests: &'static [(u32, u64, u64)]| {
        let folder = TempDir::new().unwrap();
        let twin = Session { requests, ..beside };
        fs::write(folder.path().join("a.jsonl"), main.text() + &inside.text()).unwrap();
        fs::write(folder.path().join("agent-beside.jsonl"), twin.text()).unwrap();
        let row = rows(&plan(folder.path(), false), 1)[4];
        (row.0, row.1, row.2)
    };

    // Started within five minutes of the last answer of the one inside, and later; in a prompt of another size, and before it.
    assert_eq!(first(&[(606, 7_000, 0)]), (7_003, 7_000, [0, 0]));
    assert_eq!(first(&[(608, 6_000, 1_000)]), (7_003, 0, [7_000, 0]));
    assert_eq!(first(&[(606, 6_000, 1_500)]), (7_503, 6_000, [1_500, 0]));
}

#[test]
fn totals_name_agents_and_sub_agents_apart_and_a_policy_says_to_whom_it_applies() {
    let folder = lanes(false);
    let run = |policy: &str| {
        let file = folder.path().join("clip.ron");
        fs::write(&file, policy).unwrap();
        let comparison = Comparison {
            own_models: true,
            ..comparing(
                &["identity", &file.display().to_string()],
                &[&format!("{}/*.jsonl", folder.path().display())],
                &[],
            )
        };
        report(&planned(&comparison))
    };
    let policy = |to: &str| {
        format!(
            r#"(name: "clip", about: "Drops what the model said.", {to}
                stages: [(name: "drop", scope: (kinds: [assistant]), apply: drop)])"#
        )
    };
    let changed = |report: &Report| -> Vec<bool> {
        let cost = |policy: &str| {
            let of = report.runs.iter().filter(move |it| it.policy == policy);
            of.map(|it| it.tally.sums.main.tokens.prompt()).collect::<Vec<_>>()
        };
        cost("identity").into_iter().zip(cost("clip")).map(|(one, other)| one != other).collect()
    };

    assert_eq!(changed(&run(&policy(""))), [true; 3]);
    assert_eq!(changed(&run(&policy("applies_to: main,"))), [true, false, false]);
    assert_eq!(changed(&run(&policy("applies_to: sub,"))), [false, true, true]);

    let report = run(&policy(""));
    let titles: Vec<String> = report.sections(Detail::Groups).into_iter().map(|it| it.load).collect();
    assert_eq!(
        titles,
        ["3 sessions (6 turns)", "1 main session (2 turns)", "2 sub-agent sessions (4 turns)"]
    );
}

/// Three sessions of two users, and a sub-agent, whose tools and system prompt are 8,000 tokens.
const WRITTEN: &str = r#"
(
    name: "office",
    about: "Sessions of two users.",
    stable: [(kind: tool_schema, tokens: 6000), (kind: system, tokens: 2000)],
    load: sessions([
        (name: "a", user: "ann", turns: [(user_tokens: 100, answer_tokens: 50, response_ms: 2000)]),
        (name: "b", user: "ann", at: "4m", turns: [(user_tokens: 200, answer_tokens: 50)]),
        (name: "c", user: "bob", at: "4m", turns: [(user_tokens: 300, answer_tokens: 50)]),
        (name: "d", user: "ann", at: "10m", turns: [(user_tokens: 400, answer_tokens: 50)]),
        (name: "e", user: "ann", at: "10m", parent: "d", turns: [(user_tokens: 500, answer_tokens: 50)]),
    ]),
)
"#;

#[test]
fn a_scenario_says_several_sessions_with_users_and_times() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("office.ron");
    fs::write(&file, WRITTEN).unwrap();
    let comparison = comparing(&["identity"], &[&file.display().to_string()], &["anthropic/claude-opus-4.5"]);
    let found = rows(&planned(&comparison), 1);

    // Entries live for five minutes: b begins 3 minutes and 58 seconds after a was answered, d 6 minutes after b.
    let expected = [
        (8_100, 0, [8_100, 0]),
        (8_200, 8_000, [200, 0]),
        (8_300, 0, [8_300, 0]),
        (8_400, 0, [8_400, 0]),
        (8_500, 0, [8_500, 0]),
    ];
    assert_eq!(found.iter().map(|it| (it.0, it.1, it.2)).collect::<Vec<_>>(), expected);
}

/// A row of the published table of first requests: what it read, whether a neighbour had been answered within the lifetime, and the
/// size of tools and system prompt that most others of its user, version and model show.
struct FirstRequest {
    user: String,
    read: u64,
    is_near: bool,
    front: Option<u64>,
    start: f64,
    /// Whether its session's code ends in an odd digit.
    is_odd: bool,
}

/// Reads the published table of first requests.
fn first_requests(text: &str) -> Vec<FirstRequest> {
    let mut lines = text.lines().map(|it| it.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let at = |name: &str| head.iter().position(|it| *it == name).unwrap();
    let [session, user, version, model, start, read, front, short, long] =
        ["session", "user", "version", "model", "start", "read", "S", "neighbour_5m", "neighbour_1h"].map(at);
    let numbers = |it: &str| it.split('.').map(|it| it.parse::<u32>().unwrap()).collect::<Vec<_>>();
    let number = |it: &str| it.parse::<f64>().ok().map(|it| it as u64);
    let row = |(nth, row): (usize, &Vec<&str>)| {
        let others = rows.iter().enumerate().filter(|(other, it)| {
            *other != nth && [user, version, model].iter().all(|at| it[*at] == row[*at])
        });
        let mut counts: Vec<(usize, std::cmp::Reverse<u64>, std::cmp::Reverse<u64>)> = Vec::new();
        let others: Vec<(u64, u64)> = others
            .filter_map(|(_, it)| {
                Some((number(it[front])?, number(it[start])?.abs_diff(number(row[start])?)))
            })
            .collect();
        for (tokens, _) in &others {
            let alike = || others.iter().filter(|it| it.0 == *tokens);
            let nearest = alike().map(|it| it.1).min().unwrap();
            counts.push((alike().count(), std::cmp::Reverse(nearest), std::cmp::Reverse(*tokens)));
        }
        // The rule of the harness: an hour from 2.1.20 on.
        let is_long = numbers(row[version]) >= vec![2, 1, 20];
        FirstRequest {
            user: row[user].to_owned(),
            read: number(row[read]).unwrap(),
            is_near: row[if is_long { long } else { short }] == "1",
            front: counts.into_iter().max().map(|it| it.2.0),
            start: row[start].parse().unwrap(),
            is_odd: u8::from_str_radix(&row[session][7..], 16).unwrap() % 2 == 1,
        }
    };
    rows.iter().enumerate().map(row).collect()
}

/// Sums of some requests by user: what is counted, and of how much.
fn by_user(of: &[&FirstRequest], count: impl Fn(&FirstRequest) -> Option<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut sums: IndexMap<&str, (u64, u64)> = IndexMap::new();
    for (user, (n, all)) in of.iter().filter_map(|it| Some((it.user.as_str(), count(it)?))) {
        let sum = sums.entry(user).or_default();
        *sum = (sum.0 + n, sum.1 + all);
    }
    sums.into_values().collect()
}

fn share(sums: &[(u64, u64)]) -> f64 {
    sums.iter().map(|it| it.0).sum::<u64>() as f64 / sums.iter().map(|it| it.1).sum::<u64>() as f64
}

/// The interval of a share that nineteen of twenty resamples of its users have: all resamples, in order.
fn interval(sums: &[(u64, u64)]) -> [f64; 2] {
    let n = sums.len();
    let resample = |nth: usize| (0..n).map(|it| sums[nth / n.pow(it as u32) % n]).collect::<Vec<_>>();
    let mut shares: Vec<f64> = (0..n.pow(n as u32)).map(|nth| share(&resample(nth))).collect();
    shares.sort_by(f64::total_cmp);
    [shares[shares.len() / 40], shares[shares.len() - 1 - shares.len() / 40]]
}

#[test]
fn first_requests_of_half_of_the_users_are_predicted_from_those_of_the_others() {
    let Some(reference) = std::env::var_os("CTXSIM_REFERENCE") else { return };
    let table = Path::new(&reference).join("recorded/usage/first_requests.csv");
    let all = first_requests(&fs::read_to_string(table).unwrap());
    assert_eq!(all.len(), 155);
    let is_odd = |it: &&FirstRequest| u8::from_str_radix(&it.user[..1], 16).unwrap() % 2 == 1;
    let (odd, even): (Vec<_>, Vec<_>) = all.iter().partition(is_odd);

    type Count = fn(&FirstRequest) -> Option<(u64, u64)>;
    let counts: [(&str, Count); 3] = [
        ("warm without a known neighbour", |it| (!it.is_near).then_some((u64::from(it.read > 0), 1))),
        ("warm with a neighbour", |it| it.is_near.then_some((u64::from(it.read > 0), 1))),
        ("tokens read with a neighbour, of those that others show", |it| {
            Some((it.read, it.front.filter(|_| it.is_near)?))
        }),
    ];
    for (what, count) in counts {
        for (one, other) in [(&odd, &even), (&even, &odd)] {
            let (learnt, found) = (interval(&by_user(one, count)), share(&by_user(other, count)));
            assert!(learnt[0] <= found && found <= learnt[1], "{what}: {found} is not in {learnt:?}");
        }
    }
    // The declared probability and its interval are those of all users.
    let declared = include_str!("../../assumptions/harnesses.toml");
    let unknown = by_user(&all.iter().collect::<Vec<_>>(), counts[0].1);
    let [low, high] = interval(&unknown);
    let said = format!("chance = {{ value = {:.3}, low = {low:.2}, high = {high:.2} }}", share(&unknown));
    assert!(declared.contains(&said), "{said}");
}

#[test]
fn what_a_user_s_first_requests_read_tells_of_the_user_s_later_ones() {
    let Some(reference) = std::env::var_os("CTXSIM_REFERENCE") else { return };
    let table = Path::new(&reference).join("recorded/usage/first_requests.csv");
    let mut all = first_requests(&fs::read_to_string(table).unwrap());
    all.retain(|it| !it.is_near);
    all.sort_by(|one, other| one.start.total_cmp(&other.start));
    let declared = Chance { interval: [0.17, 0.53], ..Chance::certain(0.255) };

    // By half of the sessions: how many had ten of the user's before, what was read, and what was expected; as declared and narrowed, with
    // the squares of what each was off by.
    let mut halves = [(0, 0, [0.0; 2], [0.0; 2]); 2];
    let mut seen: IndexMap<&str, SeenCases> = IndexMap::new();
    for it in &all {
        let (reads, seen) = (u32::from(it.read > 0), seen.entry(&it.user).or_default());
        if seen.of >= 10 {
            let chances = [declared, declared.narrowed(*seen).unwrap()].map(|it| it.value);
            let half = &mut halves[usize::from(it.is_odd)];
            (half.0, half.1) = (half.0 + 1, half.1 + reads);
            for (nth, chance) in chances.iter().enumerate() {
                half.2[nth] += chance;
                half.3[nth] += (chance - f64::from(reads)).powi(2);
            }
        }
        (seen.happened, seen.of) = (seen.happened + reads, seen.of + 1);
    }

    let found = halves.map(|(n, read, expected, off)| {
        format!("{read} of {n}: {:.1} {:.1}, {:.2} {:.2}", expected[0], expected[1], off[0], off[1])
    });
    // Even and odd. With ten cases before, in sum 15.3 and 10.8 were expected of 60, and 12 read something.
    assert_eq!(found, ["4 of 29: 7.4 5.4, 3.85 3.20", "8 of 31: 7.9 5.4, 5.94 5.99"]);
}

/// A user's sessions twenty minutes apart, whose entries live for five: the first request of each reads tools and system prompt, or nothing.
pub(crate) fn first_reads(of: &[bool]) -> TempDir {
    const NAMES: [&str; 14] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"];
    let sessions: Vec<Session> = (1..)
        .zip(of.iter().zip(NAMES))
        .map(|(nth, (reads, id))| {
            let (read, written) = if *reads { (15_000, 6_000) } else { (0, 21_000) };
            let requests = vec![(nth * 20, read, written)].leak();
            Session { id, agent: "", folder: "/Users/ann/cli", version: "2.1.30", is_long: false, requests }
        })
        .collect();
    folder(&sessions, &NAMES[..of.len()])
}

#[test]
fn what_a_user_s_sessions_read_at_first_narrows_what_is_expected_of_later_ones_from_ten_on() {
    let reads = [true, true, true, false, true, true, true, false, true, true, true, true, false];
    let folder = first_reads(&reads);
    let plan = plan(folder.path(), false);

    let found = rows(&plan, 1);

    assert_eq!(found, rows(&plan, 2));
    // As declared: 0.255 (0.17 to 0.53), which is worth as many cases as make a standard error of 0.275 / 1.96.
    let worth = 0.255 * 0.745 / (0.275_f64 / 1.96).powi(2) - 1.0;
    for (nth, row) in found.iter().enumerate() {
        let happened = reads[..nth].iter().filter(|it| **it).count() as f64;
        let own = (0.255 * worth + happened) / (worth + nth as f64);
        let chance = if nth < 10 { 0.255 } else { own };
        assert!((row.3 as f64 - 15_000_000.0 * chance).abs() < 2.0, "session {nth}: {} for {chance}", row.3);
    }
    let said = report(&plan).assumption_sentences().join("\n");
    assert_says(
        &said,
        &["declared 0.255 (0.170 to 0.530), of this user 0.547 (0.3", "; 8 of 10 in earlier sessions)"],
    );
    let folded = |threads| {
        let report = plan.report_from_parts(Some(threads), &|_, _| ControlFlow::Continue(()), 0.9).unwrap();
        format!("{:?}", report.runs)
    };
    assert_eq!(folded(1), folded(2));
}

/// Reads the published sessions that fell: which half each is of, the size that most of its falls read, and what is expected of it, by the
/// size of its version, its own first read and what the others of its user, version and model read first; then by their falls.
fn sizes_after_falls(text: &str) -> Vec<(bool, u64, [Option<u64>; 2])> {
    const USUAL: [(&str, u64); 2] = [("2.1.7", 34_260), ("2.1.17", 18_573)];
    let mut lines = text.lines().map(|it| it.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let columns = ["session", "user", "version", "model", "start", "read", "S", "S_fall"];
    let [session, user, version, model, start, read, first, fell] =
        columns.map(|name| head.iter().position(|it| *it == name).unwrap());
    let number = |it: &str| it.parse::<f64>().ok().map(|it| it as u64);
    let expected = |(nth, row): (usize, &Vec<&str>)| {
        let others = |column: usize| {
            let mut sizes: IndexMap<u64, (u64, std::cmp::Reverse<u64>)> = IndexMap::new();
            for (other, it) in rows.iter().enumerate() {
                if other == nth || [user, version, model].iter().any(|at| it[*at] != row[*at]) {
                    continue;
                }
                let Some(tokens) = number(it[column]) else { continue };
                let apart = std::cmp::Reverse(number(it[start])?.abs_diff(number(row[start])?));
                let seen = sizes.entry(tokens).or_insert((0, apart));
                *seen = (seen.0 + 1, seen.1.max(apart));
            }
            sizes.into_iter().max_by_key(|it| (it.1, std::cmp::Reverse(it.0))).map(|it| it.0)
        };
        let usual = USUAL.iter().find(|it| it.0 == row[version]).map(|it| it.1);
        let own = number(row[read]).filter(|it| *it > 0);
        let is_odd = u8::from_str_radix(&row[session][7..], 16).unwrap() % 2 == 1;
        let [now, by_falls] = [
            usual.or(own).or_else(|| others(first)),
            others(fell).or(usual).or(own).or_else(|| others(first)),
        ];
        Some((is_odd, number(row[fell])?, [now, by_falls]))
    };
    rows.iter().enumerate().filter_map(expected).collect()
}

#[test]
fn sizes_after_falls_are_told_by_versions_and_first_reads_and_by_neighbours_falls_no_better() {
    let Some(reference) = std::env::var_os("CTXSIM_REFERENCE") else { return };
    let table = Path::new(&reference).join("recorded/usage/first_requests.csv");
    let all = sizes_after_falls(&fs::read_to_string(table).unwrap());

    let close = |odd: bool, by: usize| {
        let of = all.iter().filter(|it| it.0 == odd);
        let is_close = |it: &&(bool, u64, [Option<u64>; 2])| {
            it.2[by].is_some_and(|told| told.abs_diff(it.1) <= (it.1 / 200).max(64))
        };
        [of.clone().filter(is_close).count(), of.count()]
    };
    // The odd half and the even one: as it is done, and by falls.
    assert_eq!([close(true, 0), close(false, 0)], [[21, 31], [28, 47]]);
    assert_eq!([close(true, 1), close(false, 1)], [[17, 31], [27, 47]]);
}
