//! The bundled inputs decode, are well-formed, and carry their own names.

mod digests;
mod loads;
mod patterns;

use ctxsim::timeline::load::load;

use crate::support::*;

/// Returns the files of a bundled folder, by the names that their paths give them.
fn files(folder: &str) -> BTreeMap<String, PathBuf> {
    let root = root().join(folder);
    let mut found = BTreeMap::new();
    for path in files_below(&root, &["ron", "toml"]) {
        let name = path.with_extension("").strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        assert!(found.insert(name, path.clone()).is_none(), "{} is there twice", path.display());
    }
    found
}

/// Decodes the files of a bundled folder.
fn decoded<T: Decode>(folder: &str) -> BTreeMap<String, T> {
    let decode = |path: &Path| Source::read(path).unwrap().decode().unwrap_or_else(|it| panic!("{it}"));
    files(folder).iter().map(|(name, path)| (name.clone(), decode(path))).collect()
}

/// Lays a policy over its bases.
fn merged(policies: &BTreeMap<String, PolicyFile>, name: &str) -> PolicyFile {
    let spec = policies.get(name).unwrap_or_else(|| panic!("no policy is called `{name}`")).clone();
    match spec.base.clone() {
        Some(base) => spec.over(merged(policies, &base)),
        None => spec,
    }
}

/// Makes the timeline of a bundled scenario that is not recorded.
fn bundled(scenarios: &BTreeMap<String, ScenarioFile>, name: &str) -> Timeline {
    let scenario = Scenario::new(&scenarios[name]).unwrap();
    load(&scenario, |path, _| panic!("{path} is recorded")).unwrap_or_else(|it| panic!("{it}"))
}

#[test]
fn every_policy_is_well_formed_once_it_stands_on_its_base() {
    let policies: BTreeMap<String, PolicyFile> = decoded("policies");

    for (name, spec) in &policies {
        assert_eq!(*name, spec.name);
        let policy = Policy::new(&merged(&policies, name)).unwrap_or_else(|it| panic!("{name}: {it:#?}"));
        assert!(!policy.about.is_empty() && !merged(&policies, name).sources.is_empty(), "{name}");
    }
}

#[test]
fn every_policy_has_a_title_in_plain_words_that_no_other_has() {
    let policies: BTreeMap<String, PolicyFile> = decoded("policies");
    let mut of: BTreeMap<String, &str> = BTreeMap::new();

    for (name, spec) in &policies {
        let title = spec.title.clone().unwrap_or_else(|| panic!("{name} has no title"));
        let words = title.to_lowercase();
        let terms = ["evidence", "clairvoyant", "exploration", "identity", "entries", "lanes"];
        assert!(!title.ends_with('.') && !terms.iter().any(|it| words.contains(it)), "{name}: {title}");
        if let Some(other) = of.insert(words, name) {
            panic!("{other} and {name} are both called `{title}`");
        }
    }
}

#[test]
fn a_policy_does_not_inherit_the_title_of_its_base() {
    let policies: BTreeMap<String, PolicyFile> = decoded("policies");
    let variant = PolicyFile { base: Some("identity".to_owned()), ..PolicyFile::named("mine") };

    assert_eq!(variant.over(policies["identity"].clone()).title, None);
}

#[test]
fn a_title_is_one_short_line() {
    let problem = |title: &str| {
        let spec = PolicyFile { title: Some(title.to_owned()), ..PolicyFile::named("mine") };
        Policy::new(&spec).err().map(|it| it[0].message.clone())
    };

    assert_eq!(problem(&"é".repeat(48)), None);
    assert_eq!(problem(&"é".repeat(49)).unwrap(), "this title has 49 characters, more than 48");
    assert_eq!(problem("two\nlines").unwrap(), "this title is not one line");
    assert_eq!(problem(" ").unwrap(), "this title is empty");
}

#[test]
fn every_profile_is_well_formed() {
    for (name, spec) in decoded::<ProfileFile>("profiles") {
        assert_eq!(name, spec.name);
        let profile = Profile::new(&spec).unwrap_or_else(|it| panic!("{name}: {it:#?}"));
        assert_eq!(profile.name, name);
    }
}

#[test]
fn every_scenario_that_is_not_recorded_makes_a_trace() {
    let scenarios: BTreeMap<String, ScenarioFile> = decoded("scenarios");

    for (name, spec) in &scenarios {
        assert_eq!(*name, spec.name);
        if !matches!(spec.load, ctxsim::input::scenario::LoadSpec::Recorded { .. }) {
            assert_eq!(bundled(&scenarios, name).name, *name);
        }
    }
}

#[test]
fn every_suite_names_inputs_that_exist_and_parameters_that_someone_declares() {
    let policies: BTreeMap<String, PolicyFile> = decoded("policies");
    let [scenarios, profiles] = ["scenarios", "profiles"].map(files);

    for (name, suite) in decoded::<SuiteFile>("suites") {
        assert_eq!(name, suite.name);
        let missing = |named: &[String], known: &BTreeMap<String, PathBuf>| {
            // A pattern of a whole folder is known by any file in it.
            let is_known = |it: &String| match it.strip_suffix('*') {
                Some(start) => known.keys().any(|it| it.starts_with(start)),
                None => known.contains_key(it),
            };
            named.iter().filter(|it| !is_known(it)).cloned().collect::<Vec<String>>()
        };
        assert_eq!(missing(&suite.scenarios, &scenarios), Vec::<String>::new(), "{name}");
        assert_eq!(missing(&suite.profiles, &profiles), Vec::<String>::new(), "{name}");
        let of_suite = suite.policies.iter().flat_map(|it| match it.strip_suffix('*') {
            Some(start) => policies.keys().filter(|it| it.starts_with(start)).collect(),
            None => vec![it],
        });
        let merged: Vec<PolicyFile> = of_suite.map(|it| merged(&policies, it)).collect();
        for param in suite.params.keys() {
            assert!(
                merged.iter().any(|it| it.params.contains_key(param)),
                "{name}: nobody declares `{param}`"
            );
        }
    }
}

#[test]
fn two_duckagent_policies_do_not_follow_the_threshold_of_a_run() {
    let policies: BTreeMap<String, PolicyFile> = decoded("policies");
    let suites: BTreeMap<String, SuiteFile> = decoded("suites");

    let named = &suites["duckagent-matrix"].policies;
    let deaf: Vec<&String> =
        named.iter().filter(|it| !merged(&policies, it).params.contains_key("threshold")).collect();

    assert_eq!(named.len(), 30);
    assert_eq!(deaf, ["duckagent/early_windowed_prune", "duckagent/late_guarded_truncation"]);
}
