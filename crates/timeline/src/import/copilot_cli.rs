//! Copilot CLI sessions: JSON lines of events with the texts of every message, and with the bills as totals of the session alone.

use super::sizes::apportion;
use super::spread::{RequestPlace, spread};
use crate::import::prelude::*;

pub(super) const FORMAT: LogFormat =
    LogFormat { name: "copilot-cli", detect: |head| json::any(head, is_event), read };

/// Returns whether a record is an event that every session has.
fn is_event(record: &CopilotEvent<'_>) -> bool {
    let is_kind = matches!(
        record.kind.0.as_ref(),
        "session.start" | "user.message" | "assistant.message" | "assistant.turn_start"
    );
    is_kind && record.data.is_some()
}

/// Reads a session, and one more for each sub-agent.
pub(super) fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let mut session = CopilotWalk::default();
    while let Some(line) = lines.next_new(losses) {
        json::each(line, losses, |record: CopilotEvent<'_>, losses| {
            session.visit(line.number, record, losses);
        });
    }
    session.finish(losses)
}

/// The requests of one agent.
#[derive(Debug, Default)]
struct CopilotLane {
    assembler: Assembler,
    /// How many requests there are.
    n_requests: usize,
    model: String,
    agent: String,
    /// When the next request began.
    begins_ms: Option<i64>,
}

/// A request that no totals have yet.
#[derive(Debug)]
struct OpenRequest {
    model: String,
    /// Where it is, if it is one of an agent.
    place: Option<RequestPlace>,
    /// Its bill, if it is one for a summary.
    bill: Option<Usage>,
}

/// The requests of a model between two totals.
#[derive(Debug)]
struct Leg {
    totals: Usage,
    places: Vec<RequestPlace>,
}

/// The totals of a model, and of how many requests they are.
type ToldTotals = (String, Usage, u64);

/// The walk along the events.
#[derive(Debug, Default)]
struct CopilotWalk {
    id: String,
    /// By agent; the session's own has no name.
    lanes: IndexMap<String, CopilotLane>,
    open: Vec<OpenRequest>,
    /// By model, the last totals and how many requests they are of.
    totals: IndexMap<String, (Usage, u64)>,
    legs: Vec<Leg>,
    messages: IndexSet<(String, Option<i64>)>,
    tools_tokens: Tokens,
    ttl: Option<TtlClass>,
    is_written: bool,
    system: Option<u64>,
}

impl CopilotWalk {
    fn lane(&mut self, agent: &str) -> (usize, &mut CopilotLane) {
        let entry = self.lanes.entry(agent.to_owned());
        let index = entry.index();
        (index, entry.or_default())
    }

    fn visit(&mut self, line: usize, record: CopilotEvent<'_>, losses: &mut Losses) {
        let stamp = Stamp::noted(line, &record.timestamp.0, losses);
        let Some(data) = record.data else {
            return losses.add(line, "records without data");
        };
        let (own, parent) = (&record.agent_id.0, &data.parent_tool_call_id.0);
        let agent = if own.is_empty() { parent } else { own }.as_ref().to_owned();
        if self.lanes.is_empty() {
            self.lane("");
        }
        match record.kind.0.as_ref() {
            "session.start" | "session.resume" | "session.model_change" => self.chosen(&data),
            "subagent.started" => self.started(&agent, &data),
            "system.message" => self.system(line, &agent, data, losses),
            "user.message" | "system.notification" => {
                let is_typed = record.kind.0 == "user.message";
                let said = data.transformed_content.or(data.content).unwrap_or_default();
                self.lane(&agent).1.assembler.said(stamp, Part::of(Kind::User, said), is_typed);
            }
            "assistant.turn_start" => self.lane(&agent).1.begins_ms = stamp.ms,
            "assistant.message" => self.replied(stamp, &agent, data, losses),
            "tool.execution_complete" => self.answered(stamp, &agent, data, losses),
            "session.usage_checkpoint" => {
                let states = list(&data.model_cache_state).iter();
                let seconds =
                    states.filter_map(|it| Count::of(&it["cacheTtlSeconds"]).known()).find(|it| *it > 0);
                self.ttl = seconds.map(|it| TtlClass::from_ms(it.saturating_mul(1_000))).or(self.ttl);
            }
            "session.compaction_start" => self.front(line, &data, losses),
            "session.compaction_complete" => self.compacted(stamp, &agent, data, losses),
            "session.shutdown" => {
                self.front(line, &data, losses);
                self.shut_down(line, &data, losses);
            }
            other => losses.never(line, other),
        }
    }

