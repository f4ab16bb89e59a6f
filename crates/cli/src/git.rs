//! Policies of other revisions: `rev:REVISION:POLICY` is read through git. Nothing is checked out but programs that may start,
//! into a temporary folder.

mod repository;

use crate::prelude::*;
use std::collections::btree_map::Entry;
use std::fs::OpenOptions;
use std::io;
use std::io::Read as _;
use std::ops::Deref;
use std::path::Component;
use std::sync::Arc;

use tempfile::TempDir;

use crate::project::GIT;
use ctxsim_app::catalog::{Loaded, Origin, REVISION_MARK, Revision};
use ctxsim_input::SuiteFile;
use repository::{Blob, BlobKind, Repository};

/// The largest policy file that is read of a revision, in bytes.
const TEXT_MAX: u64 = 64 << 20;

/// The prefix of a policy's name in another revision.
pub(super) const MARK: &str = REVISION_MARK;

/// Returns the name of a policy in a revision written as `rev:REVISION`; a plain policy name is returned as
/// it is.
pub(super) fn policy_name_at_revision(revision_or_policy: &str, policy: &str) -> String {
    match revision_or_policy.strip_prefix(MARK) {
        Some(rest) if !rest.contains(':') => format!("{revision_or_policy}:{policy}"),
        _ => revision_or_policy.to_owned(),
    }
}

/// Whether suites may name revisions.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct RevArgs {
    /// Let suites name policies of other git revisions (`rev:…`), which git reads
    #[arg(long)]
    pub allow_rev: bool,
}

impl RevArgs {
    /// Returns the policies that a suite names. Whoever writes a suite must not choose what git reads, unless that was allowed.
    ///
    /// # Errors
    /// The suite names a policy of a revision, and may not.
    pub(super) fn checked_policy_names(self, suite: &Loaded<SuiteFile>) -> Result<&[String]> {
        let names = &suite.spec.policies;
        let problems = names.iter().enumerate().filter(|it| it.1.starts_with(MARK) && !self.allow_rev);
        let problems: Vec<Diagnostic> = problems
            .map(|(index, name)| {
                let message = format!("this suite has git read another revision: `{name}`");
                Diagnostic::at(Code("revision-not-allowed"), format!("policies.{index}"), message)
                    .help("add `--allow-rev` if you trust this suite")
            })
            .listed();
        if problems.is_empty() { Ok(names) } else { Err(suite.locate_problems(problems).into()) }
    }
}

/// A catalog with policies of other revisions, and the folders where their programs are checked out.
pub(super) struct RevisionCatalog {
    catalog: Catalog,
    /// Names of policies that their revision does not have, each with what to say about it.
    pub lacking: Vec<(String, Diagnostic)>,
    /// Removed when the last run is over.
    checkouts: Vec<Checkout>,
}

impl Deref for RevisionCatalog {
    type Target = Catalog;

    fn deref(&self) -> &Catalog {
        &self.catalog
    }
}

/// Reads the named policies of other revisions into a copy of the catalog.
///
/// # Errors
/// Git fails, or a revision has no such policy.
pub(super) fn read_policy_revisions<'n>(
    catalog: &Catalog,
    policy_names: impl IntoIterator<Item = &'n String>,
    may_start_programs: bool,
) -> Result<RevisionCatalog> {
    let with = read_existing_policy_revisions(catalog, policy_names, may_start_programs)?;
    let lacking = with.lacking.iter().map(|it| it.1.clone()).listed();
    if lacking.is_empty() { Ok(with) } else { Err(lacking.into()) }
}

