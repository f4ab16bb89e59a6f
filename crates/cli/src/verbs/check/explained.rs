//! What moved the numbers of snapshots: ctxsim itself, started once for each input that is not as it was, with that one alone as it was.

use crate::prelude::*;
use std::env;
use std::process::{Command, Stdio};

use indexmap::IndexSet;

use ctxsim_report::checkup::causes::{MovedNumbers, OldInput, OldInputRun, OldInputRuns};
use ctxsim_report::checkup::{SnapshotCheck, SuiteCheck};
use ctxsim_report::made::VERSION;
use ctxsim_report::sections::OWN;
use ctxsim_report::shot::{self, ChangedNumber};

use super::CheckArgs;
use super::assumed::{self, AssumedLines};
use super::snapshots::{self, SnapshotHeader};

/// How many digits of a digest name a file that is another.
const DIGITS: usize = 8;

/// What is said where snapshots do not carry what they assume.
pub(super) const OLD_FORM: &str =
    "these snapshots are of an earlier form and carry no assumed numbers; `ctxsim check --bless` adds them";

/// Says of each number of a suite that moved what moved it.
pub(super) fn explain_moved_numbers(args: &CheckArgs, revision: &str, suite_name: &str, up: &mut SuiteCheck) {
    let moved: Vec<&SnapshotCheck> = up.snapshots.iter().filter(|it| !it.moved.is_empty()).listed();
    if moved.is_empty() {
        return;
    }
    let changes = OldState::find_changes(args, up, &moved);
    let replay = SuiteReplay { args, revision, name: suite_name, up };
    let played = |inputs: &[&OldInput]| replay.simulate_with_old_inputs(inputs);
    let alone =
        changes.inputs.into_iter().map(|input| OldInputRun { numbers: played(&[&input]), input }).listed();
    let known: Vec<&OldInputRun> = alone.iter().filter(|it| it.numbers.is_ok()).listed();
    let together = match known.as_slice() {
        [] => None,
        [only] => only.numbers.clone().ok(),
        all => played(&all.iter().map(|it| &it.input).listed()).ok(),
    };
    let together = together.unwrap_or_else(|| current_numbers(moved));
    let policies = known.iter().filter_map(|it| match &it.input {
        OldInput::File(kind, name, _) if *kind == InputKind::Policy.noun() => Some(name),
        _ => None,
    });
    let causes = policies.flat_map(|it| replay.causes_since_old_policy(it)).listed();
    let OldState { unplayed, version, notes, .. } = changes;
    up.set_causes_of_moves(&OldInputRuns { alone, together, unplayed, version });
    up.notes.extend(notes);
    for (profile, causes) in causes {
        // A comparison is of all scenarios under a profile, or of all sessions under their own.
        let mut moved = up.snapshots.iter_mut().filter(|it| !it.moved.is_empty());
        let of = moved.find(|it| it.of[1] == profile || profile == OWN);
        of.into_iter().for_each(|it| it.causes.extend(causes.iter().cloned()));
    }
}

/// Returns the numbers of snapshots that moved, as they are.
fn current_numbers<'s>(snapshots: impl IntoIterator<Item = &'s SnapshotCheck>) -> MovedNumbers {
    let mut numbers = MovedNumbers::new();
    for snapshot in snapshots {
        for ChangedNumber { policy, column, values: [_, new], .. } in &snapshot.moved {
            numbers.insert([snapshot.file.clone(), policy.clone(), column.clone()], new.clone());
        }
    }
    numbers
}

/// What is not as it was when some snapshots were written.
#[derive(Default)]
struct OldState {
    inputs: IndexSet<OldInput>,
    unplayed: Vec<String>,
    version: Option<String>,
    notes: Vec<String>,
}

