//! `ctxsim run --store`: what a memory holds, as files and back.

use super::*;

#[test]
fn a_store_is_written_read_back_and_refused_when_it_is_not_what_its_run_left() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("store").display().to_string();
    let which = ["--policy", "context_decay/file_backed", "--scenario", "context_decay/paper"];
    let written = out(&ctxsim(
        &[&["run", "--store", "write"], &which[..], &["--length", "100", "--output", &path]].concat(),
    ));
    assert!(written.starts_with("7 facts as 12 entries in 5 files to "), "{written}");

    let read = out(&ctxsim(&["run", "--store", "read", &path]));
    assert_says(
        &read,
        &["explicit                 5\n", "7 facts as 12 entries in 5 files: the contents of "],
    );

    let none = ["--set", "memory.facts.write.extract=[{ p = 0.0 }]"];
    let one = [
        "--set",
        "memory.facts.store={ entries = { tokens_per_fact = 2, capacity = 1 } }",
        "--set",
        "memory.facts.write.extract=[{ p = 1.0 }]",
    ];
    for (set, said) in
        [(&none[..], "0 facts as 0 entries in 1 file to "), (&one, "1 fact as 1 entry in 2 files to ")]
    {
        let path = folder.path().join(said.replace(' ', "_")).display().to_string();
        let text = out(&ctxsim(&[&["run", "--store", "write", "--output", &path], &which[..], set].concat()));
        assert!(text.starts_with(said), "{text}");
    }

    let file = Path::new(&path).join("explicit.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"283\"", "\"284\"")).unwrap();
    let told = refused(&ctxsim(&["run", "--store", "read", &path]));
    assert!(told.contains("error[store-differs]: `batch_size_bd21e7` in `explicit` is `284`"), "{told}");

    fs::write(&file, "{").unwrap();
    let told = refused(&ctxsim(&["run", "--store", "read", &path]));
    assert_eq!(told.matches("error[store-json]").count(), 1, "{told}");
}

#[test]
fn a_store_of_inputs_that_were_given_as_paths_is_read_back_where_they_are() {
    let folder = tempdir().unwrap();
    let own = [
        (
            "own.ron",
            "policies/context_decay/file_backed.ron",
            "name: \"context_decay/file_backed\"",
            "name: \"own\"",
        ),
        (
            "load.toml",
            "scenarios/context_decay/paper.toml",
            "name = \"context_decay/paper\"",
            "name = \"load\"",
        ),
    ];
    for (file, from, name, own) in own {
        let text = fs::read_to_string(root().join(from)).unwrap();
        assert!(text.contains(name), "{from}");
        fs::write(folder.path().join(file), text.replacen(name, own, 1)).unwrap();
    }
    let at = |place: &Path, args: &[&str]| crate::support::ctxsim(place, args);
    let store = folder.path().join("store").display().to_string();
    let policy = folder.path().join("own.ron").display().to_string();
    let write = ["run", "--store", "write", "--scenario", "load.toml", "--output", "store"];
    let read = ["run", "--store", "read", store.as_str()];

    out(&at(folder.path(), &[&write[..], &["--policy", &policy]].concat()));
    let text = out(&at(folder.path(), &read));
    assert_says(
        &text,
        &[&format!("the contents of {policy} after conversation 0 of 50 messages of load.toml, ")],
    );

    let told = refused(&at(&data("small"), &read));
    assert_eq!(told.matches("error[").count(), 1, "the policy's path is absolute: {told}");
    assert!(told.contains("error[store-input-missing]: the scenario `load.toml`, with which the export was written, does not exist"), "{told}");
    assert_says(&told, &["= help: paths and `ctxsim.toml` are resolved from the working directory"]);
    fs::remove_file(&policy).unwrap();
    let told = refused(&at(folder.path(), &read));
    assert!(told.contains("own.ron`, with which") && told.contains("= help: put the file back"), "{told}");

    let pattern = ["--policy", "context_decay/file_b*d", "--profile", "context_decay/words"];
    out(&at(folder.path(), &[&write[..], &pattern].concat()));
    let text = out(&at(folder.path(), &read));
    assert!(text.contains("the contents of context_decay/file_backed"), "{text}");
}

#[test]
fn a_store_that_is_written_over_another_leaves_none_of_its_files() {
    let folder = tempdir().unwrap();
    let path = folder.path().display().to_string();
    let files = || {
        let names = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<String> = names.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let write = |policy: &str| {
        let scenario = ["--scenario", "context_decay/paper", "--length", "100", "--output", &path];
        out(&ctxsim(&[&["run", "--store", "write", "--policy", policy], &scenario[..]].concat()))
    };
    fs::write(folder.path().join("notes.json"), "{}").unwrap();

    write("context_decay/file_backed");
    assert_eq!(
        files(),
        ["config.json", "entity.json", "explicit.json", "index.json", "notes.json", "result.json"]
    );
    write("context_decay/memory_banks");
    assert_eq!(files(), ["config.json", "entity.json", "index.json", "notes.json", "result.json"]);
    assert!(
        out(&ctxsim(&["run", "--store", "read", &path]))
            .contains("the contents of context_decay/memory_banks")
    );
}
