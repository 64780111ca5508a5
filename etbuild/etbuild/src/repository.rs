//! What git knows: which files differ from a revision.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use etbuild_diagnostic::{Code, Diagnostic};
use git2::{Delta, DiffOptions, Repository};

/// The files that differ between the working tree and the commit at which `revision` and `HEAD` part, as absolute paths: changed,
/// added, removed, and those that git does not track yet.
pub fn changed_since(revision: &str) -> Result<BTreeSet<PathBuf>, Vec<Diagnostic>> {
    differences(revision).map_err(|error| {
        let message = format!("what has changed since `{revision}` is not known: {}", error.message());
        let help = "a shallow clone lacks revisions: fetch with `fetch-depth: 0`, or `git fetch --unshallow`";
        vec![Diagnostic::error(Code::Usage, message).help(help)]
    })
}

fn differences(revision: &str) -> Result<BTreeSet<PathBuf>, git2::Error> {
    let repository = Repository::discover(".")?;
    let other = repository.revparse_single(revision)?.peel_to_commit()?;
    let head = repository.head()?.peel_to_commit()?;
    // Unrelated histories part nowhere.
    let base = repository.merge_base(head.id(), other.id()).unwrap_or(other.id());
    let tree = repository.find_commit(base)?.tree()?;
    let mut options = DiffOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true);
    let diff = repository.diff_tree_to_workdir_with_index(Some(&tree), Some(&mut options))?;
    let root = real(repository.workdir().unwrap_or(Path::new("")));
    let files = diff.deltas().filter(|delta| delta.status() != Delta::Unmodified);
    let files = files.flat_map(|delta| {
        [delta.old_file().path(), delta.new_file().path()].map(|path| path.map(|path| root.join(path)))
    });
    Ok(files.flatten().collect())
}

/// A path as [`changed_since`] has it: absolute, its folder without links. The file itself may be gone.
pub fn absolute(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if folder.as_os_str().is_empty() => real(Path::new(".")).join(name),
        (Some(folder), Some(name)) => real(folder).join(name),
        _ => real(path),
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