impl OldState {
    fn find_changes(args: &CheckArgs, up: &SuiteCheck, moved: &[&SnapshotCheck]) -> Self {
        let mut changes = Self::default();
        let headers =
            moved.iter().filter_map(|it| Some((*it, snapshots::read_snapshot(Path::new(&it.file))?)));
        let headers: Vec<(&SnapshotCheck, (SnapshotHeader, String))> = headers.listed();
        for (snapshot, (header, table)) in &headers {
            changes.add_changed_inputs(up, snapshot, header, table);
        }
        match assumed::read_assumed(&args.snapshots, &up.suite) {
            Ok(Some(old)) => {
                let digest = assumed::digest_of_assumed(&old);
                let is_other = |it: &SnapshotHeader| it.assumed_digest().is_some_and(|it| *it != digest);
                if headers.iter().any(|(_, (header, _))| is_other(header)) {
                    let note = "a snapshot was accepted by itself, so what it assumed is not known; `--bless` accepts all with what they assume";
                    changes.notes.push(note.to_owned());
                }
                changes.add_changed_assumed(&old, &up.assumed);
            }
            Ok(None) => changes.unplayed.push(OLD_FORM.to_owned()),
            Err(error) => changes.unplayed.push(error.to_string()),
        }
        changes
    }

    /// Adds the files and the day of the prices that a snapshot was made with and that are others now.
    fn add_changed_inputs(
        &mut self,
        up: &SuiteCheck,
        snapshot: &SnapshotCheck,
        header: &SnapshotHeader,
        table: &str,
    ) {
        let [scenario, profile] = &snapshot.of;
        if let Some(old) = header.ctxsim_version().filter(|it| *it != VERSION) {
            self.version = Some(format!("ctxsim {old} → {VERSION}"));
        }
        for (kind, name) in
            [(InputKind::Scenario, scenario), (InputKind::Profile, profile), (InputKind::Suite, &up.suite)]
        {
            let now = up.made.digest_of_input(kind.noun(), name);
            let old = header.input_digest(kind).filter(|old| now.is_some_and(|now| now != *old));
            if let Some(old) = old {
                self.inputs.insert(OldInput::File(kind.noun(), name.clone(), old.clone()));
            }
        }
        for (policy, old) in shot::policy_file_digests(table) {
            let now = up.made.digest_of_input(InputKind::Policy.noun(), &policy);
            if now.is_some_and(|now| !now.starts_with(&old)) {
                self.inputs.insert(OldInput::File(InputKind::Policy.noun(), policy, old));
            }
        }
        let days = header.price_day().zip(up.made.prices.get(profile)).filter(|(old, now)| old != now);
        if let Some((old, now)) = days {
            self.inputs.insert(OldInput::Prices(profile.clone(), [old.clone(), now.clone()]));
        }
    }

    /// Adds the assumed numbers that are others now.
    fn add_changed_assumed(&mut self, old: &AssumedLines, now: &AssumedLines) {
        let names: BTreeSet<&String> = old.keys().chain(now.keys()).collect();
        for name in names {
            match (old.get(name), now.get(name)) {
                (Some(old), Some(now)) if old != now => {
                    self.inputs.insert(OldInput::Assumed(name.clone(), [old.clone(), now.clone()]));
                }
                (Some(old), None) => {
                    self.unplayed.push(format!("{name} was assumed to be {old}, and is not read any more"));
                }
                (None, Some(now)) => {
                    self.unplayed.push(format!("{name} is assumed to be {now}, and was not read"));
                }
                _ => {}
            }
        }
    }
}

/// A suite that is simulated anew with inputs as they were.
struct SuiteReplay<'a> {
    args: &'a CheckArgs,
    revision: &'a str,
    name: &'a str,
    up: &'a SuiteCheck,
}

