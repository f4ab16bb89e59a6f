//! Listed prompts under rules as a profile writes them.

use ctxsim::cache::{CacheRule, RequestView, cache};
use ctxsim::input::Settings;
use ctxsim::input::policy::LayoutSpec;
use ctxsim::projection::chain::Chain;

use super::*;

/// The rules of a profile that has these lines for its cache, and prices of 1 and 2 dollars.
pub(super) fn rules_of(lines: &str) -> CacheRules {
    profile(lines, "input = 1.0\noutput = 2.0").cache
}

/// A profile that has these lines for its cache and below `[[prices]]`.
pub(super) fn profile(cache: &str, prices: &str) -> Profile {
    let head = "name = \"it\"\nabout = \"it\"\nas_of = \"2026-10-01\"\nsources = [\"it\"]\n";
    let text = format!("{head}{cache}\n[[prices]]\n{prices}\n");
    Profile::new(&decode::<ProfileFile>(&text, Format::Toml).unwrap()).unwrap()
}

/// A policy's layout; that of a silent policy for an empty text.
pub(super) fn layout(text: &str) -> LayoutSpec {
    let text = format!("(name: \"it\", about: \"it\", {text})");
    Policy::new(&decode(&text, Format::Ron).unwrap()).unwrap().layout().clone()
}

/// A cache that takes listed prompts.
pub(super) struct Listed {
    cache: Box<dyn CacheRule>,
    layout: LayoutSpec,
}

impl Listed {
    pub(super) fn new(rules: &CacheRules, layout_text: &str) -> Self {
        Self { cache: cache(rules), layout: layout(layout_text) }
    }

    /// Sends prompts under another layout from here on.
    pub(super) fn lay_out(&mut self, text: &str) {
        self.layout = layout(text);
    }

    /// Sends a prompt; the response starts a second later and takes another.
    pub(super) fn send(&mut self, blocks: &Blocks, at_ms: i64) -> CacheUse {
        self.send_under(blocks, at_ms, Settings::default())
    }

    /// The same, with settings.
    pub(super) fn send_under(&mut self, blocks: &Blocks, at_ms: i64, settings: Settings) -> CacheUse {
        let chain = Chain::from_links(blocks.links());
        let prompt = chain.links().last().map_or(0, |it| it.tokens);
        let usage = self.cache.submit(&RequestView {
            response_ms: at_ms + 1_000,
            end_ms: at_ms + 2_000,
            settings,
            ..RequestView::new(prompt, &chain, &self.layout, at_ms)
        });
        assert_eq!(usage.read + usage.write[0] + usage.write[1] + usage.uncached, prompt);
        usage
    }

    /// Sends prompts a minute apart; returns what each reads and writes.
    pub(super) fn reads_and_writes<const N: usize>(&mut self, prompts: &[Blocks; N]) -> [[u64; 2]; N] {
        let mut at_ms = -60_000;
        prompts.each_ref().map(|it| {
            at_ms += 60_000;
            let usage = self.send(it, at_ms);
            [usage.read, usage.write[0] + usage.write[1]]
        })
    }
}

/// A prompt of a system prompt and user blocks, each with its name and its tokens.
pub(super) fn users(system: u64, blocks: &[(u64, u64)]) -> Blocks {
    let system = (system > 0).then_some((Kind::System, 1, system));
    Blocks(system.into_iter().chain(blocks.iter().map(|it| (Kind::User, it.0, it.1))).collect())
}
