//! `--parts` and `ctxsim run --merge`: the parts of a job in a folder, made by any number of processes, and their fold.

use crate::prelude::*;
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_128;

use ctxsim_app::parts::{PartsRequest, PlanShard};
use ctxsim_app::{PlanWatch, as_unstoppable_watch};
use ctxsim_report::part::{JobKind, JobPart, PartHead, PartSet};
use ctxsim_timeline::import::{LINE_BYTES_MAX, read_line};

/// A folder of parts, and the share of the loads whose parts are made.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PartsArgs {
    /// Write one part per scenario to this folder, for `ctxsim run --merge`; parts that are there already are not made again
    #[arg(long, value_name = "DIR")]
    parts: Option<PathBuf>,
    /// Run one share of the scenarios, as in `3/16`
    #[arg(long, value_name = "I/N", value_parser = parse_shard, requires = "parts")]
    shard: Option<PlanShard>,
}

/// A job that comes to parts.
pub(crate) struct PartJob<'a, H: JobKind> {
    /// The digest of what it is.
    pub digest: &'a str,
    /// What its parts have in common.
    pub head: &'a H,
    /// The names of its loads.
    pub names: &'a [&'a str],
    pub threads: Option<usize>,
}

impl PartsArgs {
    /// Returns the folder, if parts are asked for.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.parts.as_deref()
    }

    /// Makes the parts of the share that are not in the folder yet, and prints what was done.
    pub(crate) fn make_missing_parts<H: JobKind>(
        &self,
        folder: &Path,
        job: &PartJob<'_, H>,
        play: impl FnOnce(PlanWatch<'_>, &PartsRequest<'_, H>) -> Result<()>,
    ) -> Result<()> {
        let shard = self.shard.unwrap_or(PlanShard::WHOLE);
        let &PartJob { digest, head, names, threads } = job;
        let store = PartFolder::open::<H>(folder, digest, names, shard)?;
        let (has, take) = (|nth: usize| store.made[nth], |part: JobPart<H>| store.write_part(&part));
        let making = PartsRequest { threads, job: digest, head, shard, is_made: &has, hand_over: &take };
        run_with_progress(SIMULATES, |progress| play(&as_unstoppable_watch(progress), &making))?;
        output::print_text(&store.describe_done())
    }
}

/// Parses a shard, `I/N`.
pub(crate) fn parse_shard(text: &str) -> Result<PlanShard, String> {
    let read = |(part, of): (&str, &str)| Some(PlanShard { part: part.parse().ok()?, of: of.parse().ok()? });
    let shard = text.split_once('/').and_then(read).filter(|it| (1..=it.of).contains(&it.part));
    shard.ok_or_else(|| "write the part and the number of parts, as in `3/16`".to_owned())
}

/// The parts of a job in a folder, and the file to which the missing ones of a share are written.
struct PartFolder {
    folder: PathBuf,
    own: PathBuf,
    /// By place, whether its part is there.
    made: Vec<bool>,
    /// The number of those in the share.
    n_there: usize,
    file: Mutex<File>,
    /// How many were written to the file.
    n_made: AtomicUsize,
}

impl PartFolder {
    /// Looks at what is there; parts of another job are refused.
    fn open<H: JobKind>(folder: &Path, job: &str, names: &[&str], shard: PlanShard) -> Result<Self> {
        output::make_folder(folder)?;
        let mut made = vec![false; names.len()];
        let own = folder.join(format!("part-{}-of-{}.jsonl", shard.part, shard.of));
        for path in part_files_in(folder)? {
            let lines = PartLines::index_lines(&path)?;
            for at in &lines.places {
                let part = lines.read_part_at::<H>(*at)?;
                if part.job != job {
                    let message = format!("this folder has parts of job {}, and this is job {job}", part.job);
                    let help = "name another folder: sessions, policies, profiles or options are others";
                    return Err(error_at(Code("part-job"), &path, message, help));
                }
                if let Some(place) = made.get_mut(part.nth) {
                    *place = true;
                }
            }
            // What a process that was stopped left behind is another process's unless it is this one's own.
            if let Some(cut) = lines.cut.filter(|_| path == own) {
                output::truncate_file(&path, cut.at)?;
            }
        }
        let n_there = (0..made.len()).filter(|it| made[*it] && shard.contains_scenario(names[*it])).count();
        let file = Mutex::new(output::open_to_append(&own)?);
        Ok(Self { folder: folder.to_owned(), own, made, n_there, file, n_made: AtomicUsize::new(0) })
    }

    /// Writes a part.
    fn write_part<H: JobKind>(&self, part: &JobPart<H>) -> Result<()> {
        let line = part.to_json_line().map_err(unwritable_error)?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_data());
        self.n_made.fetch_add(1, Ordering::Relaxed);
        written.map_err(|source| Error::Write { path: self.own.clone(), source })
    }

    /// Says what was done.
    fn describe_done(self) -> String {
        let n_made = self.n_made.into_inner();
        let there =
            if self.n_there == 0 { String::new() } else { format!(", {} were there already", self.n_there) };
        let (own, folder) = (self.own.display(), self.folder.display());
        format!("{own}: {n_made} parts made{there}; `ctxsim run --merge {folder}` folds them.\n")
    }
}

/// Returns the schema of the parts in folders or files; `None` if they are something else, such as shards of a sweep.
pub(crate) fn schema_of_first_part(paths: &[PathBuf]) -> Result<Option<String>> {
    let all = part_files(paths)?;
    let begin = |path: &PathBuf| {
        let mut head = String::new();
        // What follows may be cut in the middle of a letter.
        File::open(path).and_then(|it| it.take(HEAD).read_to_string(&mut head)).ok()?;
        Some(head.strip_prefix("{\"schema\":\"")?.split('"').next()?.to_owned())
    };
    let is_folder = paths.iter().any(|it| it.is_dir());
    let found = all.iter().find_map(begin);
    // An empty folder has no parts, which is told as such.
    Ok(found.or_else(|| is_folder.then(|| PartHead::SCHEMA.to_owned())))
}