impl SuiteReplay<'_> {
    /// Simulates with some inputs as they were, and returns the numbers that differ from the snapshots.
    fn simulate_with_old_inputs(&self, inputs: &[&OldInput]) -> Result<MovedNumbers, String> {
        let mut arguments = self.arguments_of_same_check();
        for input in inputs {
            match input {
                OldInput::Assumed(name, [old, _]) => arguments.push(format!("--assume={name}={old}").into()),
                OldInput::Prices(_, [old, _]) => arguments.push(format!("--prices={old}").into()),
                OldInput::File(kind, name, _) => {
                    let files =
                        self.up.made.find_input(kind, name).map(|it| it.files.as_slice()).unwrap_or_default();
                    if files.is_empty() {
                        return Err(format!("it is not a {kind} file of your project"));
                    }
                    arguments.extend(files.iter().map(|it| format!("--at={}:{it}", self.revision).into()));
                }
            }
        }
        let told = run_for_suite_json(&arguments)?;
        for input in inputs {
            if let OldInput::File(kind, name, old) = input {
                self.check_file_digest(&told, kind, name, old)?;
            }
        }
        let snapshots = serde_json::from_value::<Vec<SnapshotCheck>>(told["snapshots"].clone());
        Ok(current_numbers(&snapshots.unwrap_or_default()))
    }

    /// Returns what moves the cost from a policy as it was, by profile, as a comparison says it; nothing where it cannot.
    fn causes_since_old_policy(&self, name: &str) -> Vec<(String, Vec<String>)> {
        let candidate = self.up.made.find_input(InputKind::Policy.noun(), name).map_or(name, |it| &it.name);
        let mut arguments: Vec<OsString> =
            vec!["compare".into(), "--format=json".into(), format!("--suite={}", self.name).into()];
        arguments.push(format!("--base={}{}", git::MARK, self.revision).into());
        arguments.push(format!("--candidate={candidate}").into());
        arguments.extend(self.args.process.allow_process.then(|| "--allow-process".into()));
        let told = run_for_json(&arguments).map(|it| it.0).unwrap_or_default();
        let texts = |it: &Value| {
            it.as_array().into_iter().flatten().filter_map(|it| Some(it.as_str()?.to_owned())).listed()
        };
        let one = |it: &Value| Some((it["profile"].as_str()?.to_owned(), texts(&it["causes"])));
        told["comparisons"].as_array().into_iter().flatten().filter_map(one).listed()
    }

    /// Returns the arguments of the same check, which keeps nothing.
    fn arguments_of_same_check(&self) -> Vec<OsString> {
        let mut snapshots = OsString::from("--snapshots=");
        snapshots.push(&self.args.snapshots);
        let mut all =
            vec!["check".into(), format!("--suite={}", self.name).into(), snapshots, "--format=json".into()];
        all.extend(self.args.process.allow_process.then(|| "--allow-process".into()));
        all.extend(self.args.process.play_twice.then(|| "--play-twice".into()));
        all.extend(self.args.rev.allow_rev.then(|| "--allow-rev".into()));
        all.extend(self.args.threads.n_threads().map(|it| format!("--threads={it}").into()));
        all.extend(self.args.assume.iter().map(|it| format!("--assume={it}").into()));
        all
    }

    /// Checks that a file was as it was when the snapshots were written.
    fn check_file_digest(&self, suite: &Value, kind: &str, name: &str, digest: &str) -> Result<(), String> {
        let input = self.up.made.find_input(kind, name).map_or(name, |it| it.name.as_str());
        let found = suite["made"]["inputs"][kind][input].as_str().unwrap_or_default();
        let n_digits = DIGITS.min(digest.len());
        if found.get(..n_digits) == digest.get(..n_digits) {
            return Ok(());
        }
        Err(format!(
            "its file in `{}` is not the one that the snapshots were made with; name their revision, as in `--explain=REV`",
            self.revision
        ))
    }
}

/// Starts this program on arguments, and returns what it says of the suite.
fn run_for_suite_json(arguments: &[OsString]) -> Result<Value, String> {
    let (told, said) = run_for_json(arguments)?;
    let suite = &told["suites"][0];
    match suite["errors"][0]["message"].as_str() {
        Some(error) => Err(error.to_owned()),
        None if suite.is_object() => Ok(suite.clone()),
        None => Err(said.lines().next().unwrap_or("it said nothing").to_owned()),
    }
}

/// Starts this program on arguments, and returns its answer, and what it says beside it.
fn run_for_json(arguments: &[OsString]) -> Result<(Value, String), String> {
    let program = env::current_exe().map_err(|it| it.to_string())?;
    #[allow(
        clippy::disallowed_methods,
        reason = "this program checks anew, under other assumptions than it has read"
    )]
    let mut command = Command::new(program);
    // As in continuous integration: nothing is written beside the snapshots.
    command.args(arguments).env("CI", "true").stdin(Stdio::null());
    let output = command.output().map_err(|it| it.to_string())?;
    let told = serde_json::from_slice(&output.stdout).unwrap_or_default();
    Ok((told, String::from_utf8_lossy(&output.stderr).into_owned()))
}
