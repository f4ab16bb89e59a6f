//! What a provider billed for a request: a number that is not a count refuses the recording, a missing one leaves the request unbilled.

use std::sync::LazyLock;

use ctxsim_input::text::source::declared;

use serde::de::{self, Deserialize, Deserializer};

use crate::import::prelude::*;
use crate::{AsideBill, AsideKind};

/// The most tokens of one request that are believed: a hundred times the largest window of any model.
pub(super) const TOKENS_MAX: Tokens = 100_000_000;

/// The most tokens of a whole session.
pub(super) const SESSION_TOKENS_MAX: Tokens = 1_000 * TOKENS_MAX;

const TOO_LARGE: &str = "more than 100,000,000 tokens";

/// What a record is called that holds no numbers.
pub(super) const NO_OBJECT: &str = "not an object";

/// An object, or something else where one is expected.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Shaped<T> {
    /// Nothing, or null.
    #[default]
    Absent,
    /// An object.
    Object(T),
    /// A value of another type.
    Other,
}

impl<T> Shaped<T> {
    /// Returns the object, if it is one.
    pub(super) fn object(self) -> Option<T> {
        if let Self::Object(it) = self { Some(it) } else { None }
    }
}

/// Reads the numbers of one bill, and reports those that are not counts.
#[derive(Debug)]
pub(super) struct BillReader<'l> {
    line: usize,
    /// The field that holds the numbers; empty for columns.
    within: &'static str,
    /// The record with the numbers; null where each is handed over by itself.
    record: &'l Value,
    losses: &'l mut Losses,
    max: Tokens,
    /// Whether all numbers are known.
    pub(super) is_complete: bool,
}

impl<'l> BillReader<'l> {
    /// Begins to read the numbers in a field of a line.
    pub(super) fn new(line: usize, within: &'static str, losses: &'l mut Losses) -> Self {
        Self { line, within, record: &Value::Null, losses, max: TOKENS_MAX, is_complete: true }
    }

    /// Begins to read the numbers of a record by their names; without a record, nothing was billed.
    pub(super) fn of(line: usize, within: &'static str, record: &'l Value, losses: &'l mut Losses) -> Self {
        let mut bill = Self { record, ..Self::new(line, within, losses) };
        match record {
            Value::Object(_) => {}
            Value::Null => bill.is_complete = false,
            _ => bill.refuse("", NO_OBJECT),
        }
        bill.tell_unknown(record);
        bill
    }

    /// Tells which numbers of a usage the bill leaves out.
    pub(super) fn tell_unknown(&mut self, record: &Value) {
        let Some(fields) = FIELDS.get(self.losses.format) else { return };
        let dot = if self.within.is_empty() { "" } else { "." };
        fields.each_unknown("", record, &mut |field| {
            let what = format!("`{}{dot}{field}` of the usage, which the bill leaves out", self.within);
            self.losses.add_once(self.line, what);
        });
    }

    /// The same for the sum of a session.
    pub(super) fn of_session(
        line: usize,
        within: &'static str,
        record: &'l Value,
        losses: &'l mut Losses,
    ) -> Self {
        Self { max: SESSION_TOKENS_MAX, ..Self::of(line, within, record, losses) }
    }

    /// Returns what is there for a number of the record, by the names that lead to it.
    pub(super) fn number(&self, field: &str) -> Option<Count> {
        let found = field.split('.').try_fold(self.record, |value, name| value.get(name))?;
        (!found.is_null()).then(|| Count::of(found))
    }

    /// Returns a number of the record that is 0 where it is missing.
    pub(super) fn tokens(&mut self, field: &str) -> Tokens {
        self.number(field).map_or(0, |it| self.count(field, it))
    }

    /// Returns a number of the record without which nothing is known.
    pub(super) fn needed(&mut self, field: &str) -> Tokens {
        let count = self.number(field);
        self.is_complete &= count.is_some();
        count.map_or(0, |it| self.count(field, it))
    }

