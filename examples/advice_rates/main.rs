//! How often the rule of advice is right, as in the tables of docs/reference/advice.md.
//!
//! Measured are made-up teams whose settings truly save, save nothing, or cost 1% more, and halves of recorded sessions.
//!
//! `cargo run --release --example advice_rates` measures made-up teams, with folders of sessions behind it those. The rule reads
//! one part of the sessions and is judged on the other.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command that prints tables")]

mod made_up;
mod rates;
mod recorded;

use made_up::Truth;
use rates::Parting;

const HEAD: &str = "| sessions | a half | advised | captured | harmed | floor broken | promised → came | kept, saving hold |\n|---|---:|---:|---:|---:|---:|---:|---:|";

fn main() {
    let folders: Vec<String> = std::env::args().skip(1).collect();
    println!("{HEAD}");
    if folders.is_empty() {
        made_up();
    } else {
        recorded::print(&folders);
    }
}

fn made_up() {
    const TRUTHS: [(&str, Truth, usize); 3] = [
        ("something saves", Truth::Saves, 200),
        ("nothing saves", Truth::Nothing, 1_000),
        ("all is 1% dearer", Truth::Dearer, 1_000),
    ];
    for (name, truth, halves) in TRUTHS {
        for n in [136, 70, 20] {
            println!("{}", made_up::rates(truth, n, Parting::Halves, halves).row(name, n));
        }
    }
    for n in [136, 70, 20] {
        println!("{}", made_up::rates(Truth::Saves, n, Parting::Time, 200).row("saves, newer half", n));
    }
    println!("{}", made_up::rates(Truth::Saves, 40, Parting::OnePerson, 200).row("saves, one person", 40));
}
