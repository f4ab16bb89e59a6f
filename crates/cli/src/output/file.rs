//! The one writer: a regular file whole or not at all, a device or a pipe as it is, and nothing through a link.

use crate::prelude::*;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Read as _, Write};

use tempfile::{NamedTempFile, TempPath};

use crate::project::Project;

/// Where the system itself has links to devices and pipes.
const SYSTEM: [&str; 2] = ["/dev", "/proc"];

/// Checks that a file can be written before any work is done.
///
/// # Errors
/// Its folder does not exist, it is a folder, it may not be written, or its path leads through a link.
pub(crate) fn check_output_path(path: &Path) -> Result<()> {
    check_no_link(path)?;
    let checked = output_kind_at(path).and_then(|place| match place {
        OutputKind::Other | OutputKind::File(Some(_)) => Ok(()),
        OutputKind::File(None) => fs::metadata(parent_or_current(path)).map(|_| ()),
    });
    checked.map_err(|source| write_error(path, source))
}

/// Writes text, unless that would replace something that must be kept.
///
/// # Errors
/// As [`check_no_link`] and [`OverwriteRules::check_may_write`], or the disk is full.
pub(crate) fn write_text_file(path: &Path, text: impl AsRef<[u8]>, kept: OverwriteRules<'_>) -> Result<()> {
    let text = text.as_ref();
    kept.check_may_write(path, Some(text))?;
    write_atomically(path, |to| to.write_all(text))
}

/// Writes what is made as it is written to whatever is at a path.
///
/// # Errors
/// It cannot be made, or the disk is full.
pub(super) fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    stage_file(path, write)?.map_or(Ok(()), StagedFile::move_into_place)
}

/// Writes what will be at a path beside it; a device or a pipe has it at once.
///
/// # Errors
/// It cannot be written: then there is nothing beside the path either.
pub(super) fn stage_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Option<StagedFile>> {
    let written = output_kind_at(path).and_then(|place| match place {
        OutputKind::Other => write_to_device(path, write).map(|()| None),
        OutputKind::File(permissions) => StagedFile::new(path, permissions, write).map(Some),
    });
    written.map_err(|source| write_error(path, source))
}

/// A file that is stored beside its place, and not there yet. It is closed: of many that land together, a process may not hold so many open.
pub(super) struct StagedFile {
    path: PathBuf,
    temporary: TempPath,
}

impl StagedFile {
    fn new(
        path: &Path,
        permissions: Option<Permissions>,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Self> {
        let file = create_temporary_file(parent_or_current(path), permissions.as_ref())?;
        let mut to = BufWriter::new(file.as_file());
        let written = write(&mut to).and_then(|()| to.flush());
        drop(to);
        let written =
            written.and_then(|()| permissions.map_or(Ok(()), |it| file.as_file().set_permissions(it)));
        // After a crash of the system a name must not lead to a file whose bytes were never stored.
        let written = written.and_then(|()| file.as_file().sync_all());
        let staged = Self { path: path.to_owned(), temporary: file.into_temp_path() };
        // The temporary file's own name would only confuse.
        written.map(|()| staged).map_err(|it| it.kind().into())
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub(super) fn move_into_place(self) -> Result<()> {
        let (path, temporary) = (self.path, self.temporary.to_path_buf());
        let landed = self.temporary.persist(&path).map_err(|it| write_error(&path, it.error.kind().into()));
        ends::keep_on_interrupt(&temporary);
        landed
    }
}

/// Opens a file to which lines are added one by one.
///
/// # Errors
/// Its path leads through a link, or it cannot be opened.
pub(crate) fn open_to_append(path: &Path) -> Result<File> {
    check_no_link(path)?;
    OpenOptions::new().create(true).append(true).open(path).map_err(|source| write_error(path, source))
}

/// Cuts a file off behind so many bytes.
///
/// # Errors
/// As [`append`].
pub(crate) fn truncate_file(path: &Path, bytes: u64) -> Result<()> {
    open_to_append(path)?.set_len(bytes).map_err(|source| write_error(path, source))
}

/// Removes a file of ctxsim's own; one that is not there is removed already.
///
/// # Errors
/// Its path leads through a link, or it may not be removed.
pub(crate) fn remove_own_file(path: &Path) -> Result<()> {
    check_no_link(path)?;
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(write_error(path, source)),
        _ => Ok(()),
    }
}

/// Creates a folder if it is missing.
///
/// # Errors
/// Its path leads through a link, or it cannot be made.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    if let Some(link) = Project::of_working_folder().first_project_symlink_on(folder) {
        return Err(link_error(folder, &link));
    }
    fs::create_dir_all(folder).map_err(|source| write_error(folder, source))
}

