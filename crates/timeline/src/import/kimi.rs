//! Kimi sessions: JSON lines of the wire between agent and interface, in the older and the newer protocol.

use crate::import::prelude::*;

pub(super) const FORMAT: LogFormat =
    LogFormat { name: "kimi", detect: |head| json::any(head, is_wire), read };

/// Returns whether a record is the head of a wire, or one that only it has.
fn is_wire(record: &Members<'_>) -> bool {
    let kind = record.text("type");
    let is_head = kind == "metadata" && !record.text("protocol_version").is_empty();
    let is_newer = record.raw("time").is_some() && matches!(kind.as_ref(), "usage.record" | "turn.prompt");
    let is_older = kind.is_empty() && record.raw("timestamp").is_some();
    let of_message = || record.get::<Members<'_>>("message").map(|it| it.text("type"));
    let kinds = ["TurnBegin", "StepBegin", "StatusUpdate", "ContentPart"];
    is_head || is_newer || is_older && of_message().is_some_and(|it| kinds.contains(&it.as_ref()))
}

/// Reads a session, and one more for each sub-agent whose messages it holds.
pub(super) fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let mut session = KimiSession::default();
    session.lane("");
    while let Some(line) = lines.next_new(losses) {
        json::each(line, losses, |record: Members<'_>, losses| session.visit(line.number, &record, losses));
    }
    session.finish(losses)
}

/// The lanes by agent; the session's own has no name.
#[derive(Debug, Default)]
struct KimiSession {
    lanes: IndexMap<String, KimiLane>,
    order: OrderWatch,
}

impl KimiSession {
    fn lane(&mut self, agent: &str) -> &mut KimiLane {
        self.lanes.entry(agent.to_owned()).or_default()
    }

    fn visit(&mut self, line: usize, record: &Members<'_>, losses: &mut Losses) {
        match (record.text("type").as_ref(), record.raw("message")) {
            ("metadata", _) => {}
            ("", Some(message)) => {
                let seconds: Option<f64> = record.raw("timestamp").and_then(|it| it.get().parse().ok());
                let at_ms = seconds
                    .filter(|it| (0.0..1e11).contains(it))
                    .map(|seconds| (seconds * 1_000.0).round() as i64);
                self.order.next(line, at_ms, losses);
                self.older(Stamp { line, ms: at_ms }, "", message, losses);
            }
            ("", None) => losses.add(line, "objects without a type"),
            (kind, _) => {
                let at_ms = record.get("time").and_then(Count::milliseconds);
                self.order.next(line, at_ms, losses);
                self.lane("").newer(Stamp { line, ms: at_ms }, kind, record, losses);
            }
        }
    }

    /// Takes a message of the older protocol, which may be a sub-agent's.
    fn older(&mut self, stamp: Stamp, agent: &str, message: &RawValue, losses: &mut Losses) {
        let Some(message) = Members::of(message) else {
            return losses.add(stamp.line, "messages that are not objects");
        };
        let kind = message.text("type");
        let payload: KimiPayload<'_> = message.read("payload", stamp.line, losses);
        if kind != "SubagentEvent" {
            return self.lane(agent).older(stamp, &kind, payload, losses);
        }
        let names = [payload.agent_id.0.as_ref(), payload.task_tool_call_id.0.as_ref()];
        let name = names.into_iter().find(|it| !it.is_empty()).unwrap_or("agent").to_owned();
        match payload.event.filter(|_| agent.is_empty()) {
            Some(event) => self.older(stamp, &name, event, losses),
            None => losses.add(stamp.line, "messages of sub-agents of sub-agents, which are left out"),
        }
    }

    fn finish(self, losses: &mut Losses) -> Vec<Transcript> {
        let lanes = self.lanes.into_iter().map(|(agent, lane)| {
            let transcript = lane.finish(losses);
            let of_agent = (!agent.is_empty()).then(|| [agent.clone(), String::new()]);
            Transcript { name: agent, of_agent, ..transcript }
        });
        lanes.collect()
    }
}

/// The step that is open: what the model has said, and what has come back.
#[derive(Debug, Default)]
struct OpenStep {
    parts: Vec<Part>,
    results: Vec<(Stamp, Part)>,
    /// A call whose arguments are not complete: its name, its tool, and what is there of them.
    call: Option<(String, String, String)>,
    usage: Option<Usage>,
    begins_ms: Option<i64>,
    first_ms: Option<i64>,
    end_ms: Option<i64>,
}

