//! Codex rollouts: JSON lines of response items, with a token count after every response.

use crate::FixedPart;
use crate::import::prelude::*;
use crate::import::transcript::SummarySizes;

pub(super) const FORMAT: LogFormat =
    LogFormat { name: "codex", detect: |head| json::any(head, is_record), read };

/// Returns whether a record is one of a rollout's.
fn is_record(record: &CodexRecord<'_>) -> bool {
    let is_kind = matches!(
        record.kind.0.as_ref(),
        "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted"
    );
    is_kind && record.payload.is_some()
}

/// Reads a rollout.
pub(super) fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    let mut rollout = Rollout::default();
    while let Some(line) = lines.next_new(losses) {
        json::each(line, losses, |record: CodexRecord<'_>, losses| {
            rollout.visit(line.number, record, losses);
        });
    }
    vec![rollout.finish(losses)]
}

/// How the message begins in which the harness puts memory files; the second is of older versions.
const MEMORY_FILES: [&str; 2] = ["# AGENTS.md instructions", "<user_instructions>"];

/// The plans of accounts; what an account without one pays is the list price.
const PLANS: [&str; 8] = ["free", "go", "plus", "pro", "team", "business", "enterprise", "edu"];

/// Reads how far the windows of the account were used up, in the forms of all versions: some count the seconds until the window ends, and the
/// oldest put all numbers side by side. Some say 299 and 10,079 minutes for five hours and a week.
fn limit_readings(limits: &Value, at_ms: i64, plan: &str) -> Vec<LimitReading> {
    // Others than the account's own are of single models.
    let is_own = limits["limit_id"].as_str().is_none_or(|it| it == "codex");
    let reading = |name: &str| {
        let number =
            |key: &str| limits[name][key].as_f64().or_else(|| limits[format!("{name}_{key}")].as_f64());
        let minutes = number("window_minutes").filter(|it| (1.0..1e6).contains(it))?;
        let seconds_left = number("resets_in_seconds").map(|it| at_ms as f64 / 1e3 + it);
        Some(LimitReading {
            at_ms,
            window_minutes: (minutes as u32).next_multiple_of(10),
            used_percent: number("used_percent").filter(|it| (0.0..1e3).contains(it))?,
            ends_ms: number("resets_at").or(seconds_left).map(|it| (it * 1e3) as i64)?,
            plan: plan.to_owned(),
        })
    };
    ["primary", "secondary"].into_iter().filter(|_| is_own).filter_map(reading).collect()
}

/// Returns what of the fixed part of the prompts a message is that is not the model's.
fn fixed_part(is_users: bool, text: &str) -> Option<FixedPart> {
    if !is_users || text.starts_with("<environment_context>") {
        return Some(FixedPart::HarnessMessages);
    }
    MEMORY_FILES.iter().any(|it| text.starts_with(it)).then_some(FixedPart::MemoryFiles)
}

/// Reads a bill, of which the prompt holds what was read and written, and the output its reasoning; nothing if a number is missing.
fn billed(mut bill: BillReader<'_>, says_written: bool) -> Option<(Usage, Tokens)> {
    let prompt = bill.needed("input_tokens");
    let cache_read = bill.tokens("cached_input_tokens");
    let unread = bill.less(prompt, "cached_input_tokens", cache_read);
    let cache_write = if says_written { bill.tokens("cache_write_input_tokens") } else { 0 };
    let uncached = bill.less(unread, "cache_write_input_tokens", cache_write);
    let output = bill.needed("output_tokens");
    let reasoning = bill.tokens("reasoning_output_tokens").min(output);
    let usage = Usage { prompt, cache_read, cache_write, uncached, output, ..Usage::default() };
    bill.is_complete.then_some((usage, reasoning))
}

/// Which part of a response has been read.
#[derive(Debug, Default)]
struct OpenResponse {
    parts: Vec<Part>,
    results: Vec<(Stamp, Part)>,
    first_ms: Option<i64>,
    last_ms: Option<i64>,
}

/// The walk along the records.
#[derive(Debug, Default)]
struct Rollout {
    assembler: Assembler,
    /// The working folder at the start.
    folder: String,
    /// The version of the agent, as far as the log names it.
    version: Version,
    open: OpenResponse,
    /// The last sum of everything billed.
    total: Option<Usage>,
    /// The model that answers.
    model: String,
    /// The session's name, where it is a fork of another: the log repeats what its parent said before that.
    fork: Option<String>,
    /// Whether what is read stands in the parent's log, too.
    is_replay: bool,
    /// Whether the log says that a turn begins, and no answer has come since; nothing where it has never said so.
    has_begun: Option<bool>,
    /// Whether the harness says next what a review found.
    ends_review: bool,
    /// Whether it is a review that another session asked for.
    is_review: bool,
    /// How many parts are before everything.
    n_stable: usize,
    /// The account's plan, as the log named it last.
    plan: &'static str,
    limits: Vec<LimitReading>,
}

