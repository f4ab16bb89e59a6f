//! Policies of other revisions: `rev:REVISION:POLICY` is read through git, and nothing is checked out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use ctxsim::catalog::{Catalog, Kind, Origin, Revision};
use ctxsim::diag::Diagnostic;
use ctxsim::error::Error;
use ctxsim::input::Format;

/// The prefix of a policy's name in another revision.
pub(crate) const MARK: &str = "rev:";

/// Returns the name of a policy in a revision written as `rev:REVISION`; a plain policy name is returned as
/// it is.
pub(crate) fn named(revision: &str, policy: &str) -> String {
    match revision.strip_prefix(MARK) {
        Some(rest) if !rest.contains(':') => format!("{revision}:{policy}"),
        _ => revision.to_owned(),
    }
}

/// Reads the named policies of other revisions into a copy of the catalog.
///
/// # Errors
/// Git fails, or a revision has no such policy.
pub(crate) fn with_revisions<'n>(
    catalog: &Catalog,
    names: impl IntoIterator<Item = &'n String>,
) -> Result<Catalog, Error> {
    let mut known: BTreeMap<(String, PathBuf), Arc<Revision>> = BTreeMap::new();
    let mut with = catalog.clone();
    for name in names {
        let Some((revision, policy)) = name.strip_prefix(MARK).and_then(|it| it.split_once(':')) else {
            continue;
        };
        let (folder, path) = place(catalog, policy)?;
        let key = (revision.to_owned(), folder.clone());
        let tree = match known.get(&key) {
            Some(tree) => Arc::clone(tree),
            None => Arc::new(read(revision, &folder)?),
        };
        known.insert(key, Arc::clone(&tree));
        if tree.text(&path).is_none() {
            let message = format!("`{revision}` does not contain `{}`", folder.join(&path).display());
            let help = "name a policy that exists in both revisions, or a bundled policy as the base";
            return Err(vec![Diagnostic::at("revision-policy", "", message).help(help)].into());
        }
        with = with.with_revision(name, &tree, &path);
    }
    Ok(with)
}

/// Returns a policy's folder, and its path below it.
fn place(catalog: &Catalog, policy: &str) -> Result<(PathBuf, PathBuf), Error> {
    let file = match catalog.find(Kind::Policy, policy)? {
        Origin::File(path) => path,
        Origin::Bundled(_) | Origin::Revision(..) | Origin::Memory(_) | Origin::Built(_) => {
            let message = format!("`{policy}` is bundled, so your repository has no revisions of it");
            let help = "name a policy file in your repository, or a bundled policy without `rev:`";
            return Err(vec![Diagnostic::at("revision-bundled", "", message).help(help)].into());
        }
    };
    let below = file.ancestors().skip(1).find(|it| it.ends_with(Kind::Policy.folder()));
    let folder = below.or(file.parent()).unwrap_or(Path::new("")).to_owned();
    let path = file.strip_prefix(&folder).map(Path::to_owned).unwrap_or_else(|_| file.clone());
    Ok((folder, path))
}

/// Reads the input files below a folder in a revision.
fn read(revision: &str, folder: &Path) -> Result<Revision, Error> {
    // Paths that git is given, and those that it gives, are from the folder on.
    let listed = git(folder, &["ls-tree", "-r", "-z", "--name-only", revision, "--"])?;
    let paths = listed.split('\0').filter(|it| Format::of(Path::new(it)).is_some());
    let files: Result<BTreeMap<PathBuf, String>, Error> = paths
        .map(|path| Ok((PathBuf::from(path), git(folder, &["show", &format!("{revision}:./{path}")])?)))
        .collect();
    Ok(Revision::new(revision, folder, files?))
}

/// Runs git in a folder and returns what it prints.
fn git(folder: &Path, args: &[&str]) -> Result<String, Error> {
    let at = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let failed = |message: String, help: &str| -> Error {
        vec![Diagnostic::at("git-failed", "", message).help(help)].into()
    };
    #[allow(clippy::disallowed_methods, reason = "git reads revisions")]
    let output = Command::new("git").arg("-C").arg(at).args(args).output();
    let output = output.map_err(|error| failed(format!("cannot start git: {error}"), "install git"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("no reason given").trim_start_matches("fatal: ");
        let help = "check that the revision exists; in a shallow clone, fetch it first, as in `git fetch \
            origin main`";
        return Err(failed(format!("git failed: {said}"), help));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| failed("the file in git is not valid UTF-8".to_owned(), "save the policy as UTF-8"))
}
