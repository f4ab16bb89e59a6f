//! The page about formats is made of what each format declares.

use std::env;

use ctxsim::timeline::import::formats;

use crate::support::*;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/formats.md");

const OPENING: &str = "\
<!-- Generated: `CTXSIM_BLESS=1 cargo test --test suite listed` writes this page. -->

# Formats of recorded sessions

`ctxsim import FILE` shows what a file holds and what is left out of it; the format is detected from the content. `ctxsim list formats` prints this
table. *Structure only* means that no file with cache figures was at hand: requests, turns and sizes are read, but no figure about a cache has been
checked. Requests, turns and token totals of these files equal an independent count (`tests/data/formats`, where the scripts that count stand beside
their tables). Where a log states what a request cost and a price list of its day is known, the bill equals it within 0.1%: pi, opencode (Kimi K2.5), requests
of OpenHands (DeepSeek) and trajectories of terminus-2 (GPT-4o); `tests/suite/import/costs.rs` lists the files, and why the costs of three others differ.
opencode states a cost of 0 for models of plans, and the other formats state none.

SQLite databases are read by a reader of this project of about 500 lines, which only reads, locks nothing, and builds for WebAssembly. SQLite itself (`rusqlite`,
bundled) would add 1.9 MB to the program instead of 0.13 MB, 37 seconds to a build and 262,858 lines of C. A line in a message about a database is one of its export.

Input and output mean the same for every format: the prompt is what was read from the cache, written to it, and neither; output includes reasoning.

Messages count once. Two are the same only if id and time agree, because ids may be redacted; lines of a Claude Code reply share its id, its request and its
prompt. `assumptions/logs` lists by format which fields of a usage are read, and which change no bill and why; any other that says something is told, once a
file. Anthropic's `iterations` are requests of their own: compactions, advisors at their own model's prices, rounds with the provider's tools.
";

#[test]
fn the_page_about_formats_says_what_each_of_them_declares() {
    let mut page = OPENING.to_owned();
    page.push_str(
        "\n| format | where it is | what is read | what is not | checked on |\n|---|---|---|---|---|\n",
    );
    for it in formats() {
        let about = it.about();
        let said = [&about.place, &about.reads, &about.omits].map(String::as_str).join(" | ");
        writeln!(page, "| `{}` | {said} | {} |", it.name, about.checked()).unwrap();
    }
    if env::var_os("CTXSIM_BLESS").is_some() {
        return fs::write(PAGE, page).unwrap();
    }
    assert!(fs::read_to_string(PAGE).unwrap() == page, "set CTXSIM_BLESS to write the table");
}

#[test]
fn each_format_says_of_itself_all_that_the_table_shows() {
    for it in formats() {
        let about = it.about();
        let checked = about.checked();
        for said in [it.name, &about.looks_like, &about.place, &about.reads, &about.omits, &checked] {
            assert!(
                !said.is_empty() && !said.contains(['|', '\n']) && !said.contains("  "),
                "{}: {said}",
                it.name
            );
        }
    }
    let names: Vec<&str> = formats().iter().map(|it| it.name).collect();
    assert!(names.windows(2).all(|it| it[0] < it[1]), "{names:?}");
}
