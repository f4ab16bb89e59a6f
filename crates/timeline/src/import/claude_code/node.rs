//! Records as nodes of the session's tree: which part of each is part of a prompt.

use super::lane_name;
use super::record::{AGENT_TOTALS, ClaudeRecord};
use crate::import::prelude::*;
use crate::import::transcript::SummarySizes;
use crate::import::usage::SESSION_TOKENS_MAX;
use crate::{AgentTotals, Diagnosis, InjectedText};

/// A record that is in the tree.
#[derive(Debug)]
pub(super) struct ClaudeNode {
    /// Its line, and when it was written.
    pub(super) stamp: Stamp,
    /// Its name; empty when it has none.
    pub(super) uuid: String,
    /// The record that it follows; `None` when it does not say.
    pub(super) parent: Option<String>,
    /// The version of the harness that wrote it.
    pub(super) version: Version,
    /// What it says about the session besides messages.
    pub(super) told: SessionFacts,
    /// What it adds to a prompt.
    pub(super) said: ClaudeParts,
}

/// What a record says about the session besides messages.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum SessionFacts {
    #[default]
    Nothing,
    /// The harness cleared the history, and began again.
    Cleared,
    /// The history was compacted: whether the user asked for it, and its sizes.
    Compacted(bool, SummarySizes),
    /// The session was left and taken up again.
    Resumed,
    /// The harness connected it to a remote control.
    RemoteControl,
    /// The harness cleared the results of these calls.
    ClearedResults(Vec<String>),
    /// The harness summed up for the user what was done.
    Recapped(i64),
    /// A command was expanded that is a skill.
    SkillCommand,
    /// What follows from this call.
    Follows(String),
    /// The harness added a text of its own, of so many characters.
    Injected(InjectedText, u32),
}

/// What a record adds to a prompt.
#[derive(Debug)]
pub(super) enum ClaudeParts {
    /// Nothing; it only links others.
    Nothing,
    /// Something on the user's side.
    User {
        /// Its parts; results carry the name of the call they answer.
        parts: Vec<Part>,
        /// Whether the user did not type it.
        is_meta: bool,
        /// Whether it represents what was before.
        is_summary: bool,
    },
    /// A line of a reply.
    Reply {
        /// The reply's name.
        id: String,
        /// Its parts; calls carry their names.
        parts: Vec<Part>,
        /// The model that wrote it.
        model: String,
        /// What the provider billed for the whole reply, as far as that can be believed.
        bill: ReplyBill,
        /// Why it says that it did not read what it had cached.
        diagnosis: Option<Diagnosis>,
    },
}

/// The lanes of a session by the names of their agents.
pub(super) type ClaudeLanes = IndexMap<String, ClaudeLane>;

/// The records of an agent's session, or of one of its sub-agents'.
#[derive(Debug, Default)]
pub(super) struct ClaudeLane {
    pub(super) nodes: Vec<ClaudeNode>,
    /// Of a sub-agent's session: what the sub-agent is called, and the session whose agent started it.
    pub(super) of_agent: Option<[String; 2]>,
    /// The names of its records: `progress` repeats them.
    told: IndexSet<String>,
    /// Whether `progress` records tell of it.
    has_progress: bool,
    /// By the name of replies: the prompt of the last one, and how many others of that name came before.
    replies: IndexMap<String, (Tokens, usize)>,
}

/// Reads the records of a session, lane by lane; two objects on one line are two records. The lane without a name is the agent's
/// own. Beside them stand the totals of sub-agents of which the log holds no requests.
pub(super) fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> (ClaudeLanes, Vec<AgentTotals>) {
    let mut lanes: ClaudeLanes = IndexMap::from([(String::new(), ClaudeLane::default())]);
    let mut has_progress = false;
    let mut told = ToldAgents::default();
    while let Some(line) = lines.next() {
        json::each(line, losses, |mut record: ClaudeRecord<'_>, losses| {
            told.hear(line.number, &record, losses);
            let of_agent = record.of_agent(line.number, losses);
            record.is_read_as_agents = of_agent.is_some();
            let last = has_progress.then(|| record.last_of_agent()).flatten();
            let lane = lane_of(&mut lanes, &record);
            lane.take(node(line.number, record, losses));
            if let Some(record) = last {
                let of_session = lanes.get("").map_or_else(String::new, ClaudeLane::last_model);
                if let Some(lane) = lanes.get_mut(&lane_name(&record.agent_id.0)) {
                    lane.take_last(node(line.number, record, losses), &of_session);
                }
            }
            if let Some(record) = of_agent {
                has_progress = true;
                let lane = lane_of(&mut lanes, &record);
                lane.take_progress(node(line.number, record, losses), losses);
            }
        });
    }
    // What nobody answered is no session, but the agent's own says what is there when nothing else is.
    let is_answered = |it: &ClaudeLane| it.nodes.iter().any(is_reply);
    let has_any = lanes.values().any(is_answered);
    lanes.retain(|name, it| {
        let is_kept = if has_any { is_answered(it) } else { name.is_empty() };
        if !is_kept && !name.is_empty() {
            for node in &it.nodes {
                losses.add(node.stamp.line, "records of sub-agents that no model answered");
            }
        }
        is_kept
    });
    let agents = told.without_requests(&lanes);
    (lanes, agents)
}