    /// Returns a count that is 0 where it is missing.
    pub(super) fn count(&mut self, field: &str, count: Count) -> Tokens {
        match count.0 {
            Ok(tokens) if tokens <= self.max => return tokens,
            Ok(_) => self.refuse(field, TOO_LARGE),
            Err(why) => self.refuse(field, why),
        }
        0
    }

    /// Returns a whole without one of its parts.
    pub(super) fn less(&mut self, whole: Tokens, field: &str, part: Tokens) -> Tokens {
        whole.checked_sub(part).unwrap_or_else(|| {
            self.refuse(field, "more than the whole prompt");
            0
        })
    }

    /// Reports a field.
    pub(super) fn refuse(&mut self, field: &str, why: &'static str) {
        let dot = if self.within.is_empty() || field.is_empty() { "" } else { "." };
        self.losses.refuse(self.line, format!("{}{dot}{field}", self.within), why);
        self.is_complete = false;
    }

    /// Returns the bill whose input is without what was read and written.
    pub(super) fn apart(self, [uncached, cache_read, cache_write, output]: [Tokens; 4]) -> Option<Usage> {
        let prompt = uncached + cache_read + cache_write;
        self.finish(Usage { prompt, cache_read, cache_write, cache_write_long: None, uncached, output })
    }

    /// Returns the bill, if it is complete and for something.
    pub(super) fn finish(mut self, usage: Usage) -> Option<Usage> {
        if usage.prompt > self.max {
            self.refuse("", TOO_LARGE);
        }
        Some(usage).filter(|it| self.is_complete && it.prompt > 0)
    }
}

/// The fields of a format's usage that are read, and those that change no bill.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UsageFields {
    /// The format whose fields it may have, too.
    also: String,
    taken: IndexSet<String>,
    /// By field, or by field and value, the reason.
    harmless: IndexMap<String, String>,
}

/// Reads what is declared of a format's logs; the default where nothing is.
pub(super) fn declared_for<T: serde::de::DeserializeOwned + Default>(format: &str) -> T {
    let is_own = |it: &&(&str, _)| file_stem(it.0) == format;
    ctxsim_assumptions::LOGS.iter().find(is_own).map_or_else(T::default, |it| declared(it.1))
}

/// Returns the name of a file without its folder and its ending.
fn file_stem(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file).trim_end_matches(".toml")
}

static FIELDS: LazyLock<IndexMap<&str, UsageFields>> = LazyLock::new(|| {
    ctxsim_assumptions::LOGS.iter().map(|(file, text)| (file_stem(file), declared(text))).collect()
});

impl UsageFields {
    fn knows(&self, field: &str) -> bool {
        let is_pattern = |it: &&String| it.contains('*') && wildcard(it, field);
        self.taken.contains(field)
            || self.harmless.contains_key(field)
            || self.harmless.keys().any(|it| is_pattern(&it))
            || FIELDS.get(self.also.as_str()).is_some_and(|it| it.knows(field))
    }

    /// Hands over the fields that are not known and say something.
    fn each_unknown(&self, field: &str, value: &Value, tell: &mut impl FnMut(&str)) {
        let says = match value {
            Value::Object(members) => {
                return members.iter().for_each(|(name, it)| {
                    let dot = if field.is_empty() { "" } else { "." };
                    let field = format!("{field}{dot}{name}");
                    if !self.knows(&field) {
                        self.each_unknown(&field, it, tell);
                    }
                });
            }
            Value::Array(all) => return all.iter().for_each(|it| self.each_unknown(field, it, tell)),
            Value::Null | Value::Bool(false) => false,
            Value::String(text) => !text.is_empty() && !self.knows(&format!("{field}={text}")),
            other => other.as_f64() != Some(0.0),
        };
        if says {
            tell(field);
        }
    }
}

/// What a reply was billed: its own request, and what ran inside it.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplyBill {
    pub(super) usage: Option<Usage>,
    pub(super) inner: Vec<AsideBill>,
}

