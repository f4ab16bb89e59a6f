//! Where inputs come from: files, revisions of them, what ships, and what is held in memory; and of which kind each is.

use crate::prelude::*;
use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::io::{self, BufRead, Read as _};

use crate::catalog::{BUNDLED_MARK, PipedBytes, is_same_file, kind_and_name};
use ctxsim_input::policy::OwnCode;
use ctxsim_input::text::source::{self, read_text};
use ctxsim_timeline::import;

/// What the name of an input in memory begins with in diagnostics.
pub(super) const MEMORY_MARK: &str = "memory:";

/// The longest database or log of one that is read, in bytes.
const DATABASE_BYTES_MAX: u64 = 1 << 30;

/// What stands at the front of a log as long as it is the same one.
const LOG_HEADER_BYTES: u64 = 32;

/// How often a database is read whose log is begun anew meanwhile.
const READS_MAX: usize = 3;

/// The place of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Among the files that ship.
    Bundled(BundledFile),
    /// On disk.
    File(PathBuf),
    /// A device or a pipe on disk, which is read once.
    Stream(Arc<PipedBytes>),
    /// In another revision of the user's repository, at this path below its folder.
    Revision(Arc<Revision>, PathBuf),
    /// A text or a value in memory, at a path that says its kind, its name and, of a text, its format; a timeline is under the scenario's name.
    Built(Arc<BuiltInput>),
}

/// The bytes of a stream, for a reader of its own.
struct SharedBytes(Arc<PipedBytes>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0.bytes
    }
}

/// A value that was built in code: what a file would say, or the timeline that a scenario plays, whatever name it has itself.
#[derive(Debug)]
pub struct BuiltInput {
    path: PathBuf,
    value: Box<dyn Any + Send + Sync>,
    /// The code behind it: what a policy runs, or how a profile's cache works.
    code: Option<OwnCode>,
}

impl PartialEq for BuiltInput {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for BuiltInput {}

impl BuiltInput {
    /// Holds a value, and the code behind it.
    pub fn new<T: Any + Send + Sync>(path: &str, value: T, code: Option<OwnCode>) -> Self {
        Self { path: path.into(), value: Box::new(value), code }
    }

    /// Returns the text, if it is one that is held.
    fn held_text(&self) -> Option<&String> {
        self.value.downcast_ref()
    }
}

impl Origin {
    /// Returns the code behind an input that was built in code.
    pub fn own_code(&self) -> Option<&OwnCode> {
        if let Self::Built(it) = self { it.code.as_ref() } else { None }
    }

    /// Returns what was built in code, if it was, as such a value.
    pub(super) fn built_value<T: Any>(&self) -> Option<&T> {
        if let Self::Built(it) = self { it.value.downcast_ref() } else { None }
    }

    /// Returns the timeline of a scenario that was built in code.
    pub fn built_timeline(&self) -> Option<&Arc<Timeline>> {
        self.built_value()
    }

    /// Returns whether its first lines are those of a recorded session.
    pub(super) fn is_recording(&self) -> bool {
        self.open_reader().is_ok_and(|mut it| import::detect_from(it.as_mut()).is_ok_and(|it| it.is_some()))
    }

    /// Returns the path, without its tree.
    pub fn path(&self) -> &Path {
        match self {
            Self::Bundled(it) => Path::new(it.path),
            Self::File(path) | Self::Revision(_, path) => path,
            Self::Stream(it) => &it.path,
            Self::Built(it) => &it.path,
        }
    }

    /// Returns the file's name in diagnostics.
    pub fn label(&self) -> String {
        match self {
            Self::Bundled(it) => format!("{BUNDLED_MARK}{}", it.path),
            Self::File(path) => path.display().to_string(),
            Self::Stream(it) => it.path.display().to_string(),
            Self::Revision(revision, path) => revision.label(path),
            Self::Built(it) => format!("{MEMORY_MARK}{}", it.path.display()),
        }
    }

    /// Returns the text.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read_text(&self) -> Result<Cow<'static, str>> {
        match self {
            Self::Bundled(it) => Ok(Cow::Borrowed(it.text)),
            Self::File(path) => read_text(path).map(Cow::Owned),
            Self::Stream(it) => Ok(Cow::Owned(String::from_utf8_lossy(&it.bytes).into_owned())),
            Self::Revision(revision, path) => {
                let text = revision.text(path).ok_or_else(|| missing_file_error(path))?;
                Ok(Cow::Owned(text.to_owned()))
            }
            Self::Built(it) => {
                it.held_text().cloned().map(Cow::Owned).ok_or_else(|| missing_file_error(&it.path))
            }
        }
    }

