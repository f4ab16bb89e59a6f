//! What is published: under whose name, with which licences, and that nothing unchecked is installed.

use ctxsim::catalog::InputKind;

use crate::support::*;
use crate::tidy::{NETWORK, files};

/// Whose actions the workflows call, each pinned to a commit.
const ACTIONS: [&str; 3] = ["actions/", "PyO3/", "rust-lang/"];

fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// Returns a name of `.github/names.env`.
fn constant(name: &str) -> String {
    let all = text(".github/names.env");
    all.lines().find_map(|it| it.strip_prefix(&format!("{name}="))).unwrap().to_owned()
}

fn workflows() -> Vec<(String, String)> {
    let all = files(".github/workflows").into_iter();
    all.map(|(name, path)| (name, fs::read_to_string(path).unwrap())).collect()
}

/// Returns everything by which ctxsim is built, published and installed.
fn shipping() -> Vec<(String, String)> {
    let folders = [".ci", ".github", "bindings/npm", "bindings/wasm/js"];
    let alone = "\
        action.sh action.yml .pre-commit-hooks.yaml CITATION.cff Cargo.toml bindings/python/Cargo.toml \
        bindings/python/pyproject.toml bindings/wasm/Cargo.toml bindings/wasm/build";
    let below = folders.iter().flat_map(|it| files(it)).map(|(name, _)| name);
    below.chain(owned(&listed(alone))).map(|it| (it.clone(), text(&it))).collect()
}

#[test]
fn nothing_names_an_owner_that_is_not_the_constant() {
    let owner = constant("OWNER");
    let is_constant = |rest: &str| {
        let spoken = ["$OWNER/", "$GITHUB_REPOSITORY", "{it['OWNER']}/"];
        spoken.iter().any(|it| rest.starts_with(it))
            || (!owner.is_empty() && rest.starts_with(&format!("{owner}/")))
    };
    let mut seen = 0;
    for (name, text) in shipping() {
        for (at, _) in text.match_indices("github.com/") {
            let rest = &text[at + "github.com/".len()..];
            assert!(is_constant(rest), "{name} names {}", rest.split_whitespace().next().unwrap());
            seen += 1;
        }
        for line in text.lines().filter_map(|it| it.split_once("uses: ")).map(|it| it.1) {
            assert!(ACTIONS.iter().any(|it| line.starts_with(it)), "{name} calls {line}");
        }
    }
    assert!(seen >= 3, "the action, the stamp and the pins name the repository");
}

#[test]
fn every_job_of_every_workflow_waits_until_somebody_is_named() {
    let mut jobs = 0;
    for (name, text) in workflows() {
        let (_, body) = text.split_once("\njobs:\n").unwrap();
        assert!(body.starts_with("  names:\n") && body.contains("run: sh .ci/names\n"), "{name}");
        let lines: Vec<&str> = body.lines().collect();
        let starts = (0..lines.len()).filter(|it| {
            lines[*it].strip_prefix("  ").is_some_and(|it| it.ends_with(':') && !it.starts_with([' ', '#']))
        });
        for at in starts.skip(1) {
            let needs = lines[at + 1].trim().strip_prefix("needs: ").unwrap_or_default();
            assert!(
                needs == "names" || needs.starts_with("[names, "),
                "{name}: {} does not wait",
                lines[at].trim()
            );
            jobs += 1;
        }
    }
    assert!(jobs >= 10, "{jobs}");
}

#[test]
fn actions_are_pinned_to_a_commit_and_say_its_version() {
    let begun = "crates/cli/src/verbs/init/workflow.yml";
    for (name, text) in workflows().into_iter().chain([(begun.to_owned(), text(begun))]) {
        for action in text.lines().filter_map(|it| it.split_once("uses: ")).map(|it| it.1) {
            let (_, pin) = action.split_once('@').unwrap();
            let (commit, version) = pin.split_once(" # v").unwrap_or_default();
            let is_commit = commit.len() == 40 && commit.bytes().all(|it| it.is_ascii_hexdigit());
            assert!(is_commit && version.contains('.'), "{name}: {action}");
        }
    }
}

