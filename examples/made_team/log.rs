//! Writes sessions as Claude Code logs them: JSON lines, with what the provider billed for each request.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use ctxsim::input::profile::calendar::date_text;
use ctxsim::rng::Seed;

use crate::bill::Billed;
use crate::team::{Person, Request, Session, Tool};

const VERSION: &str = "2.1.262";
/// Characters for each token of a tool's output, and of what a person types.
const OUTPUT_CHARS: f64 = 2.7;
const TYPED_CHARS: f64 = 4.4;
/// What is set around the names of skills in their records.
const SKILLS: [&str; 2] = ["house-style", "notes"];

/// Words, of which every text is a piece: none is long enough to be taken for a name.
pub(crate) struct Words(String);

impl Words {
    pub(crate) fn new() -> Self {
        let mut draw = Seed(7).stream("words", 0).draw();
        let mut text = String::new();
        while text.len() < 400_000 {
            for _ in 0..draw.next_between(2, 6) {
                text.push(char::from(b'a' + draw.next_below(26) as u8));
            }
            text.push(' ');
        }
        Self(text)
    }

    /// Returns a text of about so many characters: another one for each place.
    fn text(&self, place: u64, characters: f64) -> &str {
        let n = (characters as usize).clamp(8, 60_000);
        let from = Seed(place).stream("text", 0).draw().next_below((self.0.len() - n) as u64) as usize;
        &self.0[from..from + n]
    }
}

/// Writes a session to a folder of projects, in the folder of its own.
pub(crate) fn write(
    folder: &Path,
    people: &[Person],
    session: &Session,
    billed: &[Billed],
    words: &Words,
) -> io::Result<()> {
    let person = &people[session.person];
    let project = format!("{}-project-{}", person.name, session.project);
    let folder = folder.join(format!("-Users-{project}"));
    fs::create_dir_all(&folder)?;
    let id = format!("{:08x}-0000-4000-8000-{:012x}", session.id, session.id);
    let name = session.agent.map_or_else(|| id.clone(), |nth| format!("agent-{:x}{nth:03x}", session.id));
    let mut log = Log {
        text: String::new(),
        head: format!(
            "\"isSidechain\":{},{}\"userType\":\"external\",\"cwd\":\"/Users/{}/project-{}\",\"sessionId\":\"{id}\",\"version\":\"{VERSION}\",\"gitBranch\":\"main\"",
            session.agent.is_some(),
            session
                .agent
                .map_or_else(String::new, |nth| format!("\"agentId\":\"{:x}{nth:03x}\",", session.id)),
            person.name,
            session.project
        ),
        place: (session.id << 20) + session.agent.map_or(0, |it| (it + 1) << 12),
        parent: "null".to_owned(),
        is_hour: session.agent.is_some(),
        words,
        path: String::new(),
        shown: String::new(),
    };
    let mut before_ms = session.requests.first().map_or(0, |it| it.at_ms);
    for (request, billed) in session.requests.iter().zip(billed) {
        log.asked(request, before_ms);
        log.answered(request, *billed, person.model);
        before_ms = request.answered_ms;
    }
    fs::write(folder.join(format!("{name}.jsonl")), log.text)
}

struct Log<'w> {
    text: String,
    /// The fields that all records share.
    head: String,
    /// A number that no other record of the team has.
    place: u64,
    parent: String,
    is_hour: bool,
    words: &'w Words,
    /// The file that the last read or long command showed, and a piece of it.
    path: String,
    shown: String,
}

