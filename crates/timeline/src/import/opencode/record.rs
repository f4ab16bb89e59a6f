//! What an exported session of opencode writes of its messages and their parts.

use crate::import::content::{Arguments, Content, Measured};
use crate::import::dollars::Dollars;
use crate::import::image::LoggedFile;
use crate::import::losses::Losses;
use crate::import::usage::{BillReader, Billed, Shaped};
use crate::import::values::{Count, Flag, Text};

/// What is said of the session itself.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct OpencodeInfo<'a> {
    /// Its id.
    pub(super) id: Text<'a>,
    /// The working folder.
    pub(super) directory: Text<'a>,
    /// The session whose agent started it.
    #[serde(rename = "parentID")]
    pub(super) parent: Text<'a>,
}

/// A message with its parts.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct OpencodeMessageRecord<'a> {
    /// What is said of it.
    pub(super) info: Shaped<AboutRecord<'a>>,
    /// Its parts.
    pub(super) parts: Option<Vec<Shaped<OpencodePart<'a>>>>,
}

/// What is said of a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct AboutRecord<'a> {
    /// Its id.
    pub(super) id: Text<'a>,
    /// `user` or `assistant`.
    pub(super) role: Text<'a>,
    /// The model that answered.
    #[serde(rename = "modelID")]
    pub(super) model: Text<'a>,
    /// Through which provider.
    #[serde(rename = "providerID")]
    pub(super) provider: Text<'a>,
    /// What was billed.
    pub(super) tokens: Shaped<OpencodeTokens>,
    /// What opencode reckons that it cost.
    pub(super) cost: Dollars,
    /// When.
    pub(super) time: Shaped<TimeRecord>,
    /// How the reply ended.
    pub(super) finish: Text<'a>,
    /// What went wrong.
    pub(super) error: Option<Measured>,
    /// Whether the reply is the summary of a compaction.
    pub(super) summary: Flag,
}

/// When something happened, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct TimeRecord {
    /// The beginning.
    pub(super) created: Option<Count>,
    /// The end.
    pub(super) completed: Option<Count>,
    /// When the result of a call left the prompts.
    pub(super) compacted: Option<Count>,
}

/// What was billed.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct OpencodeTokens {
    /// All of it, in newer versions.
    total: Option<Count>,
    /// Neither read nor written.
    input: Option<Count>,
    /// Written by the model.
    output: Option<Count>,
    /// Reasoning: beside the output, or a part of it.
    reasoning: Count,
    cache: Shaped<CacheRecord>,
}

/// What was billed for the cache.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
struct CacheRecord {
    read: Count,
    write: Count,
}

/// A part of a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct OpencodePart<'a> {
    /// `text`, `reasoning`, `tool`, `file`, `compaction`, …
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// Of a `text` or `reasoning`.
    pub(super) text: Option<Content>,
    /// Whether the harness wrote the text, and not the user.
    pub(super) synthetic: Flag,
    /// Whether the model is not to see it.
    pub(super) ignored: Flag,
    /// Of a `tool`: the tool.
    pub(super) tool: Text<'a>,
    /// The call's name.
    #[serde(rename = "callID")]
    pub(super) call: Text<'a>,
    /// What became of the call.
    pub(super) state: Shaped<StateRecord<'a>>,
    /// Of a `file`: what it is.
    pub(super) mime: Text<'a>,
    /// Of a `file`: where it is, or its content.
    pub(super) url: Option<LoggedFile>,
    /// Of a `subtask`: what it is asked.
    pub(super) prompt: Option<Content>,
    /// Of a `compaction`: whether the harness wanted it.
    pub(super) auto: Option<Flag>,
    /// Of a `compaction`: the first message that stays.
    pub(super) tail_start_id: Text<'a>,
}

/// What became of a call.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct StateRecord<'a> {
    /// `pending`, `running`, `completed` or `error`.
    pub(super) status: Text<'a>,
    /// The arguments.
    pub(super) input: Option<Arguments>,
    /// What came back.
    pub(super) output: Option<Content>,
    /// What went wrong.
    pub(super) error: Option<Content>,
    /// When.
    pub(super) time: Shaped<TimeRecord>,
}

impl OpencodeTokens {
    /// Reads the numbers; reasoning is a part of the output only if the total says so.
    pub(super) fn billed(shaped: Shaped<Self>, line: usize, losses: &mut Losses) -> Billed {
        let mut bill = BillReader::new(line, "tokens", losses);
        let record = bill.record(shaped);
        let uncached = bill.required("input", record.input);
        let output = bill.required("output", record.output);
        let reasoning = bill.count("reasoning", record.reasoning);
        let cache = match record.cache {
            Shaped::Object(cache) => cache,
            Shaped::Absent => CacheRecord::default(),
            Shaped::Other => {
                bill.refuse("cache", "not an object");
                CacheRecord::default()
            }
        };
        let cache_read = bill.count("cache.read", cache.read);
        let cache_write = bill.count("cache.write", cache.write);
        let is_there = bill.is_complete();
        let prompt = uncached + cache_read + cache_write;
        let output = bill.output(prompt, output, reasoning, "total", record.total);
        Billed { usage: bill.apart(uncached, cache_read, cache_write, output), reasoning, is_there }
    }
}
