//! The one program that starts without a flag: git, to read objects of a repository, so that nothing in a checkout decides what it does.
//!
//! It only looks up a revision, lists trees and prints objects as they are stored: these commands run no hook, filter, pager, monitor, diff
//! or text converter. Its configuration is that of the repository, which no checkout can write, below settings that keep each of these off.

use crate::prelude::*;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::path::Component;
use std::process::{Command, Output, Stdio};
use std::{env, thread};

use crate::project::work_tree_top;

/// The first version that fetches no missing object if it is told not to, and that takes no folder for a bare repository if it is told not to.
const OLDEST: [u32; 2] = [2, 45];

/// Settings above those of the repository: nothing that they name is started, and no protocol is spoken.
const SETTINGS: [&str; 9] = [
    "safe.bareRepository=explicit",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.alternateRefsCommand=false",
    "core.attributesFile=/dev/null",
    "diff.external=",
    "protocol.allow=never",
];

/// The environment of every call; of the caller's, nothing that is git's is kept but where the user's own settings are.
const ENVIRONMENT: [(&str, &str); 8] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];

/// The environment once the repository is known: not even the user's settings count any more.
const FIXED: [(&str, &str); 3] =
    [("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_SYSTEM", "/dev/null"), ("GIT_CONFIG_GLOBAL", "/dev/null")];

/// What of the caller's environment says where the user's own settings are, among them whose repositories are trusted.
const USERS: &str = "GIT_CONFIG";

/// A repository whose git directory is held fixed.
pub(super) struct Repository {
    /// The program.
    git: PathBuf,
    /// The top of the work tree.
    top: PathBuf,
    /// The git directory.
    directory: PathBuf,
}

/// A file of a revision.
pub(super) struct Blob {
    id: String,
    pub(super) kind: BlobKind,
    /// Its path from the top of the work tree.
    pub(super) path: PathBuf,
}

/// What a file of a revision is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlobKind {
    File,
    Program,
    Link,
}

/// A problem with git itself.
fn git_error(message: impl Into<String>, help: &str) -> Error {
    Error::refused(Code("git-failed"), message, help)
}