/// Returns the lane of a record.
fn lane_of<'l>(lanes: &'l mut ClaudeLanes, record: &ClaudeRecord<'_>) -> &'l mut ClaudeLane {
    let of_agent = (record.is_sidechain == Some(true)).then(|| {
        let name = |it: &Text<'_>| it.0.clone().into_owned();
        [name(&record.agent_id), name(&record.session_id)]
    });
    let lane = of_agent.as_ref().map_or_else(String::new, |it| lane_name(&it[0]));
    lanes.entry(lane).or_insert_with(|| ClaudeLane { of_agent, ..ClaudeLane::default() })
}

impl ClaudeLane {
    /// Takes a record, whose place in the tree it names itself.
    fn take(&mut self, node: Option<ClaudeNode>) {
        if self.of_agent.is_some() {
            self.told.extend(node.iter().map(|it| it.uuid.clone()));
        }
        node.into_iter().for_each(|it| self.push(it));
    }

    /// Appends a node. Lines of a reply share its name and its prompt: where names were made alike, as in redacted logs, the prompt tells replies apart.
    fn push(&mut self, mut node: ClaudeNode) {
        if let ClaudeParts::Reply { id, bill: ReplyBill { usage, inner }, .. } = &mut node.said {
            let (prompt, n_before) = self.replies.entry(id.clone()).or_default();
            let own = usage.map(|it| it.prompt).filter(|_| inner.is_empty());
            *n_before += usize::from(*prompt > 0 && own.is_some_and(|it| it != *prompt));
            *prompt = own.unwrap_or(*prompt);
            if *n_before > 0 {
                *id += &format!("/{n_before}");
            }
        }
        self.nodes.push(node);
    }

    /// Takes what a `progress` record holds: such records name no parents, and follow one another.
    fn take_progress(&mut self, node: Option<ClaudeNode>, losses: &mut Losses) {
        let Some(node) = node else { return };
        self.has_progress = true;
        if !node.uuid.is_empty() && !self.told.insert(node.uuid.clone()) {
            return losses.add(node.stamp.line, "repeated records of sub-agents");
        }
        self.follow(node);
    }

    /// Takes the last reply of a sub-agent, if only progress tells of the others and not of this one. Its model is that of the others, the one
    /// that the call names, or that of the session.
    fn take_last(&mut self, node: Option<ClaudeNode>, of_session: &str) {
        let Some(mut node) = node.filter(|_| self.has_progress) else { return };
        let Some(usage) = usage_of(&node) else { return };
        let parts = |it: &Usage| (it.prompt, it.cache_read, it.cache_write);
        let mut others = self.nodes.iter().filter_map(usage_of);
        if others.any(|it| parts(&it) == parts(&usage)) {
            return;
        }
        let own = self.last_model();
        if let ClaudeParts::Reply { model, .. } = &mut node.said {
            *model = first_named([&own, model, of_session]);
        }
        self.follow(node);
    }

    /// Appends a node that names no parent, and is answered by the model that answered before.
    fn follow(&mut self, mut node: ClaudeNode) {
        let before = self.nodes.last().map(|it| it.uuid.clone()).filter(|it| !it.is_empty());
        node.parent = node.parent.or(before);
        if let ClaudeParts::Reply { model, .. } = &mut node.said
            && model.is_empty()
        {
            *model = self.last_model();
        }
        self.push(node);
    }

