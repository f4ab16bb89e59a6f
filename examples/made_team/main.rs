//! How well the first screen finds levers whose worth is known: made-up teams of eight people, with levers and decoys built in.
//!
//! `cargo run --release --example made_team -- --seeds 50` measures; `--write FOLDER SEED` writes the logs of one team.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command that prints tables")]

mod bill;
mod log;
mod team;

use std::path::Path;

use bill::{AS_IS, Life, Setting};
use team::Session;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--write", folder, seed] => {
            if let Err(error) = write(Path::new(folder), seed.parse().unwrap_or(0)) {
                eprintln!("{error}");
            }
        }
        _ => truth(),
    }
}

/// Writes the logs of one team.
fn write(folder: &Path, seed: u64) -> std::io::Result<()> {
    let people = team::people();
    let words = log::Words::new();
    for session in team::sessions(&people, seed) {
        let (billed, _) = bill::bill(&session, people[session.person].model, &AS_IS, team::LEAD);
        log::write(folder, &people, &session, &billed, &words)?;
    }
    Ok(())
}

fn dollars(sessions: &[Session], setting: &Setting) -> f64 {
    let people = team::people();
    sessions.iter().map(|it| bill::bill(it, people[it.person].model, setting, team::LEAD).1).sum()
}

fn truth() {
    let settings: Vec<(String, Setting)> = vec![
        ("hour".into(), Setting { main: Life::Hour, ..AS_IS }),
        ("agents".into(), Setting { agents: Life::FiveMinutes, ..AS_IS }),
        ("skill".into(), Setting { rewrites: false, ..AS_IS }),
        ("front 3".into(), Setting { slim: Some(2), ..AS_IS }),
        ("front 5".into(), Setting { slim: Some(4), ..AS_IS }),
        ("w100".into(), Setting { window: Some(100_000), ..AS_IS }),
        ("w120".into(), Setting { window: Some(120_000), ..AS_IS }),
        ("w140".into(), Setting { window: Some(140_000), ..AS_IS }),
        ("w160".into(), Setting { window: Some(160_000), ..AS_IS }),
        ("w200".into(), Setting { window: Some(200_000), ..AS_IS }),
    ];
    let people = team::people();
    let teams: Vec<Vec<Session>> = (0..20).map(|it| team::sessions(&people, it)).collect();
    let bases: Vec<f64> = teams.iter().map(|it| dollars(it, &AS_IS)).collect();
    println!("base {:?}", &bases[..3]);
    println!(
        "sessions {} requests {}",
        teams[0].len(),
        teams[0].iter().map(|it| it.requests.len()).sum::<usize>()
    );
    for (name, setting) in settings {
        let saved: Vec<f64> =
            teams.iter().zip(&bases).map(|(it, base)| 1.0 - dollars(it, &setting) / base).collect();
        let mean = saved.iter().sum::<f64>() / 20.0;
        println!("{name}: {mean:.4} {:.4} {:.4}", saved[0], saved[1]);
    }
}
