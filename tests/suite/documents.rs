//! The documents say what is so.

use ctxsim::catalog::InputKind;

use crate::support::*;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Returns what stands between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0.trim()
}

/// Returns the block between the marks of a name.
fn shown(document: &str, name: &str) -> String {
    let marked = between(document, &format!("<!-- {name} -->"), &format!("<!-- /{name} -->"));
    crate::blocks::blocks(marked).remove(0).text().trim().to_owned()
}

#[test]
fn the_readme_shows_the_table_that_is_printed() {
    let args = ["run", "recorded/claude-code"];
    let printed = out(&ctxsim(env!("CARGO_TARGET_TMPDIR"), args));

    assert_snapshot("cli", "readme_table", &printed);
    let is_table = |it: &&str| it.contains("\nsliding_window") && it.contains("───");
    let table = printed.split("\n\n").find(is_table).unwrap().trim_end();
    let readme = read("README.md");
    if std::env::var_os("CTXSIM_BLESS").is_some() {
        let (before, rest) = readme.split_once("<!-- table -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- /table -->").unwrap();
        let now = format!("{before}<!-- table -->\n```text\n{table}\n```\n<!-- /table -->{after}");
        fs::write(root().join("README.md"), now).unwrap();
        return;
    }
    assert_eq!(shown(&readme, "table"), table.trim(), "set CTXSIM_BLESS to write the table into README.md");
}

/// Returns the numbers in a line, without the commas between thousands.
fn numbers(line: &str) -> Vec<usize> {
    let line = line.replace(',', "");
    line.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok()).collect()
}

#[test]
fn the_first_three_lines_of_the_readme_count_what_there_is() {
    let readme = read("README.md");
    let line = |begin: &str| numbers(readme.lines().find(|it| it.starts_with(begin)).unwrap());
    let trust = read("docs/explanation/trust.md");
    let row = trust.lines().find(|it| it.starts_with("| Does it reproduce a bill")).unwrap();
    let (percent, requests) = (numbers(row)[0], numbers(row)[numbers(row).len() - 2]);
    let catalog = bundled_catalog();
    let policies = catalog.expand_pattern(InputKind::Policy, "agents/*");
    let agents: BTreeSet<&str> = policies.iter().filter_map(|it| it.split('/').nth(1)).collect();

    assert_eq!(line("- **You can check it.**"), [percent, requests]);
    assert_eq!(line("- **It reads what you have**")[0], ctxsim::timeline::import::formats().len());
    assert_eq!(line("- **It knows what others do**"), [policies.len(), agents.len()]);
}

#[test]
fn the_page_counts_the_formats_and_profiles_that_there_are() {
    // The package of the crate has no page.
    let Ok(page) = fs::read_to_string(root().join("web/src/index.html")) else {
        return;
    };
    let claimed = |name: &str| numbers(page.split_once(&format!("id=\"claim-{name}\">")).unwrap().1)[0];

    assert_eq!(claimed("formats"), ctxsim::timeline::import::formats().len());
    assert_eq!(claimed("profiles"), bundled_catalog().expand_pattern(InputKind::Profile, "*").len());
}

#[test]
fn the_words_under_the_picture_of_the_readme_are_true() {
    let run = "run recorded/claude-code --policy identity sliding_window --format json";
    let report: Value = parsed(&ctxsim(root(), args(run)));
    let of =
        |nth: usize, pointer: &str| report["runs"][nth]["totals"].pointer(pointer).unwrap().as_f64().unwrap();
    let shorter = 1.0 - of(1, "/prompt_tokens_max") / of(0, "/prompt_tokens_max");
    let [plain, slid] = [of(0, "/cost_usd/total"), of(1, "/cost_usd/total")];
    let readme = read("README.md");

    assert!(
        (shorter - 1.0 / 3.0).abs() < 0.03 && readme.contains("the longest prompt a third shorter"),
        "{shorter}"
    );
    let times = format!("the bill {:.1} times as\nhigh", slid / plain);
    assert!(readme.contains(&times), "README.md should say {times:?}");
    assert_says(&readme, &[&format!("{plain:.2} dollars"), &format!("{slid:.2} dollars")]);
}

/// The page asks the module for its own session as this asks the library.
#[test]
fn the_page_shows_the_session_of_the_readme_with_the_same_numbers() {
    // The package of the crate has no page.
    let page = fs::read_to_string(root().join("web/src/state.ts"));
    let example = "recorded/claude-code";
    assert!(page.map_or(true, |it| it.contains(&format!("const EXAMPLE = \"{example}\";"))));
    assert!(
        read("README.md").contains(&format!("`ctxsim run {example}`")),
        "README.md should show {example}"
    );

    let of_page = ctxsim::Comparison::new().scenario(example).own_models().skip_unusable().run().unwrap();
    let args = ["run", "--format", "json", example];
    let output = ctxsim(root(), args);

    assert!(output.status.success());
    assert_eq!(of_page.json().unwrap().as_bytes(), output.stdout);
}

/// The recordings are too large for the test data.
#[test]
fn the_document_on_calibration_shows_what_followed_the_shared_compactions() {
    let Some(reference) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let printed =
        out(&ctxsim(reference.join("recorded"), ["import", "--report", "--details", "claude-code-2"]));
    let printed = printed.split_once("After compactions\n").unwrap().1.trim();

    crate::tune::hold_table("reference/calibration.md", "followed", &format!("```text\n{printed}\n```\n"));
    let document = read("docs/reference/calibration.md");
    assert!(document.contains("**Four compactions prove nothing.**"));
}

#[test]
fn the_readme_counts_the_bundled_profiles_as_there_are() {
    let catalog = bundled_catalog();
    let profiles = catalog.suite("sensitivity").unwrap().spec.profiles;
    let providers: BTreeSet<&str> = profiles.iter().filter_map(|it| Some(it.split_once('/')?.0)).collect();
    assert!(profiles.iter().all(|it| catalog.expand_pattern(InputKind::Profile, it).len() == 1));

    let counted = format!("under {} bundled profiles from {} providers", profiles.len(), providers.len());
    assert!(read("README.md").contains(&counted), "README.md should say \"{counted}\"");
}

#[test]
fn the_readme_names_the_two_commands() {
    let readme = read("README.md");

    assert!(readme.contains("\ncargo run --release ") && readme.contains("\ncargo test "));
    assert!(read("CHANGELOG.md").contains("### Results changed"));
}
