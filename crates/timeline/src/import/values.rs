//! Values of recordings as written: borrowed where possible, and tolerant of their contents.

use ctxsim_input::profile::calendar::days_since_1970;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::content::{MeasuringVisitor, ignores_the_rest, skip_list, skip_map};
use super::losses::{NOT_RECORDS, NOT_TIMES};
use crate::import::prelude::*;

/// One block of a message.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct MessageBlock<'a> {
    /// `text`, `thinking`, `tool_use`, `tool_result`, `image`, …
    #[serde(rename = "type")]
    pub(super) kind: Text<'a>,
    /// Of a `text`.
    pub(super) text: Option<Content>,
    /// Of a `thinking`.
    pub(super) thinking: Option<Content>,
    /// Of a `redacted_thinking`, and of some images.
    pub(super) data: Option<LoggedFile>,
    /// Of an `image`.
    pub(super) source: Option<LoggedFile>,
    /// Of an `image_url`.
    pub(super) image_url: Option<LoggedFile>,
    /// The call's name.
    pub(super) id: Text<'a>,
    /// The tool's name.
    pub(super) name: Text<'a>,
    /// The call's arguments.
    pub(super) input: Option<Arguments>,
    /// The same, under another name.
    pub(super) arguments: Option<Arguments>,
    /// The call that a result answers.
    pub(super) tool_use_id: Text<'a>,
    /// What a result holds.
    pub(super) content: MessageContent<'a>,
    /// A mark for the cache behind the block.
    pub(super) cache_control: Option<CacheControl>,
}

/// A mark for the cache, as bodies of requests write it.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct CacheControl {
    ttl: Option<String>,
}

impl CacheControl {
    /// Returns how long its entry lives: five minutes, where nothing else is said.
    pub(super) fn ttl(&self) -> TtlClass {
        if self.ttl.as_deref() == Some("1h") { TtlClass::Long } else { TtlClass::Short }
    }
}

impl MessageBlock<'_> {
    /// Returns how many parts it is: the images in a result are parts of their own.
    pub(super) fn n_parts(&self) -> usize {
        match &self.content {
            MessageContent::Blocks(blocks) if self.kind.0 == "tool_result" => {
                1 + blocks.iter().filter(|it| !it.to_content().images.is_empty()).count()
            }
            _ => 1,
        }
    }

    /// Returns what was thought, or what stands for it.
    pub(super) fn into_thought(self) -> Content {
        self.thinking.or(self.data.map(|it| it.measured.into())).unwrap_or_default()
    }

    /// Returns what it shows.
    pub(super) fn to_content(&self) -> Content {
        let file = self.source.or(self.image_url).or(self.data).unwrap_or_default();
        match self.kind.0.as_ref() {
            "image" | "input_image" | "image_url" => file.content(true),
            "document" | "input_file" => file.content(false),
            _ => self.text.clone().unwrap_or_default(),
        }
    }
}

/// A text that borrows where it can; anything but a string is taken as none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl Text<'_> {
    /// Puts it in the place of another text, if it says anything.
    pub(super) fn replace(&self, other: &mut String) {
        if !self.0.is_empty() {
            self.0.as_ref().clone_into(other);
        }
    }
}

/// An object whose members are read where they are asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Members<'a>(Vec<(Text<'a>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Reads a value, if it is an object.
    pub(super) fn of(value: &'a RawValue) -> Option<Self> {
        serde_json::from_str(value.get()).ok()
    }

    /// Returns a member as it is written; none that is null.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let (_, value) = self.0.iter().rfind(|it| it.0.0 == name)?;
        Some(*value).filter(|it| it.get() != "null")
    }

    /// Reads a member, if it is there and is what is asked for.
    pub(super) fn get<T: Deserialize<'a>>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// Reads a member, or reports that it is something else.
    pub(super) fn read<T: Deserialize<'a> + Default>(
        &self,
        name: &str,
        line: usize,
        losses: &mut Losses,
    ) -> T {
        let Some(value) = self.raw(name) else { return T::default() };
        serde_json::from_str(value.get()).unwrap_or_else(|error| {
            losses.add(line, format!("{NOT_RECORDS}: {}", json::reason(&error)));
            T::default()
        })
    }

    /// Returns a member that is a text; an empty one for anything else.
    pub(super) fn text(&self, name: &str) -> Cow<'a, str> {
        self.get::<Text<'a>>(name).unwrap_or_default().0
    }

    /// Returns what a message shows that is a member.
    pub(super) fn content(&self, name: &str) -> Content {
        self.get::<MessageContent<'a>>(name).unwrap_or_default().to_content()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

/// A call, by the names that formats give its parts.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct CallRecord<'a> {
    id: Text<'a>,
    #[serde(alias = "toolCallId")]
    tool_call_id: Text<'a>,
    name: Text<'a>,
    #[serde(alias = "function_name")]
    function: Text<'a>,
    arguments: Option<Arguments>,
}

impl CallRecord<'_> {
    /// Returns it as a part of a reply.
    pub(super) fn into_part(self) -> Part {
        let [id, name] = [[self.id, self.tool_call_id], [self.name, self.function]]
            .map(|it| it.into_iter().find(|text| !text.0.is_empty()).unwrap_or_default());
        Part::call(&id.0, &name.0, self.arguments.unwrap_or_default().0)
    }
}