impl OpenStep {
    fn said(&mut self, at_ms: Option<i64>, part: Part) {
        self.call_is_complete();
        self.first_ms = self.first_ms.or(at_ms);
        self.end_ms = at_ms.or(self.end_ms);
        self.parts.push(part);
    }

    fn call_is_complete(&mut self) {
        if let Some((id, tool, arguments)) = self.call.take() {
            self.parts.push(Part::call(&id, &tool, Content::new(&arguments)));
        }
    }
}

/// The requests of one agent.
#[derive(Debug, Default)]
struct KimiLane {
    assembler: Assembler,
    open: OpenStep,
    model: String,
    /// Whether the next bill is that of a summary.
    is_summarising: bool,
    front: Option<String>,
}

impl KimiLane {
    fn older(&mut self, stamp: Stamp, kind: &str, payload: KimiPayload<'_>, losses: &mut Losses) {
        match kind {
            "TurnBegin" | "SteerInput" => {
                self.close(losses);
                let said = Part::of(Kind::User, payload.user_input.to_content());
                self.assembler.said(stamp, said, true);
            }
            "StepBegin" => {
                self.close(losses);
                self.open.begins_ms = stamp.ms;
            }
            "TurnEnd" => self.close(losses),
            "ContentPart" => self.content(stamp.ms, payload),
            "ToolCall" => {
                self.open.call_is_complete();
                if payload.function.is_object() {
                    let [name, arguments] = ["name", "arguments"]
                        .map(|it| payload.function[it].as_str().unwrap_or_default().to_owned());
                    self.open.call = Some((payload.id.0.into_owned(), name, arguments));
                }
            }
            "ToolCallPart" => {
                if let Some(call) = &mut self.open.call {
                    call.2 += &payload.arguments_part.0;
                }
            }
            "StatusUpdate" => {
                if let Some(usage) =
                    billed(stamp.line, "message.payload.token_usage", &payload.token_usage, losses)
                    && self.open.usage.replace(usage).is_some_and(|before| before != usage)
                {
                    losses.add(stamp.line, "bills of a step that a later one of the same step replaces");
                }
            }
            "ToolResult" => self.result(stamp, &payload.tool_call_id.0, payload.return_value),
            "CompactionBegin" => self.close(losses),
            "CompactionEnd" => {
                self.close(losses);
                self.assembler.replaced(stamp, HistorySummary::of(Content::default()));
            }
            kind => {
                losses.add(stamp.line, format!("messages of type `{kind}`, which is never part of a prompt"));
            }
        }
    }

    fn content(&mut self, at_ms: Option<i64>, payload: KimiPayload<'_>) {
        let part = match payload.kind.0.as_ref() {
            "think" => Part::of(Kind::Reasoning, payload.think.unwrap_or_default()),
            _ => Part::of(Kind::Assistant, payload.text.unwrap_or_default()),
        };
        self.open.said(at_ms, part);
    }

    fn result(&mut self, stamp: Stamp, call: &str, value: Shaped<ReturnValue<'_>>) {
        self.open.call_is_complete();
        let shown = value
            .object()
            .map(|it| Content::join([it.output.to_content(), it.message.unwrap_or_default()].into_iter()));
        self.open.results.push((stamp, Part::result(call, "", shown.unwrap_or_default())));
    }

    fn newer(&mut self, stamp: Stamp, kind: &str, record: &Members<'_>, losses: &mut Losses) {
        match kind {
            "turn.prompt" | "turn.steer" => {
                self.close(losses);
                self.assembler.said(stamp, Part::of(Kind::User, record.content("input")), true);
            }
            "llm.tools_snapshot" if self.assembler.is_empty() => {
                let tools: Vec<Measured> = record.read("tools", stamp.line, losses);
                tools.into_iter().for_each(|it| self.assembler.stable(Part::of(Kind::ToolSchema, it)));
            }
            "profile.bind" | "config.update" | "llm.request" => {
                let system = record.text("systemPrompt");
                if !system.is_empty() && self.front.is_none() {
                    self.front = Some(system.into_owned());
                }
                if kind == "llm.request" {
                    self.close(losses);
                    self.is_summarising = record.text("kind") == "compaction";
                    self.model = record.text("model").into_owned();
                    self.open.begins_ms = stamp.ms;
                }
            }
            "context.append_message" => {
                let message: Members<'_> = record.get("message").unwrap_or_default();
                if matches!(message.text("role").as_ref(), "user" | "system") {
                    let said = Part::of(Kind::User, message.content("content"));
                    self.assembler.said(stamp, said, false);
                }
            }
            "context.append_loop_event" => match record.get("event") {
                Some(event) => self.event(stamp, &event, losses),
                None => losses.add(stamp.line, "loop events without an object"),
            },
            "usage.record" if record.text("usageScope") == "session" && !self.is_summarising => {
                losses.add(stamp.line, "bills of the session beside those of its turns");
            }
            "usage.record" => {
                let bill = billed(stamp.line, "usage", &record.get("usage").unwrap_or_default(), losses);
                if self.is_summarising {
                    bill.into_iter().for_each(|it| self.assembler.summarised(stamp.line, it));
                } else {
                    self.open.usage = bill;
                    self.open.end_ms = stamp.ms.or(self.open.end_ms);
                }
            }
            "context.apply_compaction" => {
                self.close(losses);
                let summaries = [record.content("contextSummary"), record.content("summary")];
                let summary = summaries.into_iter().find(|it| it.measured.characters > 0).unwrap_or_default();
                self.assembler.replaced(stamp, HistorySummary::of(summary));
            }
            "context.clear" => {
                self.close(losses);
                self.assembler.compacted(usize::MAX, Remover::Cleared);
            }
            other => losses.never(stamp.line, other),
        }
    }

