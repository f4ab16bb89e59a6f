//! Where results go: what stands there stays what it is, and nothing half-written stays behind.

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use super::*;

/// Writes a schema to a path; what is written does not matter.
fn write_to(path: &Path) -> String {
    let path = path.to_str().unwrap();
    out(&ctxsim(&["show", "policies/cap.ron", "--as", "toml", "--force", "--output", path]))
}

fn text() -> String {
    out(&ctxsim(&["show", "policies/cap.ron", "--as", "toml"]))
}

#[test]
fn a_pipe_is_written_to_and_stays_a_pipe() {
    let folder = tempdir().unwrap();
    let pipe = folder.path().join("pipe.toml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (send, received) = channel();
    let reads = pipe.clone();
    // A thread ends with this process, even where nobody ever opens the pipe to write.
    thread::spawn(move || send.send(fs::read_to_string(reads)));

    write_to(&pipe);

    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(received.recv_timeout(Duration::from_secs(60)).unwrap().unwrap(), text());
    assert_eq!(names_in(folder.path()), ["pipe.toml"]);
}

#[test]
fn nothing_is_written_through_a_link_to_a_file_to_a_device_to_a_folder_or_to_nothing_yet() {
    let folder = tempdir().unwrap();
    let below = folder.path().join("below");
    fs::create_dir(&below).unwrap();
    let link = |name: &str, to: &str| {
        let path = below.join(name);
        symlink(to, &path).unwrap();
        path
    };
    fs::write(folder.path().join("there.toml"), "before").unwrap();
    let convert = ["show", "policies/cap.ron", "--as", "toml", "--force", "--output"];

    for path in [
        link("to_file.toml", "../there.toml"),
        link("to_link.toml", "to_nothing.toml"),
        link("to_device.toml", "/dev/null"),
        link("to_nothing.toml", "../new.toml"),
    ] {
        let told = refused(&ctxsim(&[&convert[..], &[path.to_str().unwrap()]].concat()));
        assert!(told.contains("[output-link]") && told.contains("this is a link"), "{told}");
        assert!(path.is_symlink(), "{}", path.display());
    }

    assert_eq!(fs::read_to_string(folder.path().join("there.toml")).unwrap(), "before");
    assert!(!folder.path().join("new.toml").exists());
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    // A folder of the user's own, outside the project, may be reached through a link: `/tmp` is one on some systems.
    let through = link("to_folder", "..").join("new.toml");
    write_to(&through);
    assert_eq!(fs::read_to_string(folder.path().join("new.toml")).unwrap(), text());
}

#[test]
fn a_file_keeps_its_permissions_and_one_that_is_protected_keeps_its_text() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("secret.toml");
    fs::write(&path, "before").unwrap();
    for mode in [0o600, 0o666, 0o640, 0o755] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        write_to(&path);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, mode);
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text());

    fs::write(&path, "before").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    // Nothing is protected from the superuser.
    if fs::OpenOptions::new().write(true).open(&path).is_err() {
        let output =
            ctxsim(&["show", "policies/cap.ron", "--as", "toml", "--output", path.to_str().unwrap()]);
        assert!(refused(&output).contains("no permission to write it"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    }
}

#[test]
fn a_dash_is_standard_output() {
    assert_eq!(write_to(Path::new("-")), text());
    assert_eq!(write_to(Path::new("/dev/stdout")), text());
    assert!(!super::data("small/-").exists());
}

#[test]
fn the_extension_says_the_format_in_any_case_and_where_a_verb_has_it() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let explain = ["explain", "--policy", "cap", "--scenario", "one", "--profile", "plain", "--request", "2"];
    let run = ["run", "--policy", "cap", "--scenario", "one", "--profile", "plain"];

    for (line, name, start) in [
        (&explain[..], "request.JSON", "{"),
        (&explain[..], "request.txt", "Written by ctxsim.\n\nRequest 2 of"),
        (&run[..], "report.json", "{"),
        (&run[..], "report.csv", "policy,"),
        (&run[..], "report.md", "<!-- Written by ctxsim. -->\n#"),
        (&run[..], "report.htm", "<!"),
        (&run[..], "report", "Written by ctxsim.\n\none "),
    ] {
        out(&ctxsim(&[line, &["--output", &at(name)]].concat()));
        let text = fs::read_to_string(at(name)).unwrap();
        assert!(text.starts_with(start), "{name}: {text}");
    }
}

#[test]
fn an_interrupt_leaves_no_temporary_file() {
    const MODELS: usize = 800;
    let folder = tempdir().unwrap();
    let models: Vec<String> = (0..MODELS)
        .map(|it| {
            let rates = r#""input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06"#;
            format!(r#""m{it}": {{"litellm_provider": "p", "mode": "chat", {rates}}}"#)
        })
        .collect();
    let list = folder.path().join("list.json");
    fs::write(&list, format!("{{{}}}", models.join(",\n"))).unwrap();
    let mut n_interrupted = 0;

    for round in 0..6 {
        let written = folder.path().join(format!("imported{round}"));
        let mut child = Command::new(env!("CARGO_BIN_EXE_ctxsim"))
            .args(["prices", "import", "--as-of", "2026-11-21"])
            .arg(&list)
            .arg("--output")
            .arg(&written)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while !written.join("p").is_dir() && begun.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(5 * round));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let status = child.wait().unwrap();

        if status.code() == Some(130) {
            n_interrupted += 1;
            assert!(
                !written.exists() || names_in(&written.join("p")).len() == MODELS,
                "all of them, or none"
            );
            continue;
        }
        let left: Vec<String> =
            names_in(&written.join("p")).into_iter().filter(|it| !it.ends_with(".toml")).collect();
        assert_eq!(left, Vec::<String>::new());
    }

    assert!(n_interrupted > 0, "every import ended before it was interrupted");
}
