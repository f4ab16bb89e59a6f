//! Logs of messages in the formats of the providers' APIs: JSON, one conversation or one request after the other.

mod record;
mod session;
mod walk;

use self::record::{ReplyRecord, RequestRecord};
use self::session::MessageSession;
use self::walk::{TextWalk, WalkStep};
use super::losses::{LATE, member, order_by_time};
use crate::import::prelude::*;

pub(super) const FORMAT: LogFormat = LogFormat { name: "messages", detect, read };

/// Returns whether the front is JSON that holds messages.
pub(super) fn detect(head: &str) -> bool {
    let mut walk = TextWalk::new(head);
    let mut found = walk.next();
    if matches!(found, Some(WalkStep::List)) {
        found = walk.element();
    }
    match found {
        Some(WalkStep::Value(_, value)) => is_log(value),
        // A document may be longer than its front.
        Some(WalkStep::Broken(..)) => {
            walk.enter() && matches!(walk.element(), Some(WalkStep::Value(_, it)) if is_message(it))
        }
        _ => false,
    }
}

/// Returns whether a value is a message, or holds a list of messages.
fn is_log(value: &str) -> bool {
    is_message(value)
        || json::first::<&RawValue>(value).and_then(RequestRecord::of).is_some_and(|it| {
            it.list().is_some_and(|(_, list)| list.first().is_some_and(|it| is_message(it.get())))
        })
}

/// Returns whether a value is a message, or an item of a conversation.
fn is_message(value: &str) -> bool {
    let Some(record) = json::first::<&RawValue>(value).and_then(RequestRecord::of) else {
        return false;
    };
    let roles = ["system", "developer", "user", "assistant", "tool", "function", "model"];
    roles.contains(&record.0.text("role").as_ref()) || session::is_item(&record.0.text("type"))
}

/// Reads a log; a request that goes on with an earlier one belongs to its session.
pub(super) fn read(lines: &mut LogLines<'_>, losses: &mut Losses) -> Vec<Transcript> {
    read_text(&lines.rest(), losses)
}

/// The same for a text that is there as a whole.
pub(super) fn read_text(text: &str, losses: &mut Losses) -> Vec<Transcript> {
    let mut log = MessageLog {
        walk: TextWalk::new(text),
        sessions: Vec::new(),
        by_history: IndexMap::new(),
        loose: None,
    };
    log.read(losses);
    named_apart(log.sessions.into_iter().map(|it| (String::new(), it.finish(losses))).collect())
}

/// The walk along a log.
struct MessageLog<'t> {
    walk: TextWalk<'t>,
    sessions: Vec<MessageSession>,
    /// By what a session's last request held, the session.
    by_history: IndexMap<u64, usize>,
    /// The session of messages that are in no request.
    loose: Option<usize>,
}

/// A value of a log, before it is taken.
struct LogEntry<'t> {
    line: usize,
    value: &'t str,
    record: Option<RequestRecord<'t>>,
}

impl<'t> LogEntry<'t> {
    fn new(line: usize, value: &'t str) -> Self {
        Self { line, value, record: json::first::<&'t RawValue>(value).and_then(RequestRecord::of) }
    }

    /// Returns the reply that stands beside the request, if any.
    fn reply(&self) -> Option<&'t RawValue> {
        let record = self.record.as_ref()?;
        record.response().or_else(|| record.list()?.0.response())
    }

    /// Returns when the request was made, if the value is one with its reply.
    fn at_ms(&self) -> Option<i64> {
        self.reply().and(self.record.as_ref()?.at_ms())
    }

    /// Returns what names the reply to a request: the provider's id, and what was sent.
    fn name(&self) -> Option<u64> {
        let id = ReplyRecord::of(self.reply()?)?.members.text("id");
        let (_, list) = self.record.as_ref()?.list().filter(|_| !id.is_empty())?;
        let sent = xxh3_64_with_seed(list.last()?.get().as_bytes(), list.len() as u64);
        Some(xxh3_64_with_seed(id.as_bytes(), sent))
    }
}

/// Puts the requests of a log into the order of their times, where all have one, and drops those that are recorded again later.
fn settle<'t>(mut entries: Vec<LogEntry<'t>>, losses: &mut Losses) -> Vec<LogEntry<'t>> {
    order_by_time(&mut entries, |it| (it.line, it.at_ms()), LATE, losses);
    let mut last: IndexMap<u64, usize> = IndexMap::new();
    let names: Vec<Option<u64>> = entries.iter().map(LogEntry::name).collect();
    for (index, name) in names.iter().enumerate() {
        last.extend(name.map(|it| (it, index)));
    }
    let mut index = 0..names.len();
    entries.retain(|it| {
        let name = index.next().and_then(|at| Some((at, names[at]?)));
        let is_last = name.is_none_or(|(at, name)| last.get(&name) == Some(&at));
        if !is_last {
            losses.add(it.line, "responses that are recorded again later, which count once");
        }
        is_last
    });
    entries
}

