//! A command line under `strace`: the programs that it starts, and the paths that it writes, makes, renames or removes.

use super::tree::Tree;
use crate::support::*;

/// Calls that start a program or change a path.
const CALLS: &str = "execve,execveat,open,openat,openat2,creat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat,unlink,\
    unlinkat,rmdir,truncate,chmod,fchmodat,mknod,mknodat";

/// What a command line did.
pub(super) struct Traced {
    pub(super) output: Output,
    /// The programs that were started, besides ctxsim itself.
    pub(super) started: Vec<PathBuf>,
    /// The paths that were changed; devices do not count.
    pub(super) written: Vec<PathBuf>,
}

/// Returns whether calls can be traced here.
pub(super) fn is_traced() -> bool {
    static IS_TRACED: OnceLock<bool> = OnceLock::new();
    *IS_TRACED.get_or_init(|| {
        let tried = Command::new("strace").args(["-qq", "-f", "-e", "trace=execve", "true"]).output();
        tried.is_ok_and(|it| it.status.success())
    })
}

/// Runs a command line in the repository.
pub(super) fn run(tree: &Tree, line: &str) -> Traced {
    let repository = tree.repository();
    let args: Vec<&str> = line.split(' ').collect();
    if !is_traced() {
        let output = tree.ctxsim(&repository, &args);
        return Traced { output, started: Vec::new(), written: Vec::new() };
    }
    let log = tree.top().join("trace");
    let mut command = tree.command("strace", &repository);
    command.args(["-f", "-qq", "-s", "4096", "-o"]).arg(&log).args(["-e", &format!("trace={CALLS}")]);
    let output = command.arg(env!("CARGO_BIN_EXE_ctxsim")).args(&args).output().unwrap();
    let (mut started, mut written) = (Vec::new(), Vec::new());
    for call in fs::read_to_string(log).unwrap().lines().filter_map(Call::read) {
        // A folder of temporary files is removed from within.
        if call.has_failed || call.name == "unlinkat" && !call.is_of_working_folder() {
            continue;
        }
        if call.name.starts_with("execve") {
            started.extend(call.paths.first().map(PathBuf::from));
        } else if call.writes() {
            assert!(call.is_of_working_folder(), "cannot tell where this leads: {}", call.text);
            written.extend(call.paths.iter().map(|it| plain_path(&repository.join(it))));
        }
    }
    // The first is ctxsim itself.
    assert!(started.first().is_some_and(|it| it.ends_with("ctxsim")), "{started:?}");
    started.remove(0);
    written.retain(|it| !it.starts_with("/dev"));
    Traced { output, started, written }
}

/// A call, as strace writes it.
struct Call {
    text: String,
    name: String,
    /// The texts among its arguments.
    paths: Vec<String>,
    has_failed: bool,
}

impl Call {
    /// Reads a line: the process, the call, its arguments, its result.
    fn read(line: &str) -> Option<Self> {
        let text = line.trim_start_matches(|it: char| it.is_ascii_digit()).trim_start();
        let (name, rest) = text.split_once('(')?;
        let is_name = !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
        let is_first = |it: &String| name.starts_with("execve") && !it.is_empty();
        let mut paths = texts(rest);
        if paths.first().is_some_and(is_first) {
            paths.truncate(1);
        }
        let has_failed = rest.rsplit_once(" = ").is_some_and(|it| it.1.starts_with('-'));
        is_name.then(|| Self { text: text.to_owned(), name: name.to_owned(), paths, has_failed })
    }

    fn writes(&self) -> bool {
        let flags = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"];
        !self.name.starts_with("open") || flags.iter().any(|it| self.text.contains(it))
    }

    /// Returns whether its paths are absolute, or from the working folder on.
    fn is_of_working_folder(&self) -> bool {
        self.paths.iter().all(|it| it.starts_with('/'))
            || !self.name.contains("at")
            || self.name == "creat"
            || self.text.contains("(AT_FDCWD")
    }
}

/// Returns the quoted texts of a call, without their escapes.
fn texts(arguments: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut letters = arguments.chars();
    while let Some(letter) = letters.next() {
        if letter != '"' {
            continue;
        }
        let mut text = String::new();
        while let Some(letter) = letters.next().filter(|it| *it != '"') {
            text.push(if letter == '\\' { letters.next().unwrap_or('\\') } else { letter });
        }
        found.push(text);
    }
    found
}
