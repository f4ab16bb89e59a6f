//! The declared numbers as users try others: by overrides, in models of their own, and at the ends of their intervals.

use ctxsim::worlds::aging::AgingNumbers;

use super::*;

/// Returns what a command prints in a folder.
fn printed(folder: &Path, args: &[&str]) -> Result<String, String> {
    let output = ctxsim(folder, args);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

/// Returns the final scores of a run.
fn finals(folder: &Path, args: &[&str]) -> Vec<f64> {
    let all =
        ["run", "--format", "json", "--profile", "unlimited"].iter().chain(args).copied().collect::<Vec<_>>();
    let report: Value = serde_json::from_str(&printed(folder, &all).unwrap()).unwrap();
    let runs = report["runs"].as_array().unwrap().iter();
    runs.map(|it| it["aging"]["final"]["mean"].as_f64().unwrap()).collect()
}

#[test]
fn a_number_is_overridden_by_its_name_in_every_scenario_of_a_run_and_a_wrong_name_is_told() {
    let folder = tempdir().unwrap();
    let run = ["--policy", "aging/careful", "--scenario", "aging/s1", "aging/s6"];
    let all = |set: &[&str]| finals(folder.path(), &[&run[..], set].concat());

    let (usual, less) = (all(&[]), all(&["--set", "aging.extract=0.2"]));
    assert!(less.iter().zip(&usual).all(|(less, usual)| less < usual), "{less:?} {usual:?}");
    let long = all(&["--set", "scenario.load.aging.numbers.extract=0.2"]);
    assert_eq!(long, less, "the short path is the long one");
    assert!(all(&["--set", "aging.utilisation=0.3"]).last() < usual.last());

    let wrong = [&["run"], &run[..], &["--set", "aging.extrakt=0.2"]].concat();
    let told = printed(folder.path(), &wrong).unwrap_err();
    assert!(told.contains("did you mean `extract`"), "{told}");
    let bare = printed(folder.path(), &[&["run"], &run[..], &["--set", "extract=0.2"]].concat()).unwrap_err();
    assert!(bare.contains("aging.extract"), "{bare}");
}

#[test]
fn the_numbers_of_runners_have_a_short_path_too() {
    let folder = tempdir().unwrap();
    let run = args("run --scenario memory_runners/spec --policy memory_runners/context_only --trials 2");
    let with = |set: &str| printed(folder.path(), &[&run[..], &["--set", set]].concat()).unwrap();

    assert_ne!(with("runner.document.keeps=0.5"), with("runner.document.keeps=0.99"));
}

#[test]
fn a_sweep_varies_a_number_of_the_model() {
    let folder = tempdir().unwrap();
    let args = ["sweep", "--scenario", "aging/s6", "--policy", "aging/careful", "--base", "aging/lossy"];
    let told = printed(folder.path(), &[&args[..], &["--vary", "aging.extract=0.4,0.9"]].concat()).unwrap();

    assert!(told.contains("aging.extract=0.4") && told.contains("aging.extract=0.9"), "{told}");
}

#[test]
fn a_model_of_a_user_is_a_file_beside_the_scenario() {
    let folder = tempdir().unwrap();
    let scenario = "name = \"mine\"\nabout = \"Mine.\"\nseed = 1\n[load.aging]\ngenerator = \"multi_domain\"\nsessions = 8\n\
        trials = 3\nmodels = [\"mid\", \"models/ours.toml\"]\n";
    fs::write(folder.path().join("mine.toml"), scenario).unwrap();
    fs::create_dir(folder.path().join("models")).unwrap();
    let write = |text: &str| fs::write(folder.path().join("models/ours.toml"), text).unwrap();
    let run = ["run", "--scenario", "mine.toml", "--policy", "aging/careful", "--profile", "unlimited"];

    write("about = \"Ours.\"\nkind = \"measured\"\nutilisation = 0.5\n[numbers]\nextract = 0.4\n");
    let told = printed(folder.path(), &run).unwrap();
    assert!(told.contains("mine/mid") && told.contains("mine/ours"), "{told}");
    let [usual, ours] = finals(folder.path(), &run[1..5])[..] else { panic!("two models") };
    assert!(ours < usual);

    write("about = \"Ours.\"\nkind = \"measured\"\nutilisation = 1.5\n[numbers]\nextrakt = 0.4\n");
    let told = printed(folder.path(), &run).unwrap_err();
    assert!(told.contains("ours.toml") && told.contains("utilisation") && told.contains("extrakt"), "{told}");
    fs::remove_file(folder.path().join("models/ours.toml")).unwrap();
    assert!(printed(folder.path(), &run).unwrap_err().contains("models/ours.toml"));
}

#[test]
fn each_number_with_an_interval_is_declared_inside_it_and_orderings_show_which_conclusions_flip() {
    let numbers = AgingNumbers::declared();
    for (name, [low, high]) in &numbers.intervals {
        let declared = numbers.get(name).or(model("mid").own(name)).unwrap();
        assert!(*low <= declared && declared <= *high, "{name}");
    }
    let folder = tempdir().unwrap();
    let args = args("run --scenario aging/s6 --policy aging/careful aging/append_only --profile unlimited");
    let rows =
        printed(folder.path(), &[&args[..], &["--rows", "orderings", "--format", "jsonl"]].concat()).unwrap();
    let rows: Vec<Value> = rows.lines().map(|it| serde_json::from_str(it).unwrap()).collect();

    assert!(rows.len() >= 2 * numbers.intervals.len(), "both ends of each interval");
    assert!(rows.iter().any(|it| it["flips"] == true) && rows.iter().any(|it| it["flips"] == false));
}

#[test]
fn an_oracle_with_draws_of_its_own_can_make_an_answer_worse() {
    let mut of = load("s6_12");
    let anomalies = |own: bool, of: &mut ctxsim::input::scenario::AgingLoad| {
        of.own_oracle_draws = own;
        let all = ctxsim::worlds::aging::Aging::all(
            &scenario(of),
            of,
            &[],
            ctxsim::worlds::aging::ReadStreams::default(),
        );
        let stream = all[0].stream(0);
        let player = ctxsim::worlds::aging::AgingPlayer::new(&all[0], &stream, true);
        let log = player.declared(&memory("careful"), &model("weak"));
        log.asked.iter().filter(|it| it.answers[0].is_right && !it.answers[2].is_right).count()
    };

    assert_eq!(anomalies(false, &mut of), 0);
    assert!(anomalies(true, &mut of) > 0);
}

/// Returns a scenario with a load.
fn scenario(of: &ctxsim::input::scenario::AgingLoad) -> ctxsim::input::Scenario {
    let file = bundled_catalog().scenario("aging/s6_12").unwrap().spec;
    let load = ctxsim::input::scenario::LoadSpec::Aging(Box::new(of.clone()));
    ctxsim::input::Scenario::new(&ctxsim::input::ScenarioFile { load, ..file }).unwrap()
}

#[test]
fn a_number_that_nothing_reads_is_refused() {
    let folder = tempdir().unwrap();
    for name in ["lossy_words", "top_entries", "careful_instructions", "truncated_words"] {
        let set = format!("aging.{name}=3");
        let run = ["run", "--policy", "aging/careful", "--scenario", "aging/s1", "--set", &set];
        let told = printed(folder.path(), &run).unwrap_err();
        assert!(told.contains(&format!("unknown number `{name}`")), "{told}");
    }
}
