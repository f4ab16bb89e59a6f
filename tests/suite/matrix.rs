//! Every command on every kind of load: it answers, or refuses and says why; it never panics.

use ctxsim::{BoxError, CodePolicy, Cx, Entry, Part, RequestRow, Sink};

use crate::support::*;

/// Every command, `rows` being `run --rows requests`.
const COMMANDS: &str =
    "run rows compare check sweep tune sensitivity explain import fit advise realised merge";

/// A kind of load: small, with two policies for it.
struct Kind {
    name: &'static str,
    scenario: &'static str,
    /// The base and the candidate.
    policies: [&'static str; 2],
    profile: &'static str,
    /// Overrides that keep it small.
    set: &'static [&'static str],
    /// What a sweep varies.
    vary: &'static str,
    /// The word by which a table names the candidate.
    word: &'static str,
}

const PROFILE: &str = "anthropic/claude-haiku-4.5";
const TRIGGER: &str = "params.trigger.tokens=1000,2000";

/// Items under a policy in stages.
const ITEMS: Kind = Kind {
    name: "handwritten",
    scenario: "duckagent/fix_test_loop",
    policies: ["identity", "clear_tool_results"],
    profile: PROFILE,
    set: &[],
    vary: TRIGGER,
    word: "clear_tool_results",
};

const KINDS: [Kind; 10] = [
    ITEMS,
    Kind {
        name: "generated",
        scenario: "duckagent/long_run",
        set: &["scenario.load.generate.turns=3"],
        ..ITEMS
    },
    Kind { name: "recorded", scenario: "pi.jsonl", ..ITEMS },
    Kind { name: "usage CSV", scenario: "usage.csv", ..ITEMS },
    Kind { name: "block trace", scenario: "blocks.jsonl", profile: "open/blocks-512-lru", ..ITEMS },
    Kind {
        name: "needles",
        scenario: "context_decay/trials",
        policies: ["context_decay/naive_truncation", "context_decay/memory_banks"],
        set: &["scenario.load.conversation.trials=2", "scenario.load.conversation.lengths=[50]"],
        vary: "params.window.ratio=0.1,0.2",
        word: "memory_banks",
        ..ITEMS
    },
    Kind {
        name: "ageing",
        scenario: "aging/s1",
        policies: ["aging/lossy", "aging/append_only"],
        set: &["scenario.load.aging.trials=2", "scenario.load.aging.sessions=4"],
        vary: "memory.sessions.read={last=2},{last=4}",
        word: "append_only",
        ..ITEMS
    },
    Kind {
        name: "chats",
        scenario: "memory_runners/long",
        policies: ["memory_runners/context_only", "memory_runners/entries"],
        set: &["scenario.load.chats.trials=2", "scenario.load.chats.from.generated.sessions=4"],
        vary: "memory.service.store.cap.words=100,5000",
        word: "entries",
        ..ITEMS
    },
    Kind {
        name: "process",
        policies: ["identity", "program.ron"],
        vary: "recovery=one_shot,pinned",
        word: "program",
        ..ITEMS
    },
    Kind { name: "own code", word: "code", ..ITEMS },
];

/// A folder with the loads and policies that are files.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let root = root();
    let copy =
        |from: &str, to: &str| fs::copy(root.join("tests/data").join(from), folder.path().join(to)).unwrap();
    copy("recorded/pi-session.jsonl", "pi.jsonl");
    copy("blocks/mooncake.jsonl", "blocks.jsonl");
    let head = "file,session,idx,version,t_start,t_first_line,t_last_line,input,cache_read,cache_write_total,output_logged_max,new_user_chars,new_tool_result_chars,asst_text_chars,asst_thinking_chars,asst_tool_use_chars";
    let row = |n: u32| format!("f,s,{n},2.1.7,{n}0.0,{n}0.5,{n}0.9,10,{n}000,1000,5,40,0,400,0,0");
    let rows: Vec<String> = (0..6).map(row).collect();
    fs::write(folder.path().join("usage.csv"), format!("{head}\n{}\n", rows.join("\n"))).unwrap();
    let ready = r#"{"type":"ready","protocol":"ctxsim.policy/1"}"#;
    let script = format!(
        "read -r line\necho '{ready}'\nn=0\nwhile read -r line; do\necho '{{\"type\":\"same\",\"n\":'$n'}}'\nn=$((n+1))\ndone\n"
    );
    fs::write(folder.path().join("program.sh"), script).unwrap();
    let policy = "(name: \"program\", about: \"A script.\", process: (command: [\"sh\", \"program.sh\"]))";
    fs::write(folder.path().join("program.ron"), policy).unwrap();
    let forecast = r#"{"schema":"ctxsim.forecast/1","agent":"pi","set":["compaction.reserveTokens=120000"],"until_ms":0,"versions":[],"change":-0.1,"interval":[-0.2,-0.05],"before":[],"kinds":[{"name":"main","bills":{"sessions":9,"size":90,"usd":9.0,"residual":1.0},"change":-0.1}]}"#;
    fs::write(folder.path().join("forecast.json"), forecast).unwrap();
    folder
}

