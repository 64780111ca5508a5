//! Revisions of files in git, in a build with the feature `git`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[cfg(feature = "git")]
use etbuild_diagnostic::Code;
use etbuild_diagnostic::Diagnostic;
#[cfg(feature = "git")]
use git2::{Commit, Delta, DiffOptions, Oid, Repository, Sort, Status};

/// The files that differ between the working tree and the merge base of `revision` and `HEAD`, as absolute paths:
/// changed, added, removed and untracked files.
#[cfg(feature = "git")]
pub fn changed_since(revision: &str) -> Result<BTreeSet<PathBuf>, Vec<Diagnostic>> {
    differences(revision).map_err(|error| {
        let message = format!("failed to list changes since `{revision}`: {}", error.message());
        let help = "a shallow clone lacks revisions: fetch with `fetch-depth: 0`, or `git fetch --unshallow`";
        vec![Diagnostic::error(Code::Usage, message).help(help)]
    })
}

#[cfg(feature = "git")]
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

/// How far back the history is searched for the revision of a file.
#[cfg(feature = "git")]
const SEARCHED: usize = 10_000;

/// The last commit that changed a file, if the file is in a repository and has no uncommitted change.
#[cfg(feature = "git")]
pub fn revision(file: &Path) -> Option<String> {
    let file = absolute(file);
    let repository = Repository::discover(file.parent()?).ok()?;
    let name = file.strip_prefix(real(repository.workdir()?)).ok()?.to_owned();
    if repository.status_file(&name).ok()? != Status::CURRENT {
        return None;
    }
    let mut walk = repository.revwalk().ok()?;
    walk.push_head().ok()?;
    walk.set_sorting(Sort::TOPOLOGICAL).ok()?;
    let made = |id: &Oid| {
        let commit = repository.find_commit(*id).ok()?;
        let now = entry(&commit, &name)?;
        commit.parents().all(|parent| entry(&parent, &name) != Some(now)).then_some(())
    };
    let found = walk.flatten().take(SEARCHED).find(|id| made(id).is_some())?;
    Some(found.to_string())
}

/// The object that a commit has for a file.
#[cfg(feature = "git")]
fn entry(commit: &Commit<'_>, name: &Path) -> Option<Oid> {
    Some(commit.tree().ok()?.get_path(name).ok()?.id())
}

/// A build without git has no revisions.
#[cfg(not(feature = "git"))]
pub fn changed_since(_revision: &str) -> Result<BTreeSet<PathBuf>, Vec<Diagnostic>> {
    Err(vec![crate::feature::Feature::Git.missing("`--changed-since`")])
}

/// Commands that record revisions require the feature first.
#[cfg(not(feature = "git"))]
pub fn revision(_file: &Path) -> Option<String> {
    None
}

/// A path in the form of [`changed_since`]: absolute, with the links of its folder resolved. The file may be absent.
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
