//! Models that differ in more than one number: findings of the paper on models, as far as these numbers carry them.

use ctxsim::catalog::bundled_catalog;
use ctxsim::input::suite::Figure;

use super::played::AgingRuns;

/// Returns our numbers for published figures, with numbers of the models changed.
fn ours(names: &[&str], changes: &[(&str, f64)]) -> Vec<f64> {
    let catalog = bundled_catalog();
    let all = catalog.suite("aging-responses").unwrap().spec.figures;
    let figure = |name: &&str| all.iter().find(|it| it.name == **name).unwrap_or_else(|| panic!("no {name}"));
    let figures: Vec<&Figure> = names.iter().map(figure).collect();
    let changes: Vec<(String, f64)> = changes.iter().map(|it| (it.0.to_owned(), it.1)).collect();
    let runs = AgingRuns::of(&catalog, &figures, &|_| changes.clone());
    figures.iter().map(|it| runs.ours(it).unwrap().value).collect()
}

/// Finding I, as far as four models carry it.
#[test]
fn no_model_is_best_by_every_mechanism() {
    let fidelity = ours(&["s3_fidelity_lossy", "s3_fidelity_lossy_gemma-4-31b"], &[]);
    let lag = ours(&["lag_8_10", "lag_8_10_gemma-4-31b"], &[]);

    assert!(fidelity[1] > fidelity[0] + 0.1, "Gemma writes more of what S3 asks for: {fidelity:?}");
    assert!(lag[1] < lag[0] - 0.05, "and finds less of what was said long ago: {lag:?}");
}

/// Finding III: what a model makes of a changing total is a number of its own.
#[test]
fn errors_of_totals_follow_revision_and_no_other_number_of_a_model() {
    let names = ["s2_error_lossy_qwen3-8b"];
    let usual = ours(&names, &[]);

    for other in ["utilisation", "adherence", "recall_by_span"] {
        assert_eq!(ours(&names, &[(other, 0.9)]), usual, "{other}");
    }
    assert!(ours(&names, &[("revision", 1.0)])[0] < usual[0]);
    assert_eq!(ours(&["control_four_times_words"], &[]), [0.0], "nor do more words mend it");
}

/// Finding IV.
#[test]
fn more_is_written_than_is_answered_in_every_configuration_of_tier_2() {
    for [written, answered] in [
        ["s7_ws_fid", "s7_recall"],
        ["s7_ws_fid_sonnet-4.6", "s7_recall_sonnet-4.6"],
        ["s7_ws_fid_opus-4.7", "s7_recall_opus-4.7"],
    ] {
        let both = ours(&[written, answered], &[]);
        assert!(both[0] > both[1], "{written}: {both:?}");
    }
}

/// Finding V: what the larger model of a family loses by writing, it would have back if it wrote like the smaller one.
#[test]
fn of_one_family_one_model_loses_by_writing() {
    let written = ours(&["s7_ws_fid_opus-4.7", "s7_ws_fid_sonnet-4.6"], &[]);
    let recalled = ["s7_recall_opus-4.7"];
    let extract = super::model("sonnet-4.6").numbers["extract"];
    let [usual, better] = [&[][..], &[("extract", extract)]].map(|it| ours(&recalled, it)[0]);

    assert!(written[0] < written[1], "{written:?}");
    assert!(better > usual + 0.01, "{usual} {better}");
}