/// Reads the numbers of Anthropic's interface, whose input is without what was read and written.
pub(super) fn billed_apart(mut bill: BillReader<'_>) -> Option<Usage> {
    let uncached = bill.needed("input_tokens");
    let cache_read = bill.tokens("cache_read_input_tokens");
    let cache_write = bill.tokens("cache_creation_input_tokens");
    let output = bill.needed("output_tokens");
    let long = "cache_creation.ephemeral_1h_input_tokens";
    let long = bill.number(long).map(|it| bill.count(long, it));
    let cache_write_long = long.filter(|it| *it <= cache_write);
    let prompt = uncached + cache_read + cache_write;
    bill.finish(Usage { prompt, cache_read, cache_write, cache_write_long, uncached, output })
}

impl ReplyBill {
    /// Divides a bill by what its `iterations` say: one entry for each time that the provider had a model write. The numbers beside the list leave out
    /// compactions and advisors, and hold the first or all of the others; those of some gateways hold everything.
    pub(super) fn new(
        line: usize,
        within: &'static str,
        record: &Value,
        total: Option<Usage>,
        losses: &mut Losses,
    ) -> Self {
        let entries = list(&record["iterations"]);
        let (mut own, mut inner): (Vec<AsideBill>, Vec<AsideBill>) = (Vec::new(), Vec::new());
        // Its own request is the first one after the history was compacted last.
        let mut n_before = 0;
        for entry in entries.iter().filter(|_| !matches!(entries, [only] if only["type"] == "message")) {
            let Some(usage) = billed_apart(BillReader::of(line, within, entry, losses)) else { continue };
            let model = entry["model"].as_str().unwrap_or_default().to_owned();
            let mut bill = AsideBill { kind: AsideKind::Inner, usage, model, at_ms: None };
            match entry["type"].as_str().unwrap_or_default() {
                "message" => own.push(bill),
                "fallback_message" => {
                    let declined = own.extract_if(.., |it| it.model != bill.model);
                    declined.for_each(|_| losses.add(line, DECLINED));
                    own.push(bill);
                }
                "compaction" => {
                    // It is written by the model of the request.
                    (bill.kind, n_before) = (AsideKind::Summary, own.len());
                    inner.push(bill);
                }
                "advisor_message" => inner.push(AsideBill { kind: AsideKind::Advisor, ..bill }),
                other => losses.add(
                    line,
                    format!("iterations of the unknown type `{other}` in usage, which are in no bill"),
                ),
            }
        }
        let sum = |all: &[AsideBill], part: fn(&Usage) -> Tokens| all.iter().map(|it| part(&it.usage)).sum();
        let [prompt, output]: [Tokens; 2] = [sum(&own, |it| it.prompt), sum(&own, |it| it.output)];
        let summaries = inner.iter().filter(|it| it.kind == AsideKind::Summary);
        let whole = prompt + summaries.map(|it| it.usage.prompt).sum::<Tokens>();
        // A list may be incomplete, and a pause after a compaction has no other request.
        if own.is_empty() || total.is_some_and(|it| it.prompt > whole) {
            return Self { usage: total.or_else(|| inner.pop().map(|it| it.usage)), inner };
        }
        let mut first = own.remove(if n_before < own.len() { n_before } else { 0 }).usage;
        // While a reply is streamed, its own numbers may be ahead of those of its list.
        first.output = total.filter(|it| it.prompt <= prompt).map_or(output, |it| it.output.max(output));
        if let Some(total) = total.filter(|it| it.prompt == first.prompt) {
            first.cache_write_long = total.cache_write_long.or(first.cache_write_long);
        }
        inner.extend(own.into_iter().map(|it| AsideBill { usage: Usage { output: 0, ..it.usage }, ..it }));
        Self { usage: Some(first), inner }
    }
}

/// What attempts are called of which no public document says whether they are billed.
const DECLINED: &str = "attempts of models that declined before another one answered, which are in no bill";

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shaped<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = <&RawValue>::deserialize(deserializer)?.get();
        match value.as_bytes() {
            [b'{', ..] => serde_json::from_str(value).map(Self::Object).map_err(de::Error::custom),
            b"null" => Ok(Self::Absent),
            _ => Ok(Self::Other),
        }
    }
}
