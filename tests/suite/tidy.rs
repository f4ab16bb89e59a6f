//! Rules of the house that no compiler checks.

use ctxsim::catalog::InputKind;

use crate::support::*;

/// The packages that the project is built on.
const PACKAGES: [&str; 9] =
    ["minijinja", "serde", "toml", "ron", "rand", "rand_xoshiro", "insta", "indexmap", "thiserror"];

/// Words of providers and models, which belong into profiles.
const PROVIDER_WORDS: &str =
    "anthropic claude openai gpt deepseek kimi moonshot gemini google qwen mistral duckagent";

/// The modules of `crates/engine` that must not know a policy or a provider by its name.
const NAMELESS: [&str; 5] = ["engine", "projection", "cache.", "cache/", "recovery"];

/// The one file of the library that starts programs and keeps deadlines.
const PROGRAMS: &str = "crates/engine/src/own/process/child.rs";

/// The one file that narrows numbers, and how often the others saturate one. A further use needs a reason: a count that was
/// read from a file is checked there, and a place in a list is narrowed with `ix`.
const NARROW: (&str, usize) = ("crates/base/src/quantity.rs", 62);

/// Types and modules that reach the network, the clock or other programs.
const OUTSIDE: [&str; 8] = [
    "std::net",
    "TcpStream",
    "UdpSocket",
    "reqwest",
    "hyper",
    "SystemTime::now",
    "Instant::now",
    "Command::new",
];

/// Packages that reach the network, and those that programs which do are built on.
pub(crate) const NETWORK: &str = "\
    async-std attohttpc curl h2 hyper isahc mio native-tls object_store openssl quinn reqwest rustls smol \
    socket2 surf tokio tungstenite ureq url";

/// Returns the files below a folder with their path from the root.
pub(crate) fn files(folder: &str) -> Vec<(String, PathBuf)> {
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
    let mut found: Vec<(String, PathBuf)> =
        files_below(&root().join(folder), &[]).into_iter().map(|it| (name(&it), it)).collect();
    found.sort();
    found
}

/// Returns the Rust files below a folder, with their text.
pub(crate) fn sources(folder: &str) -> Vec<(String, String)> {
    let rust = files(folder).into_iter().filter(|(name, _)| name.ends_with(".rs"));
    rust.map(|(name, path)| (name, fs::read_to_string(path).unwrap())).collect()
}

/// Returns the Rust files of the library and the command line, in whichever package, with their text.
pub(crate) fn own_sources() -> Vec<(String, String)> {
    ["crates", "src"].iter().flat_map(|it| sources(it)).collect()
}

/// Returns whether a file is of the command line, which prints, writes and shows progress.
fn is_of_command_line(name: &str) -> bool {
    ["src/bin/", "crates/cli/"].iter().any(|it| name.starts_with(it))
}