    /// Takes the model that answers from here on.
    fn chosen(&mut self, data: &CopilotData<'_>) {
        data.session_id.replace(&mut self.id);
        let model = &mut self.lane("").1.model;
        data.selected_model.replace(model);
        data.new_model.replace(model);
    }

    fn started(&mut self, agent: &str, data: &CopilotData<'_>) {
        let agent = if agent.is_empty() { data.tool_call_id.0.as_ref() } else { agent };
        let (_, lane) = self.lane(agent);
        data.model.0.as_ref().clone_into(&mut lane.model);
        data.agent_name.0.as_ref().clone_into(&mut lane.agent);
    }

    /// Takes the system prompt, which is before everything; later ones ought to be the same.
    fn system(&mut self, line: usize, agent: &str, data: CopilotData<'_>, losses: &mut Losses) {
        let content = data.content.unwrap_or_default();
        let digest = content.measured.digest;
        let (_, lane) = self.lane(agent);
        if lane.assembler.is_empty() && lane.assembler.n_parts() == 0 {
            lane.assembler.stable(Part::of(Kind::System, content));
            self.system = Some(digest);
        } else if self.system != Some(digest) {
            losses.add(line, "changes of the system prompt during a session; the first version is used");
        }
    }

    fn replied(&mut self, stamp: Stamp, agent: &str, data: CopilotData<'_>, losses: &mut Losses) {
        let message = (data.message_id.0.as_ref().to_owned(), stamp.ms);
        if !message.0.is_empty() && !self.messages.insert(message) {
            return losses.add(stamp.line, "messages that are recorded again, which count once");
        }
        let (session, lane) = self.lane(agent);
        data.model.replace(&mut lane.model);
        let thought = Part::spoken(Kind::Reasoning, data.reasoning_text);
        let mut parts: Vec<Part> =
            thought.into_iter().chain(Part::spoken(Kind::Assistant, data.content)).collect();
        parts.extend(data.tool_requests.into_iter().flatten().map(CallRecord::into_part));
        if parts.is_empty() {
            parts.push(Part::new(Kind::Assistant, 0, 0));
        }
        let mut bill = BillReader::new(stamp.line, "data", losses);
        if let Some(output) = data.output_tokens.map(|it| bill.count("outputTokens", it)) {
            let weights: Vec<u64> = parts.iter().map(|it| it.characters).collect();
            let shares = apportion(output, &weights);
            parts.iter_mut().zip(shares).for_each(|(it, tokens)| it.tokens = Some(tokens));
        }
        let model = lane.model.clone();
        lane.assembler.replied(Exchange {
            reply: parts,
            at_ms: lane.begins_ms.take(),
            response_ms: stamp.ms,
            end_ms: stamp.ms,
            model: model.clone(),
            ..Exchange::default()
        });
        let place = (session, lane.n_requests);
        lane.n_requests += 1;
        self.open.push(OpenRequest { model, place: Some(place), bill: None });
    }

    fn answered(&mut self, stamp: Stamp, agent: &str, data: CopilotData<'_>, losses: &mut Losses) {
        let content = match (data.result, data.error) {
            (Shaped::Object(result), _) => result.content.to_content(),
            (_, Shaped::Object(error)) => error.message.to_content(),
            _ => Content::default(),
        };
        let part = Part::result(&data.tool_call_id.0, "", content);
        self.lane(agent).1.assembler.answered(stamp, part, losses);
    }

    /// Takes what stands before every prompt and is in no text.
    fn front(&mut self, line: usize, data: &CopilotData<'_>, losses: &mut Losses) {
        let mut bill = BillReader::new(line, "data", losses);
        let tools = data.tool_definitions_tokens.map_or(0, |it| bill.count("toolDefinitionsTokens", it));
        self.tools_tokens = self.tools_tokens.max(tools);
    }

    /// Takes a compaction: the summary in the place of the history, and the bill of the request for it.
    fn compacted(&mut self, stamp: Stamp, agent: &str, data: CopilotData<'_>, losses: &mut Losses) {
        let Some(summary) = data.summary_content else {
            return losses.add(stamp.line, "compactions that did not succeed");
        };
        let (bill, model) = compaction_bill(stamp.line, &data.compaction_tokens_used, losses).unzip();
        let lane = self.lane(agent).1;
        let model = model.filter(|it| !it.is_empty()).unwrap_or_else(|| lane.model.clone());
        let mut part = Part::of(Kind::Summary, summary);
        part.tokens = bill.map(|it| it.output);
        lane.assembler.replaced(stamp, HistorySummary { bill, ..HistorySummary::new(vec![part]) });
        if bill.is_some() {
            return self.open.push(OpenRequest { model, place: None, bill });
        }
        losses.add(
            stamp.line,
            "compactions without a bill, whose share of the totals counts as that of other requests",
        );
    }

