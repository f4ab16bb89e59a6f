//! A scan of a Claude Code session for the index: ids, times, bills and places, without what was said.

use memchr::memmem::Finder;

use super::record::{AGENT_TOTALS, ClaudeMessage, ClaudeRecord};
use super::{HARNESS, SKILL_TOOL};
use crate::import::index::{HomeFolders, Indexed, Kin, home_folders};
use crate::import::lay_out::RecordingModels;
use crate::import::own_cases::OwnCases;
use crate::import::prelude::*;
use crate::own::OwnCounts;

/// A record as the index asks for it: of a message, only where what was said stands is known.
type ScannedRecord<'a> = ClaudeRecord<'a, Option<&'a RawValue>>;
type ScannedMessage<'a> = ClaudeMessage<'a, Option<&'a RawValue>>;

/// A lane of the session while it is scanned: the agent itself, or one of its sub-agents.
#[derive(Default)]
struct ScannedLane {
    id: String,
    cwd: String,
    version: Version,
    model: String,
    models: RecordingModels,
    /// The reply that is being read.
    reply: String,
    moments: Vec<[i64; 2]>,
    /// By moment: a digest of the ids that the provider gave the reply; 0 where it has none.
    replies: Vec<u64>,
    usages: Vec<Usage>,
    /// Whether `progress` records tell of it.
    has_progress: bool,
    /// When the user's side last said something.
    said_ms: Option<i64>,
    /// A digest of its first message.
    started_with: Option<u64>,
    /// What its bills show of odds.
    own: OwnCases,
}

/// Scans a session; two objects on one line are two records.
pub(super) fn scan(lines: &mut LogLines<'_>) -> Vec<Indexed> {
    let mut lanes: IndexMap<String, ScannedLane> = IndexMap::new();
    let find = Finders::new();
    while let Some(line) = lines.next() {
        let bytes = line.text.as_bytes();
        if find.message.find(bytes).is_none() {
            if find.resumed.find(edges(bytes)[0]).is_some() {
                lanes.entry(String::new()).or_default().own.since.is_told = true;
            }
            continue;
        }
        let result = find.result.find(bytes);
        let front = result.map_or(line.text, |it| &line.text[..it]);
        let may_end_agent = lanes.len() > 1 && find.totals.find(bytes).is_some();
        if let Some(own) =
            lanes.get_mut("").filter(|it| !it.id.is_empty() && !it.cwd.is_empty() && !may_end_agent)
            && let Some(at_ms) = find.told(front)
        {
            own.said_ms = own.said_ms.max(Some(at_ms));
            if result.is_none() {
                own.hear(&find, bytes);
            }
            continue;
        }
        let records = serde_json::Deserializer::from_str(line.text).into_iter::<ScannedRecord<'_>>();
        for record in records.map_while(Result::ok) {
            if may_end_agent {
                end_agent(&mut lanes, &record);
            }
            let is_progress = record.data.is_some();
            let record = record.of_agent(0, &mut Losses::default()).unwrap_or(record);
            let agent = record.is_sidechain.unwrap_or(false).then(|| super::lane_name(&record.agent_id.0));
            let lane = lanes.entry(agent.unwrap_or_default()).or_default();
            lane.has_progress |= is_progress;
            lane.take(&record);
            match record.kind.0.as_ref() {
                "user" if record.tool_use_result.is_none() => lane.hear(&find, bytes),
                "assistant" if lane.own.asks_for_calls() && find.rewrites(bytes) => lane.own.has_skill = true,
                _ => {}
            }
        }
    }
    indexed(lanes)
}

/// Takes the last request of a sub-agent, where progress tells of the others and not of this one, as reading does.
fn end_agent(lanes: &mut IndexMap<String, ScannedLane>, record: &ScannedRecord<'_>) -> Option<()> {
    let mut record = record.last_of_agent()?;
    let of_session = lanes.get("").map_or_else(String::new, |it| it.model.clone());
    let lane = lanes.get_mut(&super::lane_name(&record.agent_id.0)).filter(|it| it.has_progress)?;
    let mut message = record.message.take()?;
    let billed = super::node::bill(0, message.usage, &mut Losses::default()).usage?;
    let parts = |it: &Usage| (it.prompt, it.cache_read, it.cache_write);
    if lane.usages.iter().all(|it| parts(it) != parts(&billed)) {
        message.model = Text(super::node::first_named([&lane.model, &message.model.0, &of_session]).into());
        lane.answer(&record, &message, milliseconds(&record.timestamp.0));
    }
    Some(())
}

