//! No file is lost: a command replaces neither an input nor a file that ctxsim did not write.

use std::os::unix::fs::symlink;

use super::*;

/// A folder with a recording, a policy, and whatever else a command reads.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let copy = |from: &str, to: &str| {
        fs::copy(data(from), folder.path().join(to)).unwrap();
    };
    copy("../../scenarios/recorded/claude-code-session.jsonl", "s.jsonl");
    copy("../../scenarios/recorded/claude-code-session.jsonl", "beside.jsonl");
    copy("small/policies/cap.ron", "cap.ron");
    copy("prices/litellm/prices.json", "prices.json");
    fs::write(folder.path().join("v.ron"), "(name: \"v\", about: \"Over a base.\", base: \"cap\")\n")
        .unwrap();
    let scenario = "(name: \"sc\", about: \"A recording.\", load: recorded(path: \"beside.jsonl\"))\n";
    fs::write(folder.path().join("sc.ron"), scenario).unwrap();
    fs::create_dir(folder.path().join("below")).unwrap();
    folder
}

fn run_in(folder: &Path, line: &str) -> Output {
    crate::support::ctxsim(folder, line.split(' '))
}

fn code(output: &Output) -> String {
    let told = refused(output);
    told.split_once('[').and_then(|it| it.1.split_once(']')).map(|it| it.0.to_owned()).unwrap_or(told)
}

#[test]
fn no_command_replaces_one_of_its_inputs_even_if_told_to() {
    let folder = folder();

    for (line, input) in table("over_inputs") {
        let before = fs::read(folder.path().join(input)).unwrap();
        for force in ["", " --force"] {
            let told = code(&run_in(folder.path(), &format!("{line}{force}")));
            assert_eq!(told, "output-input", "{line}{force}");
            assert_eq!(fs::read(folder.path().join(input)).unwrap(), before, "{line}{force}");
        }
    }
}

#[test]
fn an_input_is_recognised_through_links_and_detours() {
    let folder = folder();
    symlink("s.jsonl", folder.path().join("link.jsonl")).unwrap();
    symlink("link.jsonl", folder.path().join("link_to_link.jsonl")).unwrap();
    fs::hard_link(folder.path().join("s.jsonl"), folder.path().join("hard.jsonl")).unwrap();
    symlink(".", folder.path().join("here")).unwrap();
    let before = fs::read(folder.path().join("s.jsonl")).unwrap();

    for output in
        ["./s.jsonl", "below/../s.jsonl", "link.jsonl", "link_to_link.jsonl", "hard.jsonl", "here/s.jsonl"]
    {
        for (input, output) in [("s.jsonl", output), (output, "s.jsonl")] {
            let line = format!("run {input} --policy identity --force --output {output}");
            // Nothing is written through a link, whatever it leads to.
            let is_linked = ["link.jsonl", "link_to_link.jsonl", "here/s.jsonl"].contains(&output);
            let refused = if is_linked { "output-link" } else { "output-input" };
            assert_eq!(code(&run_in(folder.path(), &line)), refused, "{line}");
        }
    }
    assert_eq!(fs::read(folder.path().join("s.jsonl")).unwrap(), before);
    assert!(folder.path().join("link.jsonl").is_symlink());
}

#[test]
fn a_second_run_replaces_what_the_first_one_wrote() {
    let folder = folder();

    for (line, output) in table("written_formats") {
        for again in ["", " again"] {
            let told = run_in(folder.path(), &format!("{line} --output {output}"));
            assert!(
                told.status.success(),
                "{line} {output}{again}: {}",
                String::from_utf8_lossy(&told.stderr)
            );
        }
    }
}

