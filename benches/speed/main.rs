//! Counts the instructions of whole commands with callgrind, and measures builds, against the limits of `benches/limits.toml`.
//!
//! `just speed` counts all commands, `just speed NAME` those whose name contains a text; `--builds` measures builds instead, and
//! `--documents` counts words and lines of the documents alone.

#![allow(clippy::disallowed_methods, reason = "starts programs and measures time")]

mod builds;
mod copies;
#[path = "../../tests/suite/words.rs"]
#[allow(dead_code, reason = "the suite reads more of it")]
mod words;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use serde::Deserialize;

use builds::{Build, Count};

/// The limits, as they are written, but for those of `.ci/lines`.
#[derive(Deserialize)]
struct Limits {
    commands: Vec<Counted>,
    builds: Vec<Build>,
    counts: Vec<Count>,
    /// What `words.rs` counts.
    documents: toml::Table,
}

/// A command of ctxsim.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counted {
    name: String,
    /// Its arguments; `{sessions}` are the shared sessions, `{copies}` is a folder of twelve copies of them.
    args: String,
    /// The most instructions it may take, in millions.
    limit: f64,
}

/// Where the recordings are.
struct Places {
    /// The folders of the shared sessions; none where `CTXSIM_REFERENCE` is not set.
    sessions: Vec<PathBuf>,
    /// A folder for everything that is written.
    temporary: PathBuf,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))?;
    let (flags, names): (Vec<String>, Vec<String>) = env::args().skip(1).partition(|it| it.starts_with('-'));
    if let Some(unknown) = flags.iter().find(|it| !["--builds", "--documents"].contains(&it.as_str())) {
        return Err(
            format!("unknown flag `{unknown}`: use `speed [NAME]... [--builds | --documents]`").into()
        );
    }
    let limits: Limits = toml::from_str(&fs::read_to_string("benches/limits.toml")?)?;
    if flags == ["--documents"] {
        return Ok(if all_documents(&limits) { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let is_chosen = |it: &&Counted| names.is_empty() || names.iter().any(|name| it.name.contains(name));
    let commands: Vec<&Counted> = limits.commands.iter().filter(is_chosen).collect();
    let reference = env::var_os("CTXSIM_REFERENCE").map(|it| PathBuf::from(it).join("recorded"));
    let folders = ["claude-code", "claude-code-2"];
    let places = Places {
        sessions: reference.iter().flat_map(|it| folders.map(|folder| it.join(folder))).collect(),
        temporary: env::temp_dir().join(format!("ctxsim-speed-{}", std::process::id())),
    };
    fs::create_dir_all(&places.temporary)?;
    let result = match flags.is_empty() {
        true => all(&commands, &places),
        false => all_builds(&limits, &names, &places.temporary),
    };
    fs::remove_dir_all(&places.temporary)?;
    Ok(if result? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Counts words and lines of the documents; returns whether all limits hold.
fn all_documents(limits: &Limits) -> bool {
    let rows = words::measured(Path::new("."), &limits.documents);
    rows.into_iter()
        .map(|(name, number, limit, unit)| show(&name, Ok(Some(number)), limit, unit))
        .fold(true, |all, it| all & it)
}

/// Counts what the builds take, and measures those whose name contains one of some texts; returns whether all limits hold.
fn all_builds(limits: &Limits, names: &[String], temporary: &Path) -> Result<bool, Box<dyn Error>> {
    println!("{:<44} {:>13} {:>11} {:>7}", "build", "measured", "limit", "share");
    let mut holds = all_documents(limits);
    for count in &limits.counts {
        let (name, counted, limit) = count.counted()?;
        holds &= show(name, Ok(Some(counted)), limit, "");
    }
    for build in
        limits.builds.iter().filter(|it| names.is_empty() || names.iter().any(|name| it.is_named(name)))
    {
        for (name, measured, limit, unit) in build.measured(temporary)? {
            holds &= show(&name, Ok(Some(measured)), limit, unit);
        }
    }
    Ok(holds)
}

/// Counts the instructions of all commands; returns whether all limits hold.
fn all(commands: &[&Counted], places: &Places) -> Result<bool, Box<dyn Error>> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let built = Command::new("cargo").args(["build", "--release"]).status()?;
    if !built.success() {
        return Err("`cargo build --release` failed".into());
    }
    if !places.sessions.is_empty() && commands.iter().any(|it| it.args.contains("{copies}")) {
        copies::make(&places.sessions, 12, &places.temporary.join("copies"))?;
    }
    println!("{:<44} {:>13} {:>11} {:>7}", "command", "measured", "limit", "share");
    let (next, failures) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let count = || {
        while let Some(it) = commands.get(next.fetch_add(1, Ordering::Relaxed)) {
            let counted = it.count(&target.join("release/ctxsim"), places);
            failures.fetch_add(usize::from(!show(&it.name, counted, it.limit, "M")), Ordering::Relaxed);
        }
    };
    // How many instructions a command takes does not depend on what else runs.
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(count);
        }
    });
    Ok(failures.into_inner() == 0)
}

impl Counted {
    /// Counts its instructions, in millions; nothing where its recordings are missing.
    fn count(&self, program: &Path, places: &Places) -> Result<Option<f64>, String> {
        if self.args.contains('{') && places.sessions.is_empty() {
            return Ok(None);
        }
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
        for arg in self.args.split_whitespace() {
            match arg {
                "{sessions}" => valgrind.args(&places.sessions),
                "{copies}" => valgrind.arg(places.temporary.join("copies")),
                _ => valgrind.arg(arg),
            };
        }
        let output = places.temporary.join(&self.name);
        // A list plays nothing, and is written to the terminal.
        if !self.args.starts_with("list") {
            valgrind.args(["--threads", "1", "--format", "json", "--output"]).arg(output);
        }
        let done = valgrind.output().map_err(|error| format!("valgrind does not start: {error}"))?;
        let said = String::from_utf8_lossy(&done.stderr);
        let counted = said.lines().find_map(|it| it.split_once("Collected :")?.1.trim().parse::<f64>().ok());
        match counted.filter(|_| done.status.success()) {
            Some(instructions) => Ok(Some(instructions / 1e6)),
            None => Err(format!("failed:\n{said}")),
        }
    }
}

/// Prints one measurement; returns whether its limit holds.
fn show(name: &str, measured: Result<Option<f64>, String>, limit: f64, unit: &str) -> bool {
    match measured {
        Ok(Some(measured)) => {
            let share = 100.0 * measured / limit;
            let verdict = if measured > limit { "  exceeded" } else { "" };
            println!("{name:<44} {measured:>11.1} {unit} {limit:>9.0} {unit} {share:>6.1}%{verdict}");
            measured <= limit
        }
        Ok(None) => {
            println!("{name:<44} skipped: CTXSIM_REFERENCE does not name the recordings");
            true
        }
        Err(problem) => {
            println!("{name:<44} {problem}");
            false
        }
    }
}