/// Reads those of the named policies that their revisions have; where programs may start, a policy that is one gets
/// its revision's files.
///
/// # Errors
/// Git fails.
pub(super) fn read_existing_policy_revisions<'n>(
    catalog: &Catalog,
    policy_names: impl IntoIterator<Item = &'n String>,
    may_start_programs: bool,
) -> Result<RevisionCatalog> {
    let mut repositories: BTreeMap<PathBuf, Arc<Repository>> = BTreeMap::new();
    let mut known: BTreeMap<(String, PathBuf), Arc<Revision>> = BTreeMap::new();
    let mut checked_out: BTreeMap<(String, PathBuf), Arc<Revision>> = BTreeMap::new();
    let mut with = RevisionCatalog { catalog: catalog.clone(), lacking: Vec::new(), checkouts: Vec::new() };
    for name in policy_names {
        let Some((revision, policy)) = name.strip_prefix(MARK).and_then(|it| it.split_once(':')) else {
            continue;
        };
        let (folder, path) = policy_root_and_relative_path(catalog, policy)?;
        let key = (revision.to_owned(), folder.clone());
        let repository = get_or_try_insert(&mut repositories, &folder, || Repository::find_around(&folder))?;
        let read = || read_inputs_in_repository(&repository, revision, &folder);
        let tree = get_or_try_insert(&mut known, &key, read)?;
        let there = tree.text(&path).map(|_| path.clone());
        let Some(path) = there.or_else(|| path_before_rename(&tree, &folder, &path)) else {
            let message = format!("`{revision}` does not contain `{}`", folder.join(&path).display());
            let help = "name a policy that exists in both revisions, or a bundled policy as the base";
            with.lacking
                .push((name.clone(), Diagnostic::at(Code("revision-policy"), "", message).help(help)));
            continue;
        };
        with.catalog = with.catalog.with_policy_of_revision(name, &tree, &path);
        if may_start_programs && with.catalog.policy(name)?.spec.process.is_some() {
            let check_out = || with.check_out_revision(&repository, &tree, &folder);
            let tree = get_or_try_insert(&mut checked_out, &key, check_out)?;
            with.catalog = with.catalog.with_policy_of_revision(name, &tree, &path);
        }
    }
    Ok(with)
}

/// Returns what is known under a key, which is made once.
fn get_or_try_insert<K: Ord + Clone, T>(
    known: &mut BTreeMap<K, Arc<T>>,
    key: &K,
    make: impl FnOnce() -> Result<T>,
) -> Result<Arc<T>> {
    let made = match known.entry(key.clone()) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => place.insert(Arc::new(make()?)),
    };
    Ok(Arc::clone(made))
}

impl RevisionCatalog {
    /// Checks a whole revision out into a temporary folder, since programs use any file; index and working tree stay
    /// as they are.
    fn check_out_revision(&mut self, repo: &Repository, tree: &Revision, folder: &Path) -> Result<Revision> {
        let checkout = Checkout::check_out_commit(repo, tree.name(), &repo.commit_id_of(tree.name())?)?;
        let checked_out = tree.with_checkout(checkout.0.path().join(repo.path_below_top(folder)?));
        self.checkouts.push(checkout);
        Ok(checked_out)
    }
}

/// Returns what a new file was called in a revision: the one file that is gone and has more than half of its lines in the new one.
fn path_before_rename(revision: &Revision, folder: &Path, path: &Path) -> Option<PathBuf> {
    let text = read_text(&folder.join(path)).ok()?;
    let lines: BTreeSet<&str> = text.lines().collect();
    let is_alike = |old: &str| 2 * old.lines().filter(|it| lines.contains(it)).count() > old.lines().count();
    let gone = revision.files().filter(|(old, text)| !folder.join(old).exists() && is_alike(text));
    let mut paths = gone.map(|it| it.0.to_owned());
    paths.next().filter(|_| paths.next().is_none())
}

/// Returns a policy's folder, and its path below it.
fn policy_root_and_relative_path(catalog: &Catalog, policy: &str) -> Result<(PathBuf, PathBuf)> {
    let Origin::File(file) = catalog.find_origin(InputKind::Policy, policy)? else {
        let message = format!("`{policy}` is bundled, so your repository has no revisions of it");
        let help = "name a policy file in your repository, or a bundled policy without `rev:`";
        return Err(Error::refused(Code("revision-bundled"), message, help));
    };
    let below = file.ancestors().skip(1).find(|it| it.ends_with(InputKind::Policy.folder_name()));
    let folder = below.or(file.parent()).unwrap_or(Path::new("")).to_owned();
    let path = file.strip_prefix(&folder).map(Path::to_owned).unwrap_or_else(|_| file.clone());
    Ok((folder, path))
}

