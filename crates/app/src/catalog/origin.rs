//! Where an input stands: in the binary, on disk, in another revision, or in memory.

use std::any::Any;
use std::borrow::Cow;
use std::io::{self, BufRead, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{BUNDLED_MARK, BundledFile, PipedBytes, Revision, is_same_file};
use ctxsim_base::error::Error;
use ctxsim_input::Format;
use ctxsim_input::policy::OwnCode;
use ctxsim_input::text::source::{self, Source, read_text};
use ctxsim_timeline::{Timeline, import};

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
    /// In memory, at a path that says its kind, its name and its format.
    Memory(Arc<HeldText>),
    /// A value that was built in code, at a path that says its kind and its name; a timeline is under the scenario's name.
    Built(Arc<Built>),
}

/// A text in memory.
#[derive(Debug, PartialEq, Eq)]
pub struct HeldText {
    path: PathBuf,
    text: String,
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
pub struct Built {
    path: PathBuf,
    value: Box<dyn Any + Send + Sync>,
    /// The code behind it: what a policy runs, or how a profile's cache works.
    code: Option<OwnCode>,
}

impl PartialEq for Built {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Built {}

impl HeldText {
    /// Holds a text.
    pub fn new(path: &str, text: String) -> Self {
        Self { path: path.into(), text }
    }
}

impl Built {
    /// Holds a value, and the code behind it.
    pub fn new<T: Any + Send + Sync>(path: &str, value: T, code: Option<OwnCode>) -> Self {
        Self { path: path.into(), value: Box::new(value), code }
    }
}

impl Origin {
    /// Returns the code behind an input that was built in code.
    pub fn code(&self) -> Option<&OwnCode> {
        if let Self::Built(it) = self { it.code.as_ref() } else { None }
    }

    /// Returns what was built in code, if it was, as such a value.
    pub(super) fn value<T: Any>(&self) -> Option<&T> {
        if let Self::Built(it) = self { it.value.downcast_ref() } else { None }
    }

    /// Returns the timeline of a scenario that was built in code.
    pub fn timeline(&self) -> Option<&Arc<Timeline>> {
        self.value()
    }

    /// Returns the path, without its tree.
    pub fn path(&self) -> &Path {
        match self {
            Self::Bundled(it) => Path::new(it.path()),
            Self::File(path) | Self::Revision(_, path) => path,
            Self::Stream(it) => &it.path,
            Self::Memory(it) => &it.path,
            Self::Built(it) => &it.path,
        }
    }

    /// Returns the file's name in diagnostics.
    pub fn label(&self) -> String {
        match self {
            Self::Bundled(it) => format!("{BUNDLED_MARK}{}", it.path()),
            Self::File(path) => path.display().to_string(),
            Self::Stream(it) => it.path.display().to_string(),
            Self::Revision(revision, path) => revision.label(path),
            Self::Memory(it) => format!("{MEMORY_MARK}{}", it.path.display()),
            Self::Built(it) => format!("{MEMORY_MARK}{}", it.path.display()),
        }
    }

    /// Returns the text.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn text(&self) -> Result<Cow<'static, str>, Error> {
        match self {
            Self::Bundled(it) => Ok(Cow::Borrowed(it.text())),
            Self::File(path) => read_text(path).map(Cow::Owned),
            Self::Stream(it) => Ok(Cow::Owned(String::from_utf8_lossy(&it.bytes).into_owned())),
            Self::Revision(revision, path) => {
                let text = revision.text(path).ok_or_else(|| missing(path))?;
                Ok(Cow::Owned(text.to_owned()))
            }
            Self::Memory(it) => Ok(Cow::Owned(it.text.clone())),
            Self::Built(it) => Err(missing(&it.path)),
        }
    }

    /// Opens the file, which may be of any length.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn reader(&self) -> Result<Box<dyn BufRead>, Error> {
        match self {
            Self::Bundled(it) => Ok(Box::new(it.text().as_bytes())),
            Self::File(path) => opened(path),
            Self::Stream(it) => Ok(Box::new(io::Cursor::new(SharedBytes(Arc::clone(it))))),
            Self::Revision(..) | Self::Memory(_) | Self::Built(_) => {
                Ok(Box::new(io::Cursor::new(self.text()?.into_owned())))
            }
        }
    }

    /// Returns a file whose name is relative to this one's folder, in the same tree.
    pub fn beside(&self, relative: &str) -> Option<Self> {
        let folder = self.path().parent().unwrap_or(Path::new(""));
        match self {
            Self::Bundled(it) => it.other(&plain(&folder.join(relative))).map(Self::Bundled),
            Self::File(_) => Some(Self::File(folder.join(relative))),
            Self::Revision(revision, _) => {
                let wanted = PathBuf::from(plain(&folder.join(relative)));
                revision.text(&wanted).map(|_| Self::Revision(Arc::clone(revision), wanted))
            }
            // Its recording is what was read, or the timeline itself.
            Self::Stream(_) => Some(self.clone()),
            Self::Built(_) if self.timeline().is_some() => Some(self.clone()),
            // What is in memory names files from the working folder on.
            Self::Memory(_) | Self::Built(_) => Some(Self::File(PathBuf::from(relative))),
        }
    }

    /// Returns whether both are the same file, however their paths are written.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => one == other || is_same_file(one, other),
            _ => self == other,
        }
    }

    /// Reads the file as an input with a format.
    pub(super) fn source(&self) -> Result<Source, Error> {
        match self {
            Self::Built(_) => Ok(Source::new(self.label(), Format::Ron, "")),
            Self::Bundled(_) | Self::Stream(_) | Self::Revision(..) | Self::Memory(_) => {
                let format = Format::of(self.path()).unwrap_or(Format::Ron);
                Ok(Source::new(self.label(), format, self.text()?))
            }
            Self::File(path) => Source::read(path),
        }
    }
}

/// Returns a path with `.` and `..` resolved and `/` between its parts.
pub(super) fn plain(path: &Path) -> String {
    let mut parts: Vec<Cow<'_, str>> = Vec::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                parts.pop();
            }
            other => parts.push(other.as_os_str().to_string_lossy()),
        }
    }
    parts.join("/")
}

/// Opens a file. A database comes with the log of what was written last, which may lie beside it: neither is locked or changed.
fn opened(path: &Path) -> Result<Box<dyn BufRead>, Error> {
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
fn missing(path: &Path) -> Error {
    Error::Read { path: path.to_owned(), source: std::io::ErrorKind::NotFound.into() }
}