#[test]
fn compilers_and_tools_are_pinned_to_a_version() {
    let mut pins = 0;
    for (name, text) in workflows() {
        for line in text.lines().map(str::trim).filter(|it| !it.starts_with('#')) {
            for channel in ["stable", "beta", "nightly"] {
                assert!(!line.split([' ', '+', ',', '[', '"']).any(|it| it == channel), "{name}: {line}");
            }
            let Some((_, tools)) = line.split_once("cargo install --locked ") else { continue };
            let version = tools.split_once('@').map(|it| it.1).unwrap_or_default();
            assert!(version.starts_with(|it: char| it.is_ascii_digit()), "{name}: {line}");
            pins += 1;
        }
    }
    assert!(pins > 1, "{pins}");
}

#[test]
fn no_workflow_has_a_secret() {
    for (name, text) in workflows() {
        assert!(!text.contains("secrets."), "{name}");
        assert!(
            text.contains("\npermissions:\n  contents: read\n"),
            "{name}: what is not granted is refused"
        );
    }
}

#[test]
fn every_cargo_command_that_checks_or_ships_is_locked() {
    let resolving = [
        "build", "check", "clippy", "deny", "doc", "install", "metadata", "package", "publish", "run", "test",
    ];
    let mut commands = 0;
    for (name, text) in
        shipping().into_iter().filter(|(name, _)| name.starts_with(".ci/") || name.starts_with(".github/w"))
    {
        for line in text.lines().map(str::trim).filter(|it| !it.starts_with(['#', '"'])) {
            let Some((_, rest)) = line.split_once("cargo ") else { continue };
            let verb = rest.split(' ').find(|it| !it.starts_with('+')).unwrap();
            if resolving.contains(&verb) && !rest.contains("--version") {
                assert!(rest.contains("--locked"), "{name}: {line}");
                commands += 1;
            }
        }
    }
    assert!(commands >= 15, "{commands}");
}

#[test]
fn all_manifests_have_one_version_and_the_changelog_has_its_date() {
    let version = env!("CARGO_PKG_VERSION");
    for name in [
        "bindings/python/Cargo.toml",
        "bindings/python/pyproject.toml",
        "bindings/wasm/Cargo.toml",
        "bindings/wasm/bind/Cargo.toml",
    ] {
        assert!(text(name).contains(&format!("\nversion = \"{version}\"\n")), "{name}");
    }
    for name in ["bindings/npm/package.json", "bindings/wasm/js/package.json"] {
        assert!(text(name).contains(&format!("\"version\": \"{version}\"")), "{name}");
    }
    assert!(text("CITATION.cff").contains(&format!("\nversion: {version}\n")));
    assert!(text("CHANGELOG.md").contains(&format!("\n## [{version}] - 20")));
}

#[test]
fn the_list_of_digests_names_every_bundled_suite() {
    let list = text("tests/data/digests.txt");
    let listed: Vec<&str> = list.lines().map(|it| it.split_once("  ").unwrap().1).collect();
    let catalog = bundled_catalog();

    assert_eq!(listed, catalog.names(InputKind::Suite).collect::<Vec<_>>());
}

