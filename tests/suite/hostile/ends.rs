//! A command that is told to end: its programs end, and nothing temporary stays.

use std::thread;
use std::time::{Duration, Instant};

use super::tree::Tree;
use crate::support::*;

/// Waits until something holds, or for so long that it never will.
fn waited(until: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !until() && begun.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(5));
    }
    until()
}

#[test]
fn a_signal_ends_the_programs_and_removes_the_files_of_the_revision() {
    let tree = Tree::new();
    let pid = tree.top().join("pid");

    for signal in ["-TERM", "-INT", "-HUP"] {
        let _ = fs::remove_file(&pid);
        let mut command = tree.command(env!("CARGO_BIN_EXE_ctxsim"), &tree.repository());
        command
            .args(args("run --policy rev:origin/main:sleeps --scenario one --profile plain --allow-process"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let id =
            || fs::read_to_string(&pid).ok().filter(|it| it.ends_with('\n')).map(|it| it.trim().to_owned());
        assert!(waited(|| id().is_some()), "the program starts");
        let program = id().unwrap();
        let lives =
            || Command::new("kill").args(["-0", &program]).stderr(Stdio::null()).status().unwrap().success();
        assert!(lives() && fs::read_dir(tree.temporary()).unwrap().next().is_some(), "it runs in a checkout");

        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();

        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert!(waited(|| !lives()), "{signal}: the program lives on");
        assert!(fs::read_dir(tree.temporary()).unwrap().next().is_none(), "{signal}: the checkout stays");
    }
}
