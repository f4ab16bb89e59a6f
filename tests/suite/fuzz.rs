//! Inputs that once broke a reader, and a short run of damaged ones; `fuzz/` is for long runs.

mod made;
#[allow(dead_code, reason = "the fuzzer takes targets by their names")]
pub(crate) mod targets;

use std::time::{Duration, Instant};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use targets::TARGETS;

use crate::support::*;

/// Where good inputs of a target stand, to be damaged.
const SEEDS: [(&str, &[&str]); 10] = [
    (
        "recording",
        &["tests/data/recorded", "tests/data/shapes", "scenarios/recorded", "tests/data/fuzz/recording"],
    ),
    ("policy", &["policies", "tests/newcomer", "tests/data/fuzz/policy"]),
    ("scenario", &["scenarios", "tests/data/small/scenarios", "tests/data/fuzz/scenario"]),
    ("profile", &["profiles", "tests/data/fuzz/profile"]),
    ("suite", &["suites", "tests/data/fuzz/suite"]),
    ("prices", &["tests/data/prices", "tests/data/fuzz/prices"]),
    ("blocks", &["tests/data/blocks", "tests/data/fuzz/blocks"]),
    ("chats", &["scenarios/memory_runners", "tests/data/chats"]),
    ("own", &["policies", "tests/data/fuzz/own"]),
    ("tree", &["policies", "tests/twins", "tests/newcomer", "tests/data/fuzz/tree"]),
];

/// Larger inputs are cut to a part of this size before they are damaged, so that each try is quick.
const BYTES_MAX: usize = 12_000;

/// How many damaged inputs a target gets in the suite.
const TRIES: u64 = 8;

/// Returns the files below some folders, in order.
fn files(folders: &[&str]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = folders.iter().flat_map(|it| files_below(&root().join(it), &[])).collect();
    found.sort();
    found
}

/// Draws what is damaged, and how.
struct Damage {
    draws: Xoshiro256PlusPlus,
    seeds: Vec<Vec<u8>>,
}

impl Damage {
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.draws.next_u64() % u64::try_from(n.max(1)).unwrap()).unwrap()
    }

    /// Returns a part of a seed.
    fn part(&mut self, max: usize) -> Vec<u8> {
        let index = self.below(self.seeds.len());
        let length = self.seeds[index].len();
        let from = if length > max { self.below(length - max) } else { 0 };
        // Mostly from the front, where a format is recognised.
        let from = if self.below(4) > 0 { 0 } else { from };
        self.seeds[index][from..length.min(from + max)].to_vec()
    }

    /// Damages a seed: bytes flipped, parts doubled, moved, taken out or taken from another seed, brackets piled up, numbers swollen.
    fn next(&mut self) -> Vec<u8> {
        let mut bytes = self.part(BYTES_MAX);
        for _ in 0..=self.below(6) {
            let from = self.below(bytes.len());
            let to = (from + self.below(80)).min(bytes.len());
            match self.below(9) {
                0 if from < bytes.len() => bytes[from] ^= 1 << self.below(8),
                1 => bytes.truncate(from),
                2 => drop(bytes.drain(from..to)),
                3 => {
                    let part = bytes[from..to].to_vec();
                    bytes.splice(from..from, part);
                }
                4 => {
                    let part = self.part(200);
                    bytes.splice(from..to, part);
                }
                5 => {
                    let (open, n) = (b"[({"[self.below(3)], self.below(3_000));
                    bytes.splice(from..from, std::iter::repeat_n(open, n));
                }
                6 => {
                    let numbers: [&[u8]; 6] =
                        [b"18446744073709551615", b"-1", b"1e308", b"0", b"0.0000000000000000001", b"NaN"];
                    let number = numbers[self.below(6)];
                    let digits =
                        bytes[from..].iter().position(u8::is_ascii_digit).map_or(from, |it| from + it);
                    let n = bytes[digits..].iter().take_while(|it| it.is_ascii_digit()).count();
                    bytes.splice(digits..digits + n, number.iter().copied());
                }
                7 => {
                    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|it| *it == b'\n').collect();
                    let (one, other) = (self.below(lines.len()), self.below(lines.len()));
                    if !lines.is_empty() {
                        lines.swap(one, other);
                    }
                    bytes = lines.concat();
                }
                _ => drop(bytes.splice(from..from, *b"\xff\0\"")),
            }
        }
        bytes
    }
}

