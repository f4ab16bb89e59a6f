//! Which requests belong together: one lane per agent of a conversation, in the order of their times.

use super::emitter::{BillNames, Rank, RecordRole};
use super::record::OtelRecord;
use crate::import::prelude::*;

/// The requests of one agent, with the calls of tools and what the user typed.
#[derive(Debug, Default)]
pub(super) struct OtelLane {
    pub(super) conversation: String,
    /// The sub-agent whose lane it is, or what else it is beside the conversation's own.
    pub(super) agent: Option<String>,
    /// What happened, in order.
    pub(super) happened: Vec<Happened>,
}

/// Something that happened in a lane.
#[derive(Debug)]
pub(super) enum Happened {
    /// A request; the names of its bill, and which of the user's messages it is about.
    Request(OtelRecord, &'static BillNames, String),
    /// A call of a tool.
    Tool(OtelRecord),
    /// What a user typed.
    Prompt(OtelRecord),
}

impl Happened {
    fn record(&self) -> &OtelRecord {
        match self {
            Self::Request(record, ..) | Self::Tool(record) | Self::Prompt(record) => record,
        }
    }
}

/// Calls without an agent in a conversation of agents: titles, summaries.
const BESIDE: &str = "beside the agents";

/// Sorts records into lanes; of several records of one request one counts.
pub(super) fn lanes(records: Vec<OtelRecord>, losses: &mut Losses) -> Vec<OtelLane> {
    let records = once(records, losses);
    let tree = SpanTree::new(&records);
    let places: Vec<LanePlace> = (0..records.len()).map(|it| tree.place(it)).collect();
    let with_agents: IndexSet<&str> = (0..records.len())
        .filter(|it| places[*it].has_agent && is_request(&records[*it]))
        .map(|it| places[it].conversation.as_str())
        .collect();
    let kept = believed(&records, &places, losses);
    let agent_of = |index: usize| {
        let place = &places[index];
        let is_beside = !place.has_agent
            && !records[index].is_log
            && is_request(&records[index])
            && with_agents.contains(place.conversation.as_str());
        place.agent.clone().or_else(|| is_beside.then(|| BESIDE.to_owned()))
    };
    let keys: Vec<(String, Option<String>)> =
        (0..records.len()).map(|it| (places[it].conversation.clone(), agent_of(it))).collect();
    let turns: Vec<String> = (0..records.len()).map(|it| tree.turn(it)).collect();
    let SpanTree { roles, .. } = tree;
    let mut lanes: IndexMap<(String, Option<String>), OtelLane> = IndexMap::new();
    let told = records.into_iter().zip(keys).zip(turns).zip(kept).zip(roles);
    for ((((record, key), turn), is_kept), role) in told {
        let happened = match role {
            RecordRole::Request(names, _) if is_kept => Happened::Request(record, names, turn),
            RecordRole::Tool => Happened::Tool(record),
            RecordRole::Prompt => Happened::Prompt(record),
            _ => continue,
        };
        let (conversation, agent) = key.clone();
        let lane =
            lanes.entry(key).or_insert_with(|| OtelLane { conversation, agent, ..OtelLane::default() });
        lane.happened.push(happened);
    }
    let mut lanes: Vec<OtelLane> = lanes.into_values().collect();
    for lane in &mut lanes {
        lane.happened.order_by_key(|it| (it.record().start_ms.is_none(), it.record().start_ms));
    }
    lanes.retain(|it| it.happened.iter().any(|event| matches!(event, Happened::Request(..))));
    lanes.order_by_key(|it| it.happened.first().and_then(|first| first.record().start_ms));
    lanes
}

fn is_request(record: &OtelRecord) -> bool {
    matches!(record.role(), RecordRole::Request(..))
}

/// Leaves one of the spans that are exported twice.
fn once(mut records: Vec<OtelRecord>, losses: &mut Losses) -> Vec<OtelRecord> {
    let mut seen = IndexSet::new();
    records.retain(|it| {
        let is_new =
            it.is_log || it.id.is_empty() || seen.insert((it.trace.clone(), it.id.clone(), it.start_ms));
        if !is_new {
            losses.add(it.line, "spans that are exported twice, which count once");
        }
        is_new
    });
    records
}

/// Returns which records of requests count: none beside a better one of the same trace, reply or conversation, and one per reply.
fn believed(records: &[OtelRecord], places: &[LanePlace], losses: &mut Losses) -> Vec<bool> {
    let mut by: IndexMap<(&str, &str), Rank> = IndexMap::new();
    let keys = |index: usize| {
        let record = &records[index];
        let keys = [
            ("trace", record.trace.as_str()),
            ("reply", record.response()),
            ("", places[index].conversation.as_str()),
        ];
        keys.into_iter().filter(|it| !it.1.is_empty())
    };
    let rank = |it: &OtelRecord| match it.role() {
        RecordRole::Request(_, rank) => Some(rank),
        _ => None,
    };
    for (index, rank) in records.iter().enumerate().filter_map(|(index, it)| Some((index, rank(it)?))) {
        for key in keys(index) {
            let best = by.entry(key).or_insert(rank);
            *best = rank.min(*best);
        }
    }
    // Names of replies may be redacted to one word: what is another's is sent while that one is.
    let mut replies: IndexMap<&str, [Option<i64>; 2]> = IndexMap::new();
    let mut is_believed = |index: usize| {
        let record = &records[index];
        let Some(rank) = rank(record) else { return true };
        if keys(index).any(|it| by.get(&it).is_some_and(|best| *best < rank)) {
            losses.add(record.line, "log records of requests that have a span or a fuller record");
            return false;
        }
        let reply = record.response();
        let times = [record.start_ms, record.end_ms.or(record.start_ms)];
        let is_apart = |it: [Option<i64>; 2]| it[1] < times[0] || times[1] < it[0];
        let is_first = reply.is_empty() || replies.insert(reply, times).is_none_or(is_apart);
        if !is_first {
            losses.add(record.line, "requests whose reply is another's, which count once");
        }
        is_first
    };
    (0..records.len()).map(&mut is_believed).collect()
}

/// Where a record belongs.
#[derive(Debug, Default)]
struct LanePlace {
    conversation: String,
    /// The sub-agent within which it is.
    agent: Option<String>,
    /// Whether it is within any agent.
    has_agent: bool,
}

/// The spans by their names.
struct SpanTree<'r> {
    records: &'r [OtelRecord],
    roles: Vec<RecordRole>,
    by_id: IndexMap<(&'r str, &'r str), usize>,
}

