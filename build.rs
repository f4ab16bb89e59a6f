//! Lists the bundled files, so that the binary carries them and `cargo install` alone gives a working tool.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The folders of inputs; their order is the order of `ctxsim list`.
const INPUTS: [&str; 4] = ["policies", "scenarios", "profiles", "suites"];

fn main() -> io::Result<()> {
    embed(&INPUTS, "bundled.rs")
}

/// Writes a list of the files below some folders, each with its text.
fn embed(folders: &[&str], list: &str) -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = Vec::new();
    for folder in folders {
        println!("cargo::rerun-if-changed={folder}");
        walk(&root.join(folder), &mut files)?;
    }
    let mut code = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", file.to_string_lossy());
    }
    code.push_str("]\n");
    fs::write(Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join(list), code)
}

/// Collects the files below a folder, sorted by path.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    if !folder.is_dir() {
        return Ok(());
    }
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|it| it.map(|it| it.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() { walk(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