    /// Returns the model that answered last; empty if none is named.
    fn last_model(&self) -> String {
        let mut models = self.nodes.iter().rev().filter_map(|it| match &it.said {
            ClaudeParts::Reply { model, .. } => Some(model.clone()),
            _ => None,
        });
        models.find(|it| !it.is_empty()).unwrap_or_default()
    }
}

/// Returns the first name that says anything.
pub(super) fn first_named(names: [&str; 3]) -> String {
    names.into_iter().find(|it| !it.is_empty()).unwrap_or_default().to_owned()
}

/// Returns what a node's reply was billed.
fn usage_of(node: &ClaudeNode) -> Option<Usage> {
    if let ClaudeParts::Reply { bill, .. } = &node.said { bill.usage } else { None }
}

fn is_reply(node: &ClaudeNode) -> bool {
    matches!(node.said, ClaudeParts::Reply { .. })
}

/// The model of replies that no model wrote.
const SYNTHETIC: &str = "<synthetic>";

/// Makes a node of a record; `None` for what is in no tree.
fn node(line: usize, record: ClaudeRecord<'_>, losses: &mut Losses) -> Option<ClaudeNode> {
    let parent = [&record.parent_uuid, &record.logical_parent_uuid].into_iter().find(|it| !it.0.is_empty());
    let parent = parent.map(|it| it.0.clone().into_owned());
    let stamp = Stamp::noted(line, &record.timestamp.0, losses);
    let uuid = record.uuid.0.clone().into_owned();
    let version = Version::parse(&record.version.0);
    let told = noted(&record, stamp.ms).unwrap_or_else(|| told(&record, stamp.ms));
    let said = said(line, record, losses);
    let told = command(&said).unwrap_or(told);
    let is_link = !matches!(said, ClaudeParts::Nothing) || !uuid.is_empty();
    is_link.then_some(ClaudeNode { stamp, uuid, parent, version, told, said })
}

/// What the records are called with which the harness sums up for a user who was away.
const RECAP: &str = "away_summary";

/// What the records are called in which it says that a remote control is connected.
const REMOTE_CONTROL: &str = "bridge_status";

/// What a harness that takes up a session again puts where the user had left it without a reply.
const RESUMED: &str = "No response requested.";

/// What is said of records whose texts the harness adds to a prompt.
const ATTACHMENTS: &str =
    "attachments, whose texts are not read: their tokens count with what came beside them";

/// Returns what a record says that the harness writes for itself: a summary for the user, or a reply that no model wrote.
fn noted(record: &ClaudeRecord<'_>, at_ms: Option<i64>) -> Option<SessionFacts> {
    match record.subtype.0.as_ref() {
        RECAP => return at_ms.map(SessionFacts::Recapped),
        REMOTE_CONTROL => return Some(SessionFacts::RemoteControl),
        _ => {}
    }
    let message = record.message.as_ref().filter(|it| it.model.0 == SYNTHETIC)?;
    let is_resumed = match &message.content {
        MessageContent::Plain(text) => text.text.as_deref() == Some(RESUMED),
        MessageContent::Blocks(blocks) => {
            blocks.iter().any(|it| it.text.as_ref().is_some_and(|it| it.text.as_deref() == Some(RESUMED)))
        }
    };
    is_resumed.then_some(SessionFacts::Resumed)
}

/// Returns what a record says about the session.
fn told(record: &ClaudeRecord<'_>, at_ms: Option<i64>) -> SessionFacts {
    let follows = &record.source_tool_use_id.0;
    if !follows.is_empty() {
        return SessionFacts::Follows(follows.clone().into_owned());
    }
    if let Some(cause) = record.started_by() {
        return match cause.as_str() {
            "clear" => SessionFacts::Cleared,
            "resume" => SessionFacts::Resumed,
            _ => SessionFacts::Nothing,
        };
    }
    if let Some((what, characters)) = record.injects() {
        return SessionFacts::Injected(what, characters);
    }
    if let Some((is_asked, sizes)) = record.compacts(at_ms) {
        return SessionFacts::Compacted(is_asked, sizes);
    }
    let cleared = record.cleared();
    if cleared.is_empty() { SessionFacts::Nothing } else { SessionFacts::ClearedResults(cleared) }
}

/// Says what a command tells that the user's side begins with: the harness's own commands have their name first, expanded ones
/// their message.
fn command(said: &ClaudeParts) -> Option<SessionFacts> {
    let ClaudeParts::User { parts, is_meta: false, .. } = said else { return None };
    let text = parts.first()?.text.as_deref()?;
    if text.starts_with("<command-message>") {
        Some(SessionFacts::SkillCommand)
    } else {
        text.starts_with("<command-name>/exit</command-name>").then_some(SessionFacts::Resumed)
    }
}