/// What is looked for in lines before they are read: most of a log's bytes are results that stand in it twice, and tell the index
/// nothing.
struct Finders {
    message: Finder<'static>,
    /// What repeats the results of a message, behind all that the index asks for.
    result: Finder<'static>,
    /// What stands where a call gives back the totals of a sub-agent.
    totals: Finder<'static>,
    /// What a session runs that is taken up again.
    resumed: Finder<'static>,
    /// Calls that make some versions rewrite the messages.
    rewriting: Vec<Finder<'static>>,
    /// What begins the text of a command.
    command: Finder<'static>,
    /// What begins that of one that is expanded.
    expanded: Finder<'static>,
    is_summary: Finder<'static>,
    is_meta: Finder<'static>,
    /// What names the call that a result answers.
    answers: Finder<'static>,
}

impl Finders {
    fn new() -> Self {
        Self {
            message: Finder::new("\"message\""),
            result: Finder::new(",\"toolUseResult\""),
            totals: Finder::new(AGENT_TOTALS),
            resumed: Finder::new("\"SessionStart:resume\""),
            rewriting: HarnessRules::rewriting_tools(HARNESS)
                .chain([SKILL_TOOL])
                .map(|it| Finder::new(&format!("\"name\":\"{it}\"")).into_owned())
                .collect(),
            command: Finder::new(":\"<command-"),
            expanded: Finder::new(":\"<command-message>"),
            is_summary: Finder::new("\"isCompactSummary\":true"),
            is_meta: Finder::new("\"isMeta\":true"),
            answers: Finder::new("\"tool_use_id\""),
        }
    }

    /// Returns whether a reply calls what makes some versions rewrite the messages.
    fn rewrites(&self, line: &[u8]) -> bool {
        let front = edges(line)[0];
        self.rewriting.iter().any(|it| it.find(front).is_some())
    }

    /// Returns when the user's side of the agent's own session said a record, if its front and its end say so plainly.
    fn told(&self, record: &str) -> Option<i64> {
        const TIMESTAMP: &str = "\"timestamp\":\"";
        let front = &record[..self.message.find(record.as_bytes())?];
        let is_plain = front.contains("\"isSidechain\":false") && front.contains("\"type\":\"user\"");
        let end = record.get(record.len().saturating_sub(160)..).filter(|_| is_plain)?;
        let at = &end[end.rfind(TIMESTAMP)? + TIMESTAMP.len()..];
        milliseconds(at.split('"').next()?)
    }
}

/// Returns the first and the last bytes of a record: its own fields stand there, and what was said between them may be long.
fn edges(line: &[u8]) -> [&[u8]; 2] {
    const BYTES: usize = 1_024;
    [&line[..line.len().min(BYTES)], &line[line.len().saturating_sub(BYTES)..]]
}

/// Names the lanes as reading the session does.
fn indexed(mut lanes: IndexMap<String, ScannedLane>) -> Vec<Indexed> {
    lanes.retain(|_, it| !it.usages.is_empty() || !it.moments.is_empty());
    let is_alone = lanes.len() == 1;
    lanes.into_iter().map(|(name, lane)| lane.indexed(name, is_alone)).collect()
}

impl ScannedLane {
    /// Takes a record.
    fn take(&mut self, record: &ScannedRecord<'_>) {
        if self.id.is_empty() {
            record.session_id.0.as_ref().clone_into(&mut self.id);
        }
        if self.cwd.is_empty() {
            record.cwd.0.as_ref().clone_into(&mut self.cwd);
        }
        let Some(message) = &record.message else { return };
        let at_ms = milliseconds(&record.timestamp.0);
        match record.kind.0.as_ref() {
            "user" => {
                self.said_ms = self.said_ms.max(at_ms);
                if self.started_with.is_none() {
                    self.started_with = message.content.map(|it| xxh3_64(it.get().as_bytes()));
                }
            }
            "assistant" if message.model.0 != "<synthetic>" => self.answer(record, message, at_ms),
            // No model wrote it: an error, or the session was left here and taken up again.
            "assistant" => self.own.since.is_told = true,
            _ => {}
        }
    }