impl Kind {
    /// Returns the arguments of a command on it.
    fn arguments(&self, command: &str, folder: &Path) -> Vec<String> {
        let [base, candidate] = self.policies;
        let scenario = ["--scenario", self.scenario, "--profile", self.profile];
        let both = ["--policy", base, "--policy", candidate];
        let of: Vec<&str> = match command {
            "run" => [&["run"][..], &both, &scenario].concat(),
            "merge" => [&["run", "--parts", "parts"][..], &both, &scenario].concat(),
            "rows" => [&["run", "--rows", "requests"][..], &both, &scenario].concat(),
            "compare" => [&["compare", "--base", base, "--candidate", candidate][..], &scenario].concat(),
            "sweep" => {
                [&["sweep", "--base", base, "--policy", candidate, "--vary", self.vary][..], &scenario]
                    .concat()
            }
            "tune" => [&["tune", "--policy", candidate, "--vary", self.vary][..], &scenario[..2]].concat(),
            "sensitivity" => {
                let profiles = ["--profile", self.profile, "openai/gpt-5.6-sol"];
                let n = if self.name == "block trace" { 2 } else { 3 };
                [
                    &["sensitivity", "--policy", base, candidate, "--scenario", self.scenario][..],
                    &profiles[..n],
                ]
                .concat()
            }
            "explain" => [&["explain", "--policy", candidate, "--request", "2"][..], &scenario].concat(),
            "import" => vec!["import", self.scenario],
            "advise" => vec!["advise", self.scenario],
            "realised" => vec!["realised", "forecast.json", self.scenario],
            // What an agent answered is a table of its own: any other load is no such table.
            "fit" => vec!["tune", "--fit", self.scenario, "--policy", candidate],
            _ => vec!["check", "--suite", "suite.toml", "--snapshots", "kept"],
        };
        if command == "check" {
            let list = |all: &[&str]| format!("{all:?}");
            let suite = format!(
                "name = \"suite\"\nabout = \"One kind of load.\"\npolicies = {}\nscenarios = {}\nprofiles = {}\nset = {}\n",
                list(&self.policies),
                list(&[self.scenario]),
                list(&[self.profile]),
                list(self.set)
            );
            fs::write(folder.join("suite.toml"), suite).unwrap();
        }
        let reads_sessions = matches!(command, "import" | "fit" | "advise" | "realised");
        let takes_sets = command != "check" && !reads_sessions;
        let sets = self.set.iter().filter(|_| takes_sets).flat_map(|it| ["--set", it]);
        let runs_programs = self.name == "process" && !reads_sessions;
        let programs = runs_programs.then_some("--allow-process");
        of.into_iter().chain(sets).chain(programs).map(str::to_owned).collect()
    }

    /// Runs a command on it in a folder of its own.
    fn ask(&self, command: &str) -> Output {
        let folder = folder();
        let ctxsim = |more: &[&str]| {
            let arguments = self.arguments(command, folder.path());
            program(folder.path(), arguments).args(more).output().unwrap()
        };
        match command {
            // What was accepted holds when it is played again.
            "check" => [&["--bless"][..], &[]].map(ctxsim)[1].clone(),
            "merge" => {
                let made = ctxsim(&[]);
                let merged = || crate::support::ctxsim(folder.path(), ["run", "--merge", "parts"]);
                if made.status.success() { merged() } else { made }
            }
            _ => ctxsim(&[]),
        }
    }

