//! The files of a whole revision in a temporary folder, as they are stored: no filter of git's runs, so none starts a program.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use super::repository::{Blob, BlobKind, Repository};
use crate::ends;
use crate::project::GIT;
use ctxsim_base::error::Error;

/// A folder that is removed when the last run is over, or by an interrupt.
pub(super) struct Checkout(TempDir);

impl Checkout {
    /// Writes the files of a commit.
    ///
    /// # Errors
    /// The commit is not complete, or the disk is full.
    pub(super) fn of(repository: &Repository, revision: &str, commit: &str) -> Result<Self, Error> {
        let blobs = repository.blobs(revision, commit, Path::new(""))?;
        let made = ends::temporary(tempfile::tempdir, TempDir::path);
        let folder =
            made.map_err(|source| Error::Write { path: std::env::temp_dir(), source: source.kind().into() })?;
        let checkout = Self(folder);
        let mut links: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        repository.each(revision, blobs.iter().filter(|it| is_plain(&it.path)), |blob, content| {
            let path = checkout.0.path().join(&blob.path);
            let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| match blob.kind {
                BlobKind::Link => {
                    let mut target = Vec::new();
                    content.read_to_end(&mut target)?;
                    links.push((path.clone(), target));
                    Ok(())
                }
                BlobKind::File | BlobKind::Program => put(&path, blob, content),
            });
            written.map_err(|source| Error::Write { path, source })
        })?;
        // They come last, so that no file is written through one.
        for (path, target) in links {
            linked(&path, &target).map_err(|source| Error::Write { path, source })?;
        }
        Ok(checkout)
    }

    /// Returns where a folder of the work tree is in it.
    pub(super) fn at(&self, below: &Path) -> PathBuf {
        self.0.path().join(below)
    }
}

/// Returns whether a path leads nowhere but below the folder that it is joined to, and not into what git keeps.
fn is_plain(path: &Path) -> bool {
    let is_name = |it: Component<'_>| matches!(it, Component::Normal(name) if !name.to_string_lossy().eq_ignore_ascii_case(GIT));
    path.components().all(is_name)
}

/// Writes a file that is not there yet.
fn put(path: &Path, blob: &Blob, content: &mut dyn io::Read) -> io::Result<()> {
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
fn linked(path: &Path, target: &[u8]) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(
        <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(target),
        path,
    );
    #[cfg(not(unix))]
    fs::write(path, target)
}