#[test]
fn a_file_that_ctxsim_did_not_write_is_replaced_only_by_force() {
    let folder = folder();
    let written =
        table("written_formats").into_iter().filter(|it| !["show --schema", "--man"].contains(&it.0));

    for (line, output) in written {
        let path = folder.path().join(output);
        // An agent's session about ctxsim itself names it in every line.
        fs::write(&path, "{\"type\":\"user\",\"cwd\":\"/src/ctxsim\",\"policy\":1}\n").unwrap();
        let line = format!("{line} --output {output}");
        let told = run_in(folder.path(), &line);
        assert_eq!(code(&told), "output-exists", "{line}");
        assert!(refused(&told).contains("add `--force`"), "{line}");
        assert!(fs::read_to_string(&path).unwrap().contains("\"type\""), "{line}");
        out(&run_in(folder.path(), &format!("{line} --force")));
        assert!(!fs::read_to_string(&path).unwrap().contains("\"type\":\"user\""), "{line}");
    }
}

#[test]
fn an_empty_file_and_one_that_would_not_change_need_no_force() {
    let folder = folder();
    let path = folder.path().join("o.toml");
    fs::write(&path, "").unwrap();

    for _ in 0..2 {
        out(&run_in(folder.path(), "show cap.ron --as toml --output o.toml"));
    }
    // From now on it is the user's.
    fs::write(&path, fs::read_to_string(&path).unwrap() + "# Mine.\n").unwrap();

    assert_eq!(code(&run_in(folder.path(), "show cap.ron --as toml --output o.toml")), "output-exists");
    assert!(fs::read_to_string(&path).unwrap().ends_with("# Mine.\n"));
}

#[test]
fn folders_of_files_are_written_whole_or_not_at_all() {
    let folder = folder();
    let import = "prices import prices.json --as-of 2026-11-21 --output imported";
    out(&run_in(folder.path(), import));
    out(&run_in(folder.path(), import));
    let first = files_below(&folder.path().join("imported"), &[]);
    let store =
        "run --store write --policy context_decay/memory_banks --scenario context_decay/trials --length 50";
    for _ in 0..2 {
        out(&run_in(folder.path(), &format!("{store} --output stored")));
    }
    let profile = first.last().unwrap();
    fs::write(profile, "name = \"mine\"\n").unwrap();
    fs::remove_file(&first[0]).unwrap();
    fs::create_dir(folder.path().join("other")).unwrap();
    fs::write(folder.path().join("other/index.json"), "{}\n").unwrap();
    fs::create_dir(folder.path().join("schemas")).unwrap();
    fs::write(folder.path().join("schemas/suite.json"), "{}\n").unwrap();

    for line in [import, &format!("{store} --output other"), "show --schema --output schemas"] {
        assert_eq!(code(&run_in(folder.path(), line)), "output-exists", "{line}");
    }

    assert!(!first[0].exists(), "nothing is written where one file is refused");
    assert_eq!(files_below(&folder.path().join("other"), &[]).len(), 1);
    assert_eq!(files_below(&folder.path().join("schemas"), &[]).len(), 1);
    out(&run_in(folder.path(), &format!("{import} --force")));
    assert!(fs::read_to_string(profile).unwrap().starts_with("# Written by ctxsim."));
}

#[test]
fn accepting_numbers_removes_no_snapshot_of_other_tests() {
    let folder = tempdir().unwrap();
    let others = folder.path().join("context-decay/of_others");
    fs::create_dir_all(&others).unwrap();
    fs::write(others.join("one.snap"), "---\nsource: tests/one.rs\n---\n1\n").unwrap();

    let snapshots = folder.path().to_str().unwrap();
    let told = out(&ctxsim(&["check", "--suite", "context-decay", "--snapshots", snapshots, "--bless"]));

    assert!(others.join("one.snap").exists(), "{told}");
}

#[test]
fn a_full_device_is_an_error_wherever_it_stands() {
    let folder = folder();

    for line in ["run s.jsonl --policy identity --format json", "run s.jsonl --policy identity"] {
        // What stands on the device is never read: it has no end.
        let told = run_in(folder.path(), &format!("{line} --output /dev/full"));
        assert!(refused(&told).contains("the disk is full"), "{line}");
    }
    for line in ["--help", "--version", "run --help", "list"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
        let told = command.args(line.split(' ')).stdout(full).output().unwrap();
        assert_eq!(told.status.code(), Some(2), "{line}");
    }
}
