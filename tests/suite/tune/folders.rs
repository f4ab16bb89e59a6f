//! Folders of made-up sessions that read files and edit them later.
//!
//! What clearing old results saves follows from the sizes of results, and what it forgets from how long after it was read a file is
//! edited. Projects and months differ in both.

use ctxsim::app::grid::OverrideGrid;
use ctxsim::app::tune::{TunedSessions, Tuning, variants_from_grid};
use ctxsim::rng::Stream;

use crate::support::*;

/// Tokens of tools, system prompt and the first message.
const FRONT: u64 = 20_000;
/// Tokens of each reply.
const REPLY: u64 = 60;
/// Requests of a session that read and edit files.
const WORKING: usize = 36;
/// Tokens of a result, in the mean.
const RESULT: f64 = 2_000.0;
/// The share of edits of files that were read long before, in the mean.
const FAR: f64 = 0.3;
/// Projects of a folder.
const PROJECTS: u64 = 6;
/// Months of a folder.
const MONTHS: u64 = 9;

/// The variants: how many results stay.
const VARIED: [&str; 3] =
    ["params.trigger.tokens=60000", "params.keep.count=3,9,12", "params.clear_at_least.tokens=25000"];
/// What is so in made-up sessions: nothing but what is in the logs, nobody looks anything up but what an edit needs, and the floor is one of
/// results, which alone are cleared.
const ASSUMED: [&str; 4] = [
    "scenario.load.recorded.assume.side_request=none",
    "scenario.refetch.exploration.calls_per_request={ value = 0.0, low = 0.0, high = 0.0 }",
    "scenario.refetch.unseen_weight_high=0.0",
    "scenario.user_messages=ignored",
];

/// A folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub(crate) seed: u64,
    /// Requests after the last file: the more there are, the more it saves that old results are gone.
    pub(crate) tail: usize,
    pub(crate) sessions: u64,
}

/// What a request asks for.
#[derive(Clone, Copy)]
enum Step {
    /// To read a file of so many tokens.
    Read(u64),
    /// To edit the file that some request read.
    Edit(usize),
    /// To run a command.
    Run,
}

impl Step {
    fn tokens(self) -> u64 {
        match self {
            Self::Read(tokens) => tokens,
            Self::Edit(_) => 100,
            Self::Run => 50,
        }
    }
}

impl Recipe {
    /// Writes the sessions as Claude Code does.
    fn write(self, folder: &Path) {
        for nth in 0..self.sessions {
            fs::write(folder.join(format!("s{nth}.jsonl")), self.text(nth)).unwrap();
        }
    }

    /// Draws the effect of a project or a month: a factor around 1.
    fn effect(self, of: &str, nth: u64, reach: u64) -> f64 {
        let stream: Stream = Seed(self.seed).stream(of, 0);
        stream.nth(0, nth).next_between(1_000 - reach, 1_000 + reach) as f64 / 1_000.0
    }

    /// Draws what the requests of a session ask for: every third one edits a file, which was read lately or, now and then, long before.
    fn steps(self, nth: u64) -> Vec<Step> {
        let (project, month) = (nth % PROJECTS, nth * MONTHS / self.sessions);
        let of = |what: &str, reach: u64| {
            let [own, of_month] = [("projects", project), ("months", month)]
                .map(|(of, nth)| self.effect(&format!("{what} of {of}"), nth, reach));
            own * of_month
        };
        let (size, far) = (of("sizes", 120), FAR * of("distances", 250));
        let mut draw = Seed(self.seed).stream("made-up sessions", 0).nth(0, nth);
        let mut step = |at: usize| {
            let is_far = (draw.next_between(0, 999_999) as f64) < far * 1e6;
            let back = if is_far { draw.next_between(12, 18) } else { draw.next_between(1, 3) };
            let read = (RESULT * size * draw.next_between(600, 1_400) as f64 / 1e3) as u64;
            // What stands where an edit does was not read: the one before it was.
            let edits = |it: usize| if it % 3 == 2 { it - 1 } else { it };
            match at.checked_sub(back as usize).filter(|_| at % 3 == 2) {
                Some(it) => Step::Edit(edits(it)),
                None => Step::Read(read),
            }
        };
        let working: Vec<Step> = (0..WORKING).map(&mut step).collect();
        working.into_iter().chain(std::iter::repeat_n(Step::Run, self.tail)).collect()
    }

    pub(crate) fn text(self, nth: u64) -> String {
        let (project, month) = (nth % PROJECTS, nth * MONTHS / self.sessions);
        let place = format!("/Users/ann/p{project}");
        let mut text = String::new();
        let mut parent = "null".to_owned();
        let mut line = |kind: &str, id: &str, minute: usize, second: u32, message: &str| {
            let at = format!(
                "2026-{:02}-{:02}T{:02}:{:02}:{second:02}.000Z",
                month + 1,
                nth % 28 + 1,
                nth as usize % 20 + minute / 60,
                minute % 60
            );
            let _ = writeln!(
                text,
                r#"{{"type":"{kind}","uuid":"{id}","parentUuid":{parent},"sessionId":"s{nth}","cwd":"{place}","isSidechain":false,"timestamp":"{at}","version":"2.1.60","message":{message}}}"#,
            );
            parent = format!("\"{id}\"");
        };
        line("user", "u", 0, 0, r#"{"role":"user","content":"Go on."}"#);
        let (mut before, mut prompt) = (0, FRONT);
        for (at, step) in self.steps(nth).into_iter().enumerate() {
            let call = match step {
                Step::Read(_) => format!(r#""name":"Read","input":{{"file_path":"{place}/f{at}.rs"}}"#),
                Step::Edit(read) => format!(
                    r#""name":"Edit","input":{{"file_path":"{place}/f{read}.rs","old_string":"the text of file {read} it is","new_string":"another"}}"#
                ),
                Step::Run => r#""name":"Bash","input":{"command":"ls"}"#.to_owned(),
            };
            let message = format!(
                r#"{{"id":"m{at}","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"tool_use","id":"t{at}",{call}}}],"usage":{{"input_tokens":3,"cache_read_input_tokens":{before},"cache_creation_input_tokens":{},"output_tokens":{REPLY},"cache_creation":{{"ephemeral_5m_input_tokens":{},"ephemeral_1h_input_tokens":0}}}}}}"#,
                prompt - before,
                prompt - before
            );
            line("assistant", &format!("a{at}"), at, 4, &message);
            let content = match step {
                Step::Read(_) => format!("the text of file {at} it is {}", "x".repeat(64)),
                _ => "Done.".to_owned(),
            };
            let message = format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{at}","content":"{content}"}}]}}"#
            );
            line("user", &format!("r{at}"), at, 8, &message);
            (before, prompt) = (prompt, prompt + REPLY + step.tokens());
        }
        text
    }

    /// Plays its sessions under every variant.
    pub(crate) fn played(self) -> TunedSessions {
        let folder = tempdir().unwrap();
        self.write(folder.path());
        let comparison = Comparison {
            own_models: true,
            alone: true,
            set: ASSUMED.map(str::to_owned).to_vec(),
            ..comparing(&["identity", "clear_tool_results"], &[&folder.path().display().to_string()], &[])
        };
        let search = variants_from_grid(&OverrideGrid::parse(&VARIED.map(str::to_owned)).unwrap()).unwrap();
        let catalog = bundled_catalog();
        let tuning = Tuning::new(&catalog, &comparison, search, 0.9, 0).unwrap();
        tuning.play_sessions(Some(1), &|_, _| {}).unwrap()
    }
}
