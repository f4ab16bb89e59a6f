//! What the crate exports, listed from its sources, so that a review sees a change of the face.

use quote::ToTokens;
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, UseTree, Visibility};

use crate::support::*;
use crate::tidy::sources;

/// How many types, traits, macros and functions the root may have.
const MOST: usize = 60;

/// How many the module of what verbs answer may have.
const RESULTS_MOST: usize = 40;

fn parsed(path: &str) -> syn::File {
    let text = fs::read_to_string(root().join(path)).unwrap();
    syn::parse_file(&text).unwrap()
}

/// Adds the names that a `use` brings: what it is called there, by what it is called here.
fn collect(tree: &UseTree, names: &mut BTreeMap<String, String>) {
    match tree {
        UseTree::Path(it) => collect(&it.tree, names),
        UseTree::Group(it) => it.items.iter().for_each(|it| collect(it, names)),
        UseTree::Name(it) => drop(names.insert(it.ident.to_string(), it.ident.to_string())),
        UseTree::Rename(it) => drop(names.insert(it.rename.to_string(), it.ident.to_string())),
        UseTree::Glob(_) => panic!("the face names what it exports"),
    }
}

/// Returns what a file exports, by its name there.
fn exported(file: &str) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for item in parsed(file).items {
        if let Item::Use(it) = item
            && matches!(it.vis, Visibility::Public(_))
        {
            collect(&it.tree, &mut names);
        }
    }
    names
}

fn words(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    let tight = [
        (" :: ", "::"),
        (" < ", "<"),
        (" >", ">"),
        (" , ", ", "),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
    ];
    tight.iter().fold(text, |text, (from, to)| text.replace(from, to)).replace(" : ", ": ")
}

/// Returns what is public of an item: its kind, and its fields, variants or methods.
fn shape(item: &Item) -> Option<(String, String, Vec<String>)> {
    let public = |vis: &Visibility| matches!(vis, Visibility::Public(_));
    match item {
        Item::Struct(it) => {
            let fields = match &it.fields {
                Fields::Named(fields) => fields
                    .named
                    .iter()
                    .filter(|it| public(&it.vis) && !is_hidden(&it.attrs))
                    .map(|it| format!("{}: {}", it.ident.as_ref().unwrap(), words(&it.ty)))
                    .collect(),
                _ => Vec::new(),
            };
            Some(("struct".to_owned(), it.ident.to_string(), fields))
        }
        Item::Enum(it) => {
            let variants = it.variants.iter().map(|it| it.ident.to_string()).collect();
            Some(("enum".to_owned(), it.ident.to_string(), variants))
        }
        Item::Trait(it) => {
            let methods = it.items.iter().filter_map(|it| match it {
                TraitItem::Fn(it) => Some(words(&it.sig)),
                _ => None,
            });
            Some(("trait".to_owned(), it.ident.to_string(), methods.collect()))
        }
        Item::Type(it) => Some(("type".to_owned(), it.ident.to_string(), vec![words(&it.ty)])),
        _ => None,
    }
}

/// Returns whether the documents leave something out: other packages of the workspace reach it.
fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| it.path().is_ident("doc") && words(&it.meta).contains("hidden"))
}

/// Returns the public methods of a type's own `impl` block.
fn methods(item: &Item, of: &str) -> Vec<String> {
    let Item::Impl(it) = item else { return Vec::new() };
    if it.trait_.is_some() || words(&it.self_ty).split('<').next() != Some(of) {
        return Vec::new();
    }
    let own = it.items.iter().filter_map(|it| match it {
        ImplItem::Fn(it) if matches!(it.vis, Visibility::Public(_)) && !is_hidden(&it.attrs) => {
            Some(words(&it.sig))
        }
        _ => None,
    });
    own.collect()
}

/// Lists what a file exports, with what is public of it; the sources are those where the names are defined, the file's own first.
fn listed(exported: &BTreeMap<String, String>, folders: &[&str], wanted: &[&str]) -> String {
    let of: BTreeSet<&String> = exported.values().collect();
    let mut found: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    let files: Vec<_> = folders.iter().flat_map(|it| sources(it)).collect();
    for (_, text) in files.iter().filter(|file| wanted.iter().any(|it| file.0.starts_with(it))) {
        let items = syn::parse_file(text).unwrap().items;
        let shapes = items.iter().filter_map(shape).filter(|(_, name, _)| of.contains(name));
        // Of names that occur twice the face's own is exported; its methods stand in its file.
        for (kind, name, mut parts) in shapes.collect::<Vec<_>>() {
            parts.extend(items.iter().flat_map(|it| methods(it, &name)));
            found.entry(name).or_insert((kind, parts));
        }
    }
    // The face says in several files what one of its types does.
    for (_, text) in files.iter().filter(|it| it.0.starts_with("src/face/")) {
        let items = syn::parse_file(text).unwrap().items;
        let own: Vec<String> = items.iter().filter_map(shape).map(|it| it.1).collect();
        for (name, (_, parts)) in found.iter_mut().filter(|it| !own.contains(it.0)) {
            parts.extend(items.iter().flat_map(|it| methods(it, name)));
        }
    }
    let mut list = String::new();
    for (name, of) in exported {
        let (kind, parts) = found.get(of).unwrap_or_else(|| panic!("{name} is not found in the sources"));
        let _ = writeln!(list, "{kind} {name}");
        for part in parts {
            let _ = writeln!(list, "    {part}");
        }
    }
    list
}

/// Holds a list against the one that was reviewed.
fn reviewed(name: &str, list: &str) {
    assert_snapshot("face", name, list);
}

#[test]
fn the_face_is_as_reviewed_and_has_at_most_sixty_names() {
    let exported = exported("src/face.rs");
    let own = ["own/", "own.rs", "cache/own.rs", "take/run.rs", "ledger/pairing.rs"];
    let own = own.map(|it| format!("crates/engine/src/{it}"));
    let wanted = ["src/face/", "crates/base/src/quantity.rs", "crates/input/src/policy/written.rs"]
        .into_iter()
        .chain(own.iter().map(String::as_str))
        .collect::<Vec<_>>();
    // Beside these the root has the macro `assert_snapshots`, the modules `testing` and `results`.
    assert!(exported.len() + 3 <= MOST, "the root has {} names", exported.len() + 3);
    let folders = ["src/face", "crates/base/src", "crates/engine/src", "crates/input/src/policy"];
    reviewed("face", &listed(&exported, &folders, &wanted));
}

#[test]
fn what_verbs_answer_is_as_reviewed_and_has_at_most_forty_names() {
    let mut exported = exported("src/results.rs");
    let of_packages = ["engine/src/measure/", "report/src/"].map(|it| format!("crates/{it}"));
    let wanted =
        ["src/results/"].into_iter().chain(of_packages.iter().map(String::as_str)).collect::<Vec<_>>();
    // The module defines one name itself.
    let of_file = exported.insert("Answer".to_owned(), "Answer".to_owned());
    assert!(of_file.is_none() && exported.len() <= RESULTS_MOST, "it has {} names", exported.len());
    let folders = ["src", "crates/engine/src/measure", "crates/report/src"];
    reviewed("results", &listed(&exported, &folders, &[&["src/results.rs"], &wanted[..]].concat()));
}