/// Refuses a path that is a link, or that leads through a link of the project: whoever wrote the project would choose what is
/// written.
///
/// # Errors
/// It is one, or does.
pub(crate) fn check_no_link(path: &Path) -> Result<()> {
    let above = Project::of_working_folder().first_project_symlink_on(path);
    let link = above.or_else(|| path.is_symlink().then(|| path.to_owned()));
    link.filter(|_| !is_system_device(path)).map_or(Ok(()), |link| Err(link_error(path, &link)))
}

/// Says that a path leads through a link.
fn link_error(path: &Path, link: &Path) -> Error {
    let message = match link.file_name() == path.file_name() {
        true => "this is a link, and ctxsim writes through no link".to_owned(),
        false => format!("`{}` is a link, and ctxsim writes through no link", link.display()),
    };
    let help = match fs::read_link(link) {
        Ok(to) => format!("name what it leads to, `{}`, or remove the link", to.display()),
        Err(_) => "name what it leads to, or remove the link".to_owned(),
    };
    error_at(Code("output-link"), path, message, help)
}

/// Returns whether a path is a link of the system's own to a device or a pipe, such as `/dev/stderr`.
fn is_system_device(path: &Path) -> bool {
    SYSTEM.iter().any(|it| path.starts_with(it))
        && fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

fn write_error(path: &Path, source: io::Error) -> Error {
    Error::Write { path: path.to_owned(), source }
}

/// What is at a path, which is not a link.
enum OutputKind {
    /// A device, a pipe, a socket.
    Other,
    /// A regular file, with its permissions, or nothing yet.
    File(Option<Permissions>),
}

/// Returns what is at a path.
fn output_kind_at(path: &Path) -> io::Result<OutputKind> {
    match fs::metadata(path) {
        Ok(it) if it.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(it) if it.is_file() => {
            // A rename would replace a file that is protected from writing.
            OpenOptions::new().write(true).open(path)?;
            Ok(OutputKind::File(Some(it.permissions())))
        }
        Ok(_) => Ok(OutputKind::Other),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(OutputKind::File(None)),
        Err(error) => Err(error),
    }
}

pub(super) fn parent_or_current(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes to a device or pipe; a closed pipe is not an error.
fn write_to_device(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::new(OpenOptions::new().write(true).open(path)?);
    match write(&mut file).and_then(|()| file.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Makes a temporary file that an interrupt removes.
fn create_temporary_file(folder: &Path, permissions: Option<&Permissions>) -> io::Result<NamedTempFile> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "permissions are those of Unix"))]
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(permissions.cloned().unwrap_or(std::os::unix::fs::PermissionsExt::from_mode(0o666)));
    #[cfg(not(unix))]
    let _ = permissions;
    ends::create_temporary(|| builder.tempfile_in(folder), NamedTempFile::path)
}

/// The sentence in the first line of every file whose format has comments; in HTML it follows the document type.
const REMARK: &str = "Written by ctxsim.";

/// What stands around the sentence in the formats that have comments.
const COMMENT_SIGNS: [char; 8] = ['<', '!', '-', '>', '/', '#', ' ', '\r'];

/// The first line of a page, before which nothing may stand.
const DOCTYPE: &str = "<!DOCTYPE html>";

/// How the other formats begin: parts of the text that follow each other, the first of them at the beginning.
const BEGINNINGS: [&[&str]; 15] = [
    &["{\n  \"schema\": \"ctxsim."],
    &["{\"policy\":\"", "\",\"scenario\":\"", "\",\"profile\":\""],
    &["{\"session\":", ",\"turn\":", ",\"step\":", ",\"n\":", ",\"role\":\""],
    &["{\"card_type\":\"agingbench.AgingCard\""],
    &["{\"dependency_graph\":{\"accumulators\":"],
    &["policy,scenario,profile,"],
    &["session,turn,step,n,", "role,"],
    &["scenario,as_of,profile,policy,"],
    &["<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ctxsim\""],
    &["{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\"", "\"name\": \"ctxsim\""],
    &["{\n  \"$schema\": \"https://json-schema.org/", "\n  \"title\": \"PolicyFile\","],
    &["{\n  \"$schema\": \"https://json-schema.org/", "\n  \"title\": \"ScenarioFile\","],
    &["{\n  \"$schema\": \"https://json-schema.org/", "\n  \"title\": \"ProfileFile\","],
    &["{\n  \"$schema\": \"https://json-schema.org/", "\n  \"title\": \"SuiteFile\","],
    &[".ie \\n(.g .ds Aq", "\n.TH ctxsim"],
];

/// How much of a file is read to recognise it.
const HEAD_BYTES: u64 = 4 << 10;

/// What a command must keep.
#[derive(Clone, Copy)]
pub(crate) struct OverwriteRules<'a> {
    /// Its inputs, which are always kept.
    pub inputs: &'a InputFiles,
    /// Which other files it may replace.
    pub replaced: Replaceable,
}