/// Says what a record adds to a prompt.
fn said(line: usize, record: ClaudeRecord<'_>, losses: &mut Losses) -> ClaudeParts {
    let kind = record.kind.0.as_ref();
    if record.is_read_as_agents || record.compacts(None).is_some() {
        return ClaudeParts::Nothing;
    }
    let Some(message) = record.message.filter(|_| matches!(kind, "user" | "assistant")) else {
        if kind == "attachment" {
            losses.add(line, ATTACHMENTS);
            return ClaudeParts::Nothing;
        }
        let subtype = record.subtype.0.as_ref();
        let name = if subtype.is_empty() { kind.to_owned() } else { format!("{kind}/{subtype}") };
        losses.never(line, &name);
        return ClaudeParts::Nothing;
    };
    if kind == "user" {
        let parts = message.content.into_parts(Kind::User, |it| part(line, it, Kind::User, losses));
        let is_summary = record.is_compact_summary == Some(true);
        return ClaudeParts::User { parts, is_meta: record.is_meta == Some(true), is_summary };
    }
    if message.model.0 == SYNTHETIC {
        losses.add(line, "replies that no model wrote (`<synthetic>`), which are not requests");
        return ClaudeParts::Nothing;
    }
    let diagnosis = message.diagnosis();
    let id = match [&*message.id.0, &*record.request_id.0, &*record.uuid.0] {
        ["", "", ""] => format!("line {line}"),
        ["", "", uuid] => uuid.to_owned(),
        [id, request, _] => format!("{id} {request}"),
    };
    let bill = bill(line, message.usage, losses);
    let model = message.model.0.into_owned();
    let parts = message.content.into_parts(Kind::Assistant, |it| part(line, it, Kind::Assistant, losses));
    ClaudeParts::Reply { id, parts, model, bill, diagnosis }
}

/// Makes a part of a block.
fn part(line: usize, block: MessageBlock<'_>, text_kind: Kind, losses: &mut Losses) -> Option<Part> {
    let is_user = text_kind == Kind::User;
    let found = match block.kind.0.as_ref() {
        "text" => Part::of(text_kind, block.text.unwrap_or_default()),
        "image" | "document" if is_user => Part::of(text_kind, block.to_content()),
        "compaction" if !is_user => Part::of(Kind::Summary, block.content.to_content()),
        "thinking" | "redacted_thinking" if !is_user => Part::of(Kind::Reasoning, block.into_thought()),
        "tool_use" if !is_user => Part::call(&block.id.0, &block.name.0, block.input.unwrap_or_default().0),
        "tool_result" if is_user => Part::result(&block.tool_use_id.0, "", block.content.to_content()),
        other => {
            let side = if is_user { "user" } else { "assistant" };
            losses.add(line, format!("blocks of the unknown type `{other}` in {side} records"));
            return None;
        }
    };
    Some(found)
}

/// Where lines hold what was billed, and what of it ran apart.
const BILL: [&str; 2] = ["message.usage", "message.usage.iterations"];

/// Reads what the provider billed.
pub(super) fn bill(line: usize, record: Option<&RawValue>, losses: &mut Losses) -> ReplyBill {
    let record: Value = record.and_then(|it| serde_json::from_str(it.get()).ok()).unwrap_or_default();
    let total = billed_apart(BillReader::of(line, BILL[0], &record, losses));
    ReplyBill::new(line, BILL[1], &record, total, losses)
}

/// What the model of a sub-agent is called where a call gives it back.
const AGENT_MODEL: &str = "\"resolvedModel\"";

/// How a notification begins that something in the background has ended.
const NOTIFICATION: &str = "<task-notification>";

/// What is told of sub-agents, by their names.
#[derive(Debug, Default)]
struct ToldAgents {
    models: IndexMap<String, String>,
    totals: IndexMap<String, AgentTotals>,
}