    /// Takes totals: of each model, the requests since the last ones.
    fn shut_down(&mut self, line: usize, data: &CopilotData<'_>, losses: &mut Losses) {
        let metrics = data.model_metrics.iter().flatten();
        let mut found: Vec<ToldTotals> = metrics
            .filter_map(|(model, it)| totals(line, it, losses).map(|(totals, n)| (model.clone(), totals, n)))
            .collect();
        for (model, totals, n) in &mut found {
            let (before, n_before) = self.totals.insert(model.clone(), (*totals, *n)).unwrap_or_default();
            // A smaller figure says that the counters began anew.
            if less(before, *totals) == Usage::default() {
                (*totals, *n) = (less(*totals, before), n.saturating_sub(n_before));
            }
        }
        found.retain(|it| it.1.prompt > 0);
        let open = std::mem::take(&mut self.open);
        let (named, others): (Vec<OpenRequest>, Vec<OpenRequest>) =
            open.into_iter().partition(|open| found.iter().any(|it| it.0 == open.model));
        let mut of_none: Vec<&ToldTotals> =
            found.iter().filter(|it| named.iter().all(|open| open.model != it.0)).collect();
        let mut legs: Vec<(&ToldTotals, Vec<OpenRequest>)> =
            found.iter().map(|it| (it, Vec::new())).collect();
        // Older builds name the model only in the totals.
        let taken = of_none.pop().filter(|_| of_none.is_empty() && !others.is_empty());
        let n_unbilled =
            if taken.is_some() { 0 } else { others.iter().filter(|it| it.place.is_some()).count() };
        for open in named.into_iter().chain(others.into_iter().filter(|_| taken.is_some())) {
            let model = if found.iter().any(|it| it.0 == open.model) {
                open.model.clone()
            } else {
                taken.map_or_else(String::new, |it| it.0.clone())
            };
            if let Some(leg) = legs.iter_mut().find(|it| it.0.0 == model) {
                leg.1.push(open);
            }
        }
        for (told, open) in legs {
            self.leg(line, told, &open, losses);
        }
        if n_unbilled > 0 {
            losses.add(
                line,
                format!("totals without the models of {n_unbilled} requests, which stay without usage"),
            );
        }
    }

    /// Notes the totals of a model's requests; a compaction among them has its own bill.
    fn leg(
        &mut self,
        line: usize,
        (model, totals, n): &ToldTotals,
        open: &[OpenRequest],
        losses: &mut Losses,
    ) {
        let places: Vec<RequestPlace> = open.iter().filter_map(|it| it.place).collect();
        if places.is_empty() {
            return losses.add(line, format!("totals of `{model}`, of which the log shows no request"));
        }
        if totals.cache_read.saturating_add(totals.cache_write) > totals.prompt {
            return losses.add(line, "totals that read and write more than their input; they are left out");
        }
        let (totals, n) = (*totals, *n);
        let has_compactions = n == open.len() as u64;
        let of_compactions = open.iter().filter_map(|it| it.bill).filter(|_| has_compactions);
        let totals = of_compactions.fold(totals, less);
        if n != open.len() as u64 && n != places.len() as u64 {
            losses.add(line, format!("totals of {n} requests, of which the log shows {}", places.len()));
        }
        self.is_written |= totals.cache_write > 0;
        self.legs.push(Leg { totals, places });
    }

    fn finish(self, losses: &mut Losses) -> Vec<Transcript> {
        let several = self.lanes.len() > 1;
        let mut transcripts = Vec::new();
        for (agent, lane) in self.lanes {
            let label = if lane.agent.is_empty() { agent.clone() } else { format!("{}-{agent}", lane.agent) };
            let mut transcript = lane.assembler.finish(losses);
            if several {
                transcript.name =
                    if agent.is_empty() { self.id.clone() } else { format!("{}/{label}", self.id) };
            }
            transcript.of_agent = (!agent.is_empty()).then(|| [label, self.id.clone()]);
            transcript.counts_output = true;
            transcript.ttl = self.ttl;
            transcripts.push(transcript);
        }
        for Leg { totals, places } in &self.legs {
            spread(*totals, &mut transcripts, places, self.tools_tokens);
            for (session, _) in places {
                transcripts[*session].is_spread = true;
            }
        }
        for transcript in transcripts.iter_mut().filter(|it| it.is_spread) {
            transcript.has_breakpoints = self.is_written;
            transcript.assumptions.push(
                "The log has input and cached tokens as totals alone. They are spread over the requests by the sizes of their texts, so that the totals hold; outputs are as recorded."
                    .to_owned(),
            );
        }
        transcripts
    }
}

