//! DuckAgent's runtime policy, rule by rule: selfonomy/duckagent @06550f4, src/context_projection.rs.

mod recorded;

use ctxsim::input::scenario::{TokenizerName, ToolAssume};
use ctxsim::projection::test::Known;
use ctxsim::projection::{Ambient, Editor, Program, Projector};

use crate::support::*;

/// What stands in one place of a prompt.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    kind: Kind,
    tokens: u32,
    text: Option<String>,
}

/// Notes what every request shows.
struct Spy<'t> {
    program: Program,
    timeline: &'t Timeline,
    requests: Vec<Vec<Part>>,
}

impl Projector for Spy<'_> {
    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        self.program.project(moment, ambient, edit);
        if moment != Moment::Request {
            return;
        }
        let prompt = edit.prompt();
        let visible =
            (prompt.history().session_from()..prompt.len()).filter(|it| prompt.slot(*it).is_visible());
        let part = |slot| Part {
            kind: prompt.kind(slot),
            tokens: prompt.slot(slot).tokens,
            text: self.program.text(prompt, &self.timeline.texts, slot),
        };
        self.requests.push(visible.map(part).collect());
    }
}

fn policy() -> Policy {
    let path = root().join("policies/duckagent/runtime_guarded_mid.ron");
    Policy::new(&Source::read(&path).unwrap().decode::<PolicyFile>().unwrap()).unwrap()
}

/// Plays a timeline, with a projector in the place of a policy's stages.
fn play(
    timeline: &Timeline,
    policy: &Policy,
    limits: &Limits,
    projector: &mut dyn Projector,
    rows: &mut Rows,
) {
    let outcome = Simulation::new(timeline, policy, limits, &CacheRules::None).run_by(projector, &mut [rows]);
    assert_eq!(outcome.fault, None);
}

/// What every request of a timeline shows in a window of so many tokens.
fn requests(timeline: &Timeline, window: u64) -> Vec<Vec<Part>> {
    let limits = Limits { prompt: UNLIMITED, window, output: UNLIMITED };
    let known = Known::new(timeline, limits);
    let (policy, mut rows) = (policy(), Rows::default());
    let program = Program::new(&policy, timeline, &known);
    let mut spy = Spy { program, timeline, requests: Vec::new() };
    play(timeline, &policy, &limits, &mut spy, &mut rows);
    assert_eq!(rows.requests.len(), spy.requests.len());
    for (row, parts) in rows.requests.iter().zip(&spy.requests) {
        let shown: u64 = parts.iter().map(|it| u64::from(it.tokens)).sum();
        assert_eq!(row.prompt, timeline.stable_tokens() + shown, "what is shown is what is sent");
    }
    spy.requests
}

fn last(timeline: &Timeline, window: u64) -> Vec<Part> {
    requests(timeline, window).pop().unwrap()
}

fn of_kind(parts: &[Part], kind: Kind) -> Vec<u32> {
    parts.iter().filter(|it| it.kind == kind).map(|it| it.tokens).collect()
}

/// A turn of 100 tokens of user text, a call of 10 tokens for each result, a final answer of 50; results have no text.
fn sized(timeline: &mut TimelineBuilder, results: &[(&str, u32)]) {
    timeline.begin_turn(&[NewItem::plain(Kind::User, 100)]);
    for (tool, raw) in results {
        let sizes = ItemSizes { raw: *raw, excerpt: *raw, summary: 100.min(*raw), handle: 5 };
        let result = NewItem::result(tool, 0, sizes, Preserve::None, Default::default());
        timeline.step(0, 10, &[NewItem::call(tool, 10)], &[result]);
    }
    timeline.step(0, 50, &[NewItem::plain(Kind::Assistant, 50)], &[]);
}

/// A system prompt of 5,000 tokens and one turn with one result of a body of so many tokens.
fn pressed(body: u32) -> Timeline {
    let mut timeline = TimelineBuilder::new("pressed", &[]);
    timeline.stable(Kind::System, 5_000);
    sized(&mut timeline, &[("bash", body - 110)]);
    timeline.finish()
}

fn is_projected(body: u32, window: u64) -> bool {
    of_kind(&last(&pressed(body), window), Kind::ToolResult) == [220 + 5]
}

#[test]
fn an_unknown_window_counts_as_32_000_tokens() {
    assert!(!is_projected(25_600, UNLIMITED));
    assert!(is_projected(25_601, UNLIMITED));
}

