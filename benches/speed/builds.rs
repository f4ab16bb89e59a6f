//! Times builds, and counts the packages that they take.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// A command of cargo. It builds from nothing, unless it says after which edit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Build {
    name: String,
    command: String,
    /// The file that is edited after the command has run once.
    edited: Option<PathBuf>,
    /// In another package that depends on this one, with Cargo's own profile: the dependency as its manifest has it.
    outside: Option<String>,
    /// The most seconds that it may take.
    seconds: Option<f64>,
    /// The most seconds of processor time.
    processor: Option<f64>,
    /// The most memory of one compiler, in MB.
    memory: Option<f64>,
    /// The most that the target folder may take, in MB.
    target: Option<f64>,
}

/// Something that is counted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Count {
    name: String,
    /// The arguments of a build whose packages from elsewhere are counted.
    packages: String,
    limit: f64,
}

/// What a run of a command took.
struct Taken {
    seconds: f64,
    processor: f64,
    memory: f64,
}

impl Build {
    /// Returns whether its name contains a text.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name.contains(name)
    }

    /// Runs it; returns what it took beside each limit that it has: a name, the number, the limit, the unit.
    pub(crate) fn measured(&self, temporary: &Path) -> Result<Vec<(String, f64, f64, &'static str)>, String> {
        let target = temporary.join("target");
        let folder = match &self.outside {
            Some(dependency) => outside(&temporary.join("outside"), dependency)?,
            None => PathBuf::from("."),
        };
        let taken = match &self.edited {
            Some(edited) => self.run_after_edit(edited, &folder, &target),
            None => self.run(&folder, &target),
        };
        let all = taken.map(|it| self.beside_limits(&it, &target));
        // The next one begins from nothing, too.
        fs::remove_dir_all(&target).map_err(said)?;
        all
    }

    /// Runs it, and once more after an edit, which is taken back; returns what the second run took.
    fn run_after_edit(&self, edited: &Path, folder: &Path, target: &Path) -> Result<Taken, String> {
        self.run(folder, target)?;
        let text = fs::read_to_string(edited).map_err(said)?;
        fs::write(edited, format!("{text}\n// An edit.\n")).map_err(said)?;
        let taken = self.run(folder, target);
        fs::write(edited, text).map_err(said)?;
        taken
    }

    fn beside_limits(&self, taken: &Taken, target: &Path) -> Vec<(String, f64, f64, &'static str)> {
        let size = || size(target) as f64 / 1e6;
        let rows = [
            (self.seconds, "", taken.seconds, "s"),
            (self.processor, ", processor", taken.processor, "s"),
            (self.memory, ", largest compiler", taken.memory, "MB"),
            (self.target, ", target folder", self.target.map_or(0.0, |_| size()), "MB"),
        ];
        let limited = rows.into_iter().filter_map(|(limit, what, number, unit)| {
            Some((format!("{}{what}", self.name), number, limit?, unit))
        });
        limited.collect()
    }

    /// Runs it once, as GNU time measures it.
    fn run(&self, folder: &Path, target: &Path) -> Result<Taken, String> {
        let words = self.command.split_whitespace();
        let mut time = Command::new("/usr/bin/time");
        time.args(["-f", "took %e %U %S %M"]).args(words).current_dir(folder);
        let done = time.env("CARGO_TARGET_DIR", target).output();
        let done = done.map_err(|error| format!("GNU time does not start: {error}"))?;
        let text = String::from_utf8_lossy(&done.stderr);
        let last = text.lines().rev().find_map(|it| it.strip_prefix("took "));
        let numbers: Vec<f64> = last.unwrap_or("").split(' ').filter_map(|it| it.parse().ok()).collect();
        match (done.status.success(), &numbers[..]) {
            (true, [seconds, user, system, kilobytes]) => {
                Ok(Taken { seconds: *seconds, processor: user + system, memory: kilobytes / 1e3 })
            }
            _ => Err(format!("failed:\n{text}")),
        }
    }
}

/// Makes a package that depends on one of this workspace; returns its folder.
fn outside(folder: &Path, dependency: &str) -> Result<PathBuf, String> {
    fs::create_dir_all(folder.join("src")).map_err(said)?;
    let root = std::env::current_dir().map_err(said)?;
    let manifest = format!(
        "[package]\nname = \"outside\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{}\n\n[workspace]\n",
        dependency.replace("{root}", &root.to_string_lossy())
    );
    fs::write(folder.join("Cargo.toml"), manifest).map_err(said)?;
    fs::write(folder.join("src/lib.rs"), "").map_err(said)?;
    fs::copy("Cargo.lock", folder.join("Cargo.lock")).map_err(said)?;
    Ok(folder.to_owned())
}

impl Count {
    /// Counts; returns its name, the number and the limit.
    pub(crate) fn counted(&self) -> Result<(&str, f64, f64), String> {
        Ok((&self.name, n_packages(&self.packages)? as f64, self.limit))
    }
}

/// Counts the packages that a build takes and that are not of this workspace.
fn n_packages(args: &str) -> Result<usize, String> {
    let mut tree = Command::new("cargo");
    tree.args(["tree", "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    let done = tree.args(args.split_whitespace()).output().map_err(said)?;
    let text = String::from_utf8_lossy(&done.stdout);
    let foreign = text.lines().filter(|it| !it.is_empty() && !it.starts_with("ctxsim"));
    Ok(foreign.map(|it| it.trim_end_matches(" (*)")).collect::<BTreeSet<_>>().len())
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|it| if it.path().is_dir() { size(&it.path()) } else { it.metadata().map_or(0, |it| it.len()) })
        .sum()
}

fn said(error: std::io::Error) -> String {
    error.to_string()
}