/// Returns the good inputs of a target: those alone whose names have one of the words of `CTXSIM_FUZZ_SEEDS`, where that is set.
#[expect(clippy::disallowed_methods, reason = "what to search is no input of a simulation")]
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let words = std::env::var("CTXSIM_FUZZ_SEEDS").unwrap_or_default();
    let is_asked = |it: &PathBuf| words.split(',').any(|word| it.to_string_lossy().contains(word));
    match SEEDS.iter().find(|it| it.0 == name) {
        Some((_, folders)) => {
            files(folders).into_iter().filter(is_asked).map(|it| fs::read(it).unwrap()).collect()
        }
        None => made::of(name),
    }
}

/// Damages inputs of a target until enough were tried or the time is over; returns how many were.
fn run(name: &str, read: fn(&[u8]), patience: Patience) -> u64 {
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{name} has no inputs to damage");
    if made::MADE.contains(&name) {
        seeds.iter().for_each(|it| read(it));
    }
    let began = Instant::now();
    let mut damage = Damage { draws: Xoshiro256PlusPlus::seed_from_u64(1), seeds };
    let mut n = 0;
    while patience.lasts(n, began) {
        let bytes = damage.next();
        let outcome = std::panic::catch_unwind(|| read(&bytes));
        if outcome.is_err() {
            let path = std::env::temp_dir().join(format!("ctxsim-fuzz-{name}-{n}"));
            fs::write(&path, &bytes).unwrap();
            panic!("{name} breaks on {}", path.display());
        }
        n += 1;
    }
    n
}

/// How long inputs of a kind are damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    Tries(u64),
    Time(Duration),
}

impl Patience {
    /// That of the suite, or as much as someone has: `CTXSIM_FUZZ_SECONDS=600`, or `CTXSIM_FUZZ_INPUTS=100000`.
    #[expect(clippy::disallowed_methods, reason = "how long to search is no input of a simulation")]
    fn asked() -> Self {
        let number = |name: &str| std::env::var(name).ok()?.parse().ok();
        let time = number("CTXSIM_FUZZ_SECONDS").map(|it| Self::Time(Duration::from_secs(it)));
        time.or_else(|| number("CTXSIM_FUZZ_INPUTS").map(Self::Tries)).unwrap_or(Self::Tries(TRIES))
    }

    fn lasts(self, n: u64, began: Instant) -> bool {
        match self {
            Self::Tries(tries) => n < tries,
            Self::Time(time) => began.elapsed() < time,
        }
    }
}

/// Returns whether a target is asked for: all are, unless `CTXSIM_FUZZ_TARGET` names some.
#[expect(clippy::disallowed_methods, reason = "what to search is no input of a simulation")]
fn is_asked(name: &str) -> bool {
    std::env::var("CTXSIM_FUZZ_TARGET").map_or(true, |it| it.split(',').any(|it| it == name))
}

#[test]
#[expect(clippy::print_stderr, reason = "a long search says how much it tried")]
fn damaged_inputs_of_every_kind_are_refused_or_read_and_never_panic() {
    let patience = Patience::asked();
    for (name, read) in TARGETS.into_iter().filter(|it| is_asked(it.0)) {
        let n = run(name, read, patience);
        assert!(n >= TRIES || matches!(patience, Patience::Time(_)));
        if patience != Patience::Tries(TRIES) {
            eprintln!("{name}: {n} damaged inputs");
        }
    }
}

#[test]
fn every_target_has_inputs_that_it_reads() {
    for (name, _) in TARGETS {
        assert_ne!(SEEDS.iter().any(|it| it.0 == name), made::MADE.contains(&name), "{name}");
    }
}

#[test]
fn inputs_that_once_broke_a_reader_no_longer_do() {
    for (name, read) in TARGETS {
        for path in files(&[&format!("tests/data/fuzz/{name}")]) {
            read(&fs::read(&path).unwrap());
        }
    }
}
