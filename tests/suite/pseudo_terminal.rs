//! What only happens on a terminal: the program runs on a pseudo-terminal, and the screen is read after emulation.
//!
//! Its progress takes one line while it works and none afterwards, and what stays is what a pipe gets, in its colours or in none.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::Read as _;
use std::num::NonZero;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use vt100::{Color, Parser, Screen};

use crate::support::*;

/// The rows of the terminal: few, so that an answer takes as many lines as in a pipe.
const ROWS: u16 = 24;
/// The rows that are emulated: all that is written stays in sight.
const IN_SIGHT: u16 = 600;
const COLUMNS: [u16; 3] = [80, 100, 140];

/// What a check holds.
const GUARD: &str = "\n[[guards]]\nname = \"prompts fit\"\npolicy = \"identity\"\nmetric = \"totals.prompt_tokens_max\"\nbelow = 1000000\n";

/// Longer than work that shows no progress.
const PAUSE: Duration = Duration::from_millis(1_100);
/// How long the program works before it is paused, at the first try.
const FIRST: Duration = Duration::from_millis(30);

/// How often a command is started until its work is seen.
const TRIES: u32 = 3;

/// The time between the beginnings of two commands.
const BETWEEN: Duration = Duration::from_millis(60);

/// A project whose only suite has recorded sessions, which begin in different years.
fn sessions(n: u64) -> TempDir {
    let folder = folder_of_years(n);
    let paths: Vec<String> = (0..n).map(|nth| format!("\"../s{nth}.jsonl\"")).collect();
    let suite = format!(
        "name = \"mine\"\nabout = \"Sessions.\"\npolicies = [\"identity\", \"clear_tool_results\"]\nscenarios = [{}]\nprofiles = [\"anthropic/claude-sonnet-5.5\"]\n",
        paths.join(", ")
    );
    fs::create_dir(folder.path().join("suites")).unwrap();
    fs::write(folder.path().join("suites/mine.toml"), suite + GUARD).unwrap();
    fs::write(folder.path().join("ctxsim.toml"), "folders = [\".\"]\n").unwrap();
    folder
}

fn ctxsim(folder: &Path, args: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color");
    command
}

/// Pauses a program until it has shown something, as a machine does that is busy with something else: so any work lasts.
fn slow_down(program: &mut Child, works: Duration, has_shown: &AtomicBool) {
    let pid = Pid::from_raw(i32::try_from(program.id()).unwrap());
    while !has_shown.load(Ordering::Relaxed) && program.try_wait().unwrap().is_none() {
        thread::sleep(works);
        kill(pid, Signal::SIGSTOP).unwrap();
        thread::sleep(PAUSE);
        kill(pid, Signal::SIGCONT).unwrap();
    }
}