/// Returns what of a text is code: no comments, no tests.
fn code(text: &str) -> String {
    let body = text.split("#[cfg(test)]\nmod").next().unwrap();
    body.lines().map(|it| it.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Returns the modules of a package, the lowest first.
fn floors(package: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("crates").join(package).join("src/lib.rs")).unwrap();
    let names =
        text.lines().filter_map(|it| it.strip_prefix("pub mod ")?.strip_suffix(';').map(str::to_owned));
    names.collect()
}

/// Packages whose modules are kinds beside each other: inputs name inputs of other kinds, and loads are made of other loads.
const BESIDE_EACH_OTHER: [&str; 2] = ["input", "worlds"];

#[test]
fn within_a_package_a_module_imports_only_from_those_listed_before_its_own() {
    let mut wrong = Vec::new();
    let mut n_floors = 0;
    for package in fs::read_dir(root().join("crates")).unwrap() {
        let package = package.unwrap().file_name().into_string().unwrap();
        if BESIDE_EACH_OTHER.contains(&package.as_str()) {
            continue;
        }
        let floors = floors(&package);
        n_floors += floors.len();
        let floor = |it: &str| floors.iter().position(|known| known == it);
        let folder = format!("crates/{package}/src/");
        for (name, text) in sources(&folder) {
            let module = name.trim_start_matches(&folder).split(['/', '.']).next().unwrap();
            let Some(own) = floor(module) else { continue };
            for used in code(&text).split("crate::").skip(1) {
                let used: String =
                    used.chars().take_while(|it| it.is_ascii_lowercase() || *it == '_').collect();
                if floor(&used).is_some_and(|it| it > own) {
                    wrong.push(format!("{name} imports `{used}`"));
                }
            }
        }
    }
    assert!(n_floors > 20);
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_kind_of_input_is_written_and_checked_in_a_folder_of_its_own() {
    for kind in ["policy", "scenario", "profile", "suite"] {
        for part in [format!("{kind}.rs"), format!("{kind}/written.rs"), format!("{kind}/check.rs")] {
            assert!(root().join("crates/input/src").join(&part).is_file(), "{part} is missing");
        }
    }
}

#[test]
fn every_source_file_opens_with_its_sentence() {
    let all =
        ["crates", "src", "tests/suite", "tests/conformance", "examples"].iter().flat_map(|it| sources(it));
    let silent = all.filter(|(_, text)| {
        !text.starts_with("//! ") || !text.lines().next().unwrap().ends_with(['.', ',', ':'])
    });
    let silent: Vec<String> = silent.map(|it| it.0).filter(|it| !it.contains("data/")).collect();

    assert_eq!(silent, Vec::<String>::new());
}

#[test]
fn every_test_file_is_listed() {
    let main = fs::read_to_string(root().join("tests/suite/main.rs")).unwrap();
    for (name, _) in sources("tests/suite") {
        let stem = name.trim_start_matches("tests/suite/").trim_end_matches(".rs");
        if !stem.contains('/') && stem != "main" {
            assert!(main.contains(&format!("mod {stem};")), "{name} is listed nowhere");
        }
    }
}

#[test]
fn every_snapshot_is_of_a_test() {
    let tests: String = sources("tests").into_iter().map(|it| it.1).collect();
    // What the snapshots of a suite assume stands beside them.
    for (name, _) in files("snapshots").into_iter().filter(|it| !it.0.ends_with("/assumed.toml")) {
        assert!(name.ends_with(".snap"), "{name} is no accepted snapshot");
        let stem = name.rsplit_once('/').unwrap().1.trim_end_matches(".snap");
        if ["snapshots/diagnostics/words/", "snapshots/agents/", "snapshots/examples/"]
            .iter()
            .any(|it| name.starts_with(it))
        {
            continue; // The tests of these, or `ctxsim check`, know all of them.
        }
        let is_known =
            if let Some((load, _)) = name.strip_prefix("snapshots/runs/").and_then(|it| it.split_once('/')) {
                // The tests look after the files in each of these folders.
                let load = load.trim_end_matches("-sampled").replacen('-', "/", 1);
                tests.contains(&format!("\"{load}\""))
            } else {
                tests.contains(&format!("\"{stem}\""))
            };
        assert!(is_known, "{name} is an orphan");
    }
}

#[test]
fn presets_and_profiles_name_their_sources_and_profiles_their_day() {
    for (name, path) in files("profiles") {
        let spec: ProfileFile = Source::read(&path).unwrap().decode().unwrap();
        assert!(!spec.sources.is_empty() && is_day(&spec.as_of), "{name}");
    }
    for (name, path) in files("policies") {
        let spec: PolicyFile = Source::read(&path).unwrap().decode().unwrap();
        assert!(!spec.sources.is_empty() || spec.base.is_some(), "{name} names no source");
        assert!(spec.as_of.is_none_or(|it| is_day(&it)), "{name}");
    }
}

/// Returns whether a text is a day, `YYYY-MM-DD`.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |text: &str, length| text.parse::<u32>().ok().filter(|_| text.len() == length);
    number(year, 4).is_some()
        && number(month, 2).is_some_and(|it| (1..=12).contains(&it))
        && number(day, 2).is_some_and(|it| (1..=31).contains(&it))
}

#[test]
fn the_library_reaches_neither_network_nor_clock() {
    for (name, text) in own_sources().iter().filter(|it| !is_of_command_line(&it.0)) {
        let code = code(text);
        let reached: Vec<&str> = OUTSIDE.into_iter().filter(|it| code.contains(it)).collect();
        let allowed: &[&str] = if name == PROGRAMS { &["Instant::now", "Command::new"] } else { &[] };
        assert_eq!(reached, allowed, "{name}");
    }
}

#[test]
fn a_number_beyond_its_range_saturates_only_by_name_and_no_more_often_than_is_written_down() {
    let (home, n_written) = NARROW;
    let (mut bare, mut n_found) = (Vec::new(), 0);
    for (name, text) in own_sources().iter().filter(|it| it.0 != home) {
        let code = code(text);
        let defaults = code.split("unwrap_or(").skip(1).filter_map(|it| it.split_once(')'));
        bare.extend(
            defaults
                .filter(|it| ["::MAX", "ITEM_MAX"].iter().any(|most| it.0.ends_with(most)))
                .map(|it| format!("{name}: unwrap_or({})", it.0)),
        );
        let calls = code.lines().filter(|it| !it.trim_start().contains("use "));
        n_found += calls.map(|it| it.matches("saturated").count()).sum::<usize>();
    }

    assert_eq!(bare, Vec::<String>::new());
    assert_eq!(n_found, n_written, "uses of `saturated`");
}

#[test]
fn only_the_command_line_prints() {
    for (name, text) in own_sources().iter().filter(|it| !is_of_command_line(&it.0)) {
        let code = code(text);
        assert!(!["println!", "eprintln!", "print!(", "dbg!"].iter().any(|it| code.contains(it)), "{name}");
    }
}

#[test]
fn each_package_is_used() {
    let all: String =
        ["crates", "src", "tests/suite"].iter().flat_map(|it| sources(it)).map(|it| code(&it.1)).collect();
    for package in PACKAGES {
        assert!(all.contains(&format!("{package}::")), "{package} is not used");
    }
}

#[test]
fn the_engine_knows_no_policy_and_no_provider_by_name() {
    let stems: BTreeMap<String, String> = ["policies", "profiles"]
        .iter()
        .flat_map(|it| files(it))
        .filter_map(|(name, _)| Some((name.rsplit_once('/')?.1.rsplit_once('.')?.0.to_owned(), name)))
        // A word of the language is no policy's name.
        .filter(|(stem, _)| stem.contains(['_', '-']))
        .collect();
    for (name, text) in own_sources().iter().filter(|it| {
        NAMELESS
            .iter()
            .any(|module| it.0.strip_prefix("crates/engine/src/").is_some_and(|at| at.starts_with(module)))
    }) {
        let code = code(text).to_lowercase();
        let known: Vec<&str> = stems.keys().map(String::as_str).chain(listed(PROVIDER_WORDS)).collect();
        let named: Vec<&&str> = known.iter().filter(|it| code.contains(**it)).collect();
        assert!(named.is_empty(), "{name} names {named:?}");
    }
}

/// Returns what a package needs whatever its features are.
fn always_needed(manifest: &str) -> Vec<String> {
    let manifest: toml::Table = fs::read_to_string(root().join(manifest)).unwrap().parse().unwrap();
    let is_optional = |it: &toml::Value| it.get("optional").and_then(toml::Value::as_bool) == Some(true);
    let needs = manifest.get("dependencies").and_then(toml::Value::as_table);
    needs.into_iter().flatten().filter(|it| !is_optional(it.1)).map(|it| it.0.clone()).collect()
}

#[test]
fn the_lean_library_stays_lean() {
    let lock: toml::Table = fs::read_to_string(root().join("Cargo.lock")).unwrap().parse().unwrap();
    let mut packages: BTreeMap<&str, &toml::Value> = BTreeMap::new();
    for package in lock["package"].as_array().unwrap() {
        packages.insert(package["name"].as_str().unwrap(), package);
    }
    let mut open = always_needed("Cargo.toml");
    let mut tree = BTreeSet::new();
    while let Some(name) = open.pop() {
        if !tree.insert(name.clone()) {
            continue;
        }
        if let Some(own) = name.strip_prefix("ctxsim-") {
            let folder = if root().join(own).is_dir() { own.to_owned() } else { format!("crates/{own}") };
            // The lock file does not say which of its needs are optional.
            open.extend(always_needed(&format!("{folder}/Cargo.toml")));
            continue;
        }
        let needs = packages[name.as_str()].get("dependencies").and_then(toml::Value::as_array);
        open.extend(
            needs.into_iter().flatten().filter_map(|it| Some(it.as_str()?.split(' ').next()?.to_owned())),
        );
    }
    tree.retain(|it| !it.starts_with("ctxsim-"));
    let written = tree.into_iter().collect::<Vec<_>>().join("\n");

    assert_snapshot("package", "lean_tree", &written);
}

#[test]
fn no_package_of_the_crate_reaches_the_network() {
    let lock: toml::Table = fs::read_to_string(root().join("Cargo.lock")).unwrap().parse().unwrap();
    let names: Vec<&str> =
        lock["package"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    let reaching: Vec<&&str> = names.iter().filter(|it| listed(NETWORK).contains(it)).collect();

    assert!(names.contains(&"ctxsim") && names.contains(&"serde_json"), "the list is that of this crate");
    assert_eq!(reaching, Vec::<&&str>::new());
}

/// Returns what `.ci/lines` says of a tree with a package of so many lines, whose ceiling is ten, and whether that holds.
#[cfg(unix)]
fn counted_lines(script: &str, n_lines: usize) -> (String, bool) {
    let folder = tempdir().unwrap();
    let code = "// A comment is no line of code.\n\nfn one() {}\n".repeat(n_lines);
    for (path, text) in [
        (".ci/lines", script),
        ("benches/limits.toml", "[lines]\nsrc = 10\n"),
        ("src/lib.rs", &code),
        ("tests/one.rs", "fn one() {}\n"),
        ("DESIGN.md", "Two words.\n"),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let run = |program: &str, args: &[&str]| {
        Command::new(program).args(args).current_dir(folder.path()).output().unwrap()
    };
    run("git", &["init", "--quiet"]);
    let told = run("bash", &[".ci/lines"]);
    (String::from_utf8(told.stdout).unwrap(), told.status.success())
}

#[cfg(unix)]
#[test]
fn a_package_with_more_lines_of_code_than_its_ceiling_fails_the_checks() {
    // The package of the crate has no checks.
    let Ok(script) = fs::read_to_string(root().join(".ci/lines")) else { return };

    let (told, holds) = counted_lines(&script, 10);
    assert!(holds && told.contains("words in DESIGN.md: 2"), "{told}");
    let (told, holds) = counted_lines(&script, 410);
    assert!(!holds && told.contains("exceeded by 400"), "{told}");
    let checks = fs::read_to_string(root().join(".ci/run")).unwrap();
    assert!(checks.lines().find(|it| it.starts_with("part ")).is_some_and(|it| it == "part .ci/lines"));
}

#[test]
fn commands_with_limits_name_bundled_inputs() {
    let limits: toml::Table =
        fs::read_to_string(root().join("benches/limits.toml")).unwrap().parse().unwrap();
    let catalog = bundled_catalog();
    let mut named = Vec::new();
    for command in limits["commands"].as_array().unwrap() {
        let words: Vec<&str> = command["args"].as_str().unwrap().split(' ').collect();
        for pair in words.windows(2) {
            let kind = match pair[0] {
                "--suite" => InputKind::Suite,
                "--policy" => InputKind::Policy,
                "--profile" => InputKind::Profile,
                _ => continue,
            };
            named.extend(catalog.expand_pattern(kind, pair[1]).into_iter().map(|it| (kind, it)));
        }
    }

    assert!(named.iter().all(|(kind, name)| catalog.find_origin(*kind, name).is_ok()), "{named:?}");
    let presets =
        named.iter().filter(|(kind, name)| *kind == InputKind::Policy && name.starts_with("agents/"));
    assert_eq!(presets.count(), 52, "the limit of 276 sessions is for 52 presets");
}

/// Returns the names of the types that the library and the command line define, one for each definition.
fn types() -> Vec<String> {
    let all = own_sources().into_iter().flat_map(|(_, text)| {
        let name = |line: &str| {
            let line =
                line.strip_prefix("pub ").or_else(|| Some(line.strip_prefix("pub(")?.split_once(") ")?.1));
            let line = line.unwrap_or_default();
            let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|it| line.strip_prefix(it))?;
            Some(rest.chars().take_while(|it| it.is_alphanumeric()).collect::<String>())
        };
        let private = |line: &str| name(line).or_else(|| name(&format!("pub {line}")));
        code(&text).lines().filter_map(private).collect::<Vec<_>>()
    });
    all.collect()
}

#[test]
fn a_name_says_one_thing_so_few_types_share_theirs() {
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    let types = types();
    types.iter().for_each(|it| *by_name.entry(it.clone()).or_default() += 1);
    let shared: BTreeMap<_, _> = by_name.into_iter().filter(|it| it.1 > 1).collect();
    let n_shared: usize = shared.values().sum();

    assert!(types.len() > 1_000);
    assert!(n_shared * 20 <= types.len(), "{n_shared} of {} types share their name: {shared:?}", types.len());
}

#[test]
fn the_design_is_short_and_names_types_that_exist() {
    let design = fs::read_to_string(root().join("DESIGN.md")).unwrap();
    let known: BTreeSet<String> = own_sources()
        .iter()
        .flat_map(|it| {
            it.1.split(|it: char| !it.is_alphanumeric() && it != '_').map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    let named = design.split('`').skip(1).step_by(2).map(|it| it.split(['(', ':', '<', ' ']).next().unwrap());
    let types = named.filter(|it| it.len() > 1 && it.starts_with(char::is_uppercase));
    let unknown: BTreeSet<&str> =
        types.filter(|it| it.chars().all(char::is_alphanumeric) && !known.contains(*it)).collect();

    assert!(design.lines().count() <= 500);
    assert_eq!(unknown, BTreeSet::new(), "DESIGN.md names types that are gone");
}

/// What only the writers of media write, and where each of these stands.
const MEDIA: [(&str, &[&str]); 18] = [
    // Codes of terminals: what knows their width, what lets ours pass, and our colours.
    ("\\x1b", &["crates/base/src/grid.rs", "crates/base/src/foreign.rs", "crates/base/src/grid/tint.rs"]),
    // What takes codes of ours for ours: what prints and wraps what we painted, and what draws problems.
    ("printed_with(", &["crates/base/src/foreign.rs", "crates/base/src/grid/tint.rs"]),
    ("wrap_painted(", &["crates/base/src/grid/prose.rs", "crates/base/src/grid/tint.rs"]),
    ("Renderer::styled()", &["crates/cli/src/output.rs"]),
    ("tell_as_it_is(", &["crates/cli/src/output.rs"]),
    ("eprintln!", &["crates/cli/src/output.rs"]),
    ("stdout().lock()", &["crates/cli/src/output.rs"]),
    ("eprint!", &[]),
    ("\"::error", &["crates/base/src/foreign/runner.rs"]),
    // Markdown that is pasted together.
    ("<details>", &["crates/base/src/grid/markdown.rs"]),
    // The comment of a file in TOML.
    ("\"# {", &["crates/cli/src/verbs/init.rs"]),
    ("\"## {", &[]),
    ("\"### {", &[]),
    ("\"- {", &["crates/base/src/grid/markdown.rs"]),
    ("\"**{", &["crates/base/src/grid/markdown.rs"]),
    ("\"| {", &["crates/base/src/grid/markdown.rs"]),
    // What was neutralised elsewhere: results in the formats of programs, annotations, and texts of our own.
    (
        "print_encoded(",
        &[
            "crates/cli/src/output.rs",
            "crates/cli/src/verbs/check.rs",
            "crates/cli/src/verbs/inputs.rs",
            "crates/cli/src/verbs/run.rs",
            "crates/cli/src/verbs/sweep.rs",
        ],
    ),
    ("set_formatter(", &["crates/report/src/template.rs"]),
];

/// What a template may take as it is: drawings, styles and the script, which are made of escaped parts.
const UNESCAPED: [&str; 3] = ["it.svg|safe", "style|safe", "script|safe"];

#[test]
fn only_the_writers_of_media_write_what_media_obey() {
    let mut wrong = Vec::new();
    for (name, text) in own_sources() {
        let code = code(&text);
        let signs =
            MEDIA.iter().filter(|(sign, places)| code.contains(sign) && !places.contains(&name.as_str()));
        wrong.extend(signs.map(|(sign, _)| format!("{name} writes `{sign}`")));
    }
    for (name, path) in ["crates", "src"].iter().flat_map(|it| files(it)) {
        let is_template = [".html", ".svg", ".xml", ".css"].iter().any(|it| name.ends_with(it));
        let text = if is_template { fs::read_to_string(path).unwrap() } else { continue };
        let unescaped = text.matches("|safe").count();
        let known: usize = UNESCAPED.iter().map(|it| text.matches(it).count()).sum();
        if unescaped != known || text.contains("autoescape") {
            wrong.push(format!("{name} takes values as they are"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