/// A count, or what is there instead of a whole number from 0 up.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(from = "Value")]
pub(super) struct Count(pub(super) Result<u64, &'static str>);

impl From<Value> for Count {
    fn from(value: Value) -> Self {
        Self::of(&value)
    }
}

impl Default for Count {
    fn default() -> Self {
        Self(Ok(0))
    }
}

impl Count {
    /// Reads a value, which is 0 where it is null.
    pub(super) fn of(value: &Value) -> Self {
        Self(match value {
            Value::Null => Ok(0),
            Value::Number(number) => match (number.as_u64(), number.as_f64()) {
                (Some(count), _) => Ok(count),
                (None, number) => whole(number.unwrap_or(f64::INFINITY)),
            },
            _ => Err("not a number"),
        })
    }

    /// Returns it, if it is a count.
    pub(super) fn known(self) -> Option<u64> {
        self.0.ok()
    }

    /// Returns it as milliseconds.
    pub(super) fn milliseconds(self) -> Option<i64> {
        i64::try_from(self.known()?).ok()
    }

    /// Reads digits, as in a table.
    pub(super) fn of_text(text: &str) -> Self {
        let as_number = |_| text.parse::<f64>().map_err(|_| "not a number").and_then(whole);
        Self(text.parse().or_else(as_number))
    }
}

/// Returns a number as a count, or says what it is instead; numbers that are far too large are as large as can be.
fn whole(number: f64) -> Result<u64, &'static str> {
    match number {
        it if it < 0.0 => Err("negative"),
        it if it.fract() == 0.0 => Ok(it as u64),
        _ => Err("not a whole number"),
    }
}

/// The largest cost of a request that is believed, in US dollars.
const DOLLARS_MAX: f64 = 1e6;

/// Returns an amount of US dollars, if the value is a number from 0 up.
pub(super) fn dollars(value: &Value) -> Option<Cost> {
    let amount = value.as_f64().filter(|it| (0.0..=DOLLARS_MAX).contains(it))?;
    Some(Cost((amount * 1e12).round() as u128))
}

/// The content of a message or of a result: one text, or blocks.
#[derive(Debug)]
pub(super) enum MessageContent<'a> {
    /// Plain text.
    Plain(Content),
    Blocks(Vec<MessageBlock<'a>>),
}

impl Default for MessageContent<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl<'a> MessageContent<'a> {
    /// Returns its parts, of which a plain text is one of a kind.
    pub(super) fn into_parts(
        self,
        kind: Kind,
        part: impl FnMut(MessageBlock<'a>) -> Option<Part>,
    ) -> Vec<Part> {
        match self {
            Self::Plain(text) => vec![Part::of(kind, text)],
            Self::Blocks(blocks) => blocks.into_iter().filter_map(part).collect(),
        }
    }

    /// Returns what it shows, the same for a text and for one block of it.
    pub(super) fn as_blocks(&self) -> Content {
        match self {
            Self::Plain(text) => Content::join(std::iter::once(text.clone())),
            Self::Blocks(_) => self.to_content(),
        }
    }

    /// Returns what it shows; only the text is kept of several blocks.
    pub(super) fn to_content(&self) -> Content {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Blocks(blocks) => Content::join(blocks.iter().map(MessageBlock::to_content)),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Self)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    ignores_the_rest!(Cow::default(); visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_unit, visit_seq, visit_map);
}

impl<'de: 'a, 'a> Deserialize<'de> for MessageContent<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = MessageContent<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(MessageContent::Plain(Content::new(text)))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(MessageContent::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = list.next_element()? {
            blocks.push(block);
        }
        Ok(MessageContent::Blocks(blocks))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        MeasuringVisitor::<false, false>.visit_map(map).map(MessageContent::Plain)
    }
}

/// Whether something is so; anything but `true` is taken as `false`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(from = "Value")]
pub(super) struct Flag(pub(super) bool);

impl From<Value> for Flag {
    fn from(value: Value) -> Self {
        Self(value == true)
    }
}

/// Parses `2026-01-16T00:14:21.124Z` as milliseconds since 1970; a time without a zone is in UTC. `None` for anything else.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|it| it.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_in_range =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    let rest = text.get(19..)?;
    let digits = rest.strip_prefix('.').unwrap_or_default();
    let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    let ms: i64 = format!("{:0<3}", &digits[..n_digits.min(3)]).parse().ok()?;
    let zone = if n_digits > 0 { &digits[n_digits..] } else { rest };
    let minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute - ahead(zone);
    is_in_range.then_some((minutes * 60 + second) * 1_000 + ms)
}

/// A record's line, from 1, and when it was written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    pub(super) line: usize,
    pub(super) ms: Option<i64>,
}

impl Stamp {
    /// Parses the time of a record; one that is written and is none is told.
    pub(super) fn noted(line: usize, text: &str, losses: &mut Losses) -> Self {
        let ms = milliseconds(text);
        if ms.is_none() && !text.is_empty() {
            losses.add(line, NOT_TIMES);
        }
        Self { line, ms }
    }
}

/// Returns by how many minutes a zone is ahead of UTC: `+02:00`, `-0400`.
fn ahead(zone: &str) -> i64 {
    let sign = match zone.bytes().next() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return 0,
    };
    let digits: String = zone.chars().filter(char::is_ascii_digit).take(4).collect();
    let number = |from: usize| digits.get(from..from + 2).and_then(|it| it.parse::<i64>().ok()).unwrap_or(0);
    sign * (number(0) * 60 + number(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_counts_from_1970() {
        assert_eq!(milliseconds("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(milliseconds("2026-01-16T00:14:21.124Z"), Some(1_768_522_461_124));
        assert_eq!(milliseconds("2024-02-29T23:59:59Z"), Some(1_709_251_199_000));
        assert_eq!(milliseconds("2024-03-01T01:59:59.5+02:00"), Some(1_709_251_199_500));
        assert_eq!(milliseconds("2024-02-29T19:59:59-0400"), Some(1_709_251_199_000));
        assert_eq!(milliseconds("yesterday"), None);
        assert_eq!(milliseconds("2026-13-01T00:00:00Z"), None);
    }
}