    /// Takes a message of the user's side that is no result of a call: it may begin a turn, or break the prompt.
    fn hear(&mut self, find: &Finders, line: &[u8]) {
        let [front, end] = edges(line);
        let begins = |it: &Finder<'_>| it.find(front).is_some();
        let has = |it: &Finder<'_>| begins(it) || it.find(end).is_some();
        let is_command = begins(&find.command);
        if is_command || has(&find.is_summary) {
            self.own.since.is_told = true;
        }
        if is_command && begins(&find.expanded) {
            self.own.since.has_skill = true;
        }
        if !has(&find.is_meta) && !begins(&find.answers) {
            self.own.since.is_typed = true;
        }
    }

    /// Takes a line of a reply: later lines of it only end it.
    fn answer(&mut self, record: &ScannedRecord<'_>, message: &ScannedMessage<'_>, at_ms: Option<i64>) {
        let reply = format!("{} {}", message.id.0, record.request_id.0);
        let is_new = message.id.0.is_empty() || reply != self.reply;
        if !is_new {
            if let (Some(last), Some(at_ms)) = (self.moments.last_mut(), at_ms) {
                last[1] = last[1].max(at_ms);
            }
            return;
        }
        self.reply = reply;
        if self.moments.is_empty() {
            self.version = Version::parse(&record.version.0);
            message.model.0.as_ref().clone_into(&mut self.model);
        }
        let mut losses = Losses::default();
        let usage = super::node::bill(0, message.usage, &mut losses).usage;
        self.models.count(&message.model.0, usage.map_or(0, |it| it.prompt));
        self.usages.extend(usage);
        if let Some(at_ms) = at_ms {
            let asked_ms = self.said_ms.take().unwrap_or(at_ms).min(at_ms);
            let not_before = self.moments.last().map_or(i64::MIN, |it| it[0]);
            let asked_ms = asked_ms.max(not_before);
            if let Some(usage) = usage {
                let ended_ms = self.moments.last().map_or(asked_ms, |it| it[1]);
                self.own.billed((HARNESS, self.version), &message.model.0, usage, [ended_ms, asked_ms]);
            }
            self.moments.push([asked_ms, at_ms.max(not_before)]);
            let ids = [&*message.id.0, &*record.request_id.0];
            self.replies.push(if ids.contains(&"") { 0 } else { xxh3_64(ids.join(" ").as_bytes()) });
        }
    }

    fn indexed(self, name: String, is_alone: bool) -> Indexed {
        let is_of_agent = !name.is_empty();
        let id = if is_of_agent { format!("{}/{name}", self.id) } else { self.id.clone() };
        let life_ms = self.life_ms();
        let HomeFolders { user, project } = home_folders(&self.cwd);
        let first = self.usages.first().map(|it| it.prompt).filter(|_| is_of_agent);
        Indexed {
            id: if self.id.is_empty() { String::new() } else { id },
            session: if is_alone { String::new() } else { name },
            has_texts: true,
            started_with: self.started_with.zip(first),
            parent: is_of_agent.then_some(self.id),
            user,
            project,
            models: self.models.0,
            moments: self.moments,
            replies: self.replies,
            front_tokens: HarnessRules::front(HARNESS, self.version, &self.usages),
            life_ms,
            reads_first: self.usages.first().map(|it| it.cache_read > 0),
            // Odds are measured of agents' own sessions.
            own: if is_of_agent { OwnCounts::default() } else { self.own.counts },
            kin: Kin { harness: HARNESS, version: self.version, model: self.model, is_of_agent },
        }
    }

    /// Returns how long entries are asked to live: as the first write says, else as is known of the version.
    fn life_ms(&self) -> Option<i64> {
        let first = self.usages.iter().find(|it| it.cache_write > 0);
        let told = first
            .and_then(|it| it.cache_write_long)
            .map(|long| if long > 0 { HOUR_MS } else { HOUR_MS / 12 });
        told.or_else(|| i64::try_from(HarnessRules::life_ms(HARNESS, self.version)?).ok())
    }
}

/// The longer of the two lifetimes that a write can have; the shorter one is five minutes.
const HOUR_MS: i64 = 3_600_000;
