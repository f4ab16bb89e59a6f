//! What ctxsim assumes rather than knows: declared numbers with their sources and intervals, as text.

/// Files by path, with their texts.
pub type Files = &'static [(&'static str, &'static str)];

/// The text of `blocks.toml`.
pub const BLOCKS: &str = include_str!("blocks.toml");
/// The text of `compactions.toml`.
pub const COMPACTIONS: &str = include_str!("compactions.toml");
/// The text of `design.toml`.
pub const DESIGN: &str = include_str!("design.toml");
/// The text of `harnesses.toml`.
pub const HARNESSES: &str = include_str!("harnesses.toml");
/// The text of `images.toml`.
pub const IMAGES: &str = include_str!("images.toml");
/// The text of `levers.toml`.
pub const LEVERS: &str = include_str!("levers.toml");
/// The text of `price_lists.toml`.
pub const PRICE_LISTS: &str = include_str!("price_lists.toml");
/// The text of `quality.toml`.
pub const QUALITY: &str = include_str!("quality.toml");
/// The text of `recorded.toml`.
pub const RECORDED: &str = include_str!("recorded.toml");
/// The text of `recovery.toml`.
pub const RECOVERY: &str = include_str!("recovery.toml");
/// The text of `routes.toml`.
pub const ROUTES: &str = include_str!("routes.toml");
/// The text of `sub_agents.toml`.
pub const SUB_AGENTS: &str = include_str!("sub_agents.toml");
/// The text of `summaries.toml`.
pub const SUMMARIES: &str = include_str!("summaries.toml");
/// The text of `tokenizers.toml`.
pub const TOKENIZERS: &str = include_str!("tokenizers.toml");
/// The text of `turns.toml`.
pub const TURNS: &str = include_str!("turns.toml");
/// The text of `user_messages.toml`.
pub const USER_MESSAGES: &str = include_str!("user_messages.toml");
/// The text of `waiting.toml`.
pub const WAITING: &str = include_str!("waiting.toml");

/// The files below `aging`.
pub const AGING: Files = include!(concat!(env!("OUT_DIR"), "/aging.rs"));
/// The files below `memory_runners`.
pub const MEMORY_RUNNERS: Files = include!(concat!(env!("OUT_DIR"), "/memory_runners.rs"));
/// The files below `settings`.
pub const SETTINGS: Files = include!(concat!(env!("OUT_DIR"), "/settings.rs"));
/// The files below `tools`.
pub const TOOLS: Files = include!(concat!(env!("OUT_DIR"), "/tools.rs"));
/// The files below `logs`.
pub const LOGS: Files = include!(concat!(env!("OUT_DIR"), "/logs.rs"));

/// The files that stand alone, by path, with their texts.
pub const ALONE: Files = &[
    ("assumptions/blocks.toml", BLOCKS),
    ("assumptions/compactions.toml", COMPACTIONS),
    ("assumptions/harnesses.toml", HARNESSES),
    ("assumptions/images.toml", IMAGES),
    ("assumptions/levers.toml", LEVERS),
    ("assumptions/price_lists.toml", PRICE_LISTS),
    ("assumptions/quality.toml", QUALITY),
    ("assumptions/recorded.toml", RECORDED),
    ("assumptions/recovery.toml", RECOVERY),
    ("assumptions/routes.toml", ROUTES),
    ("assumptions/sub_agents.toml", SUB_AGENTS),
    ("assumptions/summaries.toml", SUMMARIES),
    ("assumptions/tokenizers.toml", TOKENIZERS),
    ("assumptions/turns.toml", TURNS),
    ("assumptions/user_messages.toml", USER_MESSAGES),
    ("assumptions/waiting.toml", WAITING),
];

/// Texts that this process reads in the place of those that ship.
static REPLACED: std::sync::OnceLock<Vec<(&'static str, String)>> = std::sync::OnceLock::new();

/// Returns every file by path, with the text that ships.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    [ALONE, AGING, LOGS, MEMORY_RUNNERS, SETTINGS, TOOLS].into_iter().flatten().copied()
}

/// Returns what this process reads in the place of a text that ships: that text, unless it was replaced.
pub fn current(shipped: &'static str) -> &'static str {
    let replaced = REPLACED.get().and_then(|all| all.iter().find(|it| it.0 == shipped));
    replaced.map_or(shipped, |it| it.1.as_str())
}

/// Replaces texts that ship, for the rest of this process. Whoever does so comes before the first reader, because each keeps what it has read;
/// returns whether it was the first time.
pub fn replace(texts: Vec<(&'static str, String)>) -> bool {
    REPLACED.set(texts).is_ok()
}