/// How far the spans around a span are followed.
const DEPTH_MAX: usize = 200;

impl<'r> SpanTree<'r> {
    fn new(records: &'r [OtelRecord]) -> Self {
        let spans = records.iter().enumerate().filter(|(_, it)| !it.id.is_empty() && !it.is_log);
        let by_id = spans.map(|(index, it)| ((it.trace.as_str(), it.id.as_str()), index)).collect();
        Self { records, roles: records.iter().map(OtelRecord::role).collect(), by_id }
    }

    /// Returns the spans around a record, the nearest first; a log record is within its span.
    fn around(&self, index: usize) -> Vec<usize> {
        let mut around: Vec<usize> = Vec::new();
        let mut at = index;
        while around.len() < DEPTH_MAX {
            let record = &self.records[at];
            let id = if record.is_log { &record.id } else { &record.parent };
            let Some(next) = self.by_id.get(&(record.trace.as_str(), id.as_str())) else { break };
            if *next == at || around.contains(next) {
                break;
            }
            around.push(*next);
            at = *next;
        }
        around
    }

    fn place(&self, index: usize) -> LanePlace {
        let around = self.around(index);
        let record = &self.records[index];
        let named = std::iter::once(index).chain(around.iter().copied());
        let named = named.map(|it| self.records[it].conversation()).find(|name| !name.is_empty());
        let is_agent = |it: usize| self.roles[it] == RecordRole::Agent;
        let agent = around.iter().position(|it| is_agent(*it));
        let is_started =
            |outer: &[usize]| outer.iter().any(|it| is_agent(*it) || self.roles[*it] == RecordRole::Tool);
        let sub_agent = agent.filter(|it| is_started(&around[it + 1..])).map(|at| &self.records[around[at]]);
        LanePlace {
            conversation: named.unwrap_or(&record.trace).to_owned(),
            agent: sub_agent.map(|it| {
                let name = it.attributes.text(&["gen_ai.agent.id", "gen_ai.agent.name"]);
                format!("{name}{}{}", if name.is_empty() { "" } else { "-" }, it.id)
            }),
            has_agent: agent.is_some(),
        }
    }

    /// Returns what names the user's message that a record is about: its own word, or else the outermost span around it.
    fn turn(&self, index: usize) -> String {
        let around = self.around(index);
        let own = std::iter::once(&index)
            .chain(&around)
            .map(|it| self.records[*it].turn())
            .find(|it| !it.is_empty());
        let outermost = around.last().map(|it| self.records[*it].id.as_str());
        own.or(outermost).unwrap_or(&self.records[index].trace).to_owned()
    }
}
