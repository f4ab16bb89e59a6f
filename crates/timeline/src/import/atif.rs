//! ATIF trajectories, which Harbor writes for many agents: one JSON document of steps, and sub-agents' trajectories inside it.

use super::document;
use crate::import::prelude::*;

pub(super) const FORMAT: LogFormat = LogFormat { name: "atif", detect, read };

/// The member with the trajectories of sub-agents.
const CHILDREN: &str = "subagent_trajectories[]";

/// Returns whether the front is that of a trajectory.
fn detect(head: &str) -> bool {
    if !head.contains("ATIF-") && !head.contains("\"step_id\"") {
        return false;
    }
    let outline = FrontOutline::of(head);
    let is_named = outline.get("schema_version").is_some_and(|it| it.starts_with("ATIF-"));
    is_named || outline.has("steps[].step_id") && outline.has("steps[].source")
}

/// Reads all trajectories of a recording.
fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let opened = ["steps", "subagent_trajectories", CHILDREN, "subagent_trajectories[].steps"];
    let (mut done, mut parent, mut child) = (Vec::new(), Trajectory::default(), Trajectory::default());
    document::each(lines, &opened, losses, |piece, losses| {
        let within = piece.path.strip_prefix(CHILDREN);
        let trajectory = if within.is_some() { &mut child } else { &mut parent };
        match (within.unwrap_or(piece.path).trim_start_matches('.'), piece.text) {
            ("", None) => {
                let ended = std::mem::take(trajectory);
                if within.is_some() { parent.children.push(ended) } else { done.push(ended) }
            }
            ("steps[]", Some(text)) => {
                if let Some(step) = json::record::<StepRecord<'_>>(piece.line, text, losses) {
                    trajectory.step(piece.line, step, losses);
                }
            }
            ("agent", Some(text)) => {
                if let Some(agent) = json::record(piece.line, text, losses) {
                    trajectory.agent(&agent);
                }
            }
            ("session_id", Some(text)) => text.trim_matches('"').clone_into(&mut trajectory.id),
            ("continued_trajectory_ref", Some(text)) if text != "null" => {
                trajectory.continues = Some(text.trim_matches('"').to_owned());
            }
            _ => {}
        }
    });
    let mut transcripts = Vec::new();
    for trajectory in done {
        trajectory.finish(None, &mut transcripts, losses);
    }
    let several = transcripts.len() > 1;
    for (transcript, number) in transcripts.iter_mut().zip(1_usize..).filter(|_| several) {
        let agent = transcript.of_agent.as_ref().map_or("", |it| &it[0]);
        transcript.name = if agent.is_empty() { number.to_string() } else { format!("{number}-{agent}") };
    }
    transcripts
}

#[derive(Debug, Default)]
struct Trajectory {
    id: String,
    model: String,
    assembler: Assembler,
    /// Whether the last step was copied from another trajectory.
    is_copying: bool,
    n_replies: usize,
    /// The file in which it goes on.
    continues: Option<String>,
    children: Vec<Trajectory>,
}

impl Trajectory {
    /// Takes what is said of the agent; its tools are before everything.
    fn agent(&mut self, agent: &Members<'_>) {
        self.model = agent.text("model_name").into_owned();
        if self.assembler.is_empty() {
            for tool in agent.get::<Vec<Measured>>("tool_definitions").into_iter().flatten() {
                self.assembler.stable(Part::of(Kind::ToolSchema, tool));
            }
        }
    }

    fn step(&mut self, line: usize, step: StepRecord<'_>, losses: &mut Losses) {
        let stamp = Stamp::noted(line, &step.timestamp.0, losses);
        if step.compacts() {
            return self.compact();
        }
        if step.is_copied_context.0 {
            return self.copy(stamp, &step);
        }
        self.is_copying = false;
        match step.source.0.as_ref() {
            "agent" if step.is_request() => self.reply(stamp, step, losses),
            "agent" => {
                self.assembler.said(stamp, Part::of(Kind::Assistant, step.message.to_content()), false);
            }
            "user" => self.assembler.said(stamp, Part::of(Kind::User, step.message.to_content()), true),
            "system" if self.assembler.is_empty() => {
                self.assembler.stable(Part::of(Kind::System, step.message.to_content()));
            }
            "system" => {
                losses.add(line, "notes of the system between the steps, which no prompt is known to hold");
            }
            other => losses.add(line, format!("steps of the unknown source `{other}`")),
        }
    }