impl<'t> MessageLog<'t> {
    fn read(&mut self, losses: &mut Losses) {
        let mut entries = Vec::new();
        let broken = self.entries(&mut entries);
        let (first, second) = entries.split_at(entries.len() / 2);
        if let [one, ..] = second
            && first.iter().map(|it| it.value).eq(second.iter().map(|other| other.value))
        {
            losses.add(one.line, "values of the first half of the file, which stand again and count again");
        }
        for LogEntry { line, value, record } in settle(entries, losses) {
            self.value(line, value, record, losses);
        }
        if let Some((line, reason)) = broken {
            self.rescue(line, &reason, losses);
        }
    }

    /// Finds the values of the log up to where it breaks, with the reason.
    fn entries(&mut self, entries: &mut Vec<LogEntry<'t>>) -> Option<(usize, String)> {
        while let Some(found) = self.walk.next() {
            match found {
                WalkStep::Value(line, value) => entries.push(LogEntry::new(line, value)),
                WalkStep::List => {
                    while let Some(element) = self.walk.element() {
                        match element {
                            WalkStep::Value(line, value) => entries.push(LogEntry::new(line, value)),
                            WalkStep::List => {}
                            WalkStep::Broken(line, reason) => return Some((line, reason)),
                        }
                    }
                }
                WalkStep::Broken(line, reason) => return Some((line, reason)),
            }
        }
        None
    }

    /// Takes the messages of a broken value one by one, up to where it breaks.
    fn rescue(&mut self, line: usize, reason: &str, losses: &mut Losses) {
        losses.add(line, format!("the rest of the file, which is not JSON: {reason}"));
        if self.walk.enter() {
            let mut session = MessageSession::default();
            while let Some(WalkStep::Value(line, message)) = self.walk.element() {
                session.message(line, message, losses);
                losses.locate_by(line, |field| self.walk.lines.place(member(message, field)));
            }
            self.sessions.push(session);
        }
        self.walk.stop();
    }

    /// Takes a message, or a request with its messages.
    fn value(&mut self, line: usize, value: &'t str, record: Option<RequestRecord<'t>>, losses: &mut Losses) {
        if record.as_ref().is_some_and(RequestRecord::is_message) {
            let loose = *self.loose.get_or_insert_with(|| {
                self.sessions.push(MessageSession::default());
                self.sessions.len() - 1
            });
            self.sessions[loose].message(line, value, losses);
            return losses.locate_by(line, |field| self.walk.lines.place(member(value, field)));
        }
        let Some((record, (request, list))) = record.and_then(|it| it.list().map(|list| (it, list))) else {
            return losses.add(line, "values without messages");
        };
        let histories = session::histories(&list);
        let found = (0..histories.len())
            .rev()
            .find_map(|n| self.by_history.get(&histories[n]).map(|session| (*session, n + 1)));
        let (index, n_known) = found.unwrap_or_else(|| {
            self.sessions.push(MessageSession::default());
            (self.sessions.len() - 1, 0)
        });
        if ["usageDetails", "usage_details"].iter().any(|it| record.0.raw(it).is_some()) {
            losses.add(line, "bills of rows of another format, which are not read among messages");
        }
        let session = &mut self.sessions[index];
        session.front(&request);
        session.outcome = record.outcome().or(session.outcome.take());
        session.has_commands |= record.0.text("trajectory_format").starts_with(session::WITH_COMMANDS);
        session.at_ms = record.at_ms();
        // Another request goes on behind the first messages of the conversation.
        session.ends.truncate(n_known);
        for message in list.iter().skip(n_known) {
            let line = self.walk.lines.of(message.get());
            session.message(line, message.get(), losses);
            losses.locate_by(line, |field| self.walk.lines.place(member(message.get(), field)));
        }
        session.marks(&request, &list);
        if let Some(reply) = record.response().or(request.response()) {
            let line = self.walk.lines.of(reply.get());
            session.reply(line, reply, [&record, &request], losses);
            losses.locate_by(line, |field| self.walk.lines.place(member(reply.get(), field)));
        }
        if let Some(history) = histories.last() {
            self.by_history.insert(*history, index);
        }
    }
}