impl Rollout {
    fn visit(&mut self, line: usize, record: CodexRecord<'_>, losses: &mut Losses) {
        let stamp = Stamp::noted(line, &record.timestamp.0, losses);
        let kind = record.kind.0;
        let Some(payload) = record.payload else {
            return losses.add(line, format!("records of type `{kind}` without a payload"));
        };
        // Its turn began before the session, if the times in their names say so.
        let is_replay = self.fork.as_deref().and_then(|it| Some(uuid_ms(&payload.turn_id.0)? < uuid_ms(it)?));
        self.is_replay = is_replay.unwrap_or(self.is_replay);
        match (kind.as_ref(), payload.kind.0.as_ref()) {
            ("response_item", _) if self.is_replay => self.replay(stamp, &payload),
            ("compacted", _) if self.is_replay => self.replay_compacted(stamp, payload),
            ("response_item", _) => self.item(stamp, payload, losses),
            ("event_msg", "token_count") => {
                let named = payload.rate_limits["plan_type"].as_str().unwrap_or_default();
                // What is called otherwise may be somebody's name.
                let other = if named.is_empty() { self.plan } else { "another" };
                self.plan = PLANS.iter().find(|it| **it == named).copied().unwrap_or(other);
                let own_ms = stamp.ms.filter(|_| !self.is_replay);
                let readings = own_ms.map(|it| limit_readings(&payload.rate_limits, it, self.plan));
                self.limits.extend(readings.into_iter().flatten());
                self.count(line, &payload.info, losses);
            }
            ("compacted", _) => self.compact(stamp, payload, losses),
            ("session_meta", _) => {
                if self.folder.is_empty() {
                    payload.cwd.0.as_ref().clone_into(&mut self.folder);
                }
                self.version = self.version.max(Version::parse(&payload.cli_version.0));
                if !payload.forked_from_id.0.is_empty() {
                    self.fork.get_or_insert_with(|| payload.id.0.clone().into_owned());
                }
                self.instructions(&payload);
                self.is_review |= payload.source["subagent"] == "review";
            }
            ("turn_context", _) => {
                payload.model.0.as_ref().clone_into(&mut self.model);
                self.ends_review = false;
                losses.never(line, &kind);
            }
            (_, "") => losses.never(line, &kind),
            ("event_msg", "exited_review_mode") => self.ends_review = true,
            (_, inner) => {
                if inner == "task_started" {
                    self.has_begun = Some(true);
                }
                losses.never(line, &format!("{kind}/{inner}"));
            }
        }
    }

    /// Takes the system prompt, which is before everything.
    fn instructions(&mut self, payload: &ItemRecord<'_>) {
        let text = payload.base_instructions.or(payload.instructions);
        if let Some(text) = text.filter(|it| it.characters > 0 && self.assembler.n_parts() == 0) {
            self.assembler.stable(Part::of(Kind::System, text));
            self.n_stable = 1;
        }
    }

    /// Takes an item that the log repeats of the session that it is a fork of: it stands in the prompts of this one, but was
    /// billed there. No prompt holds the reasoning of earlier turns.
    fn replay(&mut self, stamp: Stamp, item: &ItemRecord<'_>) {
        if item.kind.0 != "reasoning" {
            self.assembler.said(stamp, item.to_history(), false);
        }
    }

    /// Takes what that session's harness put in the place of what it had said until then.
    fn replay_compacted(&mut self, stamp: Stamp, payload: ItemRecord<'_>) {
        self.assembler.rewound(self.n_stable);
        let history = payload.replacement_history.unwrap_or_default();
        history.iter().for_each(|it| self.replay(stamp, it));
        if let Some(message) = payload.message.filter(|_| history.is_empty()) {
            self.assembler.said(stamp, Part::of(Kind::Summary, message), false);
        }
    }

