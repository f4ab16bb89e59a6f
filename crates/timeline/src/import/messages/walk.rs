//! The values of a JSON text one by one, so that a text which breaks off is read up to there.

use crate::import::documents::LineCount;
use crate::import::json::reason;
use crate::import::prelude::*;

/// The members under which logs keep their messages.
pub(super) const LISTS: [&str; 6] = ["raw_messages", "messages", "traj", "history", "conversation", "input"];

/// The members under which they keep what holds those.
pub(super) const HOLDERS: [&str; 5] = ["request", "body", "data", "params", "proxy_server_request"];

/// How deep the messages of a broken text are looked for.
const DEPTH_MAX: usize = 4;

/// A walk along a text.
pub(super) struct TextWalk<'t> {
    text: &'t str,
    at: usize,
    /// Whether the rest is not to be read.
    is_over: bool,
    /// The lines of its parts.
    pub(super) lines: LineCount<'t>,
}

/// What a walk finds.
pub(super) enum WalkStep<'t> {
    /// A whole value, with its line.
    Value(usize, &'t str),
    /// A list that begins here, whose elements come next.
    List,
    /// Text that is no JSON, with its line and what is wrong with it.
    Broken(usize, String),
}

impl<'t> TextWalk<'t> {
    /// Begins at the front of a text.
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, is_over: false, lines: LineCount::new(text) }
    }

    /// Returns the next value at the top, or the list that begins there; nothing at the end.
    pub(super) fn next(&mut self) -> Option<WalkStep<'t>> {
        self.skip(b"");
        match self.peek()? {
            b'[' => {
                self.at += 1;
                Some(WalkStep::List)
            }
            _ => Some(self.value()),
        }
    }

    /// Returns the next element of the list that the walk is in; nothing at its end.
    pub(super) fn element(&mut self) -> Option<WalkStep<'t>> {
        self.skip(b",");
        match self.peek() {
            Some(b']') => {
                self.at += 1;
                None
            }
            Some(_) => Some(self.value()),
            None if self.is_over => None,
            None => {
                self.is_over = true;
                let line = self.lines.at(self.text.len());
                Some(WalkStep::Broken(line, "the list is not closed".to_owned()))
            }
        }
    }

    /// Goes from the front of a broken object into the list of messages in it; returns whether there is one.
    pub(super) fn enter(&mut self) -> bool {
        self.enter_at(DEPTH_MAX)
    }

    fn enter_at(&mut self, depth: usize) -> bool {
        if depth == 0 || self.peek() != Some(b'{') {
            return false;
        }
        self.at += 1;
        loop {
            self.skip(b",");
            let WalkStep::Value(_, key) = self.value() else { return false };
            self.skip(b":");
            let key = key.trim_matches('"');
            if self.peek() == Some(b'[') && LISTS.contains(&key) {
                self.at += 1;
                return true;
            }
            if HOLDERS.contains(&key) && self.peek() == Some(b'{') {
                let (from, lines) = (self.at, self.lines);
                if self.enter_at(depth - 1) {
                    return true;
                }
                (self.at, self.lines) = (from, lines);
            }
            if !matches!(self.value(), WalkStep::Value(..)) {
                return false;
            }
        }
    }

    /// Leaves the rest of the text unread.
    pub(super) fn stop(&mut self) {
        self.at = self.text.len();
        self.is_over = true;
    }

    fn skip(&mut self, also: &[u8]) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|it| it.is_ascii_whitespace() || also.contains(it)).count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Reads a value, or stays before what is none.
    fn value(&mut self) -> WalkStep<'t> {
        let line = self.lines.at(self.at);
        let rest = &self.text[self.at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&'t RawValue>();
        match values.next() {
            Some(Ok(value)) => {
                self.at += values.byte_offset();
                WalkStep::Value(line, value.get())
            }
            Some(Err(error)) => WalkStep::Broken(line + error.line().saturating_sub(1), reason(&error)),
            None => WalkStep::Broken(line, "nothing is left".to_owned()),
        }
    }
}
