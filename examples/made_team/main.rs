//! How well the first screen finds levers whose worth is known: made-up teams of eight people, with levers and decoys built in.
//!
//! `cargo run --release --example made_team -- --seeds 50` measures; `--write FOLDER SEED` writes the logs of one team.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command that prints tables")]

mod bill;
mod levers;
mod log;
mod measured;
mod team;

use std::path::Path;

use ctxsim::BoxError;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["--write", folder, seed] => number(seed).and_then(|seed| write(Path::new(folder), seed, |_| true)),
        ["--seeds", n] => number(n).and_then(measured::print),
        [] => measured::print(50),
        _ => Err("use `--seeds N`, or `--write FOLDER SEED`".into()),
    };
    if let Err(error) = done {
        eprintln!("{error}");
        std::process::exit(2);
    }
}

fn number(text: &str) -> Result<u64, BoxError> {
    Ok(text.parse()?)
}

/// Writes the logs of one team, of the sessions that are asked for.
fn write(folder: &Path, seed: u64, is_asked: impl Fn(&team::Session) -> bool) -> Result<(), BoxError> {
    let (people, words) = (team::people(), log::Words::new());
    for session in team::sessions(&people, seed).into_iter().filter(is_asked) {
        let (billed, _) = bill::bill(&session, people[session.person].model, &bill::AS_IS, team::LEAD);
        log::write(folder, &people, &session, &billed, &words)?;
    }
    Ok(())
}
