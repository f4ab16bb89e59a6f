//! Git as ctxsim calls it: new enough, complete, and the user's own.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use super::tree::Tree;
use crate::support::*;

const AGAINST: [&str; 9] =
    ["compare", "--base", "rev:origin/main", "--candidate", "cap", "--scenario", "one", "--profile", "plain"];

/// Runs ctxsim in a folder that is no work tree of the hostile repository's.
fn ctxsim(tree: &Tree, folder: &Path) -> Command {
    let mut command = tree.command(env!("CARGO_BIN_EXE_ctxsim"), folder);
    command.env("PATH", std::env::var_os("PATH").unwrap()).args(AGAINST);
    command
}

fn git(folder: &Path, args: &[&str]) {
    let output = Command::new("git").args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_git_that_is_too_old_is_refused_with_the_version_that_is_not() {
    let tree = Tree::new();
    let folder = tempdir().unwrap();
    let old = folder.path().join("git");
    for (said, is_named) in
        [("git version 2.34.1", true), ("git version 2.44.9.windows.1", true), ("nonsense", false)]
    {
        fs::write(&old, format!("#!/bin/sh\necho {said}\n")).unwrap();
        fs::set_permissions(&old, Permissions::from_mode(0o755)).unwrap();
        let mut command = tree.command(env!("CARGO_BIN_EXE_ctxsim"), &tree.repository());
        let told = refusal(&command.args(AGAINST).env("PATH", folder.path()).output().unwrap());
        assert!(told.contains("[git-too-old]") && told.contains("git 2.45 or later"), "{told}");
        assert_eq!(told.contains("git 2.34 may") || told.contains("git 2.44 may"), is_named, "{told}");
    }
    let mut command = tree.command(env!("CARGO_BIN_EXE_ctxsim"), &tree.repository());
    let output = command.args(AGAINST).env("PATH", tree.repository().join("bin")).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("no git on PATH"));
}

#[test]
fn what_a_partial_clone_lacks_is_an_error_that_says_what_to_fetch_and_is_found_afterwards() {
    let tree = Tree::new();
    git(&tree.repository(), &["config", "uploadpack.allowFilter", "true"]);
    for filter in ["blob:none", "tree:0"] {
        let folder = tempdir().unwrap();
        let clone = folder.path().join("clone");
        let from = format!("file://{}", tree.repository().display());
        git(folder.path(), &["clone", "--quiet", "--no-checkout", "--filter", filter, &from, "clone"]);
        // The head of what was cloned is `main`; the work tree is what a sparse checkout leaves.
        for file in
            ["ctxsim.toml", "ctx/policies/cap.ron", "ctx/scenarios/one.toml", "ctx/profiles/plain.toml"]
        {
            let to = clone.join(file);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(tree.repository().join(file), to).unwrap();
        }

        let told = refusal(&ctxsim(&tree, &clone).output().unwrap());
        assert_says(&told, &["[git-incomplete]", "git fetch --refetch --no-filter origin"]);

        git(&clone, &["fetch", "--quiet", "--refetch", "--no-filter", "origin"]);
        let output = ctxsim(&tree, &clone).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_linked_work_tree_and_an_environment_that_names_another_repository_change_nothing() {
    let tree = Tree::new();
    let folder = tempdir().unwrap();
    let clone = folder.path().join("clone");
    fs::create_dir(&clone).unwrap();
    git(&clone, &["init", "--quiet"]);
    let fetch = ["-c", "remote.origin.promisor=false", "fetch", "--quiet"];
    git(
        &clone,
        &[
            &fetch[..],
            &[&tree.repository().display().to_string(), "refs/heads/main:refs/remotes/origin/main"],
        ]
        .concat(),
    );
    git(&clone, &["worktree", "add", "--quiet", "--detach", "../linked", "origin/main"]);
    let linked = folder.path().join("linked");

    let mut command = ctxsim(&tree, &linked);
    command.env("GIT_DIR", tree.repository().join("ctx/policies")).env("GIT_OBJECT_DIRECTORY", "/nowhere");
    command
        .env("GIT_CONFIG_PARAMETERS", "'alias.rev-parse'='!false'")
        .env("GIT_TRACE", folder.path().join("trace"));
    let output = command.output().unwrap();

    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!folder.path().join("trace").exists());
}