#[test]
fn deny_toml_refuses_every_package_that_reaches_the_network() {
    let deny: toml::Table = text("deny.toml").parse().unwrap();
    let refused: Vec<&str> =
        deny["bans"]["deny"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();

    assert_eq!(refused, listed(NETWORK));
    assert_eq!(deny["sources"]["unknown-git"].as_str(), Some("deny"));
}

#[test]
fn every_artefact_has_the_licences_of_what_is_in_it() {
    let lock: toml::Table = text("Cargo.lock").parse().unwrap();
    let packages: BTreeSet<String> = lock["package"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{} {}", it["name"].as_str().unwrap(), it["version"].as_str().unwrap()))
        .collect();
    let licences = text("docs/licences.txt");
    let named = licences.lines().filter_map(|it| it.split_once(": ")).map(|it| it.0);
    let named: BTreeSet<&str> = named.filter(|it| it.split(' ').count() == 2).collect();
    let gone: Vec<&&str> = named
        .iter()
        .filter(|it| it.split(' ').nth(1).is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit())))
        .filter(|it| !packages.contains(**it))
        .collect();
    assert!(named.len() > 50 && gone.is_empty(), "run .ci/licences: {gone:?}");
    for name in ["docs/licences.txt", "bindings/python/licences.txt", "bindings/wasm/licences.txt"] {
        let text = text(name);
        let has = |it: &str| text.contains(it);
        assert!(has("serde_json 1.") && has("Entire Inc.") && has("ctxsim: NOTICE"), "{name}");
    }
    assert!(text(".ci/archive").contains("\"docs/licences.txt\""));
    assert!(text("bindings/python/pyproject.toml").contains("license-files = [\"licences.txt\"]"));
    assert!(text("bindings/wasm/build").contains("licences.txt pkg"));
    assert!(text("bindings/npm/pack.mjs").contains("\"licences.txt\""));
}

/// Returns the nearest folder above a file, within the data, that has a NOTICE.
fn with_notice(path: &Path) -> Option<PathBuf> {
    let above = path.ancestors().skip(1).take_while(|it| *it != root());
    above.map(Path::to_owned).find(|it| it.join("NOTICE").is_file())
}

fn has_licence(folder: &Path) -> bool {
    if !folder.is_dir() {
        return false;
    }
    let mut entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
    entries.any(|it| it.to_string_lossy().starts_with("LICENSE"))
}

#[test]
fn no_bundled_data_lacks_origin_and_licence() {
    let notice = text("NOTICE");
    let mut checked = 0;
    for folder in ["assumptions", "policies", "profiles", "scenarios", "suites", "tests/data"] {
        for (name, path) in files(folder) {
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            // An input file says its sources itself; other tests hold that.
            let is_input = name.ends_with(".ron") || name.ends_with(".toml");
            let is_about = file.starts_with("LICENSE")
                || ["NOTICE", "README.md"].contains(&&*file)
                || name.ends_with(".py");
            if is_input || is_about || table("own_data").iter().any(|it| name.starts_with(it.0)) {
                continue;
            }
            checked += 1;
            if let Some(above) = with_notice(&path) {
                let says = fs::read_to_string(above.join("NOTICE")).unwrap();
                let below = path.strip_prefix(&above).unwrap();
                let first = below.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
                assert!(says.contains(&first), "{}/NOTICE says nothing of {first}", above.display());
                let is_licensed = has_licence(&above)
                    || has_licence(&above.join(&first))
                    || ["Apache-2.0", "facts"].iter().any(|it| says.contains(it));
                assert!(is_licensed, "{name} has no licence");
            } else {
                let top: Vec<&str> = name.split('/').take(3).collect();
                assert!(notice.contains(&top.join("/")), "NOTICE says nothing of {name}");
            }
        }
    }
    assert!(checked > 30, "{checked}");
    for (path, _) in table("own_data") {
        let folder = path.rsplit_once('/').unwrap().0;
        assert!(files(folder).iter().any(|(name, _)| name.starts_with(path)), "{path} is not there");
    }
}

/// Runs the installer on an archive whose checksum it is told, and returns its exit code, what it said, and whether something is installed.
#[cfg(unix)]
fn installed(checksum: impl Fn(&str) -> String) -> (Option<i32>, String, bool) {
    let folder = tempdir().unwrap();
    installed_into(&folder.path().join("bin"), &[], folder.path(), checksum)
}

