//! Made-up loads, in each of which some kinds of stages can do nothing, whatever their values, as `about` says.
//!
//! `--known` plays every policy of the other kinds on six sessions and prints the cheapest: what stands here as the best is what that found.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ctxsim::rng::{Draw, Seed};

/// A made-up load.
pub(crate) struct MadeUp {
    pub(crate) name: &'static str,
    /// What it is like, and what that leaves to do.
    pub(crate) about: &'static str,
    /// The kinds of which every policy was played.
    pub(crate) kinds: &'static [&'static str],
    /// The best policy of these kinds.
    pub(crate) best: &'static [&'static str],
    turns: fn(&mut Draw) -> String,
}

/// The loads.
pub(crate) const LOADS: [MadeUp; 3] = [
    MadeUp {
        name: "logs and coffee",
        about: "Every call prints a log of which nothing is needed later, and the user is away for twenty to fifty minutes between turns. No prompt reaches the 20,000 tokens from which anything is cleared or summarised.",
        kinds: &["lifetimes", "trim", "mask", "keep_alive"],
        best: &["lifetimes ttl=1h", "mask at=request, keep=0, batch=1, larger_than=0, shown=a placeholder"],
        turns: logs,
    },
    MadeUp {
        name: "dumps",
        about: "Every call prints a dump of which nothing is needed later; users answer at once. No prompt reaches 20,000 tokens (clear, compact), and no pause 295 seconds (keep_alive).",
        kinds: &["lifetimes", "trim", "mask"],
        best: &["mask at=request, keep=0, batch=1, larger_than=0, shown=a placeholder"],
        turns: dumps,
    },
    MadeUp {
        name: "long talk",
        about: "The agent writes much and reads little; nothing said is needed later, but for the first message; users answer at once. Results are smaller than a placeholder (trim, mask, clear), and no pause reaches 295 seconds (keep_alive).",
        kinds: &["lifetimes", "compact"],
        best: &["compact trigger=40000, keep=0, grown=40000, prompt=aligned, back=no files"],
        turns: talk,
    },
];

impl MadeUp {
    /// Writes sessions of a seed as one scenario each.
    pub(crate) fn write(&self, folder: &Path, seed: u64, sessions: u64) -> Vec<String> {
        let one = |nth: u64| {
            let mut draw = Seed(seed).stream(self.name, 0).nth(0, nth);
            let path = folder.join(format!("{}_{seed}_{nth}.toml", self.name.replace(' ', "_")));
            let text = format!(
                "name = {:?}\nabout = {:?}\nstable = [{{ kind = \"system\", tokens = 1_000 }}, {{ kind = \"tool_schema\", tokens = 2_000 }}]\nuser_messages = \"ignored\"\n{}",
                path.file_stem().map(|it| it.to_string_lossy()).unwrap_or_default(),
                self.about,
                (self.turns)(&mut draw)
            );
            fs::write(&path, text).map(|()| path.display().to_string()).unwrap_or_default()
        };
        (0..sessions).map(one).collect()
    }
}

/// Writes a turn with one call.
fn turn(text: &mut String, [user, answer, gap_ms, raw]: [u64; 4], more: &str) {
    let _ = write!(
        text,
        "[[load.turns]]\nuser_tokens = {user}\nanswer_tokens = {answer}\ngap_ms = {gap_ms}\n{more}\
         [[load.turns.calls]]\ntool = \"read_file\"\nargs_tokens = 30\ngap_ms = 4_000\npreserve = \"working_evidence\"\nresult = {{ raw = {raw}, excerpt = {raw}, summary = {raw}, handle = {raw} }}\n"
    );
}

fn logs(draw: &mut Draw) -> String {
    let mut text = String::new();
    for _ in 0..draw.next_between(7, 9) {
        let sizes = [60, 300, draw.next_between(1_200_000, 3_000_000), draw.next_between(800, 1_300)];
        turn(&mut text, sizes, "");
    }
    text
}

fn dumps(draw: &mut Draw) -> String {
    let mut text = String::new();
    for _ in 0..draw.next_between(12, 16) {
        let sizes = [60, 200, draw.next_between(5_000, 30_000), draw.next_between(550, 800)];
        turn(&mut text, sizes, "");
    }
    text
}

fn talk(draw: &mut Draw) -> String {
    let mut text = String::new();
    for _ in 0..draw.next_between(40, 60) {
        let sizes = [200, draw.next_between(1_500, 4_000), draw.next_between(5_000, 30_000), 10];
        turn(&mut text, sizes, "");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// Rates are compared before and after a change of the search, so what it is measured on must not move with it.
    #[test]
    fn the_loads_that_are_made_up_are_pinned() {
        let mut draw = Seed(3).stream("pinned", 0).nth(0, 0);
        let text: String = LOADS.iter().map(|load| (load.turns)(&mut draw)).collect();
        assert_eq!(Sha256::digest(text)[..4], [179, 7, 50, 127]);
    }
}
