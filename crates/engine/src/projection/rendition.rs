//! An item's size in each rendition, and whether it is exact there.
//!
//! The sizes follow selfonomy/duckagent @06550f4, `benchmark/context_policy_benchmark.py`: a rendition is
//! never larger than the raw item; a summary, an excerpt or a cut that is stored elsewhere carries its
//! handle; a gist does not.

use crate::prelude::*;

use super::text::{RenderedSizes, WrittenSizes};
use super::{
    ClassMask, Env, Known, Left, Num, Prompt, PromptText, ShownAs, SlotIx, TextContent, ToolMask, Writer,
};
use ctxsim_input::{Rendition, TableRow, Template};

/// A rendition as a program holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Render {
    shown: ShownAs,
    /// Of a marker, a preview, a cut: how much of the item stands.
    tokens: u32,
    /// Of these, how much of its beginning.
    head: u32,
    /// Head and tail, if they depend on the item's rank.
    ranked: Option<Arc<[Num; 2]>>,
    exact: Option<bool>,
}

/// What a rendition makes of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rendered {
    pub shown: ShownAs,
    /// How large it is.
    pub tokens: u32,
    /// Whether it is exact evidence.
    pub exact: bool,
    /// What its words are known by, or none if only its size is known.
    pub content: Option<TextContent>,
}

impl Rendered {
    /// A rendition of which only the size is known: with its item it says what its words are.
    #[inline]
    pub fn sized(shown: ShownAs, tokens: u32, exact: bool) -> Self {
        Self { shown, tokens, exact, content: None }
    }

    /// The same rendition in these words.
    #[inline]
    pub fn saying(self, text: PromptText) -> Self {
        Self { tokens: text.tokens, content: Some(text.content), ..self }
    }
}

impl Render {
    /// An item as received.
    pub fn raw() -> Self {
        Self { shown: ShownAs::Raw, tokens: 0, head: 0, ranked: None, exact: None }
    }

    /// Prepares a rendition; `exact` overrules its own rule.
    pub fn new(rendition: &Rendition, exact: Option<bool>, known: &Known) -> Self {
        let size = |size: Option<&Size>| size.map_or(Num::Const(0), |it| Num::new(it, known));
        let [head, tail] = match rendition {
            Rendition::Marker(tokens) => [Num::Const(0), Num::Const(*tokens)],
            Rendition::Preview(head) => [size(Some(head)), Num::Const(0)],
            Rendition::Truncate { head, tail } | Rendition::Offload { head, tail } => {
                [size(Some(head)), size(tail.as_ref())]
            }
            _ => [Num::Const(0), Num::Const(0)],
        };
        let [first, all] = narrow([&head, &tail].map(|it| it.eval(&Env::default())));
        let is_known = matches!((&head, &tail), (Num::Const(_), Num::Const(_)));
        let ranked = (!is_known).then(|| Arc::new([head, tail]));
        Self { shown: rendition.shown(), tokens: all, head: first, ranked, exact }
    }

    /// Returns how much of an item's beginning stands, and how much of it in all.
    #[inline(always)]
    fn cut(&self, item: &Item) -> [u32; 2] {
        match &self.ranked {
            None => [self.head, self.tokens],
            Some(sizes) => cut_by_rank(sizes, item),
        }
    }

    /// Returns what it makes of an item.
    // Every result that is shown in another way comes here: the common case belongs where it is asked.
    #[inline(always)]
    pub fn of(&self, item: &Item) -> Rendered {
        let wanted = match self.shown {
            ShownAs::Raw => item.raw,
            ShownAs::Exact => item.excerpt.saturating_add(item.handle),
            ShownAs::Summary => item.summary.saturating_add(item.handle),
            ShownAs::Gist => item.summary,
            ShownAs::Handle => item.handle,
            ShownAs::Marker | ShownAs::Truncate => self.cut(item)[1],
            ShownAs::Preview | ShownAs::Offload => self.cut(item)[1].saturating_add(item.handle),
        };
        let tokens = wanted.min(item.raw);
        let by_rule = match self.shown {
            ShownAs::Raw | ShownAs::Exact => true,
            ShownAs::Preview | ShownAs::Truncate | ShownAs::Offload => tokens >= item.raw,
            ShownAs::Summary | ShownAs::Gist | ShownAs::Handle | ShownAs::Marker => false,
        };
        let exact = self.exact.unwrap_or(by_rule) && item.preserve.is_exact();
        Rendered::sized(self.shown, tokens, exact)
    }

    /// Returns the rendition under which a template writes it: in other words than it came.
    fn written(&self) -> ShownAs {
        if self.shown == ShownAs::Raw { ShownAs::Exact } else { self.shown }
    }
}

/// Returns how much of an item's beginning stands, and how much of it in all, if that depends on its rank.
#[inline(never)]
fn cut_by_rank(sizes: &[Num; 2], item: &Item) -> [u32; 2] {
    let env = Env { rank: item.rank, ..Env::default() };
    narrow([&sizes[0], &sizes[1]].map(|it| it.eval(&env)))
}

/// Returns the first of two sizes, and their sum.
fn narrow([head, tail]: [Tokens; 2]) -> [u32; 2] {
    [head, head.saturating_add(tail)].map(saturated)
}

/// The rows of a table as a program holds them.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRows {
    rows: Vec<RowRender>,
    /// How a template writes them.
    pub(super) written: Option<Arc<RenderedSizes>>,
}