/// Which files may be replaced, besides empty ones and those that have the text already.
#[derive(Clone, Copy)]
pub(crate) enum Replaceable {
    /// Results that ctxsim wrote.
    Results,
    /// Those that begin so, and no other: what is kept beside the inputs, by a name that nobody typed.
    Beginning(&'static str),
    /// All: the user says so.
    All,
}

impl OverwriteRules<'_> {
    /// Checks that writing to a path loses nothing; a file with the text that is to be written loses nothing either.
    ///
    /// # Errors
    /// The path leads through a link, to an input, or to a file that ctxsim did not write.
    pub(crate) fn check_may_write(self, path: &Path, text: Option<&[u8]>) -> Result<()> {
        if fs::metadata(path).is_ok_and(|it| it.is_file()) && self.inputs.contains_path(path) {
            let message = "this file is one of the inputs";
            return Err(error_at(Code("output-input"), path, message, "name another file"));
        }
        check_no_link(path)?;
        // Devices and pipes keep nothing, and may have no end.
        let Some(there) = fs::metadata(path).ok().filter(fs::Metadata::is_file) else { return Ok(()) };
        let is_replaced = match self.replaced {
            Replaceable::Results => is_written_by_ctxsim(path),
            Replaceable::Beginning(text) => file_begins_with(path, text),
            Replaceable::All => true,
        };
        // No more is read than the text is long.
        let has_text = |text: &[u8]| {
            there.len() == text.len() as u64 && read_first_bytes(path, there.len()).is_ok_and(|it| it == text)
        };
        if is_replaced || there.len() == 0 || text.is_some_and(has_text) {
            return Ok(());
        }
        let help = match self.replaced {
            Replaceable::Beginning(_) => "move it away: a file of ctxsim's own is kept at this path",
            _ => "name another file, or add `--force` to replace this one",
        };
        Err(error_at(Code("output-exists"), path, "this file exists, and ctxsim did not write it", help))
    }
}

/// Returns whether a file, and not a link, begins with a text, whatever its line ends.
pub(crate) fn file_begins_with(path: &Path, text: &str) -> bool {
    let is_file = fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    let begins = |it: Vec<u8>| String::from_utf8_lossy(&it).replace("\r\n", "\n").starts_with(text);
    is_file && read_first_bytes(path, HEAD_BYTES).is_ok_and(begins)
}

/// Returns whether a file says that ctxsim wrote it.
fn is_written_by_ctxsim(path: &Path) -> bool {
    let Ok(head) = read_first_bytes(path, HEAD_BYTES) else { return false };
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.lines().skip_while(|it| *it == DOCTYPE);
    let has_remark = lines.next().is_some_and(|it| it.trim_matches(COMMENT_SIGNS) == REMARK);
    // Rows are the same as lines and in a list.
    let head = head.strip_prefix("[\n").unwrap_or(&head);
    has_remark || BEGINNINGS.iter().any(|it| has_parts_in_order(head, it))
}

/// Returns whether a text begins with the first of some parts, and has the others after it, in order.
fn has_parts_in_order(text: &str, parts: &[&str]) -> bool {
    let Some((first, others)) = parts.split_first() else { return false };
    let after = |text: &'_ str, part: &&str| text.find(*part).map(|it| it + part.len());
    let mut at = first.len();
    text.starts_with(first) && others.iter().all(|it| after(&text[at..], it).map(|n| at += n).is_some())
}

/// Reads the beginning of a file.
fn read_first_bytes(path: &Path, bytes: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(bytes).read_to_end(&mut head)?;
    Ok(head)
}

/// How a file says that ctxsim wrote it.
#[derive(Clone, Copy)]
pub(crate) enum WrittenByRemark {
    /// A line of its own.
    Line,
    /// A comment between these signs.
    Comment(&'static str, &'static str),
    /// A comment after the document type.
    AfterDoctype,
    /// Nothing: the format has no comments, or what is written is the user's from now on.
    None,
}

impl WrittenByRemark {
    /// Adds the remark to the text of an input file.
    pub(crate) fn add_to_input(format: Format, text: impl AsRef<[u8]>) -> Vec<u8> {
        Self::Comment(if format == Format::Ron { "// " } else { "# " }, "").add_to_text(text)
    }

    /// Adds the remark to a text.
    pub(crate) fn add_to_text(self, text: impl AsRef<[u8]>) -> Vec<u8> {
        let text = text.as_ref();
        let (before, rest) = match self {
            Self::Line => (format!("{REMARK}\n\n"), text),
            Self::Comment(open, close) => (format!("{open}{REMARK}{close}\n"), text),
            Self::AfterDoctype => {
                let rest = text.strip_prefix(DOCTYPE.as_bytes()).unwrap_or(text);
                (format!("{DOCTYPE}\n<!-- {REMARK} -->"), rest)
            }
            Self::None => (String::new(), text),
        };
        [before.as_bytes(), rest].concat()
    }
}
