//! A program that runs beside a simulation: lines to it, lines from it, deadlines, and its end.
//!
//! Three threads serve its pipes, so that a program that does not read, does not answer or prints without end holds up nobody. None of
//! them is waited for: a grandchild may hold a pipe open for as long as it likes.
#![allow(
    clippy::disallowed_methods,
    reason = "the one place of the library that starts programs and keeps deadlines"
)]

use crate::prelude::*;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::Process;
use crate::own::BoxError;

/// How long a program may take to end when its input is closed.
const GRACE: Duration = Duration::from_secs(1);
/// How long the end of a dead program's standard error is waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// The longest line that is read of an answer, in bytes.
const LINE_MAX: u64 = 64 << 20;
/// How many lines of standard error are kept, and how many bytes of each.
const LINES_KEPT: usize = 20;
const LINE_KEPT: u64 = 4096;
/// How many lines are read that nobody has asked for.
const LINES_AHEAD: usize = 4;

/// The programs at work.
static RUNNING: Mutex<Vec<Weak<Mutex<std::process::Child>>>> = Mutex::new(Vec::new());

/// Ends every program at once. For a process that ends: none starts any more, and whoever waits for one waits until then, and tells of no
/// failure.
pub fn end_all() {
    let all = lock(&RUNNING);
    let running: Vec<_> = all.iter().filter_map(Weak::upgrade).collect();
    for it in &running {
        let mut process = lock(it);
        let _ = process.kill();
        std::mem::forget(process);
    }
    std::mem::forget((running, all));
}

/// Locks what no panic leaves half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program, its input and its output.
pub(super) struct Child {
    process: Arc<Mutex<std::process::Child>>,
    deadline: Duration,
    /// Lines on their way to it.
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<Heard>,
    errors: Errors,
    /// Whether its last lines on standard error have been told.
    is_told: bool,
}

/// What comes of its output.
enum Heard {
    Line(Vec<u8>),
    TooLong,
    Failed(io::Error),
}

/// What it says on standard error.
struct Errors {
    last: Arc<Mutex<VecDeque<String>>>,
    /// Ends when standard error does.
    end: Receiver<()>,
}

impl Child {
    /// Starts a program.
    pub(super) fn start(process: &Process, play: u8) -> Result<Self, BoxError> {
        let Some((program, args)) = process.command.split_first() else {
            return Err("the command names no program".into());
        };
        let folder = if process.folder.as_os_str().is_empty() { Path::new(".") } else { &process.folder };
        let folder = std::path::absolute(folder)?;
        if !folder.is_dir() {
            return Err(format!("cannot start `{program}`: there is no folder {}", folder.display()).into());
        }
        // A program that is named by a path is found from the folder on, others by `PATH`.
        let path = Path::new(program);
        let is_path = path.components().count() > 1 || program.starts_with('.');
        let mut command = Command::new(if is_path { folder.join(path) } else { path.to_owned() });
        command.args(args).current_dir(&folder);
        // Python's sets have an order of their own in each process, unless it is told otherwise. A second play is told another.
        command.env("PYTHONHASHSEED", play.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (process_started, pipes) =
            started(&mut command).map_err(|it| unstartable(program, &folder, &it))?;
        let (input, lines) = mpsc::channel();
        let (heard, output) = mpsc::sync_channel(LINES_AHEAD);
        let (alive, end) = mpsc::channel();
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&last);
        // From here on the program is ended whatever happens.
        let child = Self {
            process: process_started,
            deadline: process.deadline,
            input: Some(input),
            output,
            errors: Errors { last, end },
            is_told: false,
        };
        if let (Some(stdin), Some(stdout), Some(stderr)) = pipes {
            spawn(move || write(stdin, &lines))?;
            spawn(move || read(stdout, &heard))?;
            spawn(move || keep(stderr, &kept, &alive))?;
        }
        Ok(child)
    }

