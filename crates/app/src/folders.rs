//! The project of a session: its working folder, where the log tells it.

use super::{Load, Plan, ReadyLoad};
use ctxsim_base::error::Error;

impl Plan {
    /// Opens a scenario. A session's project is its working folder, where the index or the log knows it (that of the checkout for a worktree), else
    /// the folder of its log, if that stands for a project.
    ///
    /// # Errors
    /// What [`Plan::open`] says.
    pub(super) fn opened_by_folder(
        &self,
        entry: &ReadyLoad,
        has_folders: impl Fn(&Load) -> bool,
    ) -> Result<Vec<Load>, Error> {
        let mut loads = self.open(entry)?;
        for load in &mut loads {
            let session =
                load.name.strip_prefix(&entry.name).and_then(|it| it.strip_prefix('/')).unwrap_or_default();
            let indexed = entry.indexing.sessions.iter().find(|it| it.session == session);
            let told = indexed.or(entry.indexing.sessions.first()).map(|it| it.project.clone());
            let of_log = load.timeline().and_then(|it| it.recorded.as_ref()).map(|it| it.project.clone());
            match told.into_iter().chain(of_log).find(|it| !it.is_empty()) {
                Some(folder) => load.project = folder,
                None if has_folders(load) => {}
                None => load.project.clear(),
            }
        }
        Ok(loads)
    }
}