impl Repository {
    /// Finds the repository of a folder: that of the working folder if the folder is below its top, whatever lies between them; else the
    /// folder's own.
    ///
    /// # Errors
    /// There is none, git is missing or too old, or does not trust whose the repository is.
    pub(super) fn find_around(folder: &Path) -> Result<Self> {
        let (here, folder) = (real_folder(Path::new("."))?, real_folder(folder)?);
        let top = work_tree_top(&here).filter(|it| folder.starts_with(it)).or_else(|| work_tree_top(&folder));
        let Some(top) = top.map(without_windows_prefix) else {
            let message = format!("{} is not in a git repository", folder.display());
            return Err(git_error(message, "`rev:` reads policies of a git repository: run this in one"));
        };
        let git = find_git_outside(&top)?;
        let mut found = Self { directory: PathBuf::new(), git, top };
        found.check_git_version()?;
        let above = found.top.parent().unwrap_or(&found.top).to_owned();
        let mut command = found.git_command();
        command.env("GIT_CEILING_DIRECTORIES", above).args(["rev-parse", "--absolute-git-dir"]);
        let output = run_command(command)?;
        if !output.status.success() {
            let help = "`git status` in that folder says more; ctxsim reads the repository at the top of the work tree";
            return Err(git_error(format!("git failed: {}", first_error_line(&output.stderr)), help));
        }
        found.directory = path_from_bytes(output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout))?;
        Ok(found)
    }

    /// Returns the path of a folder from the top of the work tree on.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn path_below_top(&self, folder: &Path) -> Result<PathBuf> {
        let real = without_windows_prefix(&real_folder(folder)?);
        Ok(real.strip_prefix(&self.top).unwrap_or(&real).to_owned())
    }

    /// Returns the id of a revision's commit.
    ///
    /// # Errors
    /// There is no such revision.
    pub(super) fn commit_id_of(&self, revision: &str) -> Result<String> {
        let mut command = self.git_command_on_repository();
        // Nothing that begins with a dash is an option behind this.
        let commit = format!("{revision}^{{commit}}");
        command.args(["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]);
        let output = run_command(command)?;
        let id = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        if output.status.success() && id.bytes().all(|it| it.is_ascii_hexdigit()) && !id.is_empty() {
            return Ok(id);
        }
        let help = "check that the revision exists; in a shallow clone, fetch it first, as in `git fetch origin main`";
        Err(git_error(format!("git knows no revision `{revision}`"), help))
    }

    /// Returns the files of a commit below a folder, from the top of the work tree on.
    ///
    /// # Errors
    /// The commit is not complete.
    pub(super) fn list_blobs(&self, revision: &str, commit: &str, below: &Path) -> Result<Vec<Blob>> {
        let mut command = self.git_command_on_repository();
        command.args(["ls-tree", "-r", "-z", "--full-tree", commit, "--"]);
        if !below.as_os_str().is_empty() {
            command.arg(to_slash_separated(below));
        }
        let output = run_command(command)?;
        if !output.status.success() {
            return Err(incomplete_clone_error(revision, &first_error_line(&output.stderr)));
        }
        output.stdout.split(|it| *it == 0).filter_map(|it| parse_tree_line(it).transpose()).collect()
    }

    /// Hands out the content of files, one after the other, as it is stored.
    ///
    /// # Errors
    /// One is missing or cannot be taken.
    pub(super) fn for_each_blob<'b>(
        &self,
        revision: &str,
        blobs: impl IntoIterator<Item = &'b Blob>,
        mut take: impl FnMut(&Blob, &mut dyn Read) -> Result<()>,
    ) -> Result<()> {
        let blobs: Vec<&Blob> = blobs.into_iter().listed();
        if blobs.is_empty() {
            return Ok(());
        }
        let mut command = self.git_command_on_repository();
        command.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(|it| git_not_started_error(&it))?;
        let ids: String = blobs.iter().map(|it| format!("{}\n", it.id)).collect();
        let answered = match (child.stdin.take(), child.stdout.take()) {
            (Some(mut stdin), Some(stdout)) => {
                // Beside whoever reads the answers: git answers before it has read all.
                let writes = thread::Builder::new().spawn(move || stdin.write_all(ids.as_bytes()));
                writes.map_err(unreadable_answer_error).and_then(|_| {
                    hand_out_blob_contents(&mut BufReader::new(stdout), revision, &blobs, &mut take)
                })
            }
            _ => Ok(()),
        };
        // Whether or not all that it prints was read.
        let _ = child.kill();
        let _ = child.wait();
        answered
    }

    /// Refuses a git that would do what a checkout says.
    fn check_git_version(&self) -> Result<()> {
        let mut command = self.git_command();
        // No settings of the work tree are read for this.
        command.current_dir(self.top.ancestors().last().unwrap_or(&self.top)).arg("version");
        let text = String::from_utf8_lossy(&run_command(command)?.stdout).into_owned();
        let mut numbers =
            text.trim_start_matches("git version ").split('.').map(|it| it.trim().parse::<u32>().ok());
        let version = [numbers.next().flatten(), numbers.next().flatten()];
        let [oldest, oldest_minor] = OLDEST;
        let (message, why) = match version {
            [Some(major), Some(minor)] if [major, minor] >= OLDEST => return Ok(()),
            [Some(major), Some(minor)] => {
                let message = format!("git {major}.{minor} may start programs that a checkout names");
                (message, ", which can be kept from it")
            }
            _ => ("git does not say its version".to_owned(), ""),
        };
        let help = format!("install git {oldest}.{oldest_minor} or later{why}");
        Err(Error::refused(Code("git-too-old"), message, help))
    }

    /// Returns a call of git at the top of the work tree.
    fn git_command(&self) -> Command {
        #[allow(clippy::disallowed_methods, reason = "git reads revisions")]
        let mut command = Command::new(&self.git);
        command.current_dir(&self.top).stdin(Stdio::null()).arg("--no-pager");
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        let is_gits = |name: &OsStr| name.to_string_lossy().to_ascii_uppercase().starts_with("GIT_");
        let is_users = |name: &OsStr| name.to_string_lossy().starts_with(USERS);
        for (name, _) in env::vars_os().filter(|(it, _)| is_gits(it) && !is_users(it)) {
            command.env_remove(name);
        }
        command.env_remove("GIT_CONFIG_PARAMETERS").envs(ENVIRONMENT);
        command
    }

    /// Returns a call of git on the repository, wherever it would look for one.
    fn git_command_on_repository(&self) -> Command {
        let mut command = self.git_command();
        for (name, _) in env::vars_os().filter(|(it, _)| it.to_string_lossy().starts_with(USERS)) {
            command.env_remove(name);
        }
        command.envs(FIXED).env("GIT_DIR", &self.directory).env("GIT_WORK_TREE", &self.top);
        command
    }
}

/// Returns the real path of a folder; an empty one is the working folder.
fn real_folder(folder: &Path) -> Result<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs::canonicalize(folder).map_err(|source| Error::Read { path: folder.to_owned(), source })
}

