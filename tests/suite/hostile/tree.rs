//! The hostile repository: links out of it, folders that are bare repositories, settings that start programs, and what they must not reach.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::*;

/// What stands in a file of whoever runs a command, and in no output.
pub(super) const SECRET: &str = "S3CRET";

/// Hooks, of which each leaves a mark.
const HOOKS: [&str; 4] = ["post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"];

/// A user's home with a repository in it.
pub(super) struct Tree {
    folder: TempDir,
    fresh: AtomicUsize,
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn program(path: &Path, text: &str) {
    put(path, text);
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

impl Tree {
    pub(super) fn new() -> Self {
        let it = Self { folder: tempdir().unwrap(), fresh: AtomicUsize::new(0) };
        for folder in ["marks", "temporary", "home/elsewhere", "home/repo/o"] {
            fs::create_dir_all(it.top().join(folder)).unwrap();
        }
        put(&it.top().join("home/.bashrc"), "# mine\n");
        put(&it.top().join("home/secret.toml"), &format!("token = \"{SECRET}\"\nname = \"{SECRET}\"\n"));
        it.inputs();
        it.git(&["init", "--quiet"]);
        it.git(&["add", "."]);
        it.git(&["commit", "--quiet", "--message", "as it was"]);
        it.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
        let id = "0123456789012345678901234567890123456789";
        put(&it.repository().join(".git/refs/remotes/origin/part"), id);
        it.links();
        it.repositories(id);
        it.settings();
        it
    }

    /// Returns everything that a command must leave as it is, but for what it is told.
    pub(super) fn top(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn repository(&self) -> PathBuf {
        self.top().join("home/repo")
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.top().join("temporary")
    }

    /// Makes an empty folder below the repository.
    pub(super) fn fresh(&self) -> PathBuf {
        let folder = self.repository().join(format!("fresh{}", self.fresh.fetch_add(1, Ordering::Relaxed)));
        fs::create_dir(&folder).unwrap();
        folder
    }

    /// Writes what sound repositories have, and inputs that name what they should not.
    fn inputs(&self) {
        let repository = self.repository();
        let data = root().join("tests/data");
        for (from, to) in [
            ("small/policies/cap.ron", "ctx/policies/cap.ron"),
            ("small/policies/cap_low.ron", "ctx/policies/cap_low.ron"),
            ("small/scenarios/one.toml", "ctx/scenarios/one.toml"),
            ("small/profiles/plain.toml", "ctx/profiles/plain.toml"),
            ("recorded/codex-rollout.jsonl", "sess/s.jsonl"),
            ("prices/litellm/prices.json", "prices.json"),
        ] {
            put(&repository.join(to), &fs::read_to_string(data.join(from)).unwrap());
        }
        put(&repository.join("ctxsim.toml"), "folders = [\"ctx\"]\n");
        for (name, command) in [
            ("prog", format!("touch {}; read -r line; exit 1", self.mark("prog"))),
            ("sleeps", format!("echo $$ > {}; exec sleep 600", self.top().join("pid").display())),
        ] {
            let process = format!("(command: [\"sh\", \"-c\", {command:?}], deadline: \"600s\")");
            let policy = format!("(name: \"{name}\", about: \"A program.\", process: {process})\n");
            put(&repository.join(format!("ctx/policies/{name}.ron")), &policy);
        }
        put(&repository.join(".gitattributes"), "* filter=evil diff=evil\n");
        let secret = self.top().join("home/secret.toml").display().to_string();
        for (name, policy) in [
            ("clean", "cap"),
            ("linked", "cap"),
            ("bound", "cap"),
            ("..", "cap"),
            ("starts", "prog"),
            ("rev", "rev:origin/main:cap"),
            ("reads", &secret),
            ("links", "../../linked.toml"),
        ] {
            let suite = format!(
                "name = \"{name}\"\nabout = \"A suite.\"\npolicies = [\"identity\", \"{policy}\"]\nscenarios = [\"one\"]\nprofiles = [\"plain\"]\n\
                [[guards]]\nname = \"It sends requests.\"\npolicy = \"identity\"\nmetric = \"totals.requests\"\nat_least = 1\n"
            );
            put(&repository.join(format!("ctx/suites/{name}.toml")), &suite);
        }
    }

    /// Links what commands write by themselves, and what they could be told to write, to files outside.
    fn links(&self) {
        let repository = self.repository();
        for (link, to) in [
            ("report.json", "../.bashrc"),
            ("new.html", "../elsewhere/new.html"),
            ("out", "../elsewhere"),
            ("linked.toml", "../secret.toml"),
            ("snapshots/linked/one/plain.snap.new", "../../../../.bashrc"),
            ("snapshots/bound", "../../elsewhere"),
            ("snapshots/linked/ratchet.toml", "../../../elsewhere/ratchet.toml"),
        ] {
            let path = repository.join(link);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(to, path).unwrap();
        }
        // A snapshot whose numbers have moved, so that another waits for review.
        put(&repository.join("snapshots/linked/one/plain.snap"), "---\nsource: ctxsim check\n---\nother\n");
        // Another of a bank's, as an export would list it.
        put(&self.repository().join("git"), "");
    }

    /// Makes folders bare repositories, whose settings have a missing object fetched by a program.
    fn repositories(&self, id: &str) {
        for folder in ["", "ctx", "ctx/policies", "ctx/suites", "sess"] {
            let folder = self.repository().join(folder);
            put(&folder.join("HEAD"), "ref: refs/heads/main\n");
            put(&folder.join("objects/keep"), "x");
            put(&folder.join("refs/remotes/origin/main"), id);
            let fetch = format!(
                "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpartialClone = origin\n[remote \"origin\"]\n\turl = .\n\t\
                promisor = true\n\tuploadpack = \"touch {}; false\"\n",
                self.mark("uploadpack")
            );
            put(&folder.join("config"), &(fetch + &self.evil()));
        }
        for hook in HOOKS {
            program(
                &self.repository().join("hooks").join(hook),
                &format!("#!/bin/sh\ntouch {}\n", self.mark(hook)),
            );
        }
        for name in ["git", "bin/git", "ctx/policies/git"] {
            program(
                &self.repository().join(name),
                &format!("#!/bin/sh\ntouch {}\n", self.mark("git-of-the-tree")),
            );
        }
    }

    /// Has the user's own settings include a file of the work tree, as some projects ask for.
    fn settings(&self) {
        put(&self.repository().join("evil.gitconfig"), &self.evil());
        let path = self.repository().join(".git/config");
        let fetch = format!(
            "[include]\n\tpath = ../evil.gitconfig\n[remote \"origin\"]\n\turl = .\n\tpromisor = true\n\tuploadpack = \"touch {}; false\"\n",
            self.mark("uploadpack-of-the-user")
        );
        fs::write(&path, fs::read_to_string(&path).unwrap() + &fetch).unwrap();
    }

    /// Returns settings that start programs.
    fn evil(&self) -> String {
        let mut text = format!("[core]\n\thooksPath = {}\n", self.repository().join("hooks").display());
        for (section, key) in table("git_settings") {
            text += &format!("[{section}]\n\t{key} = touch {}\n", self.mark(&format!("{key}-setting")));
        }
        for verb in ["ls-tree", "cat-file", "rev-parse", "show"] {
            text += &format!("[alias]\n\t{verb} = !touch {}\n", self.mark(&format!("{verb}-alias")));
        }
        text
    }

    /// Adds files whose names move a terminal's cursor, or begin a line of their own.
    pub(super) fn add_control_characters(&self) {
        for name in ["two\nlines", "esc\u{1b}[2J", "bell\u{7}", "::error::x\r", "\u{9b}31m", "\u{202e}bidi"] {
            for folder in
                ["ctx/policies", "ctx/suites", "ctx/scenarios", "ctx/profiles", "sess", "snapshots/clean/one"]
            {
                put(&self.repository().join(folder).join(format!("{name}.toml")), "name = \"x\"\n");
            }
            put(&self.repository().join(format!("sess/{name}.jsonl")), "{}\n");
        }
    }

    fn mark(&self, name: &str) -> String {
        self.top().join("marks").join(name).display().to_string()
    }

    /// Returns the marks that programs have left.
    pub(super) fn marks(&self) -> Vec<String> {
        let found = fs::read_dir(self.top().join("marks")).unwrap();
        let mut found: Vec<String> = found.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        found.sort();
        found
    }

    pub(super) fn forget_marks(&self) {
        self.marks().iter().for_each(|it| fs::remove_file(self.mark(it)).unwrap());
    }

    /// Returns every file with its content, and every link with where it leads.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.top().join("home")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_symlink() {
                    let to = fs::read_link(&path).unwrap();
                    found.insert(path, to.into_os_string().into_encoded_bytes());
                } else if path.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path.clone(), fs::read(&path).unwrap());
                }
            }
        }
        found
    }

    /// Returns a call of a program as whoever works in the repository makes it, whose PATH has folders of the repository.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
        let mut path = OsString::from(self.repository().join("bin"));
        path.push(":.:");
        path.push(std::env::var_os("PATH").unwrap());
        let mut command = Command::new(program);
        command.current_dir(folder).env("PATH", path).env("HOME", self.top().join("home"));
        command.env("TMPDIR", self.temporary()).env("NO_COLOR", "1").env_remove("CI");
        command
    }

    pub(super) fn ctxsim(&self, folder: &Path, args: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_ctxsim"), folder).args(args).output().unwrap()
    }

    /// Runs git as the user did before anything hostile came.
    pub(super) fn git(&self, args: &[&str]) {
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
        let output =
            Command::new("git").args(who).args(args).current_dir(self.repository()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
