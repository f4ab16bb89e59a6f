//! ctxsim's own form of recorded sessions: all that policies count and compare, and none of the words.
//!
//! `timeline/import/redacted.rs` writes transcripts without their texts and reads them back. What texts reveal is kept beside them
//! (`kept.rs`): the files that calls name as numbers, and the inferred needs, both those of the history as the harness left it and those of
//! the history with nothing taken out. Where only some compactions are undone, the needs of the second kind hold for what still stands. A
//! session's draws are made from its parts (`Transcript::draws`), not from its file's name or its layout, and are written down as one
//! number.

mod record;

use ctxsim_input::profile::Family;

use self::record::{NeedRecord, RedactedHeader, RedactedPart, RedactedRequest};
use crate::import::prelude::*;
use crate::{AgentTotals, tool_form};

pub(super) const FORMAT: LogFormat = LogFormat { name: "ctxsim-session", detect, read };

/// Returns whether the first record begins a session.
fn detect(head: &str) -> bool {
    let first = head.lines().find(|it| !it.trim().is_empty()).unwrap_or_default();
    json::first::<RedactedHeader>(first).is_some_and(|it| it.is_session())
}

/// Reads all sessions of a recording.
fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let mut sessions: Vec<Transcript> = Vec::new();
    while let Some(line) = lines.next() {
        let (number, text) = (line.number, line.text);
        if let Some(header) = json::first::<RedactedHeader>(text).filter(RedactedHeader::is_session) {
            sessions.push(header.into_transcript(number, losses));
            continue;
        }
        let Some(session) = sessions.last_mut() else { continue };
        json::each(line, losses, |record: RedactedRequest, losses| {
            let expected = session.exchanges.len() as u64 + 1;
            if record.needs.is_none() && record.number < expected {
                return losses
                    .add(number, "requests that stand again or after a later one, which are left out");
            }
            if record.number > expected {
                losses.add(number, "requests before which others are missing");
            }
            if let Some(needs) = record.needs {
                needs.into_iter().for_each(|it| it.keep(&mut session.needs));
            } else {
                session.exchanges.extend(record.into_exchange(number, losses));
            }
        });
    }
    for needs in sessions.iter_mut().flat_map(|it| &mut it.needs) {
        needs.order_by_key(|it| (it.exchange, it.part));
    }
    sessions
}

/// Returns the name by which everybody knows a model, if there is one.
pub type PublicName<'n> = dyn Fn(&str) -> Option<String> + 'n;

/// Writes sessions without their words; policies find tools by these patterns.
pub(super) fn write(
    transcripts: impl Iterator<Item = Transcript>,
    patterns: &[String],
    public_name: &PublicName<'_>,
) -> String {
    let mut redaction = Redaction { patterns, ..Redaction::default() };
    for mut transcript in transcripts {
        transcript.exchanges.iter_mut().for_each(|it| it.model = redaction.model(&it.model, public_name));
        for totals in &mut transcript.agents {
            // All but the name is written; of a new field, somebody decides here.
            let AgentTotals { agent: _, model, tokens: _, tools: _, agents: _, is_long: _ } = totals;
            if !model.is_empty() {
                *model = redaction.model(model, public_name);
            }
        }
        let inner = transcript.exchanges.iter_mut().flat_map(|it| &mut it.inner);
        for bill in transcript.aside.iter_mut().chain(inner).filter(|it| !it.model.is_empty()) {
            bill.model = redaction.model(&bill.model, public_name);
        }
        redaction.write(&transcript);
    }
    redaction.text
}

/// What is written so far. Contents, files, tools, sessions, agents and models are numbered in the order in which they come.
#[derive(Debug, Default)]
struct Redaction<'p> {
    patterns: &'p [String],
    text: String,
    contents: IndexSet<u64>,
    files: IndexSet<u64>,
    tools: IndexSet<String>,
    sessions: IndexSet<String>,
    agents: IndexSet<String>,
    models: IndexSet<String>,
}

impl Redaction<'_> {
    fn write(&mut self, transcript: &Transcript) {
        let format = transcript.tools_of.unwrap_or_default();
        let mut header = RedactedHeader::new(transcript);
        header.stable = self.parts(&transcript.stable, format);
        header.fronts = transcript.fronts.iter().map(|it| self.parts(it, format)).collect();
        header.name = numbered("session", &mut self.sessions, &transcript.name);
        header.of_agent = transcript.of_agent.as_ref().map(|[agent, parent]| {
            [numbered("agent", &mut self.agents, agent), numbered("session", &mut self.sessions, parent)]
        });
        self.line(&header);
        for (exchange, number) in transcript.exchanges.iter().zip(1..) {
            let mut record = RedactedRequest::new(exchange);
            record.number = number;
            record.begins = exchange.begins.as_ref().map(|it| self.parts(it, format));
            record.reply = self.parts(&exchange.reply, format);
            record.results = self.parts(&exchange.results, format);
            self.line(&record);
        }
        let needs = NeedRecord::of_all(&transcript.needs);
        if !needs.is_empty() {
            self.line(&RedactedRequest::of_needs(needs));
        }
    }

    fn line(&mut self, record: &impl serde::Serialize) {
        self.text += &serde_json::to_string(record).unwrap_or_default();
        self.text.push('\n');
    }

    fn parts(&mut self, parts: &[Part], format: &str) -> Vec<RedactedPart> {
        parts.iter().map(|it| self.part(it, format)).collect()
    }

    fn part(&mut self, part: &Part, format: &str) -> RedactedPart {
        let content = self.contents.insert_full(part.digest).0;
        let file = part.file.map(|it| self.files.insert_full(it).0);
        RedactedPart::of(part, content, file, self.tool(&part.tool, format))
    }

    /// A model goes by its public name: that of a deployment or of a tuned model may be somebody's. One without keeps how it counts, and no
    /// profile covers it now either.
    fn model(&mut self, model: &str, public_name: &PublicName<'_>) -> String {
        public_name(model).unwrap_or_else(|| {
            let number = numbered("model", &mut self.models, model);
            let counts_alike = Family::stand_in(model, &number);
            counts_alike.filter(|it| public_name(it).is_none()).unwrap_or(number)
        })
    }

    /// A tool keeps its name where a table of this project has it, and what a policy finds it by where one does.
    fn tool(&mut self, tool: &str, format: &str) -> String {
        if tool_form::form_of(format, tool).is_some() {
            return tool.to_owned();
        }
        let number = numbered("tool", &mut self.tools, tool);
        let pattern = self.patterns.iter().find(|it| it.as_str() != "*" && wildcard(it, tool));
        pattern.map_or(number.clone(), |it| it.replace('*', &number))
    }
}

/// Returns what stands for a name: its kind and its number among the others; nothing for none.
fn numbered(kind: &str, names: &mut IndexSet<String>, name: &str) -> String {
    if name.is_empty() {
        return String::new();
    }
    format!("{kind}-{}", names.insert_full(name.to_owned()).0 + 1)
}
