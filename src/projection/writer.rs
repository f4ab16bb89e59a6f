//! Writes what a prompt shows of a timeline with text, where a template says in which words.

use std::sync::Arc;

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::num::{Known, tokens_of_chars};
use super::prompt::{Shown, SlotIx};
use crate::model::template::Template;
use crate::quantity::Decimal;
use crate::spec::scenario::TokenizerSpec;
use crate::timeline::{Kind, Spine, Texts, Timeline};
use crate::tokens;

/// The texts of a timeline, and what counts their tokens.
#[derive(Debug, PartialEq)]
pub(super) struct Writer {
    texts: Texts,
    tokenizer: Option<TokenizerSpec>,
    chars_per_token: Decimal,
}

/// What a folded summary says of one item.
pub(super) enum Passage {
    /// A tool result, as a template wrote it.
    Result(String),
    /// An item, word for word.
    Quote(String),
}

impl Writer {
    /// Returns a writer, where the timeline has text.
    pub(super) fn of(timeline: &Timeline, known: &Known) -> Option<Arc<Self>> {
        let writer = || Self {
            texts: timeline.texts.clone(),
            tokenizer: timeline.tokenizer,
            chars_per_token: known.chars_per_token,
        };
        (!timeline.texts.is_empty()).then(|| Arc::new(writer()))
    }

    /// Returns the tokens of a text: as the timeline's tokenizer counts them, else by its characters.
    pub(super) fn count(&self, text: &str) -> u32 {
        let tokens = match self.tokenizer.and_then(tokens::tokenizer) {
            Some(tokenizer) => tokenizer.count(text),
            None => {
                let chars = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
                tokens_of_chars(chars, self.chars_per_token)
            }
        };
        u32::try_from(tokens).unwrap_or(u32::MAX)
    }

    /// Returns what an item says.
    pub(super) fn text(&self, slot: SlotIx) -> Option<&str> {
        self.texts.of(slot)
    }

    /// Returns what a template of a tool result may ask; `None` where the result has no text.
    pub(super) fn result(&self, spine: &Spine, slot: SlotIx, shown: Shown, head: u32) -> Option<Value> {
        let item = spine.items.get(slot as usize)?;
        let output = self.texts.of(slot)?;
        let tool = spine.tools.get_index(item.tool as usize).map_or("(unknown)", String::as_str);
        let input =
            self.texts.of(item.pair).and_then(|it| serde_json::from_str::<serde_json::Value>(it).ok());
        let input = input.map_or(Value::UNDEFINED, |it| Value::from(Serde(it)));
        let chars_per_token = self.chars_per_token.to_f64();
        Some(context! { tool, input, output, shown => Value::from(Serde(shown)), head, chars_per_token })
    }

    /// Writes a folded summary.
    pub(super) fn block(&self, template: &Template, passages: Vec<Passage>) -> Option<String> {
        let (mut results, mut quotes) = (Vec::new(), Vec::new());
        for passage in passages {
            match passage {
                Passage::Result(text) => results.push(text),
                Passage::Quote(text) if text.trim().is_empty() => {}
                Passage::Quote(text) => quotes.push(text),
            }
        }
        let chars_per_token = self.chars_per_token.to_f64();
        template.write(&context! { results, quotes, chars_per_token })
    }
}

/// How large the results of a timeline are as a template writes them, by item.
#[derive(Debug, PartialEq)]
pub(super) struct Written {
    pub(super) writer: Arc<Writer>,
    pub(super) template: Template,
    sizes: Vec<Option<WrittenSizes>>,
}

/// How large one result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenSizes {
    /// As its row shows it.
    pub(super) shown: u32,
    /// As its row shows it when the pool has no room.
    pub(super) over_budget: u32,
    /// What of it is exact evidence.
    pub(super) exact: u32,
}

impl Written {
    /// Measures every result that `rows` has a row for: the rendition and its tokens, then those over the budget.
    pub(super) fn new(
        writer: &Arc<Writer>,
        template: &Template,
        spine: &Spine,
        rows: impl Fn(&crate::timeline::Item) -> Option<[(Shown, u32); 2]>,
    ) -> Self {
        let size = |(index, item): (usize, &crate::timeline::Item)| {
            let slot = SlotIx::try_from(index).ok().filter(|_| item.kind == Kind::ToolResult)?;
            let [shown, over_budget] = rows(item)?;
            let context = |(shown, head)| writer.result(spine, slot, shown, head);
            let write = |it| context(it).and_then(|it| template.write(&it)).map(|it| writer.count(&it));
            let exact = template.exact(&context(shown)?);
            let exact = exact.map_or_else(|| writer.text(slot).map(str::to_owned), Some)?;
            Some(WrittenSizes {
                shown: write(shown)?,
                over_budget: write(over_budget)?,
                exact: writer.count(&exact),
            })
        };
        let sizes = spine.items.iter().enumerate().map(size).collect();
        Self { writer: Arc::clone(writer), template: template.clone(), sizes }
    }

    /// Returns how large a result is, where it has text.
    #[inline]
    pub(super) fn sizes(&self, slot: SlotIx) -> Option<WrittenSizes> {
        *self.sizes.get(slot as usize)?
    }

    /// Writes a result.
    pub(super) fn write(&self, spine: &Spine, slot: SlotIx, shown: Shown, head: u32) -> Option<String> {
        self.template.write(&self.writer.result(spine, slot, shown, head)?)
    }
}