    /// Takes an item of the conversation.
    fn item(&mut self, stamp: Stamp, item: ItemRecord<'_>, losses: &mut Losses) {
        if item.kind.0 == "message" && item.role.0 != "assistant" {
            self.close(None, losses);
            // What the user does not type stands in messages of the harness, or in tags.
            let is_typed = item.role.0 == "user";
            let mut part = Part::of(Kind::User, item.content.to_content());
            part.fixed = fixed_part(is_typed, part.text.as_deref().unwrap_or_default());
            // What comes between a result and the next answer is steering, or a notification.
            let goes_on = self.has_begun == Some(false) && HarnessRules::goes_on(FORMAT.name, &self.model);
            return self.assembler.said(stamp, part, is_typed && !goes_on);
        }
        self.has_begun = self.has_begun.map(|_| false);
        if item.kind.0 == "message" && std::mem::take(&mut self.ends_review) {
            // What the harness says as the model of a review that it had made elsewhere: no request of this session.
            self.close(None, losses);
            return self.assembler.said(stamp, item.to_history(), false);
        }
        if let Some(result) = item_output(&item) {
            return self.open.results.push((stamp, result));
        }
        let part = match item.kind.0.as_ref() {
            "message" => Part::of(Kind::Assistant, item.content.to_content()),
            "reasoning" => item_reasoning(&item),
            other => match item_call(&item) {
                Some(call) => call,
                None => {
                    return losses.add(stamp.line, format!("items of the unknown type `{other}`"));
                }
            },
        };
        if !self.open.results.is_empty() {
            self.close(None, losses);
        }
        self.open.first_ms = self.open.first_ms.or(stamp.ms);
        self.open.last_ms = self.open.last_ms.max(stamp.ms);
        self.open.parts.push(part);
    }

    /// Closes the response with what it was billed; a count that is twice, or without numbers, closes
    /// nothing.
    fn count(&mut self, line: usize, info: &Value, losses: &mut Losses) {
        BillReader::of(line, "payload.info", info, losses);
        let [total, last] = [&info["total_token_usage"], &info["last_token_usage"]];
        // A sum is only compared with others: nothing depends on what of it was written.
        let bill = BillReader::of_session(line, "payload.info.total_token_usage", total, losses);
        let total = billed(bill, false);
        let last = billed(BillReader::of(line, "payload.info.last_token_usage", last, losses), true);
        let (Some((total, _)), Some(last)) = (total, last) else {
            return losses.add(line, "token counts without numbers");
        };
        let before = self.total.replace(total);
        if before == Some(total) {
            return losses.add(line, "repeated token counts");
        }
        if self.is_replay {
            return losses.add(
                line,
                "requests that the log repeats of the session that it is a fork of, which are that one's",
            );
        }
        let known = before.map_or(0, |it| it.prompt).saturating_add(last.0.prompt);
        if total.prompt > known && before.is_some() {
            let missing = total.prompt - known;
            losses.add(
                line,
                format!("requests before this count that are missing from the log ({missing} input tokens)"),
            );
        }
        self.close(Some(last), losses);
    }

    /// Makes a request of the response that is open.
    fn close(&mut self, usage: Option<(Usage, u64)>, losses: &mut Losses) {
        if self.open.parts.is_empty() && self.open.results.is_empty() && usage.is_none() {
            return;
        }
        let open = std::mem::take(&mut self.open);
        let (usage, reasoning) = usage.unzip();
        if !open.parts.is_empty() || usage.is_some() {
            self.assembler.replied(Exchange {
                reply: open.parts,
                model: self.model.clone(),
                version: self.version,
                response_ms: open.first_ms,
                end_ms: open.last_ms,
                usage: usage.filter(|it| it.prompt > 0),
                reasoning: reasoning.unwrap_or(0),
                ..Exchange::default()
            });
        }
        for (stamp, result) in open.results {
            self.assembler.answered(stamp, result, losses);
        }
    }

    /// Takes what the harness put in place of the history.
    fn compact(&mut self, stamp: Stamp, payload: ItemRecord<'_>, losses: &mut Losses) {
        self.close(None, losses);
        self.has_begun = self.has_begun.map(|_| true);
        let history = payload.replacement_history.unwrap_or_default();
        if history.is_empty() {
            let message = payload.message.unwrap_or_default();
            // A summary in words was written by a request of this session, whose count comes before.
            self.assembler.sized(SummarySizes { is_step: true, ..SummarySizes::default() });
            return self.assembler.replaced(stamp, HistorySummary::of(message));
        }
        let is_step = payload.message.is_some_and(|it| it.measured.characters > 0);
        self.assembler.sized(SummarySizes { is_step, at_ms: stamp.ms, ..SummarySizes::default() });
        let parts = history.iter().map(ItemRecord::to_history);
        self.assembler.replaced(stamp, HistorySummary::new(parts.collect()));
    }

    fn finish(mut self, losses: &mut Losses) -> Transcript {
        self.close(None, losses);
        let mut transcript = self.assembler.finish(losses);
        transcript.counts_output = true;
        transcript.is_review = self.is_review;
        let forgets = HarnessRules::forgets_reasoning(FORMAT.name, &transcript.exchanges);
        transcript.forgets_reasoning = forgets.unwrap_or(true);
        transcript.folder = self.folder;
        self.plan.clone_into(&mut transcript.plan);
        transcript.limits = self.limits;
        transcript
    }
}