    /// Returns a line of what a command says: the one that a reader looks for first.
    fn line(&self, command: &str, output: &Output) -> String {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let mark = match command {
            "run" | "merge" => self.word,
            "compare" => "Verdict:",
            "check" => "snapshot",
            "sweep" => "(knee)",
            "tune" => "Nothing is recommended",
            "advise" => "Nothing to ",
            "sensitivity" => "price list",
            _ => "",
        };
        let has = |it: &&str| !it.trim().is_empty() && it.contains(mark);
        let line = match command {
            _ if out.is_empty() => err.lines().next().unwrap_or_default().to_owned(),
            "rows" => rows(&out, self.word),
            _ => out.lines().find(has).or(out.lines().next()).unwrap_or_default().to_owned(),
        };
        one_line(&line)
    }
}

/// Counts rows, and adds up what those of a policy cost.
fn rows(text: &str, policy: &str) -> String {
    let rows: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let own = rows.iter().filter(|it| it["policy"].as_str().unwrap().contains(policy));
    let usd: f64 = own.map(|it| it["cost_usd"].as_f64().unwrap()).sum();
    format!("{} rows, the candidate's cost {usd:.6} USD", rows.len())
}

/// How many requests a run has, and what they cost.
struct Paid(usize, f64);

impl Sink for Paid {
    fn request(&mut self, row: &RequestRow) -> ControlFlow<()> {
        *self = Self(self.0 + 1, self.1 + row.usd.unwrap());
        ControlFlow::Continue(())
    }
}

/// Asks the library what it answers on code, which the command line cannot name.
fn own_code(command: &str) -> Result<String, String> {
    let keeps_all = CodePolicy::view("code", |_| {
        |_: &Cx<'_>, history: &[Entry<'_>]| -> Result<Vec<Part>, BoxError> {
            Ok(history.iter().filter(|it| !it.is_stable).map(|it| Part::keep(it.id)).collect())
        }
    });
    let plan = ctxsim::Comparison::new().policy("identity").policy(keeps_all);
    let plan = plan.scenario(ITEMS.scenario).profile(PROFILE).plan().unwrap();
    let id = ctxsim::RunId::new("code", ITEMS.scenario, PROFILE);
    match command {
        "run" => {
            let report = plan.run().unwrap();
            let run = report.get("code", ITEMS.scenario, PROFILE).unwrap();
            Ok(format!("code {} requests, {:.6} USD", run.requests(), run.usd().unwrap()))
        }
        "merge" => {
            let parts = plan.parts(1, 1, |_| ControlFlow::Continue(())).unwrap();
            let totals = ctxsim::Totals::fold(parts).unwrap();
            let line = totals.lines().into_iter().find(|it| it.policy() == "code").unwrap();
            Ok(format!("code {} scenario, {:.6} USD", line.scenarios(), line.usd().unwrap()))
        }
        "explain" => Ok(plan.explain(&id, 2).unwrap().to_string().lines().next().unwrap().to_owned()),
        "sensitivity" => Ok(plan.sensitivity().unwrap().to_string().lines().next().unwrap().to_owned()),
        "rows" => {
            let rows = plan.stream(|_| Paid(0, 0.0)).unwrap();
            let n: usize = rows.iter().map(|it| it.1.0).sum();
            Ok(format!("{n} rows, the candidate's cost {:.6} USD", rows[1].1.1))
        }
        _ => Err("only the command line does this, which takes code as a process".to_owned()),
    }
}

#[test]
fn every_command_answers_on_every_kind_of_load_or_says_why_not() {
    let mut table = String::new();
    for command in listed(COMMANDS) {
        let lines = std::thread::scope(|scope| {
            let ask = |kind: &'static Kind| {
                if kind.name == "own code" {
                    return own_code(command).map_or_else(|it| (None, it), |it| (Some(0), it));
                }
                let output = kind.ask(command);
                (output.status.code(), kind.line(command, &output))
            };
            let asked: Vec<_> = KINDS.iter().map(|it| scope.spawn(move || ask(it))).collect();
            asked.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
        });
        for (kind, (code, line)) in KINDS.iter().zip(lines) {
            let verb = if code == Some(0) { "answers" } else { "refuses" };
            let code = code.map_or("-".to_owned(), |it| it.to_string());
            let _ = writeln!(table, "{command:11} × {:11} {verb} {code}  {line}", kind.name);
            let is_memory = ["needles", "ageing", "chats"].contains(&kind.name);
            let must_answer = ["run", "compare", "check", "sweep", "sensitivity"].contains(&command);
            assert!(["0", "1", "2", "-"].contains(&code.as_str()), "{command} on {}: {code}", kind.name);
            assert!(verb == "answers" || !(is_memory && must_answer), "{command} on {}: {line}", kind.name);
        }
        table.push('\n');
    }

    assert_snapshot("matrix", "commands", &table);
}

