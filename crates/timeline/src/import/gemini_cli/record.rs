//! Messages as Gemini CLI records them, and contents as the Gemini interface writes them.

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::import::content::ignores_the_rest;
use crate::import::prelude::*;

/// A record: what is said of the session, a message, or a change of either.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct GeminiRecord<'a> {
    /// Of the session: its id.
    pub(super) session_id: Text<'a>,
    /// Of the session: whose it is, `main` or `subagent`.
    pub(super) kind: Text<'a>,
    /// Of the session: when it began.
    pub(super) start_time: Text<'a>,
    /// Of a message: its id.
    pub(super) id: Text<'a>,
    /// Of a message: `user`, `gemini`, or one that is never part of a prompt.
    #[serde(rename = "type")]
    pub(super) role: Text<'a>,
    /// When it was written, ISO 8601.
    pub(super) timestamp: Text<'a>,
    /// What is said.
    pub(super) content: GeminiContent<'a>,
    /// The model that answered.
    pub(super) model: Text<'a>,
    /// What was thought.
    pub(super) thoughts: Option<Measured>,
    /// What was billed.
    pub(super) tokens: Value,
    /// The calls with their results.
    pub(super) tool_calls: Option<Vec<Shaped<GeminiCallRecord<'a>>>>,
    /// A change of the session.
    #[serde(rename = "$set")]
    pub(super) set: Option<&'a RawValue>,
    /// The message to which the user went back.
    #[serde(rename = "$rewindTo")]
    pub(super) rewind_to: Option<Text<'a>>,
}

/// A call with its result.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct GeminiCallRecord<'a> {
    /// Its name.
    pub(super) id: Text<'a>,
    /// The tool.
    pub(super) name: Text<'a>,
    /// The arguments.
    pub(super) args: Option<Arguments>,
    /// What came back.
    pub(super) result: GeminiContent<'a>,
    /// When it came back.
    pub(super) timestamp: Text<'a>,
}

/// Parts of a content: one text, one part, or a list of either.
#[derive(Debug, Default)]
pub(in crate::import) struct GeminiContent<'a>(pub(in crate::import) Vec<GeminiPart<'a>>);

/// A part of a content.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(in crate::import) struct GeminiPart<'a> {
    text: Option<Content>,
    /// Whether the text is a thought.
    thought: Flag,
    function_call: Option<GeminiFunction<'a>>,
    function_response: Option<GeminiFunction<'a>>,
    inline_data: Option<LoggedFile>,
    file_data: Option<LoggedFile>,
}

/// A call, or what came back.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct GeminiFunction<'a> {
    id: Text<'a>,
    name: Text<'a>,
    args: Option<Arguments>,
    response: Option<&'a RawValue>,
}

/// What a part of a content is.
#[derive(Debug)]
pub(in crate::import) enum Spoken {
    /// A text or a picture.
    Said(Content),
    /// A thought.
    Thought(Content),
    /// A call.
    Call(Part),
    /// What a call gave back.
    Result(Part),
}

impl Spoken {
    /// Takes it as something on the user's side.
    pub(in crate::import) fn hear(
        self,
        stamp: Stamp,
        is_typed: bool,
        assembler: &mut Assembler,
        losses: &mut Losses,
    ) {
        let part = match self {
            Self::Result(part) => return assembler.answered(stamp, part, losses),
            Self::Said(content) | Self::Thought(content) => Part::of(Kind::User, content),
            Self::Call(part) => part.with_kind(Kind::User),
        };
        assembler.said(stamp, part, is_typed);
    }

    /// Returns it as a part of a reply, if it can be one.
    pub(in crate::import) fn reply(self) -> Option<Part> {
        match self {
            Self::Said(content) => Some(Part::of(Kind::Assistant, content)),
            Self::Thought(content) => Some(Part::of(Kind::Reasoning, content)),
            Self::Call(part) => Some(part),
            Self::Result(_) => None,
        }
    }
}

impl GeminiPart<'_> {
    /// Returns what it is; nothing for a part of a kind that is not known.
    pub(in crate::import) fn spoken(self) -> Option<Spoken> {
        if let Some(call) = self.function_call {
            let arguments = call.args.unwrap_or_default().0;
            return Some(Spoken::Call(Part::call(&call.id.0, &call.name.0, arguments)));
        }
        if let Some(result) = self.function_response {
            let answered = response(result.response);
            return Some(Spoken::Result(Part::result(&result.id.0, &result.name.0, answered)));
        }
        if let Some(data) = self.inline_data.or(self.file_data) {
            return Some(Spoken::Said(data.content(true)));
        }
        let text = self.text?;
        Some(if self.thought.0 { Spoken::Thought(text) } else { Spoken::Said(text) })
    }
}

impl GeminiContent<'_> {
    /// Returns what all parts show together.
    pub(in crate::import) fn into_content(self) -> Content {
        let contents = self.0.into_iter().filter_map(|it| match it.spoken()? {
            Spoken::Said(content) | Spoken::Thought(content) => Some(content),
            Spoken::Call(part) | Spoken::Result(part) => {
                let measured = Measured { characters: part.characters, digest: part.digest };
                Some(Content { measured, text: part.text, images: part.images })
            }
        });
        Content::join(contents)
    }
}

/// Returns what a tool answers.
fn response(value: Option<&RawValue>) -> Content {
    let Some(value) = value else { return Content::default() };
    let said = Members::of(value).and_then(|it| it.get("output").or_else(|| it.get("error")));
    said.unwrap_or_else(|| serde_json::from_str(value.get()).unwrap_or_default())
}

impl<'de: 'a, 'a> Deserialize<'de> for GeminiContent<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartsVisitor)
    }
}

struct PartsVisitor;

impl<'de> Visitor<'de> for PartsVisitor {
    type Value = GeminiContent<'de>;

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(GeminiContent(vec![GeminiPart { text: Some(Content::new(text)), ..GeminiPart::default() }]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(GeminiContent(more)) = list.next_element()? {
            parts.extend(more);
        }
        Ok(GeminiContent(parts))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        GeminiPart::deserialize(MapAccessDeserializer::new(map)).map(|it| GeminiContent(vec![it]))
    }

    ignores_the_rest!(GeminiContent::default(); visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_unit);
}