/// Returns all that a program writes to a terminal, paused each time that it has worked for so long.
fn written(mut command: Command, columns: u16, works: Duration) -> String {
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
        slow_down(&mut program, works, &has_shown);
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

/// What a cell shows: its letter, its colour, and whether it is bold or faint.
type Cell = (String, Color, bool, bool);

/// Returns what is seen of a screen: its rows, without the blanks behind them.
fn seen(screen: &Screen) -> Vec<Vec<Cell>> {
    let (rows, columns) = screen.size();
    let row = |row| {
        let cells = (0..columns.get()).filter_map(|column| screen.cell(row, column));
        let mut cells: Vec<Cell> =
            cells.map(|it| (it.contents().to_owned(), it.fgcolor(), it.bold(), it.dim())).collect();
        let n = cells.iter().rposition(|it| !it.0.trim().is_empty()).map_or(0, |it| it + 1);
        cells.truncate(n);
        cells
    };
    let mut rows: Vec<Vec<Cell>> = (0..rows.get()).map(row).collect();
    let n = rows.iter().rposition(|it| !it.is_empty()).map_or(0, |it| it + 1);
    rows.truncate(n);
    rows
}

/// Returns the text of what is seen.
fn letters(rows: &[Vec<Cell>]) -> String {
    let row = |row: &Vec<Cell>| {
        row.iter().map(|it| if it.0.is_empty() { " " } else { &it.0 }).collect::<String>() + "\n"
    };
    rows.iter().map(row).collect()
}

/// Returns the screen on which a pipe's text of some width would be shown.
fn piped(folder: &Path, args: &[String], columns: u16) -> Parser {
    let mut command = ctxsim(folder, args);
    let piped = command.args(["--color", "always"]).env("COLUMNS", columns.to_string()).output().unwrap();
    assert!(piped.status.success(), "{}", String::from_utf8_lossy(&piped.stderr));
    let mut screen = emulator(columns);
    // A pipe's ends of lines are those of a terminal, too.
    screen.process(String::from_utf8(piped.stdout).unwrap().replace('\n', "\r\n").as_bytes());
    screen
}

/// Holds a terminal, while the program works and after it, against a screen.
fn becomes(expected: &Screen, folder: &Path, args: &[String], has_colours: bool) {
    let columns = expected.size().1.get();
    let text_after = |nth: u32| {
        let mut command = ctxsim(folder, args);
        if !has_colours {
            command.env("NO_COLOR", "1");
        }
        written(command, columns, FIRST / nth)
    };

    // On a machine that is busy or quick, a pause may miss the work.
    let text =
        (1..TRIES).map(text_after).find(|text| text.contains('░')).unwrap_or_else(|| text_after(TRIES));

    let told = format!("{args:?} at {columns}, colours: {has_colours}");
    assert!(!text.contains(|it| ('\u{2400}'..='\u{2426}').contains(&it)), "a code is shown: {told}:\n{text}");
    let mut parser = emulator(columns);
    let mut frames = Vec::new();
    // A return without a new line begins the next frame.
    let mut rest = text.as_str();
    while let Some(end) = rest.find('\r') {
        let (frame, others) = rest.split_at(end + 1);
        parser.process(frame.as_bytes());
        rest = others;
        if rest.starts_with('\n') {
            continue;
        }
        let lines = progress(parser.screen(), columns);
        assert!(lines.len() <= 1, "progress takes one line: {told}: {lines:?}");
        frames.extend(lines);
    }
    parser.process(rest.as_bytes());
    assert!(!frames.is_empty(), "nothing was seen of the work: {told}:\n{text}");
    for line in &frames {
        let words = line.trim_start_matches(['█', '░']);
        assert!(words.starts_with(" Reading ") || words.starts_with(" Simulating "), "{told}: {line}");
        assert!(words.contains(" of "), "{told}: {line}");
    }
    let (seen, expected) = (seen(parser.screen()), seen(expected));
    assert_eq!(letters(&seen), letters(&expected), "{told}");
    let is_plain = |it: &Cell| it.1 == Color::Default && !it.2 && !it.3;
    assert!(if has_colours { seen == expected } else { seen.iter().flatten().all(is_plain) }, "{told}");
}

/// The commands, on so many recorded sessions each.
const COMMANDS: [(u64, &str); 7] = [
    (1, "screen"),
    (1, "run"),
    (1, "advise"),
    (2, "tune --policy clear_tool_results --vary params.trigger.tokens=40000,60000"),
    (2, "sensitivity --policy identity clear_tool_results --scenario"),
    (2, "import --report"),
    (2, "check"),
];

#[test]
fn a_terminal_shows_progress_in_one_line_and_then_what_a_pipe_gets_at_every_width_with_colours_and_without() {
    let folder = sessions(2);
    thread::scope(|scope| {
        let mut begins = Duration::ZERO;
        for (n, line) in COMMANDS {
            let paths = (0..n).map(|nth| format!("s{nth}.jsonl"));
            let paths = paths.filter(|_| line != "check");
            let args: Vec<String> = line.split(' ').map(str::to_owned).chain(paths).collect();
            for columns in COLUMNS {
                // All at once, as most of the time each is paused; one after the other, as each has to begin.
                begins += BETWEEN;
                let (args, folder) = (args.clone(), folder.path());
                scope.spawn(move || {
                    thread::sleep(begins);
                    let expected = piped(folder, &args, columns);
                    thread::scope(|scope| {
                        scope.spawn(|| becomes(expected.screen(), folder, &args, true));
                        scope.spawn(|| becomes(expected.screen(), folder, &args, false));
                    });
                });
            }
        }
    });
}
