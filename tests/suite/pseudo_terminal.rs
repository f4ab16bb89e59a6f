//! What only happens on a terminal: the program runs on a pseudo-terminal, and the screen is read after emulation. Its progress takes one line
//! while it works and none afterwards, and what stays is what a pipe gets, in its colours or in none.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::Read as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use vt100::{Color, Parser, Screen};

/// The rows of the terminal: few, so that an answer takes as many lines as in a pipe.
const ROWS: u16 = 24;
/// The rows that are emulated: all that is written stays in sight.
const IN_SIGHT: u16 = 600;
const COLUMNS: [u16; 3] = [80, 100, 140];

/// Longer than work that shows no progress.
const PAUSE: Duration = Duration::from_millis(1_100);
/// How long the program works before it is paused for the first time; each time, it works twice as long as the time before.
const FIRST: Duration = Duration::from_millis(10);

/// A folder with recorded sessions, which begin in different years.
fn sessions(n: u64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let session = fs::read_to_string(own("scenarios/recorded/claude-code-session.jsonl")).unwrap();
    for nth in 0..n {
        let own = session.replace("2026-", &format!("{}-", 2027 + nth)).replace("msg_", &format!("msg_{nth}"));
        fs::write(folder.path().join(format!("s{nth}.jsonl")), own).unwrap();
    }
    folder
}

fn own(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn ctxsim(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
    command.args(args).current_dir(own("tests/data/small")).stdin(Stdio::null());
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color");
    command
}

/// Pauses a program until it has shown something, as a machine does that is busy with something else: so any work lasts.
fn slow_down(program: &mut Child, has_shown: &AtomicBool) {
    let pid = Pid::from_raw(i32::try_from(program.id()).unwrap());
    let mut works = FIRST;
    while !has_shown.load(Ordering::Relaxed) && program.try_wait().unwrap().is_none() {
        thread::sleep(works);
        kill(pid, Signal::SIGSTOP).unwrap();
        thread::sleep(PAUSE);
        kill(pid, Signal::SIGCONT).unwrap();
        works *= 2;
    }
}

/// Returns all that a program writes to a terminal.
fn written(mut command: Command, columns: u16) -> String {
    let size = Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = openpty(&size, None).unwrap();
    let stdout = terminal.slave.try_clone().unwrap();
    let mut program = command.stdout(stdout).stderr(terminal.slave).spawn().unwrap();
    // The terminal ends when nobody has it open.
    drop(command);
    let mut master = File::from(terminal.master);
    let has_shown = AtomicBool::new(false);
    let bytes = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut all, mut part) = (Vec::new(), [0; 4096]);
            // At its end, a pseudo-terminal gives an error.
            while let Ok(n @ 1..) = master.read(&mut part) {
                all.extend(&part[..n]);
                has_shown.store(true, Ordering::Relaxed);
            }
            all
        });
        slow_down(&mut program, &has_shown);
        assert!(program.wait().unwrap().success());
        reader.join().unwrap()
    });
    String::from_utf8(bytes).unwrap()
}

fn emulator(columns: u16) -> Parser {
    let [rows, columns] = [IN_SIGHT, columns].map(|it| NonZero::new(it).unwrap());
    Parser::new(rows, columns, 0)
}

/// Returns the lines of a screen that show progress.
fn progress(screen: &Screen, columns: u16) -> Vec<String> {
    let is_progress = |it: &String| it.contains('░') || it.starts_with('█');
    screen.rows(0, columns).filter(is_progress).collect()
}

fn is_coloured(screen: &Screen) -> bool {
    let (rows, columns) = screen.size();
    let cells = |row| (0..columns.get()).filter_map(move |column| screen.cell(row, column));
    let mut cells = (0..rows.get()).flat_map(cells);
    cells.any(|it| it.fgcolor() != Color::Default || it.bold() || it.dim())
}

/// Holds a terminal, while the program works and after it, against what a pipe gets of the same width.
fn is_what_a_pipe_gets(args: &[&str], columns: u16, has_colours: bool) {
    let width = columns.to_string();
    let colours = if has_colours { "always" } else { "never" };
    let piped = ctxsim(&[args, &["--color", colours, "--width", &width]].concat()).output().unwrap();
    assert!(piped.status.success(), "{}", String::from_utf8_lossy(&piped.stderr));
    let mut command = ctxsim(args);
    if !has_colours {
        command.env("NO_COLOR", "1");
    }

    let text = written(command, columns);

    let told = format!("{args:?} at {columns}, colours: {has_colours}");
    assert!(!text.contains(|it| ('\u{2400}'..='\u{2426}').contains(&it)), "a code is shown: {told}:\n{text}");
    let mut parser = emulator(columns);
    let mut frames = Vec::new();
    for part in text.split_inclusive('\r') {
        parser.process(part.as_bytes());
        let lines = progress(parser.screen(), columns);
        assert!(lines.len() <= 1, "progress takes one line: {told}: {lines:?}");
        frames.extend(lines);
    }
    assert!(!frames.is_empty(), "nothing was seen of the work: {told}:\n{text}");
    for line in &frames {
        let words = line.trim_start_matches(['█', '░']);
        assert!(words.starts_with(" Reading ") || words.starts_with(" Simulating "), "{told}: {line}");
        assert!(words.contains(" of "), "{told}: {line}");
    }
    // A pipe's ends of lines are those of a terminal, too.
    let mut expected = emulator(columns);
    expected.process(String::from_utf8(piped.stdout).unwrap().replace('\n', "\r\n").as_bytes());
    let (screen, expected) = (parser.screen(), expected.screen());
    assert_eq!(screen.contents(), expected.contents(), "{told}");
    assert_eq!(screen.contents_formatted(), expected.contents_formatted(), "{told}");
    assert_eq!(is_coloured(screen), has_colours, "{told}");
}

/// Holds a command at all widths, with and without colours, at once: what is paused takes no time of others.
fn holds(args: &[&str]) {
    thread::scope(|scope| {
        for columns in COLUMNS {
            for has_colours in [true, false] {
                scope.spawn(move || is_what_a_pipe_gets(args, columns, has_colours));
            }
        }
    });
}

/// Holds a command on recorded sessions.
fn holds_on_sessions(n: u64, args: &[&str]) {
    let folder = sessions(n);
    holds(&[args, &[folder.path().to_str().unwrap()]].concat());
}

#[test]
fn the_first_screen_on_a_terminal_is_that_of_a_pipe() {
    holds_on_sessions(3, &["screen"]);
}

#[test]
fn a_run_on_a_terminal_is_that_of_a_pipe() {
    holds_on_sessions(4, &["run"]);
}

#[test]
fn advice_on_a_terminal_is_that_of_a_pipe() {
    holds_on_sessions(3, &["advise"]);
}

#[test]
fn tuning_on_a_terminal_is_that_of_a_pipe() {
    let vary = "params.trigger.tokens=40000,60000";
    holds_on_sessions(3, &["tune", "--policy", "clear_tool_results", "--vary", vary]);
}

#[test]
fn sensitivity_on_a_terminal_is_that_of_a_pipe() {
    holds_on_sessions(3, &["sensitivity", "--policy", "identity", "clear_tool_results", "--scenario"]);
}

#[test]
fn an_import_on_a_terminal_is_that_of_a_pipe() {
    holds_on_sessions(20, &["import"]);
}

#[test]
fn a_check_on_a_terminal_is_that_of_a_pipe() {
    holds(&["check", "--suite", "small"]);
}
