//! What Gemini CLI prints with `--output-format stream-json`: one event per line, and the totals of the session in the last.

use super::spread::{RequestPlace, spread, text_tokens};
use crate::import::prelude::*;

pub(super) const FORMAT: LogFormat = LogFormat { name: "gemini-stream", detect, read };

/// An event.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct StreamEvent<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    timestamp: Text<'a>,
    session_id: Text<'a>,
    model: Text<'a>,
    role: Text<'a>,
    content: Option<Content>,
    tool_name: Text<'a>,
    tool_id: Text<'a>,
    parameters: Option<Arguments>,
    output: Option<Content>,
    error: Shaped<Members<'a>>,
    /// Totals.
    stats: Value,
}

/// Returns whether one of the first lines is an event that no other format has.
fn detect(head: &str) -> bool {
    head.lines().filter(|it| it.starts_with('{')).filter_map(json::first::<StreamEvent<'_>>).any(|it| {
        !it.timestamp.0.is_empty()
            && match it.kind.0.as_ref() {
                "init" => !it.session_id.0.is_empty() && !it.model.0.is_empty(),
                "tool_use" => !it.tool_id.0.is_empty() && !it.tool_name.0.is_empty(),
                "result" => !it.stats["input_tokens"].is_null(),
                _ => false,
            }
    })
}

fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let mut sessions = vec![GeminiStreamWalk::default()];
    while let Some(line) = lines.next() {
        json::each(line, losses, |event: StreamEvent<'_>, losses| {
            if event.kind.0 == "init" && sessions.last().is_some_and(|it| !it.id.is_empty()) {
                sessions.push(GeminiStreamWalk::default());
            }
            if let Some(session) = sessions.last_mut() {
                session.take(line.number, event, losses);
            }
        });
    }
    named_apart(sessions.into_iter().map(|it| (it.id.clone(), it.finish(losses))).collect())
}

#[derive(Debug, Default)]
struct GeminiStreamWalk {
    id: String,
    model: String,
    assembler: Assembler,
    /// What the model has said since the last result.
    open: Vec<Part>,
    /// A text whose pieces still come.
    text: String,
    first_ms: Option<i64>,
    end_ms: Option<i64>,
    n_requests: usize,
    /// Totals, with the requests that they are of.
    legs: Vec<(Usage, [usize; 2])>,
}

impl GeminiStreamWalk {
    fn take(&mut self, line: usize, event: StreamEvent<'_>, losses: &mut Losses) {
        let stamp = Stamp::noted(line, &event.timestamp.0, losses);
        match event.kind.0.as_ref() {
            "init" => {
                self.id = event.session_id.0.into_owned();
                self.model = event.model.0.into_owned();
            }
            "message" if event.role.0 == "user" => {
                self.close();
                let said = Part::of(Kind::User, event.content.unwrap_or_default());
                self.assembler.said(stamp, said, true);
            }
            "message" => {
                self.moment(stamp.ms);
                self.text += event.content.and_then(|it| it.text).as_deref().unwrap_or_default();
            }
            "tool_use" => {
                self.moment(stamp.ms);
                self.text_is_complete();
                let asked = event.parameters.unwrap_or_default().0;
                self.open.push(Part::call(&event.tool_id.0, &event.tool_name.0, asked));
            }
            "tool_result" => {
                self.close();
                let why = event.error.object().and_then(|it| it.get("message"));
                let part = Part::result(&event.tool_id.0, "", event.output.or(why).unwrap_or_default());
                self.assembler.answered(stamp, part, losses);
            }
            "result" => {
                self.close();
                self.totals(line, &event.stats, losses);
            }
            other => losses.never(line, other),
        }
    }

    fn moment(&mut self, at_ms: Option<i64>) {
        self.first_ms = self.first_ms.or(at_ms);
        self.end_ms = at_ms.or(self.end_ms);
    }

    fn text_is_complete(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.open.extend(Part::spoken(Kind::Assistant, Some(Content::new(&text))));
    }

    /// Makes a request of what the model has said since the last result.
    fn close(&mut self) {
        self.text_is_complete();
        let parts = std::mem::take(&mut self.open);
        if !parts.is_empty() {
            self.n_requests += 1;
            self.assembler.replied(Exchange {
                reply: parts,
                response_ms: self.first_ms,
                end_ms: self.end_ms,
                model: self.model.clone(),
                ..Exchange::default()
            });
        }
        (self.first_ms, self.end_ms) = (None, None);
    }

    /// Takes the totals of the requests since the last ones.
    fn totals(&mut self, line: usize, stats: &Value, losses: &mut Losses) {
        let mut bill = BillReader::of_session(line, "stats", stats, losses);
        let prompt = bill.needed("input_tokens");
        let output = bill.tokens("output_tokens");
        let total = bill.tokens("total_tokens");
        let cache_read = bill.tokens("cached");
        bill.less(prompt, "cached", cache_read);
        if !bill.is_complete {
            return losses.add(line, "results without totals, whose requests stay without usage");
        }
        let from = self.legs.last().map_or(0, |it| it.1[1]);
        if from == self.n_requests {
            return losses.add(line, "totals of which the log shows no request");
        }
        // Thoughts are in the sum of all tokens alone.
        let output = output.max(total.saturating_sub(prompt));
        let totals = Usage { prompt, cache_read, output, ..Usage::default() };
        self.legs.push((totals, [from, self.n_requests]));
    }

    fn finish(mut self, losses: &mut Losses) -> Transcript {
        self.close();
        let mut transcripts = [self.assembler.finish(losses)];
        for (totals, [from, to]) in self.legs {
            let places: Vec<RequestPlace> = (from..to).map(|it| (0, it)).collect();
            // What is in no text stands before each prompt.
            let shown = text_tokens(&transcripts[0], &places);
            let front = totals.prompt.saturating_sub(shown) / places.len() as u64;
            spread(totals, &mut transcripts, &places, front);
            transcripts[0].is_spread = true;
        }
        let [mut transcript] = transcripts;
        transcript.counts_output = transcript.is_spread;
        transcript.drops_reasoning = true;
        if transcript.is_spread {
            transcript.assumptions.push(
                "The log has usage as totals alone. They are spread over the requests by the sizes of their texts and an equal share of what is in no text, so that the totals hold."
                    .to_owned(),
            );
        }
        transcript
    }
}