impl ToldAgents {
    /// Takes what a record tells.
    fn hear(&mut self, line: usize, record: &ClaudeRecord<'_>, losses: &mut Losses) {
        if let Some(result) = record.tool_use_result {
            self.result(line, result.get(), losses);
        }
        match record.kind.0.as_ref() {
            "user" => {
                let content = record.message.as_ref().map(|it| &it.content);
                let text = match content {
                    Some(MessageContent::Plain(text)) => text.text.as_deref(),
                    Some(MessageContent::Blocks(blocks)) => {
                        blocks.first().and_then(|it| it.text.as_ref()).and_then(|it| it.text.as_deref())
                    }
                    None => None,
                };
                text.into_iter().for_each(|it| self.notification(line, it, losses));
            }
            "attachment" => {
                let text = record.attachment.map(|it| it.get()).filter(|it| it.contains(NOTIFICATION));
                // It may hold what waited until the agent had ended its turn.
                let queued: Option<Value> = text.and_then(|it| serde_json::from_str(it).ok());
                let prompt = queued.as_ref().and_then(|it| it["prompt"].as_str());
                prompt.into_iter().for_each(|it| self.notification(line, it, losses));
            }
            _ => {}
        }
    }

    /// Takes what a call gave back: of other tools, that has any shape.
    fn result(&mut self, line: usize, text: &str, losses: &mut Losses) {
        if !text.contains(AGENT_TOTALS) && !text.contains(AGENT_MODEL) {
            return;
        }
        let Ok(result) = serde_json::from_str::<Value>(text) else { return };
        let said = |name: &str| result[name].as_str().filter(|it| !it.is_empty());
        let Some(agent) = said("agentId") else { return };
        if let Some(model) = said("resolvedModel") {
            self.models.insert(agent.to_owned(), model.to_owned());
        }
        // What its last request was billed.
        let usage = &result["usage"];
        if result["totalTokens"].is_null() || !usage.is_object() {
            return;
        }
        let long = Count::of(&usage["cache_creation"]["ephemeral_1h_input_tokens"]);
        let is_long = long.known().is_some_and(|it| it > 0);
        let [tokens, tools] = ["totalTokens", "totalToolUseCount"].map(|it| Count::of(&result[it]));
        self.total(line, agent, [tokens, tools, Count(Ok(1))], is_long, losses);
    }

    /// Takes what a notification says that a sub-agent, or several of a workflow, came to; other things in the background have no usage.
    fn notification(&mut self, line: usize, text: &str, losses: &mut Losses) {
        let Some(text) = text.trim_start().strip_prefix(NOTIFICATION) else { return };
        // What it reports may quote another one: its own usage stands last.
        let (Some(agent), Some(at)) = (tagged(text, "task-id"), text.rfind("<usage>")) else { return };
        let usage = &text[at..];
        let count = |name: &str| tagged(usage, name).map(|it| Count::of_text(it.trim()));
        let Some(tokens) = count("subagent_tokens").or_else(|| count("total_tokens")) else { return };
        let counts =
            [tokens, count("tool_uses").unwrap_or_default(), count("agent_count").unwrap_or(Count(Ok(1)))];
        self.total(line, agent, counts, false, losses);
    }

    /// Takes totals: tokens, tools and sub-agents. One that was told twice counts once, with the most that it came to.
    fn total(&mut self, line: usize, agent: &str, counts: [Count; 3], is_long: bool, losses: &mut Losses) {
        let known = counts.map(|it| it.known().filter(|it| *it <= SESSION_TOKENS_MAX));
        let [Some(tokens), Some(tools), Some(agents)]: [Option<Tokens>; 3] = known else {
            return losses.add(
                line,
                "totals of sub-agents that are not counts, so that nothing is estimated of these",
            );
        };
        if tokens == 0 || agents == 0 {
            return;
        }
        let told = self.totals.entry(agent.to_owned()).or_default();
        told.agent = agent.to_owned();
        told.tokens = told.tokens.max(tokens);
        told.tools = told.tools.max(tools);
        told.agents = told.agents.max(agents);
        told.is_long |= is_long;
    }

    /// Returns the totals of those of which no lane holds requests.
    fn without_requests(self, lanes: &ClaudeLanes) -> Vec<AgentTotals> {
        let Self { models, totals } = self;
        let all = totals.into_values().filter(|it| !lanes.contains_key(&lane_name(&it.agent)));
        all.map(|it| AgentTotals { model: models.get(&it.agent).cloned().unwrap_or_default(), ..it })
            .collect()
    }
}

/// Returns what stands in the first element of a name.
fn tagged<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, behind) = text.split_once(&format!("<{name}>"))?;
    Some(behind.split_once(&format!("</{name}>"))?.0)
}
