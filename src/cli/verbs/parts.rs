//! `ctxsim run --parts` and `ctxsim merge`: the parts of a run in a folder, made by any number of processes, and their fold.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_128;

use crate::compare::parts::{Making, Shard, fold};
use crate::compare::{Plan, never_stops};
use crate::diag::Diagnostic;
use crate::error::Error;
use crate::report::Report;
use crate::report::part::{Part, SCHEMA, Whole};

use crate::cli::output;
use crate::cli::verbs::run::{unwritable, with_progress};

/// Makes the parts of a share that are not in the folder yet; returns what was done, in a sentence.
pub(crate) fn make(
    plan: &Plan,
    folder: &Path,
    shard: Shard,
    threads: Option<usize>,
    min_evidence: f64,
) -> Result<String, Error> {
    plan.check_parts()?;
    output::make_folder(folder)?;
    let job = plan.job(min_evidence);
    let mut made = vec![false; plan.scenarios.len()];
    let own = folder.join(format!("part-{}-of-{}.jsonl", shard.part, shard.of));
    for path in files(folder)? {
        // What a process that was stopped left behind is another process's unless it is this one's own.
        let is_own = path == own;
        let lines = Lines::of(&path)?;
        for at in &lines.places {
            let part = lines.part(*at)?;
            if part.job != job {
                let message = format!("this folder has parts of job {}, and this is job {job}", part.job);
                let help = "name another folder: sessions, policies, profiles or options are others";
                return Err(in_file(&path, Diagnostic::at("part-job", "", message).help(help)));
            }
            if let Some(place) = made.get_mut(part.nth) {
                *place = true;
            }
        }
        if is_own && lines.cut.is_some() {
            lines.shorten()?;
        }
    }
    let n_there = (0..made.len()).filter(|it| made[*it] && shard.has(&plan.scenarios[*it].name)).count();
    let unwritten = |source| Error::Write { path: own.clone(), source };
    let file = OpenOptions::new().create(true).append(true).open(&own).map_err(unwritten)?;
    let file = Mutex::new((file, 0_usize));
    let take = |part: Part| {
        let line = part.line().map_err(unwritable)?;
        let mut to = file.lock().unwrap_or_else(PoisonError::into_inner);
        to.0.write_all(line.as_bytes()).map_err(unwritten)?;
        to.1 += 1;
        Ok(())
    };
    let making = Making { threads, min_evidence, shard, has: &|it| made[it], take: &take };
    with_progress(|progress| plan.parts(&never_stops(progress), &making))?;
    let n_made = file.into_inner().unwrap_or_else(PoisonError::into_inner).1;
    let there = if n_there == 0 { String::new() } else { format!(", {n_there} were there already") };
    Ok(format!(
        "{}: {n_made} parts made{there}; `ctxsim merge {}` folds them.\n",
        own.display(),
        folder.display()
    ))
}

/// Returns whether paths are folders or files of parts, and not shards of a sweep.
pub(crate) fn are_parts(paths: &[PathBuf]) -> bool {
    let begins = |path: &Path| {
        let mut head = String::new();
        let read = File::open(path).and_then(|it| it.take(64).read_to_string(&mut head));
        read.is_ok()
            && head.starts_with(&format!("{{\"schema\":\"{}", SCHEMA.split('/').next().unwrap_or(SCHEMA)))
    };
    paths.iter().any(|it| it.is_dir() || begins(it))
}

/// Folds all parts of folders and files.
pub(crate) fn merged(paths: &[PathBuf]) -> Result<Report, Error> {
    let mut all: Vec<Lines> = Vec::new();
    for path in paths {
        let found = if path.is_dir() { files(path)? } else { vec![path.clone()] };
        all.extend(found.iter().map(|it| Lines::of(it)).collect::<Result<Vec<_>, _>>()?);
    }
    let mut whole = Whole::default();
    let mut problems = Vec::new();
    let mut places: Vec<(usize, Place)> = Vec::new();
    for (nth, lines) in all.iter().enumerate() {
        for at in lines.places.iter().chain(&lines.cut) {
            let noted = lines.text(*at).and_then(|text| {
                let part = Part::read(&text).map_err(|it| lines.blame(*at, *it))?;
                let digest = xxh3_128(text.as_bytes());
                whole.note(&part, places.len(), digest).map_err(|it| lines.blame(*at, *it))
            });
            match noted {
                Ok(()) => places.push((nth, *at)),
                Err(error) => problems.extend(error.problems()),
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    let order =
        whole.order().map_err(|it| in_file(paths.first().map_or(Path::new(""), PathBuf::as_path), *it))?;
    fold(&order, |number| {
        let (file, at) = places[number];
        all[file].part(at)
    })
}

/// Returns the files of parts in a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unread = |source| Error::Read { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if path.extension().is_some_and(|it| it == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Where a line is in its file.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its number, from 1.
    line: usize,
    at: u64,
    bytes: usize,
}

/// A file of parts, which stay on disk.
struct Lines {
    path: PathBuf,
    file: Mutex<File>,
    places: Vec<Place>,
    /// What is behind the last end of a line: a process was stopped while it wrote.
    cut: Option<Place>,
}

impl Lines {
    /// Finds the lines of a file.
    fn of(path: &Path) -> Result<Self, Error> {
        let unread = |source| Error::Read { path: path.to_owned(), source };
        let mut reader = BufReader::new(File::open(path).map_err(unread)?);
        let (mut places, mut cut, mut at, mut line) = (Vec::new(), None, 0, Vec::new());
        loop {
            line.clear();
            let bytes = reader.read_until(b'\n', &mut line).map_err(unread)?;
            if bytes == 0 {
                break;
            }
            let place = Place { line: places.len() + 1, at, bytes };
            at += bytes as u64;
            if line.last() == Some(&b'\n') { places.push(place) } else { cut = Some(place) }
        }
        Ok(Self { path: path.to_owned(), file: Mutex::new(reader.into_inner()), places, cut })
    }

    /// Returns a line.
    fn text(&self, place: Place) -> Result<String, Error> {
        let mut bytes = vec![0; place.bytes];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(place.at)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|source| Error::Read { path: self.path.clone(), source })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns a part.
    fn part(&self, place: Place) -> Result<Part, Error> {
        Part::read(&self.text(place)?).map_err(|it| self.blame(place, *it))
    }

    /// Takes away what a stopped process has not written to its end.
    fn shorten(&self) -> Result<(), Error> {
        let Some(cut) = self.cut else { return Ok(()) };
        let file = OpenOptions::new().write(true).open(&self.path);
        file.and_then(|it| it.set_len(cut.at))
            .map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    /// Lays a problem at a line.
    fn blame(&self, place: Place, mut problem: Diagnostic) -> Error {
        problem.place.line_column = Some((place.line, 1));
        in_file(&self.path, problem)
    }
}

/// Lays a problem at a file.
fn in_file(path: &Path, mut problem: Diagnostic) -> Error {
    problem.place.file = path.display().to_string();
    vec![problem].into()
}