/// Returns a real path as one types it: Windows has a form of its own for them, which git does not read.
fn without_windows_prefix(real: &Path) -> PathBuf {
    let text = real.to_string_lossy();
    text.strip_prefix(r"\\?\").filter(|_| cfg!(windows)).map_or_else(|| real.to_owned(), PathBuf::from)
}

/// Returns git as `PATH` names it; folders of the project and relative ones, which a checkout may fill, do not count.
fn find_git_outside(work_tree: &Path) -> Result<PathBuf> {
    let name = format!("git{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    let is_outside = |real: PathBuf| !without_windows_prefix(&real).starts_with(work_tree);
    let is_users = |folder: &PathBuf| folder.is_absolute() && fs::canonicalize(folder).is_ok_and(is_outside);
    let mut found = env::split_paths(&path).filter(is_users).map(|it| it.join(&name));
    let help = "install git; folders of the project on PATH do not count";
    found.find(|it| it.is_file()).ok_or_else(|| git_error("there is no git on PATH", help))
}

/// Runs git to its end.
fn run_command(mut command: Command) -> Result<Output> {
    command.output().map_err(|it| git_not_started_error(&it))
}

/// Hands out what `cat-file --batch` answers: a line with the size, the content, and the end of a line.
fn hand_out_blob_contents(
    stdout: &mut impl BufRead,
    revision: &str,
    blobs: &[&Blob],
    take: &mut impl FnMut(&Blob, &mut dyn Read) -> Result<()>,
) -> Result<()> {
    for blob in blobs {
        let mut head = String::new();
        stdout.read_line(&mut head).map_err(unreadable_answer_error)?;
        let bytes = head.trim_end().rsplit_once(' ').filter(|_| head.contains(" blob "));
        let Some(bytes) = bytes.and_then(|it| it.1.parse::<u64>().ok()) else {
            return Err(incomplete_clone_error(revision, &format!("`{}` is missing", blob.path.display())));
        };
        let mut content = stdout.by_ref().take(bytes);
        take(blob, &mut content)?;
        io::copy(&mut content, &mut io::sink()).map_err(unreadable_answer_error)?;
        stdout.read_exact(&mut [0]).map_err(unreadable_answer_error)?;
    }
    Ok(())
}

fn unreadable_answer_error(error: io::Error) -> Error {
    git_error(format!("git's answer cannot be read: {error}"), "try again")
}

fn git_not_started_error(error: &io::Error) -> Error {
    git_error(format!("cannot start git: {error}"), "install git")
}

/// Says that objects are missing, as in a partial clone.
fn incomplete_clone_error(revision: &str, what: &str) -> Error {
    let message = format!("this clone has only a part of `{revision}`: {what}");
    let help =
        "fetch the rest first: `git fetch --refetch --no-filter origin`; ctxsim itself fetches nothing";
    Error::refused(Code("git-incomplete"), message, help)
}

/// Returns the first line that git says.
fn first_error_line(stderr: &[u8]) -> String {
    let said = String::from_utf8_lossy(stderr);
    let said = said.lines().next().unwrap_or("no reason given");
    said.trim_start_matches("fatal: ").to_owned()
}

/// Reads a line of a listing; submodules are in repositories of their own.
fn parse_tree_line(line: &[u8]) -> Result<Option<Blob>> {
    let Some(tab) = line.iter().position(|it| *it == b'\t') else { return Ok(None) };
    let head = String::from_utf8_lossy(&line[..tab]);
    let mut words = head.split(' ');
    let kind = match words.next() {
        Some("100755") => BlobKind::Program,
        Some("120000") => BlobKind::Link,
        Some(mode) if mode.starts_with("100") => BlobKind::File,
        _ => return Ok(None),
    };
    let id = words.nth(1).unwrap_or_default().to_owned();
    Ok(Some(Blob { id, kind, path: path_from_bytes(&line[tab + 1..])? }))
}

/// Returns a path that git prints.
fn path_from_bytes(bytes: &[u8]) -> Result<PathBuf> {
    #[cfg(unix)]
    return Ok(PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes)));
    #[cfg(not(unix))]
    std::str::from_utf8(bytes)
        .map(PathBuf::from)
        .map_err(|_| git_error("a path in git is not valid UTF-8", "rename the file"))
}

/// Returns a path as git has it in its trees.
fn to_slash_separated(path: &Path) -> OsString {
    let names = path.components().filter(|it| matches!(it, Component::Normal(_)));
    names.map(Component::as_os_str).listed().join(OsStr::new("/"))
}