/// Runs a command line and returns its exit code with all that it says, on one line.
fn told(args: &str) -> (i32, String) {
    let args: Vec<&str> = args.split_whitespace().collect();
    let output = ctxsim(root(), args);
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code().unwrap(), one_line(&text))
}

#[test]
fn a_policy_of_which_a_load_reads_nothing_is_refused_with_loads_that_read_it() {
    for (policies, scenario, reads) in [
        ("identity --policy aging/lossy", "recorded/claude-code", "aging/s1"),
        ("identity --policy memory_runners/entries", "duckagent/plain_chat", "memory_runners/spec"),
        ("aging/lossy --policy clear_tool_results", "aging/s1", "agents/coding_day"),
        ("identity --policy clairvoyant", "aging/s1", "agents/coding_day"),
        (
            "memory_runners/entries --policy context_decay/memory_banks",
            "memory_runners/long",
            "context_decay/trials",
        ),
    ] {
        let (code, text) = told(&format!("run --policy {policies} --scenario {scenario}"));
        assert_eq!(code, 2, "{text}");
        assert!(
            text.contains("[policy-unread]") && text.contains("have no effect on")
                || text.contains("has no effect on")
        );
        assert!(
            text.contains(&format!("name a scenario such as `{reads}`"))
                || text.contains(&format!("or `{reads}`")),
            "{text}"
        );
    }
}

#[test]
fn a_policy_that_sets_nothing_is_a_base_for_every_load() {
    for scenario in ["duckagent/plain_chat", "aging/s1", "memory_runners/spec", "context_decay/trials"] {
        let (code, text) = told(&format!("run --policy identity --scenario {scenario} --profile {PROFILE}"));
        assert_eq!(code, 0, "{text}");
    }
}

#[test]
fn a_scenario_that_only_a_pattern_found_is_left_out_where_a_policy_has_no_effect() {
    let folder = tempdir().unwrap();
    let root = root().join("scenarios");
    for (from, to) in [("aging/s1", "ageing"), ("random/tool_loops", "loops")] {
        let text = fs::read_to_string(root.join(format!("{from}.toml"))).unwrap();
        let text = text.replacen(&format!("name = \"{from}\""), &format!("name = \"{to}\""), 1);
        fs::write(folder.path().join(format!("{to}.toml")), text).unwrap();
    }
    let run = |files: &str| {
        let files = folder.path().join(files);
        told(&format!("run --policy clear_tool_results --profile {PROFILE} --scenario {}", files.display()))
    };

    let (code, text) = run("*.toml");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("clear_tool_results has no effect on ageing"), "{text}");
    let (code, text) = run("age*.toml");
    assert_eq!(code, 2, "{text}");
}

#[test]
fn a_policy_that_sets_more_than_a_load_reads_is_played_without_it_and_a_note_says_so() {
    let run = "run --policy context_decay/memory_banks --profile anthropic/claude-haiku-4.5 --scenario";
    let note = "duckagent/plain_chat does not read `memory.facts`: context_decay/memory_banks is simulated without it.";

    assert!(told(&format!("{run} duckagent/plain_chat")).1.contains(note));
    assert!(!told(&format!("{run} context_decay/trials --trials 1")).1.contains("does not read"));
}

#[test]
fn a_memory_runner_and_another_policy_do_not_do_the_same_work() {
    let on = "--scenario context_decay/trials --trials 1 --profile anthropic/claude-haiku-4.5";
    let both = ["memory_runners/entries", "context_decay/memory_banks"];
    for command in [
        format!("compare --base {} --candidate {} {on}", both[0], both[1]),
        format!("sweep --base {} --policy {} --vary params.window.ratio=0.1,0.2 {on}", both[0], both[1]),
        format!("sensitivity --policy {} {} {on}", both[0], both[1]),
    ] {
        let (code, text) = told(&command);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("do not do the same work on context_decay/trials"), "{text}");
    }
}