    /// Sends a line to it, without waiting until it has read it.
    pub(super) fn tell(&mut self, message: &impl Serialize) -> Result<(), BoxError> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        // Where it does not read any more, its answer says why.
        let _ = self.input.as_ref().map(|it| it.send(line));
        Ok(())
    }

    /// Waits for a line from it.
    pub(super) fn hear(&mut self, asked: &str) -> Result<Vec<u8>, BoxError> {
        let what = match self.output.recv_timeout(self.deadline) {
            Ok(Heard::Line(line)) => return Ok(line),
            Ok(Heard::TooLong) => {
                format!("the program answered {asked} with a line longer than {} MiB", LINE_MAX >> 20)
            }
            Ok(Heard::Failed(error)) => format!("cannot read the program's answer to {asked}: {error}"),
            Err(RecvTimeoutError::Timeout) => {
                format!("the program did not answer {asked} within {}", seconds(self.deadline))
            }
            Err(RecvTimeoutError::Disconnected) => match self.ended(GRACE) {
                Some(status) => format!("the program ended before it answered {asked} ({status})"),
                None => format!("the program closed its standard output before it answered {asked}"),
            },
        };
        Err(self.fault(&what))
    }

    /// Ends the program at once and adds to what went wrong what it said on standard error.
    pub(super) fn fault(&mut self, what: &str) -> BoxError {
        self.kill();
        // Nothing is sent: the thread that reads standard error drops its end when there is no more.
        let _ = self.errors.end.recv_timeout(LAST_WORDS);
        let last = lock(&self.errors.last);
        if last.is_empty() || std::mem::replace(&mut self.is_told, true) {
            return what.into();
        }
        let lines: String = last.iter().map(|it| format!("\n  {it}")).collect();
        format!("{what}; its last lines on standard error:{lines}").into()
    }

    /// Closes its input and ends it; returns whether it ended by itself.
    pub(super) fn close(&mut self) -> bool {
        self.input = None;
        if self.ended(GRACE).is_some() {
            return true;
        }
        self.kill();
        false
    }

    /// Waits for its end.
    fn ended(&mut self, patience: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + patience;
        let mut pause = Duration::from_micros(200);
        loop {
            match lock(&self.process).try_wait() {
                Ok(Some(status)) => return Some(status),
                Err(_) => return None,
                Ok(None) => {}
            }
            if Instant::now() >= until {
                return None;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    fn kill(&mut self) {
        self.input = None;
        let mut process = lock(&self.process);
        // It fails where the program has ended, and then there is nothing to wait for.
        if process.kill().is_ok() {
            let _ = process.wait();
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.close();
    }
}

/// A program's ends of its three pipes.
type Pipes = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

/// Starts a program that [`end_all`] ends.
fn started(command: &mut Command) -> io::Result<(Arc<Mutex<std::process::Child>>, Pipes)> {
    let mut all = lock(&RUNNING);
    let mut child = command.spawn()?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let child = Arc::new(Mutex::new(child));
    all.retain(|it| it.strong_count() > 0);
    all.push(Arc::downgrade(&child));
    Ok((child, pipes))
}

/// Says why a program cannot be started.
fn unstartable(program: &str, folder: &Path, error: &io::Error) -> BoxError {
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    if is_missing && folder.join(program).is_file() && !program.contains('/') {
        return format!(
            "cannot start `{program}`: there is no such program on PATH; for the one in the policy file's folder, write `./{program}`"
        )
        .into();
    }
    if is_missing {
        return format!(
            "cannot start `{program}`: there is no such program; install it, or correct the command"
        )
        .into();
    }
    format!("cannot start `{program}`: {error}").into()
}

fn seconds(time: Duration) -> String {
    let ms = time.as_millis();
    if ms.is_multiple_of(1000) { format!("{} s", ms / 1000) } else { format!("{ms} ms") }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), BoxError> {
    thread::Builder::new().spawn(work)?;
    Ok(())
}

/// Writes lines until there are no more, or nobody reads them.
fn write(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Reads lines until there are no more, or nobody asks for them.
fn read(stdout: impl Read, heard: &SyncSender<Heard>) {
    let mut stdout = BufReader::with_capacity(1 << 16, stdout);
    loop {
        let mut line = Vec::new();
        let said = match stdout.by_ref().take(LINE_MAX).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) if line.ends_with(b"\n") || (line.len() as u64) < LINE_MAX => Heard::Line(line),
            Ok(_) => Heard::TooLong,
            Err(error) => Heard::Failed(error),
        };
        let is_last = !matches!(said, Heard::Line(_));
        if heard.send(said).is_err() || is_last {
            return;
        }
    }
}

/// Keeps the last lines of standard error; the sender goes when there are no more.
fn keep(stderr: impl Read, last: &Mutex<VecDeque<String>>, _alive: &Sender<()>) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match stderr.by_ref().take(LINE_KEPT).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let mut last = lock(last);
        if last.len() == LINES_KEPT {
            last.pop_front();
        }
        last.push_back(String::from_utf8_lossy(line.trim_ascii_end()).into_owned());
    }
}