/// Does the same for a folder, with further arguments.
#[cfg(unix)]
fn installed_into(
    bin: &Path,
    args: &[&str],
    folder: &Path,
    checksum: impl Fn(&str) -> String,
) -> (Option<i32>, String, bool) {
    use std::process::Command;

    let pack = r#"
        mkdir cargo
        printf '#!/bin/sh\nmkdir -p "$6/bin"\necho mine > "$6/bin/ctxsim"\necho "in $PWD: cargo $*"\n' > cargo/cargo
        chmod +x cargo/cargo
        case "$(uname -m)" in arm64) m=aarch64 ;; amd64) m=x86_64 ;; *) m=$(uname -m) ;; esac
        for target in $m-unknown-linux-gnu $m-unknown-linux-musl $m-apple-darwin; do
            mkdir -p v1.2.3 "ctxsim-1.2.3-$target"
            printf '#!/bin/sh\necho mine\n' > "ctxsim-1.2.3-$target/ctxsim"
            chmod +x "ctxsim-1.2.3-$target/ctxsim"
            tar -czf "v1.2.3/ctxsim-1.2.3-$target.tar.gz" "ctxsim-1.2.3-$target"
        done
        cd v1.2.3
        if command -v sha256sum > /dev/null; then sha256sum ./*.gz; else shasum -a 256 ./*.gz; fi | sed 's|\./||'
    "#;
    let packed = Command::new("sh").args(["-c", pack]).current_dir(folder).output().unwrap();
    let sums = checksum(&String::from_utf8(packed.stdout).unwrap());
    fs::write(folder.join("checksums.txt"), sums).unwrap();
    let output = Command::new("sh")
        .arg(root().join(".github/install.sh"))
        .arg(bin)
        .args(args)
        .current_dir(folder)
        .env("CTXSIM_CHECKSUMS", folder.join("checksums.txt"))
        .env("CTXSIM_DOWNLOADS", format!("file://{}", folder.display()))
        .env("PATH", format!("{}:{}", folder.join("cargo").display(), std::env::var("PATH").unwrap()))
        .env_remove("GITHUB_PATH")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said, bin.join("ctxsim").exists())
}

#[cfg(unix)]
#[test]
fn the_installer_pastes_no_value_into_a_program_and_replaces_the_old_one_whole() {
    let folder = tempdir().unwrap();
    let bin = folder.path().join("bin");
    let install = |args: &[&str]| installed_into(&bin, args, folder.path(), str::to_owned);
    for version in [
        "x/y/;1e touch pwned #",
        "x/y/;w pwned",
        "$(touch pwned)",
        "`touch pwned`",
        "1.2.3; touch pwned",
        "../1.2.3",
        "-o",
        ".*",
        "1.2.3\n::error::x",
        "1.2.\u{b3}",
    ] {
        let (code, said, is_there) = install(&[version]);
        assert_eq!((code, is_there), (Some(2), false), "{version}: {said}");
        assert!(said.contains("the version has characters"), "{version}: {said}");
        assert!(!said.lines().any(|it| it.starts_with("::error::")), "{said}");
    }
    assert!(!folder.path().join("pwned").exists());
    for wrong in ["-x", "two\nlines"] {
        let (code, said, _) = installed_into(Path::new(wrong), &["1.2.3"], folder.path(), str::to_owned);
        assert_eq!(code, Some(2), "{said}");
    }

    // What stands there is renamed over, not written into: a program that runs keeps its file.
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join("ctxsim"), "old").unwrap();
    fs::hard_link(bin.join("ctxsim"), folder.path().join("running")).unwrap();
    let (code, said, _) = install(&["1.2.3"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("running")).unwrap(), "old");
    assert!(fs::read_to_string(bin.join("ctxsim")).unwrap().contains("echo mine"));
    assert_eq!(fs::read_dir(&bin).unwrap().count(), 1);
}

#[test]
fn no_file_that_is_checked_chooses_the_version_of_the_action() {
    let action = text("action.yml");
    let (_, install) = action.split_once("- name: Install\n").unwrap();
    let (install, _) = install.split_once("- name: Check\n").unwrap();
    let read: Vec<&str> = install.lines().filter(|it| it.contains("ctxsim.toml")).collect();

    assert_eq!(read, [""; 0]);
    assert!(!install.contains("working-directory"), "it starts outside the folder that is checked");
    assert!(install.contains("install.sh\" \"$RUNNER_TEMP/ctxsim\" \"$CTXSIM_VERSION\"\n"), "{install}");
}

#[cfg(unix)]
#[test]
fn the_action_and_the_hooks_take_no_value_for_an_option() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    let folder = tempdir().unwrap();
    let fake = folder.path().join("ctxsim");
    fs::write(&fake, "#!/bin/sh\nfor it; do echo \"<$it>\"; done\n").unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let sh = |script: &str, args: &[&str], environment: &[(&str, &str)]| {
        let mut command = Command::new("sh");
        command.arg(root().join(script)).args(args).current_dir(folder.path()).env("CTXSIM", &fake);
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        let output = command.env("PATH", path).envs(environment.iter().copied()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };

    for base in ["--output=x", "a b", "main\n::error::x", "main:mine", "$(id)"] {
        let (code, said) = sh("action.sh", &[], &[("CTXSIM_BASE", base)]);
        assert_eq!(code, Some(2), "{base}: {said}");
        assert!(!said.contains('<'), "nothing runs: {said}");
    }
    for (name, value) in [("CTXSIM_ALLOW_PROCESS", "yes"), ("CTXSIM_ALLOW_REV", "--bless")] {
        assert_eq!(sh("action.sh", &[], &[(name, value)]).0, Some(2));
    }
    let allowed = [
        ("CTXSIM_BASE", "origin/feature-1.2_x"),
        ("CTXSIM_ALLOW_PROCESS", "true"),
        ("CTXSIM_ALLOW_REV", "true"),
    ];
    let (_, said) = sh("action.sh", &[], &allowed);
    assert!(said.starts_with("<check>\n<--allow-process>\n<--allow-rev>\n<--format>"), "{said}");
    assert!(said.contains("<compare>\n<--allow-process>\n<--base>\n<rev:origin/feature-1.2_x>"), "{said}");

    fs::create_dir_all(folder.path().join("-x/policies")).unwrap();
    fs::write(folder.path().join("-x/policies/a.toml"), "").unwrap();
    let (_, said) = sh(".github/hook.sh", &["validate", "--strict", "-x/policies/a.toml", "b.toml"], &[]);
    assert_eq!(said, "<validate>\n<--strict>\n<-->\n<-x/policies/a.toml>\n<b.toml>\n");
    assert_eq!(sh(".github/hook.sh", &["run"], &[]).0, Some(2));
}

#[cfg(unix)]
#[test]
fn the_installer_takes_only_what_is_listed_and_has_its_checksum() {
    let (code, said, is_there) = installed(str::to_owned);
    assert_eq!((code, is_there), (Some(0), true), "{said}");
    assert!(said.contains("ctxsim 1.2.3, "), "{said}");

    let (code, said, is_there) =
        installed(|it| it.lines().map(|it| format!("{:064}{}\n", 0, &it[64..])).collect());
    assert_eq!((code, is_there), (Some(2), false), "{said}");
    assert!(said.contains("has the checksum"), "{said}");

    // Until there is a release, it builds what it lies in.
    let (code, said, is_there) = installed(|_| String::new());
    assert_eq!((code, is_there), (Some(0), true), "{said}");
    let built = format!("in {}: cargo install --locked --path . ", root().display());
    assert!(said.contains(&built) && said.contains("built from this checkout"), "{said}");

    let (code, said, is_there) = installed(|it| it.replace("1.2.3", "1.2.4"));
    assert_eq!((code, is_there), (Some(2), false), "{said}");
    assert!(said.contains("cannot be downloaded"), "{said}");
}
