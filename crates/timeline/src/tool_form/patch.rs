//! Edits of several files in one text, as `apply_patch` takes them.

/// What a patch does to one file, hunk by hunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Patched<'p> {
    /// The file.
    pub(super) path: &'p str,
    /// The lines that a hunk expects there; empty for a file that is added or deleted.
    pub(super) old: String,
}

/// Returns the hunks of a patch; a file without one stands by itself.
pub(super) fn files(patch: &str) -> impl Iterator<Item = Patched<'_>> {
    let mut found: Vec<Patched<'_>> = Vec::new();
    let mut is_update = false;
    for line in patch.lines() {
        let file = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
        if let Some(path) = file.iter().find_map(|it| line.strip_prefix(it)) {
            is_update = line.starts_with(file[0]);
            found.push(Patched { path: path.trim(), old: String::new() });
        } else if let Some(last) = found.last_mut().filter(|_| is_update) {
            if line.starts_with("@@") && !last.old.is_empty() {
                let path = last.path;
                found.push(Patched { path, old: String::new() });
            } else if let Some(old) = line.strip_prefix([' ', '-']) {
                if !last.old.is_empty() {
                    last.old.push('\n');
                }
                last.old.push_str(old);
            }
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hunk_says_which_lines_it_expects() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@ fn a\n one\n-two\n+2\n@@\n three\n*** Add File: b.rs\n+new\n*** End Patch\n";
        let found: Vec<(&str, String)> = files(patch).map(|it| (it.path, it.old)).collect();

        let text = str::to_owned;
        assert_eq!(found, [("a.rs", text("one\ntwo")), ("a.rs", text("three")), ("b.rs", text(""))]);
    }
}