    /// Opens the file, which may be of any length.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open_reader(&self) -> Result<Box<dyn BufRead>> {
        match self {
            Self::Bundled(it) => Ok(Box::new(it.text.as_bytes())),
            Self::File(path) => open_with_wal(path),
            Self::Stream(it) => Ok(Box::new(io::Cursor::new(SharedBytes(Arc::clone(it))))),
            Self::Revision(..) | Self::Built(_) => {
                Ok(Box::new(io::Cursor::new(self.read_text()?.into_owned())))
            }
        }
    }

    /// Returns a file whose name is relative to this one's folder, in the same tree.
    pub fn file_beside(&self, relative: &str) -> Option<Self> {
        let folder = self.path().parent().unwrap_or(Path::new(""));
        match self {
            Self::Bundled(it) => it.bundle.file(&normalize_path(&folder.join(relative))).map(Self::Bundled),
            Self::File(_) => Some(Self::File(folder.join(relative))),
            Self::Revision(revision, _) => {
                let wanted = PathBuf::from(normalize_path(&folder.join(relative)));
                revision.text(&wanted).map(|_| Self::Revision(Arc::clone(revision), wanted))
            }
            // Its recording is what was read, or the timeline itself.
            Self::Stream(_) => Some(self.clone()),
            Self::Built(_) if self.built_timeline().is_some() => Some(self.clone()),
            // What is in memory names files from the working folder on.
            Self::Built(_) => Some(Self::File(PathBuf::from(relative))),
        }
    }

    /// Returns whether both are the same file, however their paths are written.
    pub fn is_same_input(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => one == other || is_same_file(one, other),
            _ => self == other,
        }
    }

    /// Reads the file as an input with a format.
    pub(super) fn read_source(&self) -> Result<Source> {
        match self {
            Self::Built(it) if it.held_text().is_none() => Ok(Source::new(self.label(), Format::Ron, "")),
            Self::Bundled(_) | Self::Stream(_) | Self::Revision(..) | Self::Built(_) => {
                let format = Format::from_path(self.path()).unwrap_or(Format::Ron);
                Ok(Source::new(self.label(), format, self.read_text()?))
            }
            Self::File(path) => Source::read(path),
        }
    }

    /// Returns the folder of the file on disk; `None` if it is not there.
    pub(super) fn folder_on_disk(&self) -> Option<PathBuf> {
        let path = match self {
            Self::File(path) => path.clone(),
            Self::Revision(revision, path) => revision.checkout.as_ref()?.join(path),
            Self::Stream(it) => it.path.clone(),
            Self::Bundled(_) | Self::Built(_) => return None,
        };
        path.parent().map(Path::to_owned)
    }

    /// Returns the policy of the same revision with a given name; `None` outside revisions.
    pub(super) fn find_in_revision(&self, name: &str) -> Option<Self> {
        let Self::Revision(revision, _) = self else { return None };
        let paths = ["ron", "toml"].map(|it| PathBuf::from(format!("{name}.{it}")));
        let path = paths.into_iter().find(|it| revision.text(it).is_some())?;
        Some(Self::Revision(revision.clone(), path))
    }
}

/// Returns a path with `.` and `..` resolved and `/` between its parts.
pub(super) fn normalize_path(path: &Path) -> String {
    let mut parts: Vec<Cow<'_, str>> = Vec::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => drop(parts.pop()),
            other => parts.push(other.as_os_str().to_string_lossy()),
        }
    }
    parts.join("/")
}

