//! The napkin on the first page of DESIGN.md, drawn from the manifests of the workspace.

use crate::support::*;

/// A package of the workspace: what it is for, and which others it stands on.
struct Package {
    about: String,
    needs: BTreeSet<String>,
}

/// Returns the packages by name, without `ctxsim-`.
fn packages() -> BTreeMap<String, Package> {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|it| it.unwrap().path());
    let folders = crates.chain(["", "assumptions", "schema"].map(|it| root().join(it)));
    let package = |folder: std::path::PathBuf| {
        let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
        let said = |key: &str| manifest["package"][key].as_str().unwrap().to_owned();
        let needs = manifest.get("dependencies").and_then(toml::Value::as_table);
        let own = needs.into_iter().flatten().filter_map(|it| Some(it.0.strip_prefix("ctxsim-")?.to_owned()));
        let name = said("name").trim_start_matches("ctxsim-").to_owned();
        let about = said("description");
        let about = about.strip_prefix("ctxsim: ").unwrap_or("the face, the program, the files that ship");
        (name, Package { about: about.to_owned(), needs: own.collect() })
    };
    folders.map(package).collect()
}

/// Returns whether a package stands on another one, by whatever way.
fn reaches(packages: &BTreeMap<String, Package>, from: &str, to: &str) -> bool {
    packages[from].needs.iter().any(|it| it == to || reaches(packages, it, to))
}

/// Draws the packages, the lowest first, each with those that it stands on and that no other one of these brings.
fn drawing() -> String {
    let packages = packages();
    let mut drawn: Vec<&String> = Vec::new();
    let mut text = String::new();
    while drawn.len() < packages.len() {
        let is_next =
            |it: &&String| !drawn.contains(it) && packages[*it].needs.iter().all(|on| drawn.contains(&on));
        let name = packages.keys().find(is_next).unwrap();
        let needs = &packages[name].needs;
        let is_near = |it: &&String| !needs.iter().any(|other| reaches(&packages, other, it));
        let near: Vec<&str> = needs.iter().filter(is_near).map(String::as_str).collect();
        let arrow = if near.is_empty() { String::new() } else { format!("→ {}", near.join(", ")) };
        let _ = writeln!(text, "{name:<12} {arrow:<28} {}", packages[name].about);
        drawn.push(name);
    }
    text
}

#[test]
fn the_napkin_shows_the_packages_as_their_manifests_join_them() {
    let path = root().join("DESIGN.md");
    let design = fs::read_to_string(&path).unwrap();
    let (before, rest) =
        design.split_once("Drawn from the manifests of the workspace:\n\n```text\n").unwrap();
    let (shown, after) = rest.split_once("```").unwrap();
    let now = drawing();
    if std::env::var_os("CTXSIM_BLESS").is_some() {
        let text = format!("{before}Drawn from the manifests of the workspace:\n\n```text\n{now}```{after}");
        fs::write(&path, text).unwrap();
        return;
    }
    assert!(shown == now, "set CTXSIM_BLESS to draw the napkin anew:\n{now}");
}