/// Returns totals with the number of requests, if all numbers are known.
fn totals(line: usize, metrics: &Value, losses: &mut Losses) -> Option<(Usage, u64)> {
    let mut bill = BillReader::of_session(line, "data.modelMetrics", &metrics["usage"], losses);
    // The input holds what was read and written.
    let totals = Usage {
        prompt: bill.needed("inputTokens"),
        cache_read: bill.tokens("cacheReadTokens"),
        cache_write: bill.tokens("cacheWriteTokens"),
        output: bill.tokens("outputTokens"),
        ..Usage::default()
    };
    let n = bill.count("requests.count", Count::of(&metrics["requests"]["count"]));
    bill.is_complete.then_some((totals, n))
}

/// Returns what the request for a summary was billed, and its model. The seller's own figures come first: the others leave out what was
/// written.
fn compaction_bill(line: usize, used: &Value, losses: &mut Losses) -> Option<(Usage, String)> {
    let mut bill = BillReader::of(line, "data.compactionTokensUsed", used, losses);
    let prompt = bill.needed("inputTokens");
    let output = bill.tokens("outputTokens");
    let mut cache_read = bill.tokens("cacheReadTokens");
    let mut cache_write = bill.tokens("cacheWriteTokens");
    for detail in list(&used["copilotUsage"]["tokenDetails"]) {
        let part = match detail["tokenType"].as_str() {
            Some("cache_read") => &mut cache_read,
            Some("cache_write") => &mut cache_write,
            _ => continue,
        };
        *part = bill.count("copilotUsage.tokenDetails", Count::of(&detail["tokenCount"]));
    }
    let unread = bill.less(prompt, "cacheReadTokens", cache_read);
    let uncached = bill.less(unread, "cacheWriteTokens", cache_write);
    bill.apart([uncached, cache_read, cache_write, output])
        .map(|it| (it, used["model"].as_str().unwrap_or_default().to_owned()))
}

/// Returns totals without others.
fn less(totals: Usage, others: Usage) -> Usage {
    Usage {
        prompt: totals.prompt.saturating_sub(others.prompt),
        cache_read: totals.cache_read.saturating_sub(others.cache_read),
        cache_write: totals.cache_write.saturating_sub(others.cache_write),
        output: totals.output.saturating_sub(others.output),
        ..Usage::default()
    }
}

// One line of a Copilot CLI session as written.

/// An event.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct CopilotEvent<'a> {
    /// `session.start`, `user.message`, `assistant.message`, `tool.execution_complete`, …
    #[serde(rename = "type")]
    kind: Text<'a>,
    /// When it was written, ISO 8601.
    timestamp: Text<'a>,
    /// Of a sub-agent's events: which one it is.
    agent_id: Text<'a>,
    /// What it holds.
    data: Option<CopilotData<'a>>,
}

/// What an event holds.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct CopilotData<'a> {
    session_id: Text<'a>,
    /// The model that answers from here on, by the event.
    selected_model: Text<'a>,
    new_model: Text<'a>,
    /// The model that answered, or is to answer.
    model: Text<'a>,
    /// What was said, and what of it was sent.
    content: Option<Content>,
    transformed_content: Option<Content>,
    reasoning_text: Option<Content>,
    message_id: Text<'a>,
    tool_requests: Option<Vec<CallRecord<'a>>>,
    output_tokens: Option<Count>,
    /// Of a sub-agent's message, in older builds.
    parent_tool_call_id: Text<'a>,
    /// Of a result.
    tool_call_id: Text<'a>,
    result: Shaped<OutcomeRecord<'a>>,
    error: Shaped<OutcomeRecord<'a>>,
    agent_name: Text<'a>,
    tool_definitions_tokens: Option<Count>,
    /// By model, what it was used for since the counters began.
    model_metrics: Option<IndexMap<String, Value>>,
    /// How long the models' entries live.
    model_cache_state: Value,
    /// Of a compaction.
    summary_content: Option<Content>,
    compaction_tokens_used: Value,
}

/// What a tool gave back, or why it gave nothing back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct OutcomeRecord<'a> {
    content: MessageContent<'a>,
    message: MessageContent<'a>,
}
