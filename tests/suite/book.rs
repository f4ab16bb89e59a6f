//! The book has every page, none is too long, and its pictures are what ctxsim draws today.

use crate::support::*;
use crate::words::{measured, pages_below};

#[test]
fn the_documents_are_within_their_limits() {
    // The package of the crate has no benches.
    let Ok(limits) = fs::read_to_string(root().join("benches/limits.toml")) else { return };
    let limits: toml::Table = limits.parse().unwrap();

    let rows = measured(root(), limits["documents"].as_table().unwrap());

    assert!(rows.len() > 20, "{rows:?}");
    let over: Vec<_> = rows.into_iter().filter(|it| it.1 > it.2).collect();
    assert!(over.is_empty(), "{over:#?}");
}

#[test]
fn the_summary_names_every_page_of_the_book() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let named = summary.split("](").skip(1).filter_map(|it| it.split_once(')')).map(|it| it.0.to_owned());
    let named: BTreeSet<String> = named.collect();
    let folders = ["docs", "docs/how-to", "docs/reference", "docs/explanation", "docs/studies"];
    let pages = folders.into_iter().flat_map(|it| pages_below(root(), it));
    let pages =
        pages.map(|it| it.strip_prefix(root().join("docs")).unwrap().to_string_lossy().replace('\\', "/"));
    let pages: BTreeSet<String> = pages.filter(|it| it != "SUMMARY.md").collect();

    assert_eq!(named, pages);
}

/// The picture of the README, as one theme draws it. The chart that ctxsim draws follows the reader's; a README cannot.
fn themed(chart: &str, theme: &str) -> String {
    let dark = "@media screen and (prefers-color-scheme:dark){";
    assert!(chart.contains(dark));
    chart.replace(dark, if theme == "dark" { "@media all{" } else { "@media not all{" })
}

#[test]
fn the_picture_of_the_readme_is_what_ctxsim_draws_today() {
    let run = "run recorded/claude-code --policy identity sliding_window --format svg --chart requests";
    let chart = out(&ctxsim(env!("CARGO_TARGET_TMPDIR"), args(run)));

    for theme in ["light", "dark"] {
        let path = root().join(format!("docs/pictures/two-prompts-{theme}.svg"));
        let now = themed(&chart, theme);
        if std::env::var_os("CTXSIM_BLESS").is_some() {
            fs::write(&path, now).unwrap();
            continue;
        }
        let shown = fs::read_to_string(&path).unwrap();
        assert!(shown == now, "{}: set CTXSIM_BLESS to draw it again", path.display());
        assert!(now.len() < 60_000, "{} bytes", now.len());
    }
}

/// Returns the text that a picture has for readers who do not see it.
fn described(picture: &str) -> String {
    let text = picture.split_once("<desc>").unwrap().1.split_once("</desc>").unwrap().0;
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// The recordings are too large for the test data.
#[cfg(unix)]
#[test]
fn the_moving_picture_shows_what_the_terminal_shows_today() {
    let Some(reference) = std::env::var_os("CTXSIM_REFERENCE").map(PathBuf::from) else { return };
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("sessions")).unwrap();
    for name in ["claude-code", "claude-code-2"] {
        let to = folder.path().join("sessions").join(name);
        fs::create_dir(&to).unwrap();
        for file in fs::read_dir(reference.join("recorded").join(name)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
    let output = ctxsim(folder.path(), ["sessions"]);
    let printed = String::from_utf8(output.stdout).unwrap();

    let picture = fs::read_to_string(root().join("docs/pictures/terminal.svg")).unwrap();

    assert_eq!(
        described(&picture).trim_end(),
        printed.trim_end(),
        "benches/terminal.py says how it is drawn"
    );
}