#[test]
fn pressure_is_strictly_more_than_its_share_of_the_window_without_the_system_prompt() {
    assert!(!is_projected(102_400, 128_000));
    assert!(is_projected(102_401, 128_000));
}

#[test]
fn a_window_of_exactly_200_000_is_large() {
    assert!(is_projected(160_000, 199_999), "80% of it, rounded down, is 159,999");
    assert!(!is_projected(159_999, 199_999));
    assert!(!is_projected(170_000, 200_000));
    assert!(is_projected(170_001, 200_000));
}

#[test]
fn completed_turns_with_tools_are_folded_without_any_pressure() {
    let mut timeline = TimelineBuilder::new("folded", &[]);
    sized(&mut timeline, &[("bash", 1_000)]);
    sized(&mut timeline, &[]);

    let shown = last(&timeline.finish(), 1_000_000);

    assert_eq!(shown.iter().map(|it| it.kind).collect::<Vec<_>>(), [Kind::User, Kind::Summary, Kind::User]);
    assert_eq!(
        shown[1].tokens,
        64 + 12 + (220 + 5) + 50,
        "own words, words for the result, preview and handle, answer"
    );
}

#[test]
fn completed_turns_without_tools_stay_word_for_word() {
    let mut timeline = TimelineBuilder::new("talk", &[]);
    sized(&mut timeline, &[]);
    sized(&mut timeline, &[]);

    let shown = last(&timeline.finish(), 32_000);

    assert_eq!(shown.iter().map(|it| it.kind).collect::<Vec<_>>(), [Kind::User, Kind::Assistant, Kind::User]);
}

#[test]
fn each_completed_turn_has_2_000_exact_tokens_of_its_own() {
    let mut timeline = TimelineBuilder::new("fresh", &[]);
    sized(&mut timeline, &[("read_file", 2_000), ("read_file", 300)]);
    sized(&mut timeline, &[("read_file", 1_500), ("read_file", 501), ("read_file", 500)]);
    sized(&mut timeline, &[]);

    let shown = last(&timeline.finish(), 1_000_000);

    let words = |n: u32| 64 + 12 * n + 50;
    let first = words(2) + 2_000 + (220 + 5);
    let second = words(3) + 1_500 + (220 + 5) + 500;
    assert_eq!(of_kind(&shown, Kind::Summary), [first, second]);
}

#[test]
fn a_file_that_does_not_fit_the_active_turn_s_18_000_exact_tokens_leaves_room_for_later_ones() {
    let mut timeline = TimelineBuilder::new("greedy", &[]);
    let files = [
        ("read_file", 12_000),
        ("read_file", 9_000),
        ("bash", 4_000),
        ("read_file", 6_000),
        ("read_file", 300),
    ];
    sized(&mut timeline, &files);

    let shown = last(&timeline.finish(), 32_000);

    assert_eq!(of_kind(&shown, Kind::ToolResult), [12_000, 225, 225, 6_000, 225]);
    assert_eq!(of_kind(&shown, Kind::ToolCall), [10; 5], "calls stay paired with their results");
}

#[test]
fn what_pressure_does_to_the_active_turn_is_undone_when_the_turn_is_folded() {
    let mut timeline = TimelineBuilder::new("undone", &[]);
    sized(&mut timeline, &[("bash", 30_000), ("read_file", 1_900)]);
    sized(&mut timeline, &[]);

    let requests = requests(&timeline.finish(), 32_000);

    assert_eq!(of_kind(&requests[2], Kind::ToolResult), [225, 1_900]);
    assert_eq!(of_kind(&requests[3], Kind::Summary), [64 + 2 * 12 + 225 + 1_900 + 50]);
}

#[test]
fn reasoning_calls_and_approvals_vanish_and_approvals_alone_are_tool_activity() {
    let mut timeline = TimelineBuilder::new("vanish", &[]);
    let plain = NewItem::plain;
    timeline.begin_turn(&[plain(Kind::User, 100)]);
    let reply = [plain(Kind::Reasoning, 700), plain(Kind::Assistant, 40), plain(Kind::Approval, 30)];
    timeline.step(0, 770, &reply, &[]);
    timeline.begin_turn(&[plain(Kind::User, 100)]);
    timeline.step(0, 750, &[plain(Kind::Reasoning, 700), plain(Kind::Assistant, 50)], &[]);
    sized(&mut timeline, &[]);

    let shown = last(&timeline.finish(), 1_000_000);

    let kinds: Vec<Kind> = shown.iter().map(|it| it.kind).collect();
    use ctxsim::input::policy::Kind::{Assistant, Reasoning, Summary, User};
    assert_eq!(
        kinds,
        [User, Summary, User, Reasoning, Assistant, User],
        "a turn without tools keeps its reasoning"
    );
    assert_eq!(shown[1].tokens, 64 + 40);
}