/// One row of a table.
#[derive(Clone, Debug, PartialEq)]
struct RowRender {
    tools: ToolMask,
    preserve: ClassMask,
    larger_than: u32,
    render: Render,
    over_budget: Render,
    charged: bool,
}

/// Exact tokens that may still be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// How many there are.
    pub tokens: u64,
    /// How many are spent.
    pub used: u64,
}

impl TableRows {
    /// Prepares the rows of a table.
    pub fn new(rows: &[TableRow], spine: &Spine, known: &Known) -> Self {
        let row = |row: &TableRow| RowRender {
            tools: ToolMask::new(&row.tools, &[], spine),
            preserve: ClassMask::of_preserve(&row.preserve),
            larger_than: Num::fixed(row.larger_than.as_ref(), known)
                .map_or(0, |it| saturated(it.saturating_add(1))),
            render: Render::new(&row.shown_as, row.exact, known),
            over_budget: Render::new(row.over_budget(), row.exact, known),
            charged: row.charged,
        };
        Self { rows: rows.iter().map(row).collect(), written: None }
    }

    /// Returns what the first matching row makes of an item, charging the pool with what is exact.
    #[inline(always)]
    pub fn of(&self, item: &Item, pool: Option<&mut Pool>) -> Option<Rendered> {
        let row = self.rows.iter().find(|it| it.matches(item))?;
        let rendered = row.render.of(item);
        let Some(pool) = pool.filter(|_| rendered.exact || row.charged) else { return Some(rendered) };
        if pool.used + u64::from(rendered.tokens) > pool.tokens {
            return Some(row.over_budget.of(item));
        }
        pool.used += u64::from(rendered.tokens);
        Some(rendered)
    }

    /// Lets a template write the tool results, where the timeline has text.
    pub(super) fn write(
        mut self,
        template: Option<&Template>,
        spine: &Spine,
        writer: Option<&Arc<Writer>>,
    ) -> Self {
        if let (Some(template), Some(writer)) = (template, writer) {
            let rows = |item: &Item| {
                let row = self.rows.iter().find(|it| it.matches(item))?;
                Some([&row.render, &row.over_budget].map(|it| (it.written(), it.tokens)))
            };
            let written = RenderedSizes::new(writer, template, spine, rows);
            self.written = Some(Arc::new(written));
        }
        self
    }

    /// Returns what the first matching row makes of the item of a slot: as a template writes it, or by its sizes.
    #[inline(always)]
    pub(super) fn at(&self, item: &Item, pool: Option<&mut Pool>) -> Option<Rendered> {
        match self.written.as_ref().and_then(|it| it.sizes(item.origin)) {
            Some(sizes) => self.in_writing(item, sizes, pool),
            None => self.of(item, pool),
        }
    }

    fn in_writing(&self, item: &Item, sizes: WrittenSizes, pool: Option<&mut Pool>) -> Option<Rendered> {
        let row = self.rows.iter().find(|it| it.matches(item))?;
        let rendered =
            |render: &Render, text| Rendered { shown: render.written(), ..render.of(item) }.saying(text);
        let shown = rendered(&row.render, sizes.shown);
        let Some(exact) = sizes.exact else {
            // Words that hold nothing of the item are no evidence, whatever the row calls them.
            let rest = rendered(&row.over_budget, sizes.over_budget);
            return Some(Rendered { shown: without_evidence(rest.shown), exact: false, ..rest });
        };
        let Some(pool) = pool.filter(|_| shown.exact || row.charged) else { return Some(shown) };
        if pool.used + u64::from(exact) > pool.tokens {
            return Some(rendered(&row.over_budget, sizes.over_budget));
        }
        pool.used += u64::from(exact);
        Some(shown)
    }

    /// Returns how much is left of the item of a slot that is cut.
    pub(super) fn left(&self, prompt: &Prompt<'_>, slot: SlotIx) -> Option<Left> {
        let (item, shown) = (prompt.item(slot), prompt.slot(slot).rendition);
        let has_handle = match shown {
            ShownAs::Truncate => false,
            ShownAs::Preview | ShownAs::Offload => item.handle > 0,
            _ => return None,
        };
        let row = self.rows.iter().find(|it| it.matches(item))?;
        let render = [&row.render, &row.over_budget].into_iter().find(|it| it.shown == shown)?;
        let [head, all] = render.cut(item);
        Some(Left { head, tail: all - head, has_handle })
    }

    /// Returns what a template writes of a slot that is shown so.
    pub(super) fn text(&self, prompt: &Prompt<'_>, slot: SlotIx, shown: ShownAs) -> Option<String> {
        let item = prompt.item(slot);
        let row = self.rows.iter().find(|it| it.matches(item))?;
        let render = if row.render.written() == shown { &row.render } else { &row.over_budget };
        self.written.as_ref()?.write(prompt.history().load(), item.origin, shown, render.tokens)
    }
}

/// Returns how words are shown that hold nothing exact.
pub(super) fn without_evidence(shown: ShownAs) -> ShownAs {
    if shown == ShownAs::Exact { ShownAs::Preview } else { shown }
}

impl RowRender {
    #[inline]
    fn matches(&self, item: &Item) -> bool {
        let is_result = matches!(item.kind, Kind::ToolResult | Kind::ToolCall | Kind::Image);
        item.raw >= self.larger_than
            && self.preserve.has_preserve(item.preserve)
            && (self.tools.is_all() || (is_result && self.tools.has(item.tool)))
    }
}