// One line of a rollout as written, and the items of the Responses interface that it holds.

/// A record.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct CodexRecord<'a> {
    /// When it was written, ISO 8601.
    timestamp: Text<'a>,
    /// `response_item`, `event_msg`, `session_meta`, `turn_context` or `compacted`.
    #[serde(rename = "type")]
    kind: Text<'a>,
    /// What it holds.
    payload: Option<ItemRecord<'a>>,
}

/// An item of the conversation, and what records of other types hold.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ItemRecord<'a> {
    /// `message`, `reasoning`, `function_call`, `function_call_output`, … or the type of an event.
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// Of a `session_meta`: the session's name.
    id: Text<'a>,
    /// Of a `session_meta`: the session whose turns stand again at the front of this one.
    forked_from_id: Text<'a>,
    /// The turn that begins, of what begins one.
    turn_id: Text<'a>,
    /// Who speaks, in a `message`.
    pub(super) role: Text<'a>,
    /// What a `message` says.
    pub(super) content: MessageContent<'a>,
    /// The tool's name.
    name: Text<'a>,
    /// The call's name.
    call_id: Text<'a>,
    /// The arguments of a function.
    arguments: Option<Content>,
    /// The text that a custom tool is given.
    input: Option<Content>,
    /// What a shell or a search is asked for.
    action: Option<Arguments>,
    /// What came back.
    output: Option<MessageContent<'a>>,
    /// The tools that a search found.
    tools: Option<Measured>,
    /// Which part of the reasoning may be read.
    summary: Option<Measured>,
    /// The reasoning itself.
    encrypted_content: Option<Measured>,
    /// Of a `turn_context`: the model that answers from here on.
    model: Text<'a>,
    /// Of a `token_count`.
    info: Value,
    /// Of a `token_count`: how far the account's limits are used up.
    rate_limits: Value,
    /// Of a `session_meta`: what the session was started by, where that is not a name.
    source: Value,
    /// Of a `session_meta`: the working folder.
    cwd: Text<'a>,
    /// Of a `session_meta`: the version of the agent.
    cli_version: Text<'a>,
    /// Of a `session_meta`: the system prompt.
    base_instructions: Option<Measured>,
    /// The same, of older versions.
    instructions: Option<Measured>,
    /// Of a `compacted`: the summary.
    message: Option<Content>,
    /// Of a `compacted`: what is in the place of the history.
    replacement_history: Option<Vec<ItemRecord<'a>>>,
}

impl ItemRecord<'_> {
    /// Returns what an item of history is that no request shows any more: each side's words, calls and results among them.
    fn to_history(&self) -> Part {
        let kind = match self.kind.0.as_ref() {
            "message" if self.role.0 == "assistant" => Kind::Assistant,
            "message" => Kind::User,
            _ => Kind::Summary,
        };
        match item_output(self).or_else(|| item_call(self)) {
            Some(part) => part.with_kind(kind),
            None if kind == Kind::Summary => item_reasoning(self).with_kind(kind),
            None => Part::of(kind, self.content.to_content()),
        }
    }
}

/// Returns the time in a name that is a UUID of version 7, in milliseconds since 1970.
fn uuid_ms(name: &str) -> Option<u64> {
    let digits: Vec<&str> = name.split('-').collect();
    let [high, low, version, _, _] = digits[..] else { return None };
    let is_v7 = high.len() == 8 && low.len() == 4 && version.starts_with('7');
    is_v7.then(|| u64::from_str_radix(&format!("{high}{low}"), 16).ok()).flatten()
}

/// Returns the call that an item is, if it is one.
pub(super) fn item_call(item: &ItemRecord<'_>) -> Option<Part> {
    let kind = item.kind.0.as_ref();
    if !kind.ends_with("_call") {
        return None;
    }
    let asked = item.arguments.clone().or_else(|| item.input.clone()).or(item.action.clone().map(|it| it.0));
    let tool = if item.name.0.is_empty() { kind.trim_end_matches("_call") } else { item.name.0.as_ref() };
    Some(Part::call(&item.call_id.0, tool, asked.unwrap_or_default()))
}

/// Returns the result that an item is, if it is one.
pub(super) fn item_output(item: &ItemRecord<'_>) -> Option<Part> {
    if !item.kind.0.ends_with("_output") {
        return None;
    }
    let output = item
        .output
        .as_ref()
        .map_or_else(|| item.tools.unwrap_or_default().into(), MessageContent::to_content);
    Some(Part::result(&item.call_id.0, "", output))
}

pub(super) fn item_reasoning(item: &ItemRecord<'_>) -> Part {
    Part::of(Kind::Reasoning, item.encrypted_content.or(item.summary).unwrap_or_default())
}