    /// Takes a request with its reply, and what came back.
    fn reply(&mut self, stamp: Stamp, step: StepRecord<'_>, losses: &mut Losses) {
        let thought = Part::spoken(Kind::Reasoning, step.reasoning_content);
        let said = Part::spoken(Kind::Assistant, Some(step.message.to_content()));
        let mut parts: Vec<Part> = thought.into_iter().chain(said).collect();
        let calls = step.tool_calls.into_iter().flatten().filter_map(Shaped::object);
        parts.extend(calls.map(CallRecord::into_part));
        let mut bill = BillReader::of(stamp.line, "metrics", &step.metrics, losses);
        let prompt = bill.needed("prompt_tokens");
        let output = bill.tokens("completion_tokens");
        let cache_read = bill.tokens("cached_tokens");
        let written = bill.tokens("extra.cache_creation_input_tokens");
        let not_read = bill.less(prompt, "cached_tokens", cache_read);
        // What was written is a part of the prompt; an agent that counts otherwise says more than fits.
        let cache_write = if written <= not_read { written } else { 0 };
        let long = bill.number("extra.cache_creation.ephemeral_1h_input_tokens").and_then(Count::known);
        let cache_write_long = long.filter(|it| *it <= cache_write);
        let usage = bill.apart([not_read - cache_write, cache_read, cache_write, output]);
        let usage = usage.map(|it| Usage { cache_write_long, ..it });
        self.n_replies += 1;
        let model =
            if step.model_name.0.is_empty() { self.model.clone() } else { step.model_name.0.into_owned() };
        self.assembler.replied(Exchange {
            reply: parts,
            model,
            usage,
            cost: dollars(&step.metrics["cost_usd"]).filter(|it| it.0 > 0),
            response_ms: stamp.ms,
            end_ms: stamp.ms,
            ..Exchange::default()
        });
        let Shaped::Object(observation) = step.observation else { return };
        for result in observation.results.into_iter().flatten().filter_map(Shaped::object) {
            let part = Part::result(&result.source_call_id.0, "", result.content.to_content());
            if !part.call.is_empty() {
                self.assembler.answered(stamp, part, losses);
            } else if part.characters > 0 {
                // What a terminal shows answers the reply as a whole.
                self.assembler.observed(stamp.ms, part);
            }
        }
    }

    /// Takes out the history, where a step says so.
    fn compact(&mut self) {
        self.assembler.compacted(usize::MAX, Remover::Harness);
        self.is_copying = true;
    }

    /// Takes what another trajectory said: it stands in place of the history here.
    fn copy(&mut self, stamp: Stamp, step: &StepRecord<'_>) {
        if !self.is_copying && self.n_replies > 0 {
            self.compact();
        }
        self.is_copying = true;
        let kind = if step.source.0 == "agent" { Kind::Assistant } else { Kind::User };
        self.assembler.stood_in(stamp, Part::of(kind, step.message.to_content()));
    }

    fn finish(self, parent: Option<&str>, transcripts: &mut Vec<Transcript>, losses: &mut Losses) {
        let mut transcript = self.assembler.finish(losses);
        transcript.counts_output = transcript.is_billed();
        transcript.marks_compactions = !transcript.summarised().is_empty();
        transcript.of_agent = parent.map(|it| [self.id.clone(), it.to_owned()]);
        if let Some(file) = self.continues {
            transcript
                .assumptions
                .push(format!("The session goes on in {file}, which is read as a session of its own."));
        }
        transcripts.push(transcript);
        for child in self.children {
            child.finish(Some(&self.id), transcripts, losses);
        }
    }
}

// What a trajectory writes of its agent and its steps.

/// A step.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct StepRecord<'a> {
    /// `system`, `user` or `agent`.
    source: Text<'a>,
    /// What is said.
    message: MessageContent<'a>,
    /// What was thought.
    reasoning_content: Option<Content>,
    /// The calls.
    tool_calls: Option<Vec<Shaped<CallRecord<'a>>>>,
    /// What came back.
    observation: Shaped<ObservationRecord<'a>>,
    /// The model that answered.
    model_name: Text<'a>,
    /// What was billed.
    metrics: Value,
    /// When, ISO 8601.
    timestamp: Text<'a>,
    /// Whether it repeats what stands in another trajectory.
    is_copied_context: Flag,
    /// How many requests it was.
    llm_call_count: Option<Count>,
    /// What an agent says beside a step.
    extra: Value,
}

impl StepRecord<'_> {
    /// Returns whether the step says that the history was compacted.
    fn compacts(&self) -> bool {
        self.extra["context_management"]["type"] == "compaction"
    }

    /// Returns whether a model was asked.
    fn is_request(&self) -> bool {
        !matches!(self.llm_call_count, Some(Count(Ok(0))))
    }
}

/// What came back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ObservationRecord<'a> {
    /// One result per call, or what a terminal shows.
    results: Option<Vec<Shaped<ResultRecord<'a>>>>,
}

/// A result.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ResultRecord<'a> {
    /// The call that it answers.
    source_call_id: Text<'a>,
    /// What it says.
    content: MessageContent<'a>,
}
