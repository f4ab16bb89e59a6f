//! Results of ctxsim to be damaged. They are made anew, because each version reads its own alone.

use crate::support::*;

/// What targets have whose inputs are made.
pub(super) const MADE: [&str; 6] = ["parts", "shards", "advice", "ratchet", "snapshots", "answers"];

const POLICY: &str = "(name: \"mine\", about: \"Mine.\", base: \"clear_tool_results\")\n";

const SUITE: &str = "name = \"small\"\nabout = \"Small.\"\npolicies = [\"identity\", \"clear_tool_results\"]\n\
scenarios = [\"duckagent/plain_chat\"]\nprofiles = [\"anthropic/claude-opus-4.5\"]\n\
[[guards]]\nname = \"Saves.\"\npolicy = \"clear_tool_results\"\nmetric = \"totals.cost_usd.total\"\nover = \"identity\"\nbelow = 2.0\n";

/// What programs answer.
const ANSWERS: &str = concat!(
    "{\"type\":\"ready\",\"protocol\":\"ctxsim.policy/1\",\"wants\":[\"request\"],\"lasts\":\"history\"}\n",
    "{\"type\":\"view\",\"n\":1,\"parts\":[{\"keep\":[[0,3],5]},{\"rewrite\":6,\"text\":\"[cleared]\"},",
    "{\"insert\":\"user\",\"text\":{\"tokens\":12,\"digest\":7},\"replaces\":[[7,9]]}]}\n",
    "{\"type\":\"same\",\"n\":2}\n{\"type\":\"error\",\"n\":3,\"message\":\"no\"}\n",
);

/// Makes the inputs of a target.
pub(super) fn of(name: &str) -> Vec<Vec<u8>> {
    let folder = tempdir().unwrap();
    let data = data("recorded");
    fs::create_dir(folder.path().join("logs")).unwrap();
    for log in ["pi-session.jsonl", "kimi-session.jsonl"] {
        fs::copy(data.join(log), folder.path().join("logs").join(log)).unwrap();
    }
    fs::write(folder.path().join("mine.ron"), POLICY).unwrap();
    let run = |line: &str| out(&ctxsim(folder.path(), line.split(' ').collect::<Vec<_>>()));
    match name {
        "parts" => {
            run("run logs --policy identity --policy mine.ron --parts a");
            run("tune logs --policy mine.ron --vary params.keep.count=1,2 --parts b");
            let mut all = below(&folder, "a");
            all.extend(below(&folder, "b"));
            // A job of one load folds by itself, so that what is damaged in it is seen.
            run("run logs/pi-session.jsonl --policy identity --policy mine.ron --parts d");
            run("tune logs/pi-session.jsonl --policy mine.ron --vary params.keep.count=1,2 --parts e");
            all.extend(below(&folder, "d"));
            all.extend(below(&folder, "e"));
            all
        }
        "shards" => {
            let line =
                "sweep --policy mine.ron --vary params.keep.count=1,2 logs/pi-session.jsonl --shard 1/1";
            vec![run(line).into_bytes()]
        }
        "advice" => vec![fs::read(data.join("../advice/saved.json")).unwrap_or_else(|_| SAVED.into())],
        "ratchet" | "snapshots" => {
            fs::write(folder.path().join("small.toml"), SUITE).unwrap();
            fs::write(folder.path().join("ctxsim.toml"), "").unwrap();
            run("check --suite small.toml --bless");
            run("check --suite small.toml --bless --ratchet");
            let is_ratchet = name == "ratchet";
            below(&folder, "snapshots").into_iter().filter(|it| it.starts_with(b"#") == is_ratchet).collect()
        }
        _ => vec![ANSWERS.into()],
    }
}

/// A forecast, as `advise --save` writes it.
const SAVED: &str = include_str!("../../data/fuzz/saved.json");

/// Reads all files below a folder.
fn below(folder: &TempDir, name: &str) -> Vec<Vec<u8>> {
    let path = folder.path().join(name);
    let files = if path.is_dir() { files_below(&path, &[]) } else { vec![path] };
    files.into_iter().map(|it| fs::read(it).unwrap()).collect()
}