/// Opens a file. A database comes with the log of what was written last, which may lie beside it: neither is locked or changed.
fn open_with_wal(path: &Path) -> Result<Box<dyn BufRead>> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let mut reader = source::open(path)?;
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let log = PathBuf::from(log);
    let front = reader.fill_buf().unwrap_or_default();
    if !import::is_database(front) || !log.metadata().is_ok_and(|it| it.is_file()) {
        return Ok(reader);
    }
    // Pages that are put into the database meanwhile are in the log as well, unless it is begun anew.
    for _ in 0..READS_MAX {
        let mut begun = Vec::new();
        source::open(&log)?.take(LOG_HEADER_BYTES).read_to_end(&mut begun).map_err(failed)?;
        let database = source::read_bytes(path, DATABASE_BYTES_MAX)?;
        let written = source::read_bytes(&log, DATABASE_BYTES_MAX)?;
        if written.starts_with(&begun) {
            return Ok(Box::new(io::Cursor::new(import::with_log(database, &written))));
        }
    }
    Err(failed(io::Error::other("its agent writes to it all the time; copy it first, with its `-wal` file")))
}

/// Reports a missing file.
fn missing_file_error(path: &Path) -> Error {
    Error::Read { path: path.to_owned(), source: std::io::ErrorKind::NotFound.into() }
}

/// Returns the kind of a file by its top-level fields or, if these fit several kinds, by the nearest folder
/// named after a kind.
///
/// # Errors
/// The file cannot be read.
pub fn kind_of_file(path: &Path) -> Result<InputKind> {
    if Format::from_path(path).is_none() {
        return Ok(InputKind::Scenario);
    }
    let likely = likely_kinds(&Source::read(path)?);
    let folders: Vec<_> = path.components().map(|it| it.as_os_str().to_string_lossy()).listed();
    let of_folder = folders.iter().rev().find_map(|it| likely.iter().find(|kind| kind.folder_name() == it));
    Ok(*of_folder.or(likely.first()).unwrap_or(&InputKind::Policy))
}

/// Returns the kinds that share most of a file's top-level fields.
fn likely_kinds(source: &Source) -> Vec<InputKind> {
    let n_known = |fields: &[&str]| source.keys().filter(|it| fields.contains(it)).count();
    let known = [
        (InputKind::Policy, n_known(source::fields::<PolicyFile>())),
        (InputKind::Scenario, n_known(source::fields::<ScenarioFile>())),
        (InputKind::Profile, n_known(source::fields::<ProfileFile>())),
        (InputKind::Suite, n_known(source::fields::<SuiteFile>())),
    ];
    let most = known.iter().map(|(_, n)| *n).max().unwrap_or(0);
    known.into_iter().filter(|(_, n)| *n == most).map(|(kind, _)| kind).listed()
}

/// Reports a file of another kind than requested, or nothing if it may be of that kind.
pub(super) fn other_kind_problem(asked: InputKind, source: &Source) -> Option<Diagnostic> {
    let likely = likely_kinds(source);
    let found = *likely.first().filter(|_| !likely.contains(&asked))?;
    let command = format!("ctxsim run --{} {}", found.noun(), source.file);
    Some(wrong_kind_problem(asked, found.noun(), &source.file, &command))
}

/// Reports a recorded session where an input file was expected, or nothing if it is not one.
pub(super) fn recording_instead_problem(asked: InputKind, origin: &Origin) -> Option<Diagnostic> {
    let label = origin.label();
    let is_recorded = Format::from_path(origin.path()).is_none() && origin.is_recording();
    is_recorded.then(|| wrong_kind_problem(asked, "recorded session", &label, &format!("ctxsim run {label}")))
}

fn wrong_kind_problem(asked: InputKind, found: &str, file: &str, command: &str) -> Diagnostic {
    let message = format!("this file is a {found}, not a {}", asked.noun());
    Diagnostic::at(Code("file-kind"), "", message).help(format!("run `{command}`")).in_file(file)
}

impl Catalog {
    /// Adds a text under a path as files have it below a folder of inputs: `policies/mine.ron`. It replaces one of the same name.
    /// Returns whether the path names a kind and a format.
    pub fn try_add_text(&mut self, path: &str, text: String) -> bool {
        let Some(key) = kind_and_name(path) else { return false };
        self.entries.insert(key, Origin::Built(Arc::new(BuiltInput::new(path, text, None))));
        true
    }

    /// Adds what a file of a kind would say, such as a `PolicyFile`, and the code behind it. It replaces one of the same name.
    pub fn add_built<T: Any + Send + Sync>(
        &mut self,
        kind: InputKind,
        name: &str,
        spec: T,
        code: Option<OwnCode>,
    ) {
        let built = BuiltInput::new(&format!("{}/{name}.ron", kind.folder_name()), spec, code);
        self.entries.insert((kind, name.to_owned()), Origin::Built(Arc::new(built)));
    }

