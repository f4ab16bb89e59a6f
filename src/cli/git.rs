//! Policies of other revisions: `rev:REVISION:POLICY` is read through git. Nothing is checked out but programs that may start,
//! into a temporary folder.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::catalog::{Catalog, Kind, Origin, Revision};
use crate::diag::{Code, Diagnostic};
use crate::error::Error;
use crate::input::Format;
use tempfile::TempDir;

use crate::cli::wrong;

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

/// A catalog with policies of other revisions, and the folders where their programs are checked out.
pub(crate) struct Revisions {
    catalog: Catalog,
    /// Names of policies that their revision does not have, each with what to say about it.
    pub(crate) lacking: Vec<(String, Diagnostic)>,
    /// Removed when the last run is over.
    checkouts: Vec<TempDir>,
}

impl Deref for Revisions {
    type Target = Catalog;

    fn deref(&self) -> &Catalog {
        &self.catalog
    }
}

/// Reads the named policies of other revisions into a copy of the catalog.
///
/// # Errors
/// Git fails, or a revision has no such policy.
pub(crate) fn with_revisions<'n>(
    catalog: &Catalog,
    names: impl IntoIterator<Item = &'n String>,
    starts: bool,
) -> Result<Revisions, Error> {
    let with = found_in_revisions(catalog, names, starts)?;
    if with.lacking.is_empty() {
        return Ok(with);
    }
    Err(with.lacking.into_iter().map(|it| it.1).collect::<Vec<_>>().into())
}

/// Reads those of the named policies that their revisions have; where programs may start, a policy that is one gets
/// its revision's files.
///
/// # Errors
/// Git fails.
pub(crate) fn found_in_revisions<'n>(
    catalog: &Catalog,
    names: impl IntoIterator<Item = &'n String>,
    starts: bool,
) -> Result<Revisions, Error> {
    let mut known: BTreeMap<(String, PathBuf), Arc<Revision>> = BTreeMap::new();
    let mut checked_out: BTreeMap<(String, PathBuf), Arc<Revision>> = BTreeMap::new();
    let mut with = Revisions { catalog: catalog.clone(), lacking: Vec::new(), checkouts: Vec::new() };
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
        known.insert(key.clone(), Arc::clone(&tree));
        if tree.text(&path).is_none() {
            let message = format!("`{revision}` does not contain `{}`", folder.join(&path).display());
            let help = "name a policy that exists in both revisions, or a bundled policy as the base";
            with.lacking.push((name.clone(), Diagnostic::at(Code::RevisionPolicy, "", message).help(help)));
            continue;
        }
        with.catalog = with.catalog.with_revision(name, &tree, &path);
        if starts && with.catalog.policy(name)?.spec.process.is_some() {
            let tree = match checked_out.get(&key) {
                Some(tree) => Arc::clone(tree),
                None => Arc::new(with.checked_out(&tree, &folder)?),
            };
            with.catalog = with.catalog.with_revision(name, &tree, &path);
            checked_out.insert(key, tree);
        }
    }
    Ok(with)
}

impl Revisions {
    /// Checks a whole revision out into a temporary folder, since programs use any file; index and working tree stay
    /// as they are.
    fn checked_out(&mut self, tree: &Revision, folder: &Path) -> Result<Revision, Error> {
        let temporary = tempfile::tempdir()
            .map_err(|source| Error::Write { path: std::env::temp_dir(), source: source.kind().into() })?;
        let line = |args: &[&str]| Ok::<_, Error>(git(folder, args)?.trim_end_matches('\n').to_owned());
        let top = PathBuf::from(line(&["rev-parse", "--show-toplevel"])?);
        let below = line(&["rev-parse", "--show-prefix"])?;
        let index = temporary.path().join("index");
        let files = temporary.path().join("files");
        let into = format!("--prefix={}/", files.display());
        for args in [&["read-tree", tree.name()][..], &["checkout-index", "--all", "--quiet", &into]] {
            git_with(&top, args, Some(&index))?;
        }
        self.checkouts.push(temporary);
        Ok(tree.checked_out(files.join(below)))
    }
}

/// Returns a policy's folder, and its path below it.
fn place(catalog: &Catalog, policy: &str) -> Result<(PathBuf, PathBuf), Error> {
    let file = match catalog.find(Kind::Policy, policy)? {
        Origin::File(path) => path,
        Origin::Bundled(_)
        | Origin::Stream(_)
        | Origin::Revision(..)
        | Origin::Memory(_)
        | Origin::Built(_) => {
            let message = format!("`{policy}` is bundled, so your repository has no revisions of it");
            let help = "name a policy file in your repository, or a bundled policy without `rev:`";
            return Err(wrong(Code::RevisionBundled, message, help));
        }
    };
    let below = file.ancestors().skip(1).find(|it| it.ends_with(Kind::Policy.folder()));
    let folder = below.or(file.parent()).unwrap_or(Path::new("")).to_owned();
    let path = file.strip_prefix(&folder).map(Path::to_owned).unwrap_or_else(|_| file.clone());
    Ok((folder, path))
}

/// Reads the input files below a folder as a revision has them.
///
/// # Errors
/// Git fails.
pub(crate) fn files_at(revision: &str, folder: &Path) -> Result<Revision, Error> {
    read(revision, folder)
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
    git_with(folder, args, None)
}

/// Runs git in a folder, with an index of its own if one is given.
fn git_with(folder: &Path, args: &[&str], index: Option<&Path>) -> Result<String, Error> {
    let at = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let failed = |message: String, help: &str| wrong(Code::GitFailed, message, help);
    #[allow(clippy::disallowed_methods, reason = "git reads revisions")]
    let mut command = Command::new("git");
    command.arg("-C").arg(at).args(args).envs(index.map(|it| ("GIT_INDEX_FILE", it)));
    let output =
        command.output().map_err(|error| failed(format!("cannot start git: {error}"), "install git"))?;
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