    /// Takes a step of the newer protocol's loop.
    fn event(&mut self, stamp: Stamp, event: &Members<'_>, losses: &mut Losses) {
        match event.text("type").as_ref() {
            "step.begin" | "step.end" => {}
            "content.part" => {
                if let Some(part) = event.get("part") {
                    self.content(stamp.ms, part);
                }
            }
            "tool.call" => {
                let asked: Arguments = event.read("args", stamp.line, losses);
                let call = Part::call(&event.text("toolCallId"), &event.text("name"), asked.0);
                self.open.said(stamp.ms, call);
            }
            "tool.result" => {
                let result = event.get("result").unwrap_or_default();
                self.result(stamp, &event.text("toolCallId"), result);
            }
            other => losses.add(stamp.line, format!("loop events of the unknown type `{other}`")),
        }
    }

    /// Makes a request of the open step, if the model has said anything or was billed.
    fn close(&mut self, losses: &mut Losses) {
        self.open.call_is_complete();
        let open = std::mem::take(&mut self.open);
        if self.assembler.is_empty()
            && let Some(system) = self.front.take()
        {
            self.assembler.stable(Part::of(Kind::System, Content::new(&system)));
        }
        if !open.parts.is_empty() || open.usage.is_some() {
            self.assembler.replied(Exchange {
                reply: open.parts,
                at_ms: open.begins_ms,
                response_ms: open.first_ms.or(open.end_ms),
                end_ms: open.end_ms,
                model: self.model.clone(),
                usage: open.usage,
                ..Exchange::default()
            });
        }
        for (stamp, part) in open.results {
            self.assembler.answered(stamp, part, losses);
        }
    }

    fn finish(mut self, losses: &mut Losses) -> Transcript {
        self.close(losses);
        let mut transcript = self.assembler.finish(losses);
        transcript.counts_output = true;
        transcript.has_breakpoints = transcript.has_writes();
        transcript
    }
}

/// Returns what was billed, or nothing if nothing was; the input is without what was read and written.
fn billed(line: usize, within: &'static str, usage: &Value, losses: &mut Losses) -> Option<Usage> {
    let names = match usage.get("inputOther") {
        Some(_) => ["inputOther", "inputCacheRead", "inputCacheCreation"],
        None => ["input_other", "input_cache_read", "input_cache_creation"],
    };
    let mut bill = BillReader::of(line, within, usage, losses);
    let uncached = bill.needed(names[0]);
    let [cache_read, cache_write] = [bill.tokens(names[1]), bill.tokens(names[2])];
    let output = bill.tokens("output");
    bill.apart([uncached, cache_read, cache_write, output])
}

// What lines of a Kimi session hold that is read as a whole.

/// What a message of the older protocol holds, and a part of the newer one.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct KimiPayload<'a> {
    user_input: MessageContent<'a>,
    #[serde(rename = "type")]
    kind: Text<'a>,
    think: Option<Content>,
    text: Option<Content>,
    id: Text<'a>,
    /// What a call calls.
    function: Value,
    arguments_part: Text<'a>,
    token_usage: Value,
    tool_call_id: Text<'a>,
    return_value: Shaped<ReturnValue<'a>>,
    /// Of a sub-agent's: who it is, and its own message.
    agent_id: Text<'a>,
    task_tool_call_id: Text<'a>,
    event: Option<&'a RawValue>,
}

/// What a tool gave back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ReturnValue<'a> {
    output: MessageContent<'a>,
    message: Option<Content>,
}