/// The first bytes of a file of parts, which tell its schema.
const HEAD: u64 = 48;

/// The most lines of one file of parts: thousands of times what a folder of sessions comes to.
const LINES_MAX: usize = 10_000_000;

/// Broken parts are told up to this number.
const PROBLEMS_MAX: usize = 64;

/// What reads a part by its number.
pub(crate) type PartReader<'a, H> = &'a dyn Fn(usize) -> Result<JobPart<H>>;

/// Folds all parts of folders and files, which are read in the order of their plan.
pub(crate) fn fold_part_files<H: JobKind, R>(
    paths: &[PathBuf],
    fold_in_order: impl FnOnce(&[usize], PartReader<'_, H>) -> Result<R>,
) -> Result<R> {
    let files = part_files(paths)?;
    let all = files.iter().map(|it| PartLines::index_lines(it)).collect::<Result<Vec<_>>>()?;
    let mut whole = PartSet::default();
    let mut problems = Vec::new();
    let mut places: Vec<(usize, LinePlace)> = Vec::new();
    for (nth, lines) in all.iter().enumerate() {
        for at in lines.places.iter().chain(&lines.cut) {
            if problems.len() >= PROBLEMS_MAX {
                break;
            }
            let noted = lines.read_line_at(*at).and_then(|text| {
                let part = JobPart::<H>::from_json_line(&text).map_err(|it| lines.error_at_line(*at, *it))?;
                let digest = xxh3_128(text.as_bytes());
                whole.add_part(&part, places.len(), digest).map_err(|it| lines.error_at_line(*at, *it))
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
    let first = paths.first().map_or(Path::new(""), PathBuf::as_path);
    let order = whole.part_numbers_in_plan_order().map_err(|it| error_in_file(first, *it))?;
    fold_in_order(&order, &|number| {
        let (file, at) = places[number];
        all[file].read_part_at(at)
    })
}

/// Returns the files of parts in folders, in order, and the files that are named themselves.
fn part_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let files = |path: &PathBuf| if path.is_dir() { part_files_in(path) } else { Ok(vec![path.clone()]) };
    Ok(paths.iter().map(files).collect::<Result<Vec<_>>>()?.concat())
}

/// Returns the files of parts in a folder, in order.
fn part_files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).and_then(|all| all.map(|it| Ok(it?.path())).collect());
    let mut found: Vec<PathBuf> =
        entries.map_err(|source| Error::Read { path: folder.to_owned(), source })?;
    found.retain(|it| it.extension().is_some_and(|it| it == "jsonl"));
    found.sort();
    Ok(found)
}

/// Where a line is in its file.
#[derive(Clone, Copy, Debug)]
struct LinePlace {
    /// Its number, from 1.
    line: usize,
    at: u64,
    bytes: usize,
}

/// A file of parts, which stay on disk.
struct PartLines {
    path: PathBuf,
    file: Mutex<File>,
    places: Vec<LinePlace>,
    /// What is behind the last end of a line: a process was stopped while it wrote.
    cut: Option<LinePlace>,
}

impl PartLines {
    /// Finds the lines of a file.
    fn index_lines(path: &Path) -> Result<Self> {
        let unread = |source| Error::Read { path: path.to_owned(), source };
        let mut reader = BufReader::new(File::open(path).map_err(unread)?);
        let (mut places, mut cut, mut at, mut line) = (Vec::new(), None, 0, Vec::new());
        loop {
            line.clear();
            let bytes = read_line(&mut reader, &mut line).map_err(unread)?;
            if bytes == 0 {
                break;
            }
            let place = LinePlace { line: places.len() + 1, at, bytes };
            if bytes > LINE_BYTES_MAX {
                let message = format!("this line is longer than {} MiB", LINE_BYTES_MAX >> 20);
                let mut problem = Diagnostic::at(Code("part-broken"), "", message)
                    .help("a part is one line: remove this file, and run its shard again");
                problem.place.line_column = Some((place.line, 1));
                return Err(error_in_file(path, problem));
            }
            at += bytes as u64;
            if line.ends_with(b"\n") {
                places.push(place);
            } else {
                cut = Some(place);
            }
            if places.len() > LINES_MAX {
                let message = format!("this file has more than {} lines", thousands(LINES_MAX as u64));
                let help = "name files that ctxsim wrote with `--parts`";
                return Err(error_at(Code("part-broken"), path, message, help));
            }
        }
        Ok(Self { path: path.to_owned(), file: Mutex::new(reader.into_inner()), places, cut })
    }

    /// Returns a line.
    fn read_line_at(&self, place: LinePlace) -> Result<String> {
        let mut bytes = vec![0; place.bytes];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(place.at)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|source| Error::Read { path: self.path.clone(), source })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns a part.
    fn read_part_at<H: JobKind>(&self, place: LinePlace) -> Result<JobPart<H>> {
        JobPart::from_json_line(&self.read_line_at(place)?).map_err(|it| self.error_at_line(place, *it))
    }

    /// Lays a problem at a line.
    fn error_at_line(&self, place: LinePlace, mut problem: Diagnostic) -> Error {
        problem.place.line_column = Some((place.line, 1));
        error_in_file(&self.path, problem)
    }
}

/// Lays a problem at a file.
fn error_in_file(path: &Path, problem: Diagnostic) -> Error {
    problem.in_file(path.display().to_string()).into()
}