/// A call with its result, in words.
type Said<'a> = (&'a str, &'a str, String);

/// A text and what it counts at 4 characters a token.
fn counted(text: &str) -> (Arc<str>, u32) {
    (Arc::from(text), u32::try_from(text.chars().count().div_ceil(4)).unwrap())
}

/// Turns of calls with their results, in words, and answers of two paragraphs.
fn told(turns: &[&[Said<'_>]]) -> Timeline {
    let mut timeline = TimelineBuilder::new("told", &[]);
    for said in turns {
        let (text, tokens) = counted("What is it?");
        timeline.begin_turn(&[NewItem { text: Some(&text), ..NewItem::plain(Kind::User, tokens) }]);
        for (tool, input, output) in *said {
            let ((input, asks), (output, says)) = (counted(input), counted(output));
            let sizes = ItemSizes::whole(says);
            let call = NewItem { text: Some(&input), ..NewItem::call(tool, asks) };
            let result = NewItem::result(tool, 0, sizes, Preserve::None, Default::default());
            timeline.step(0, 10, &[call], &[NewItem { text: Some(&output), ..result }]);
        }
        let (text, tokens) = counted("First.\n\nThen.");
        timeline.step(
            0,
            10,
            &[NewItem { text: Some(&text), ..NewItem::plain(Kind::Assistant, tokens) }],
            &[],
        );
    }
    timeline.finish()
}

/// What the results of one turn say under pressure.
fn said(results: &[Said<'_>]) -> Vec<String> {
    let press = ("bash", "{}", "long ".repeat(30_000));
    let all: Vec<Said<'_>> = results.iter().cloned().chain([press]).collect();
    let mut shown = last(&told(&[&all]), 32_000);
    shown.retain(|it| it.kind == Kind::ToolResult);
    shown.pop();
    for part in &shown {
        assert_eq!(part.tokens, counted(part.text.as_deref().unwrap()).1, "the size is that of the text");
    }
    shown.into_iter().filter_map(|it| it.text).collect()
}

fn assert_written(name: &str, text: &str) {
    assert_snapshot("text", name, text);
}

const FILE: &str = "<path>src/main.rs</path>\n<sha256>abc</sha256>\n<type>file</type>\n<size_bytes>13</size_bytes>\n<total_lines>9</total_lines>\n<offset>1</offset>\n<limit>2</limit>\n<returned_lines>2</returned_lines>\n<truncated>true</truncated>\n<next_offset>3</next_offset>\n<hint> </hint>\n<content>\n     1|fn main() {\n\n     2|}\n</content>";

#[test]
fn each_kind_of_tool_is_summarised_in_lines_of_its_own() {
    let process = r#"{"process_id":"p1","status":"running","exit_code":null,"cursor":512,"truncated":false,"output":"line one\n\n  line two","other":1}"#;
    let long = FILE.replace("fn main() {", &"word ".repeat(15_000));
    let results = [
        ("read_file", r#"{"path":"src/main.rs","offset":1,"limit":2}"#, FILE.to_owned()),
        ("read_file", r#"{"path":"src/main.rs","offset":-1,"limit":"2"}"#, long),
        ("read_file", r#"{"path":"gone.rs"}"#, "<hint>no such file</hint>".to_owned()),
        ("write_file", r#"{"path":"b.rs","content":"x"}"#, "wrote\n1 line".to_owned()),
        ("vision_analyze", r#"{"path":"a.png","limit":3}"#, "a cat".to_owned()),
        ("process_start", r#"{"command":"cargo\n  test","cwd":"/w"}"#, process.to_owned()),
        (
            "process_read",
            r#"{"process_id":"p1","mode":"tail","cursor":512,"query":"error"}"#,
            process.to_owned(),
        ),
        ("process_watch", r#"{"process_id":"p1"}"#, "no JSON at all".to_owned()),
        ("process_list", "{}", r#"[{"process_id":"p1", "status":"done"}]"#.to_owned()),
        ("process_stop", r#"{"process_id":"p1"}"#, "stopped".to_owned()),
        ("process_write", r#"{"process_id":"p1","query":"y"}"#, "\"two\\nlines\"".to_owned()),
        ("web_search", r#"{"query":"rust"}"#, "a  b\nc".to_owned()),
    ];

    assert_written("tool_results", &said(&results).join("\n\n"));
}

#[test]
fn a_completed_turn_is_summarised_in_one_block() {
    let calls = [
        ("read_file", r#"{"path":"src/main.rs"}"#, FILE.to_owned()),
        ("bash", r#"{"command":"ls"}"#, "a.rs\nb.rs".to_owned()),
    ];
    let shown = last(&told(&[&calls, &[]]), 1_000_000);

    assert_eq!(shown.iter().map(|it| it.kind).collect::<Vec<_>>(), [Kind::User, Kind::Summary, Kind::User]);
    let block = shown[1].text.as_deref().unwrap();
    assert_eq!(shown[1].tokens, counted(block).1, "the size is that of the text");
    assert_written("completed_turn", block);
}

#[test]
fn what_a_template_writes_is_counted_by_the_tokenizer_that_the_trace_names() {
    let calls = [("bash", r#"{"command":"ls"}"#, "a.rs\nb.rs".to_owned())];
    let mut timeline = told(&[&calls, &[]]);
    timeline.tokenizer = Some(TokenizerName::O200k);

    let shown = last(&timeline, 1_000_000);

    let block = shown[1].text.as_deref().unwrap();
    let by_characters = u64::from(counted(block).1);
    let expected = match ctxsim::tokens::tokenizer(TokenizerName::O200k) {
        Some(tokenizer) => tokenizer.count(block),
        None => by_characters,
    };
    assert_eq!(u64::from(shown[1].tokens), expected);
    assert_eq!(expected != by_characters, cfg!(feature = "tokens"));
}

#[test]
fn a_turn_of_approvals_alone_says_none() {
    let mut timeline = TimelineBuilder::new("none", &[]);
    let (text, tokens) = counted("rm -rf target?");
    let approval = NewItem { text: Some(&text), ..NewItem::plain(Kind::Approval, tokens) };
    for _ in 0..2 {
        timeline.begin_turn(&[NewItem::plain(Kind::User, 1)]);
        timeline.step(0, 1, &[approval], &[]);
    }

    let shown = last(&timeline.finish(), 1_000_000);

    let block = shown[1].text.as_deref().unwrap();
    assert!(block.contains("tool_activity:\nnone\nassistant_result:\nnone\nrecovery_rule: "), "{block}");
}

#[test]
fn a_preview_of_220_tokens_is_whole_and_a_longer_one_is_cut_behind_880_characters() {
    let whole = "ab ".repeat(293) + "c";
    let cut = "ab ".repeat(300);

    let texts = said(&[("bash", "{}", whole.clone()), ("bash", "{}", cut)]);

    assert_eq!(texts[0], format!("[TOOL RESULT SUMMARY]\ncapability: bash\npreview: {whole}"));
    assert_eq!(
        texts[1],
        format!("[TOOL RESULT SUMMARY]\ncapability: bash\npreview: {}a ...", "ab ".repeat(293))
    );
}

#[test]
fn the_exact_budget_is_charged_with_the_content_alone() {
    let file = |chars: usize| format!("<path>a</path><content>{}</content>", "x".repeat(chars));
    let texts = said(&[
        ("read_file", "{}", file(4 * 18_000 - 4)),
        ("read_file", "{}", file(5)),
        ("read_file", "{}", file(4)),
        ("read_file", "{}", file(1)),
    ]);

    let exact: Vec<bool> = texts.iter().map(|it| it.contains("exact_evidence:")).collect();
    assert_eq!(exact, [true, false, true, false]);
}

#[test]
fn a_wrapped_call_is_summarised_as_the_call_that_it_wraps() {
    let line = |n: u32, kind: &str, message: &str| {
        let parent = if n == 1 { "null".to_owned() } else { format!("\"u{}\"", n - 1) };
        format!(
            r#"{{"type":"{kind}","uuid":"u{n}","parentUuid":{parent},"timestamp":"2026-01-01T00:00:0{n}.000Z","message":{message}}}"#
        )
    };
    let input = r#"{"capability":" read_file ","purpose":" see ","args":{"path":"a.rs","offset":7}}"#;
    let session = [
        line(1, "user", r#"{"role":"user","content":"look"}"#),
        line(
            2,
            "assistant",
            &format!(
                r#"{{"id":"m1","model":"m","content":[{{"type":"tool_use","id":"c1","name":"call_capability","input":{input}}}],"usage":null}}"#
            ),
        ),
        line(
            3,
            "user",
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"<content>fn a() {}</content>"}]}"#,
        ),
        line(
            4,
            "assistant",
            r#"{"id":"m2","model":"m","content":[{"type":"text","text":"done"}],"usage":null}"#,
        ),
        line(5, "user", r#"{"role":"user","content":"thanks"}"#),
        line(
            6,
            "assistant",
            r#"{"id":"m3","model":"m","content":[{"type":"text","text":"ok"}],"usage":null}"#,
        ),
    ];
    let wrapper = ToolAssume {
        tool: "call_capability".to_owned(),
        counts_as: None,
        name_from: Some("capability".to_owned()),
        preserve: Preserve::None,
    };
    let assume = Assume { tools: vec![wrapper], ..Assume::default() };

    let timeline = import(&session.join("\n"), "wrapped", &assume, &[]).unwrap().timeline;
    let shown = last(&timeline, 1_000_000);

    let block = shown[1].text.as_deref().unwrap();
    let lines = "- [TOOL RESULT SUMMARY]\n- capability: read_file\n- purpose: see\n- path: a.rs\n- requested_offset: 7\n- exact_evidence:\n-   fn a() {}\n";
    assert!(block.contains(lines), "{block}");
}

#[test]
fn a_template_that_is_none_and_a_fold_that_cannot_be_are_told() {
    let told = |stage: &str, write: &str| {
        let text = format!(
            r##"(name: "p", about: "P.", templates: {{ "t": (write: r#"{write}"#) }}, stages: [(name: "s", {stage})])"##
        );
        let spec = decode(&text, ctxsim::input::Format::Ron).unwrap();
        let problems = Policy::new(&spec).unwrap_err();
        problems.iter().map(|it| it.code.name()).collect::<Vec<_>>()
    };

    assert_eq!(told("apply: drop", "{{ output | no_such }}"), ["template-broken"]);
    assert_eq!(told("apply: fold(template: \"u\")", ""), ["name-unknown"]);
    assert_eq!(told("scope: (by: turns(2)), apply: fold()", ""), ["fold-by"]);
    assert_eq!(told("scope: (order: newest), apply: fold()", ""), ["fold-order"]);
    assert_eq!(told("apply: fold(copy: [user], quote: [user])", ""), ["fold-kind-twice"]);
    assert_eq!(told("apply: fold(quote: [tool_result])", ""), ["fold-quotes-results"]);
}

/// Notes what caches know the last request by.
struct Last(Program, u128);

impl Projector for Last {
    fn project(&mut self, moment: Moment, ambient: &Ambient, edit: &mut Editor<'_, '_>) {
        self.0.project(moment, ambient, edit);
        self.1 = edit.chain().links().last().map_or(0, |it| it.digest);
    }
}

/// What caches know the last request by, of a turn that is folded and whose result says these words.
fn known_by(words: &str, digest: u64) -> u128 {
    let text: Arc<str> = words.into();
    let sizes = ItemSizes { raw: 1_000, excerpt: 1_000, summary: 100, handle: 5 };
    let mut result = NewItem::result("bash", 0, sizes, Preserve::None, Default::default());
    (result.text, result.digest) = (Some(&text), Some(digest));
    let mut timeline = TimelineBuilder::new("folded", &[]);
    timeline.begin_turn(&[NewItem::plain(Kind::User, 100)]);
    timeline.step(0, 10, &[NewItem::call("bash", 10)], &[result]);
    timeline.step(0, 50, &[NewItem::plain(Kind::Assistant, 50)], &[]);
    sized(&mut timeline, &[]);
    let (timeline, policy) = (timeline.finish(), policy());
    let known = Known::new(&timeline, Limits::NONE);
    let mut last = Last(Program::new(&policy, &timeline, &known), 0);
    play(&timeline, &policy, &Limits::NONE, &mut last, &mut Rows::default());
    last.1
}

#[test]
fn a_fold_is_known_by_its_words_and_not_by_what_it_was_made_of() {
    let first = known_by(&"one ".repeat(200), 1);

    assert_eq!(first, known_by(&"one ".repeat(200), 2), "equal words of another item");
    assert_ne!(first, known_by(&"two ".repeat(200), 1), "other words of equal size");
}
