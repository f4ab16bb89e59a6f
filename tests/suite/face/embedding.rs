//! A new crate that embeds the library: the lines of Cargo that the README names, its example, and a snapshot test.

use crate::support::*;

/// Where the crate is made and built, again in the same place.
const FOLDER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/new-crate");

/// Returns a block of the README by its first line.
fn block<'t>(readme: &'t str, first: &str) -> &'t str {
    let (_, rest) = readme.split_once(&format!("```{first}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

/// Writes the crate: the README's dependency, from here.
fn make() {
    let here = root();
    let read = |path: &str| fs::read_to_string(here.join(path)).unwrap();
    let readme = read("README.md");
    let dependency = block(&readme, "toml Cargo.toml");
    assert_eq!(dependency.trim().lines().count(), 2, "the README promises two lines");
    let dependency = dependency.replace("\"../ctxsim\"", &format!("{:?}", here.display().to_string()));
    let testing = dependency.replace("[dependencies]", "[dev-dependencies]");
    let testing = testing.replace("[\"bundled\"]", "[\"bundled\", \"testing\"]");
    let insta = "insta = { version = \"1\", default-features = false }";
    let head = "[package]\nname = \"agent\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
    let manifest = format!("{head}\n{dependency}\n{testing}{insta}\n");
    for (path, text) in [
        ("Cargo.toml", manifest),
        ("Cargo.lock", read("Cargo.lock")),
        ("src/main.rs", read("examples/quickstart.rs")),
        ("tests/guard.rs", read("examples/snapshot_guard.rs")),
    ] {
        let path = Path::new(FOLDER).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Runs Cargo in the crate without a network; returns what it says.
fn cargo(args: &[&str], insta: &str) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.args(args).arg("--offline").current_dir(FOLDER);
    command.env("CARGO_TARGET_DIR", Path::new(FOLDER).join("target")).env("INSTA_UPDATE", insta);
    // Files for the next edit, and what debuggers read, would only cost time and room.
    command.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "false").env_remove("CI");
    // What Cargo told this program of its own package.
    command.env_remove("CARGO_MANIFEST_DIR").env_remove("RUSTFLAGS").env_remove("INSTA_FORCE_PASS");
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned()).concat();
    assert!(output.status.success(), "cargo {args:?}: {said}");
    said
}

/// With all features the library is what every other test of this program is built with.
#[test]
#[ignore = "slow: .ci/run runs it"]
fn a_new_crate_with_two_lines_of_cargo_runs_the_readme_s_example_and_a_snapshot_test() {
    make();
    cargo(&["build"], "no");
    cargo(&["run"], "no");
    cargo(&["test"], "always");
    let kept: Vec<_> = fs::read_dir(Path::new(FOLDER).join("tests/snapshots")).unwrap().collect();
    assert!(!kept.is_empty(), "the test has kept its numbers");
    let said = cargo(&["test"], "no");
    assert!(said.contains("test result: ok. 1 passed"), "{said}");
}