/// Reads one input file as a revision has it.
///
/// # Errors
/// Git fails, or the revision has no such file.
pub(super) fn read_file_at_revision(revision: &str, path: &Path) -> Result<String> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = Path::new(path.file_name().unwrap_or_default());
    let text = read_inputs_at_revision(revision, folder)?.text(name).map(str::to_owned);
    text.ok_or_else(|| {
        let message = format!("`{revision}` does not contain `{}`", path.display());
        Error::refused(Code("revision-policy"), message, "name a revision that has the file")
    })
}

/// Reads the input files below a folder as a revision has them.
///
/// # Errors
/// Git fails.
pub(super) fn read_inputs_at_revision(revision: &str, folder: &Path) -> Result<Revision> {
    read_inputs_in_repository(&Repository::find_around(folder)?, revision, folder)
}

/// Reads the input files below a folder in a revision.
fn read_inputs_in_repository(repository: &Repository, revision: &str, folder: &Path) -> Result<Revision> {
    let below = repository.path_below_top(folder)?;
    let blobs = repository.list_blobs(revision, &repository.commit_id_of(revision)?, &below)?;
    let is_input = |it: &&Blob| it.kind != BlobKind::Link && Format::from_path(&it.path).is_some();
    let mut files = BTreeMap::new();
    repository.for_each_blob(revision, blobs.iter().filter(is_input), |blob, content| {
        let mut text = String::new();
        let read = content.take(TEXT_MAX + 1).read_to_string(&mut text);
        if read.is_err() || text.len() as u64 > TEXT_MAX {
            let message =
                format!("`{}` in git is not UTF-8 of at most {} MiB", blob.path.display(), TEXT_MAX >> 20);
            return Err(Error::refused(Code("git-failed"), message, "save the policy as UTF-8"));
        }
        files.insert(blob.path.strip_prefix(&below).unwrap_or(&blob.path).to_owned(), text);
        Ok(())
    })?;
    Ok(Revision::new(revision, folder, files))
}

/// A folder that is removed when the last run is over, or by an interrupt.
pub(super) struct Checkout(TempDir);

impl Checkout {
    /// Writes the files of a commit.
    ///
    /// # Errors
    /// The commit is not complete, or the disk is full.
    fn check_out_commit(repository: &Repository, revision: &str, commit: &str) -> Result<Self> {
        let blobs = repository.list_blobs(revision, commit, Path::new(""))?;
        let made = ends::create_temporary(tempfile::tempdir, TempDir::path);
        let folder =
            made.map_err(|source| Error::Write { path: std::env::temp_dir(), source: source.kind().into() })?;
        let checkout = Self(folder);
        let mut links: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        let safe = blobs.iter().filter(|it| is_safe_relative_path(&it.path));
        repository.for_each_blob(revision, safe, |blob, content| {
            let path = checkout.0.path().join(&blob.path);
            let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| match blob.kind {
                BlobKind::Link => {
                    let mut target = Vec::new();
                    content.read_to_end(&mut target)?;
                    links.push((path.clone(), target));
                    Ok(())
                }
                BlobKind::File | BlobKind::Program => write_new_file(&path, blob, content),
            });
            written.map_err(|source| Error::Write { path, source })
        })?;
        // They come last, so that no file is written through one.
        for (path, target) in links {
            create_link(&path, &target).map_err(|source| Error::Write { path, source })?;
        }
        Ok(checkout)
    }
}

/// Returns whether a path leads nowhere but below the folder that it is joined to, and not into what git keeps.
fn is_safe_relative_path(path: &Path) -> bool {
    let is_name = |it: Component<'_>| matches!(it, Component::Normal(name) if !name.to_string_lossy().eq_ignore_ascii_case(GIT));
    path.components().all(is_name)
}

/// Writes a file that is not there yet.
fn write_new_file(path: &Path, blob: &Blob, content: &mut dyn io::Read) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "permissions are those of Unix"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(
        &mut options,
        if blob.kind == BlobKind::Program { 0o777 } else { 0o666 },
    );
    #[cfg(not(unix))]
    let _ = blob;
    let mut file = options.write(true).create_new(true).open(path)?;
    io::copy(content, &mut file).map(|_| ())
}

/// Makes a link; where systems have other ones than git, a file with its target.
fn create_link(path: &Path, target: &[u8]) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(
        <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(target),
        path,
    );
    #[cfg(not(unix))]
    fs::write(path, target)
}