    /// Adds a scenario that was built in code, under a name.
    pub fn add_timeline(&mut self, name: &str, timeline: Arc<Timeline>) {
        let built = BuiltInput::new(name, timeline, None);
        self.entries.insert((InputKind::Scenario, name.to_owned()), Origin::Built(Arc::new(built)));
    }

    /// Returns the text of an input in memory that a diagnostic names.
    pub(super) fn text_in_memory(&self, label: &str) -> Option<String> {
        let path = Path::new(label.strip_prefix(MEMORY_MARK)?);
        let mut texts = self.entries.values().filter(|it| it.path() == path);
        texts.find_map(|it| it.built_value::<String>().cloned())
    }
}

/// The prefix of a policy's name in another revision.
pub const REVISION_MARK: &str = "rev:";

/// The policy files of a folder in a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The user's name for it: a branch, a tag, a commit.
    name: String,
    /// The folder, as the user's paths begin.
    folder: PathBuf,
    /// The texts, by path below the folder.
    files: BTreeMap<PathBuf, String>,
    /// Where the folder is checked out, if programs in it may start.
    checkout: Option<PathBuf>,
}

impl Revision {
    /// Takes the texts of a folder, by path below it.
    pub fn new(name: &str, folder: &Path, files: BTreeMap<PathBuf, String>) -> Self {
        Self { name: name.to_owned(), folder: folder.to_owned(), files, checkout: None }
    }

    /// Returns the same revision with its folder checked out.
    pub fn with_checkout(&self, folder: PathBuf) -> Self {
        Self { checkout: Some(folder), ..self.clone() }
    }

    /// Returns the user's name for it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns all files, by path below the folder.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files.iter().map(|(path, text)| (path.as_path(), text.as_str()))
    }

    /// Returns the text of a file.
    pub fn text(&self, path: &Path) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Returns a file's name in diagnostics, in git's notation: the revision, a colon, the path.
    pub(super) fn label(&self, path: &Path) -> String {
        format!("{}:{}", self.name, self.folder.join(path).display())
    }

    /// Returns the text of a file by its name in diagnostics.
    pub(super) fn text_by_label(&self, label: &str) -> Option<&str> {
        self.files.iter().find(|(path, _)| self.label(path) == label).map(|(_, text)| text.as_str())
    }
}

/// Files with their paths and texts, sorted by path within each folder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bundle(&'static [(&'static str, &'static str)]);

/// A file of a bundle.
#[derive(Clone, Copy, Debug)]
pub struct BundledFile {
    bundle: Bundle,
    pub(super) path: &'static str,
    pub(super) text: &'static str,
}

/// A file's text in memory, and what it was read as.
type Reading = (usize, TypeId);

impl Bundle {
    /// Takes paths and texts.
    pub const fn new(files: &'static [(&'static str, &'static str)]) -> Self {
        Self(files)
    }

    /// Returns all files, in order.
    pub(super) fn files(self) -> impl Iterator<Item = BundledFile> {
        self.0.iter().map(move |(path, text)| BundledFile { bundle: self, path, text })
    }

    /// Returns the file at a path.
    pub(super) fn file(self, path: &str) -> Option<BundledFile> {
        self.files().find(|it| it.path == path)
    }
}

impl BundledFile {
    /// Returns what the file was read as, or reads it: it never changes, and a small plan would take most of its time for such files.
    pub(crate) fn read_once<T: Clone + Send + Sync + 'static>(
        self,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        static KNOWN: Mutex<BTreeMap<Reading, Arc<dyn Any + Send + Sync>>> = Mutex::new(BTreeMap::new());
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        // Two bundles may have different files at one path, so the path is not enough.
        let reading = (self.text.as_ptr().addr(), TypeId::of::<T>());
        let before = known().get(&reading).cloned();
        if let Some(before) = before.and_then(|it| it.downcast::<T>().ok()) {
            return Ok((*before).clone());
        }
        let read = read()?;
        known().insert(reading, Arc::new(read.clone()));
        Ok(read)
    }
}

impl PartialEq for BundledFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.text == other.text
    }
}

impl Eq for BundledFile {}