impl Log<'_> {
    /// Writes a record: what it says, and when.
    fn record(&mut self, kind: &str, more: &str, message: &str, at_ms: i64) {
        self.place += 1;
        let uuid = format!("\"{:08x}-0000-4000-9000-{:012x}\"", self.place >> 32, self.place & 0xffff_ffff);
        let _ = writeln!(
            self.text,
            "{{\"parentUuid\":{},{},\"type\":\"{kind}\",\"message\":{{{message}}},{more}\"uuid\":{uuid},\"timestamp\":\"{}\"}}",
            self.parent,
            self.head,
            time(at_ms)
        );
        self.parent = uuid;
    }

    /// Returns the name of the last call.
    fn call(&self) -> String {
        format!("toolu_{:016x}", self.place)
    }

    /// Writes what came before a request: what a call gave back, and what was typed.
    fn asked(&mut self, request: &Request, before_ms: i64) {
        if let Some((tool, tokens)) = request.result {
            let call = self.call();
            let skill = SKILLS[usize::from(tool == Tool::Notes)];
            let is_skill = matches!(tool, Tool::HouseStyle | Tool::Notes);
            let text = match is_skill {
                true => format!("Launching skill: {skill}"),
                false => self.words.text(self.place, tokens as f64 * OUTPUT_CHARS).to_owned(),
            };
            let text = if tool == Tool::BigBash { format!("{}: {text}", self.path) } else { text };
            if matches!(tool, Tool::Read | Tool::BigBash) {
                let middle = text.len() / 2;
                text[middle..(middle + 60).min(text.len())].clone_into(&mut self.shown);
            }
            let message = format!(
                "\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"{call}\",\"type\":\"tool_result\",\"content\":\"{text}\"}}]"
            );
            self.record("user", "", &message, request.at_ms);
            if is_skill {
                let text = self.words.text(self.place, tokens as f64 * OUTPUT_CHARS);
                let message = format!(
                    "\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"Base directory for this skill: /skills/{skill} {text}\"}}]"
                );
                self.record(
                    "user",
                    &format!("\"isMeta\":true,\"sourceToolUseID\":\"{call}\","),
                    &message,
                    request.at_ms,
                );
            }
        }
        if let Some(tokens) = request.typed {
            let text = self.words.text(self.place + 1, (tokens as f64 - 3.0) * TYPED_CHARS);
            let message = format!("\"role\":\"user\",\"content\":\"{text}\"");
            self.record("user", "", &message, request.at_ms.max(before_ms));
        }
    }

    /// Writes a reply, with its call and its bill.
    fn answered(&mut self, request: &Request, billed: Billed, model: &str) {
        let id = self.place;
        let text = self.words.text(id + 2, request.output as f64 * 2.0);
        let [short, long] = if self.is_hour { [0, billed.write] } else { [billed.write, 0] };
        let usage = format!(
            "\"usage\":{{\"input_tokens\":{},\"cache_creation_input_tokens\":{},\"cache_read_input_tokens\":{},\"output_tokens\":{},\"service_tier\":\"standard\",\"cache_creation\":{{\"ephemeral_1h_input_tokens\":{long},\"ephemeral_5m_input_tokens\":{short}}}}}",
            billed.uncached, billed.write, billed.read, billed.output
        );
        // The record that is written next names the call.
        let call = format!("toolu_{:016x}", self.place + 1);
        let used = request.calls.map_or_else(String::new, |tool| {
            let (name, input) = self.input(tool, id);
            format!(",{{\"type\":\"tool_use\",\"id\":\"{call}\",\"name\":\"{name}\",\"input\":{{{input}}}}}")
        });
        let stop = if request.calls.is_some() { "tool_use" } else { "end_turn" };
        let message = format!(
            "\"model\":\"{model}\",\"id\":\"msg_{id:016x}\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}{used}],\"stop_reason\":\"{stop}\",{usage}"
        );
        self.record("assistant", &format!("\"requestId\":\"req_{id:016x}\","), &message, request.answered_ms);
    }

    /// Returns the name of a tool, and what it is called with.
    fn input(&mut self, tool: Tool, id: u64) -> (&'static str, String) {
        if matches!(tool, Tool::Read | Tool::BigBash) {
            self.path = format!("src/f{id:x}.rs");
        }
        let path = format!("\"file_path\":\"{}\"", self.path);
        match tool {
            Tool::Read => ("Read", path),
            Tool::Bash => ("Bash", format!("\"command\":\"make t{id:x}\"")),
            Tool::BigBash => ("Bash", format!("\"command\":\"show {}\"", self.path)),
            Tool::Edit => {
                ("Edit", format!("{path},\"old_string\":\"{}\",\"new_string\":\"n{id:x}\"", self.shown))
            }
            Tool::HouseStyle | Tool::Notes => {
                ("Skill", format!("\"skill\":\"{}\"", SKILLS[usize::from(tool == Tool::Notes)]))
            }
            Tool::Agent => (
                "Agent",
                format!(
                    "\"description\":\"look\",\"prompt\":\"look at a{id:x}\",\"subagent_type\":\"Explore\""
                ),
            ),
        }
    }
}

/// Returns a time as logs have it.
fn time(ms: i64) -> String {
    let of_day = ms.rem_euclid(86_400_000);
    let [h, m, s, ms_of] = [of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60, of_day % 1000];
    format!("{}T{h:02}:{m:02}:{s:02}.{ms_of:03}Z", date_text(ms))
}
