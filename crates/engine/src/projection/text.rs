//! Text in a prompt: its size, and what caches know it by.
//!
//! **Identity is content.** Caches identify a slot by its role, its size and a digest of its words (`TextContent` in `projection/text.rs`),
//! whichever slot shows them and whenever they were said. Equal words are equal, different words of equal size are not, and words that come
//! back are the same again. The words are known for text that code gives the editor, for a template's renditions and folds, and for items
//! as they arrived. A rendition whose size alone is known is identified by its item, the rendition and the size. A fold without words is
//! identified by what it contains and omits. A model's summary is identified by its call, because a model that is asked twice writes
//! different words. The role is the provider's: summaries, memory and approvals have the user's role, like text that users type.

use std::num::NonZeroU64;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::rendition::without_evidence;
use super::test::tokens_of_chars;
use super::{Known, ShownAs};
use crate::prelude::*;
use ctxsim_input::{Template, TokenizerName, tokens};
use ctxsim_timeline::tool_form::ToolForm;
use serde_json::{Map, Value, json};

/// What caches know words by: equal words, equal content, in whichever slot and whenever they are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextContent(NonZeroU64);

impl TextContent {
    /// The content of words of a digest.
    pub fn of_digest(digest: u64) -> Self {
        Self(NonZeroU64::new(digest).unwrap_or(NonZeroU64::MIN))
    }

    /// What the n-th call of a run wrote, whose words nobody knows: no two calls write the same.
    pub(super) fn of_call(n: u32) -> Self {
        const CALLS: u64 = 1;
        Self::of_digest(xxh3_64_with_seed(&n.to_le_bytes(), CALLS))
    }

    #[inline]
    pub fn digest(self) -> u64 {
        self.0.get()
    }
}

/// Text that a policy puts into a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptText {
    /// Its size.
    pub tokens: u32,
    /// What caches know it by.
    pub content: TextContent,
}

impl PromptText {
    /// Words of which the size and a digest are known; whoever says them twice gives the same digest twice.
    pub fn sized(tokens: u32, digest: u64) -> Self {
        Self { tokens, content: TextContent::of_digest(digest) }
    }

    /// Words, counted as a timeline counts what policies write.
    pub fn counted_words(words: &str, timeline: &Timeline) -> Self {
        Self::counted(words, timeline.tokenizer, timeline.chars_per_token)
    }

    /// Words, counted by a tokenizer, else by their characters.
    pub fn counted(words: &str, tokenizer: Option<TokenizerName>, chars_per_token: Decimal) -> Self {
        let tokens = match tokenizer.and_then(tokens::tokenizer) {
            Some(tokenizer) => tokenizer.count(words),
            None => {
                let chars = words.chars().count() as u64;
                tokens_of_chars(chars, chars_per_token)
            }
        };
        Self { tokens: saturated(tokens), content: TextContent::of_digest(xxh3_64(words.as_bytes())) }
    }
}

// Writes what a prompt shows of a timeline with text, where a template says in which words.

/// The texts of a timeline, and what counts their tokens.
#[derive(Debug, PartialEq)]
pub(super) struct Writer {
    texts: Texts,
    tokenizer: Option<TokenizerName>,
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

    /// Returns words as the timeline's tokenizer counts them, else by their characters.
    pub(super) fn count(&self, words: &str) -> PromptText {
        PromptText::counted(words, self.tokenizer, self.chars_per_token)
    }

    /// Returns what an item says.
    pub(super) fn text(&self, item: ItemIx) -> Option<&str> {
        self.texts.text(item)
    }

    /// Returns what a template of a tool result may ask; `None` where the result has no text.
    pub(super) fn result(&self, spine: &Spine, index: ItemIx, shown: ShownAs, head: u32) -> Option<Value> {
        let item = spine.items.get(index as usize)?;
        let output = self.texts.text(index)?;
        let tool = spine.tools.get_index(item.tool as usize).map_or("(unknown)", String::as_str);
        let asked = self.texts.text(item.pair);
        let chars_per_token = self.chars_per_token.to_f64();
        let mut context = json!({
            "tool": tool, "output": output, "shown": shown, "head": head, "chars_per_token": chars_per_token,
        });
        // What is not there is undefined to a template, and not null.
        if let Some(input) = asked.and_then(|it| serde_json::from_str::<Value>(it).ok()) {
            context["input"] = input;
        }
        if let Some(form) = self.texts.form(index) {
            [context["call"], context["result"]] = neutral(form, asked.unwrap_or_default(), output);
        }
        Some(context)
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
        template.write(&json!({ "results": results, "quotes": quotes, "chars_per_token": chars_per_token }))
    }
}

/// Returns what a call asked for and what came back, in words that all harnesses share.
fn neutral(form: &ToolForm, asked: &str, output: &str) -> [Value; 2] {
    let asked = form.asked(asked);
    let capability = ("capability".to_owned(), Value::from(form.capability.name()));
    let arguments = asked.iter().map(|(argument, value)| (argument.name().to_owned(), json!(value)));
    let call: Map<String, Value> = std::iter::once(capability).chain(arguments).collect();
    [Value::Object(call), json!(form.answer(output, &asked))]
}

/// How large the results of a timeline are as a template writes them, by item.
#[derive(Debug, PartialEq)]
pub(super) struct RenderedSizes {
    pub(super) writer: Arc<Writer>,
    pub(super) template: Template,
    sizes: Vec<Option<WrittenSizes>>,
}

/// One result in a template's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenSizes {
    /// As its row shows it.
    pub(super) shown: PromptText,
    /// As its row shows it when the pool has no room.
    pub(super) over_budget: PromptText,
    /// How large which part of it is exact evidence, or none if the template leaves nothing of it.
    pub(super) exact: Option<u32>,
}

impl RenderedSizes {
    /// Measures every result that `rows` has a row for: the rendition and its tokens, then those over the budget.
    pub(super) fn new(
        writer: &Arc<Writer>,
        template: &Template,
        spine: &Spine,
        rows: impl Fn(&ctxsim_timeline::Item) -> Option<[(ShownAs, u32); 2]>,
    ) -> Self {
        let size = |(index, item): (usize, &ctxsim_timeline::Item)| {
            let slot = ItemIx::try_from(index).ok().filter(|_| item.kind == Kind::ToolResult)?;
            let [shown, over_budget] = rows(item)?;
            let context = |(shown, head)| writer.result(spine, slot, shown, head);
            let write = |it| context(it).and_then(|it| template.write(&it)).map(|it| writer.count(&it));
            let exact = template.exact(&context(shown)?);
            let exact = exact.map_or_else(|| writer.text(slot).map(str::to_owned), Some)?;
            let words = write(shown)?;
            let is_empty = words.tokens == 0 || shown.0 == ShownAs::Exact && exact.trim().is_empty();
            let (over, head) = over_budget;
            Some(WrittenSizes {
                shown: words,
                over_budget: write((if is_empty { without_evidence(over) } else { over }, head))?,
                exact: (!is_empty).then(|| writer.count(&exact).tokens),
            })
        };
        let sizes = spine.items.iter().enumerate().map(size).collect();
        Self { writer: Arc::clone(writer), template: template.clone(), sizes }
    }

    /// Returns how large a result is, if it has text.
    #[inline]
    pub(super) fn sizes(&self, item: ItemIx) -> Option<WrittenSizes> {
        *self.sizes.get(item as usize)?
    }

    /// Writes a result.
    pub(super) fn write(&self, spine: &Spine, item: ItemIx, shown: ShownAs, head: u32) -> Option<String> {
        self.template.write(&self.writer.result(spine, item, shown, head)?)
    }
}
