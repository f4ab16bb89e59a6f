//! Grids of variants: what they come to, and shards.

use ctxsim::app::grid::OverrideGrid;
use ctxsim::app::{self};

use crate::support::*;

fn grid() -> Vec<&'static str> {
    args(
        "sweep --policy clear_tool_results --vary params.trigger.tokens=20000..60000:5000 \
        --vary params.clear_at_least.tokens=0,5000 --scenario duckagent/incremental_workspace_audit \
        --profile anthropic/claude-sonnet-5.5",
    )
}

#[test]
fn a_point_of_a_sweep_is_the_run_with_its_overrides() {
    let folder = tempdir().unwrap();
    let sweep: Value = parsed(&ctxsim(folder.path(), [&grid()[..], &["--format", "json"]].concat()));
    let points = sweep["points"].as_array().unwrap();
    assert_eq!(points.len(), 18);

    for nth in [0, 7, 17] {
        let mut args = vec!["run", "--policy", "clear_tool_results", "--format", "json"];
        args.extend(&grid()[7..]);
        let set: Vec<&str> =
            points[nth]["set"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        set.iter().for_each(|it| args.extend(["--set", it]));
        let run: Value = parsed(&ctxsim(folder.path(), &args));
        let totals = &run["runs"][0]["totals"];
        assert_eq!(points[nth]["numbers"]["cost_usd.total"], totals["cost_usd"]["total"], "{set:?}");
        assert_eq!(points[nth]["numbers"]["evidence_kept"], totals["evidence_kept"], "{set:?}");
    }
}

#[test]
fn shards_on_any_number_of_threads_merge_to_the_bytes_of_one_machine() {
    let folder = tempdir().unwrap();
    let with = |more: &[&str]| out(&ctxsim(folder.path(), [&grid()[..], more].concat()));
    let whole = with(&["--format", "json", "--threads", "1"]);
    assert_eq!(whole, with(&["--format", "json", "--threads", "2"]));

    for shard in ["1/3", "2/3", "3/3"] {
        with(&["--shard", shard, "--output", &format!("shard-{}.json", &shard[..1])]);
    }

    let merge =
        |files: &[&str]| ctxsim(folder.path(), [&["run", "--merge", "--format", "json"][..], files].concat());
    assert_eq!(out(&merge(&["shard-3.json", "shard-1.json", "shard-2.json"])), whole);
    let missing = merge(&["shard-3.json", "shard-1.json"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8(missing.stderr).unwrap().contains("point 1 is missing"));
    assert_eq!(merge(&["shard-1.json", "shard-1.json"]).status.code(), Some(2));
}

#[test]
fn loads_are_varied_too_and_wrong_paths_are_answered() {
    let folder = tempdir().unwrap();
    let vary = "profile.limits.input_tokens=200000,400000";
    let text = out(&ctxsim(folder.path(), [&grid()[..], &["--vary", vary]].concat()));
    assert!(text.contains("36 points"), "{text}");

    let args = [&grid()[..3], &["--vary", "params.triger.tokens=1,2"], &grid()[7..]].concat();
    let told = refusal(&ctxsim(folder.path(), &args));
    assert!(told.contains("did you mean `params.trigger.tokens`?"), "{told}");
}

#[test]
fn a_sweep_opens_each_recording_once_however_many_variants_it_has() {
    let folder = tempdir().unwrap();
    let needed = needed_to_the_end(folder.path());
    let scenarios = needed.iter().take(2).map(|it| folder.path().join(it).display().to_string()).collect();
    let comparison = Comparison {
        scenarios,
        ..comparing(&["identity", "clear_tool_results"], &[], &["anthropic/claude-sonnet-5.5"])
    };
    let grid = OverrideGrid::parse(&["params.trigger.tokens=20000..84500:500".to_owned()]).unwrap();
    let indices: Vec<usize> = (0..grid.len()).collect();
    let told = Mutex::new(Vec::new());

    let all = app::sweep_points(&bundled_catalog(), &comparison, &grid, &indices, Some(1), &|done, of| {
        told.lock().unwrap().push((done, of));
    });

    let all = all.unwrap();
    assert_eq!(told.into_inner().unwrap(), [(1, 2), (2, 2)], "one step for each recording that is opened");
    assert_eq!(all.len(), 130);
    for nth in [0, 63, 64, 129] {
        let one =
            app::sweep_points(&bundled_catalog(), &comparison, &grid, &[nth], None, &|_, _| {}).unwrap();
        assert_eq!(one[0], all[nth], "the same point alone");
    }
}

#[test]
fn a_point_that_changes_nothing_is_not_said_to_lose() {
    let folder = tempdir().unwrap();
    let args = [&grid()[..3], &["--vary", "params.trigger.tokens=20000,900000"], &grid()[7..]].concat();

    let text = out(&ctxsim(folder.path(), &args));
    let json: Value = parsed(&ctxsim(folder.path(), [&args[..], &["--format", "json"]].concat()));

    assert_eq!(json["points"][1]["label"], "same", "{json}");
    let rows = text.lines().filter(|it| it.contains("trigger.tokens=")).count();
    assert_says(&text, &[&format!("{rows} on the front, listed below identity"), "`same` 1"]);
}

/// Writes loads whose last request needs every result that there was.
pub(crate) fn needed_to_the_end(folder: &Path) -> Vec<String> {
    let one = |nth: u64| {
        let n_turns = 3 + nth % 3;
        let read = |turn: u64| {
            let revisits: Vec<String> = (1..=turn)
                .filter(|_| turn + 1 == n_turns)
                .map(|it| format!("{{ turns_back = {it}, level = \"raw_content\", weight = 1.0 }}"))
                .collect();
            format!(
                "[[load.turns]]\nuser_tokens = 60\nanswer_tokens = 300\nrevisits = [{}]\n\
                 calls = [{{ tool = \"read_file\", args_tokens = 20, times = 4, result = {{ raw = {} }} }}]\n",
                revisits.join(", "),
                9_000 + 500 * nth
            )
        };
        let turns: String = (0..n_turns).map(read).collect();
        let name = format!("needed_{nth}");
        let text = format!(
            "name = \"{name}\"\nabout = \"All of it is needed.\"\nstable = [{{ kind = \"system\", tokens = 2_000 }}]\n{turns}"
        );
        fs::write(folder.join(format!("{name}.toml")), text).unwrap();
        format!("{name}.toml")
    };
    (0..12).map(one).collect()
}

/// Returns the files of a folder that are not hidden.
#[cfg(unix)]
fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
    names.filter(|it| !it.starts_with('.')).collect()
}

/// A process that is killed runs no more of its own code, so that nothing but the rename can keep its file whole.
#[cfg(unix)]
#[test]
fn a_sweep_that_is_killed_while_it_writes_leaves_a_whole_file_or_none() {
    let folder = tempdir().unwrap();
    let grid = [&grid()[..7], &["--scenario", "duckagent/plain_chat"], &grid()[9..]].concat();
    let args = [&grid[..], &["--format", "json", "--output", "swept.json"]].concat();
    let target = folder.path().join("swept.json");
    let begun = std::time::Instant::now();
    out(&ctxsim(folder.path(), &args));
    let took = begun.elapsed();
    let whole = fs::read(&target).unwrap();
    let mut draw = ctxsim::rng::Seed(9).stream("killed at", 0);
    let mut left = [0, 0];
    for nth in 0..30 {
        fs::remove_dir_all(folder.path()).unwrap();
        fs::create_dir(folder.path()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
        let mut child = command.args(&args).current_dir(folder.path()).spawn().unwrap();
        if nth % 2 == 0 {
            std::thread::sleep(took.mul_f64(draw.unit() * 1.2));
        } else {
            // As soon as anything is in the folder, the file is being written.
            while fs::read_dir(folder.path()).unwrap().next().is_none() && child.try_wait().unwrap().is_none()
            {
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let is_there = target.exists();
        left[usize::from(is_there)] += 1;
        assert!(!is_there || fs::read(&target).unwrap() == whole, "half a file is left");
        assert!(files(folder.path()).iter().all(|it| it == "swept.json"), "{:?}", files(folder.path()));
    }
    assert!(left[0] > 0, "some were killed before they had written: {left:?}");
}

#[test]
fn an_interval_over_what_one_session_assumes_is_not_called_one_for_other_sessions() {
    let here = root();
    let args = ["sweep", "--policy", "clear_tool_results", "--vary", "params.trigger.tokens=40000,85000"];
    let loads =
        ["--scenario", "recorded/claude-code", "--profile", "anthropic/claude-sonnet-4.5", "--format"];
    for format in ["table", "html"] {
        let text = out(&ctxsim(here, [&args[..], &loads, &[format]].concat()));
        assert!(text.contains("by what is assumed") && !text.contains("95% interval"), "{text}");
    }
    let json: Value = parsed(&ctxsim(here, [&args[..], &loads, &["json"]].concat()));
    assert_eq!(json["points"][1]["interval_over"], "assumptions");
}
