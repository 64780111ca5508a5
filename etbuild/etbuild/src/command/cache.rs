//! `etbuild cache`: looking after the store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::{BlobRef, Finding, GcPolicy, GcReport, Root, Statistics, Store, StoreError};

use etbuild_yaml::ByteSize;

use super::Outcome;
use crate::arguments::Cache;
use crate::render::{Table, bytes};
use crate::session::Session;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub fn run(session: &Session, command: &Cache) -> Outcome {
    let folder = session.cache_folder()?;
    let store = Store::open(&folder).map_err(failed)?;
    match command {
        Cache::Stat => store.stat().and_then(|statistics| stat(session, &store, &statistics)),
        Cache::Gc { max_size, max_age, no_roots, scratch } => {
            let roots = if *no_roots { Vec::new() } else { kept(&store).map_err(failed)? };
            let policy = GcPolicy { roots: &roots, ..policy(max_size.as_deref(), *max_age)? };
            if *scratch {
                remove_scratch(&store);
            }
            store.gc(&policy).map(|report| collected(session, &report))
        }
        Cache::Verify => return store.verify().map(|findings| verified(session, &findings)).map_err(failed),
        Cache::Clear => store.clear().map(|()| cleared(session, &store)),
    }
    .map_err(failed)?;
    Ok(Vec::new())
}

fn stat(session: &Session, store: &Store, statistics: &Statistics) -> Result<(), StoreError> {
    let Statistics { blobs, bytes: size, records, quarantined, temporary } = statistics;
    let folder = store.root().display().to_string();
    let (users, kept, unused) = users(store, *size)?;
    let compilers = size_of(&scratch(store));
    let rows: Vec<serde_json::Value> = users
        .iter()
        .map(|user| serde_json::json!({ "unit": user.root.name, "folder": folder_of(&user.root), "bytes": user.bytes, "alone": user.alone }))
        .collect();
    let value = serde_json::json!({
        "folder": folder, "blobs": blobs, "bytes": size, "records": records, "quarantined": quarantined,
        "temporary": temporary, "compilers": compilers, "kept": kept, "unused": unused, "units": rows,
    });
    let mut table = Table::new(&["kept for", "results in", "size", "for it alone"]);
    for User { root, bytes: all, alone } in &users {
        table.row(vec![root.name.clone(), folder_of(root), bytes(*all), bytes(*alone)]);
    }
    let text = format!(
        "folder       {folder}\nartifacts    {blobs}, {}\nin use       {}\nnot in use   {}\nstages run   {records}\n\
         compilers    {}\nquarantined  {quarantined}\n\n{}",
        bytes(*size),
        bytes(kept),
        bytes(unused),
        bytes(compilers),
        table.render()
    );
    session.terminal.succeed("cache", value, &text);
    Ok(())
}

/// A unit whose results are in use.
struct User {
    root: Root,
    /// Bytes that this user keeps.
    bytes: u64,
    /// Bytes that only this user keeps.
    alone: u64,
}

/// Every user, the bytes with a user, and the bytes without a user.
fn users(store: &Store, total: u64) -> Result<(Vec<User>, u64, u64), StoreError> {
    let mut wanted: BTreeMap<BlobRef, usize> = BTreeMap::new();
    let roots = store.roots()?.into_iter().map(|root| Ok((store.kept_by(&root)?, root)));
    let roots: Vec<(Vec<BlobRef>, Root)> = roots.collect::<Result<_, StoreError>>()?;
    roots.iter().flat_map(|(blobs, _)| blobs).for_each(|blob| *wanted.entry(*blob).or_insert(0) += 1);
    let kept: u64 = wanted.keys().map(|blob| blob.size).sum();
    let user = |(blobs, root): (Vec<BlobRef>, Root)| {
        let alone = blobs.iter().filter(|blob| wanted.get(blob) == Some(&1)).map(|blob| blob.size).sum();
        User { root, bytes: blobs.iter().map(|blob| blob.size).sum(), alone }
    };
    Ok((roots.into_iter().map(user).collect(), kept, total.saturating_sub(kept)))
}

/// All blobs of existing results.
fn kept(store: &Store) -> Result<Vec<BlobRef>, StoreError> {
    let roots = store.roots()?;
    let blobs = roots.iter().map(|root| store.kept_by(root)).collect::<Result<Vec<_>, StoreError>>()?;
    Ok(blobs.concat())
}

/// The part of the disk that a cache may take where nobody set a limit: a tenth.
const DISK_SHARE: u64 = 10;

/// The largest limit that nobody set.
const LARGEST: ByteSize = ByteSize(100 << 30);

/// The limit where nobody set one and the size of the disk is unknown.
const UNKNOWN_DISK: ByteSize = ByteSize(10 << 30);

/// The variable with the limit of the cache.
const LIMIT_VARIABLE: &str = "ETBUILD_CACHE_SIZE";

/// Removes the least recently used artifacts of a cache over the limit, at most once a day. A failed collection does
/// not fail the build.
pub fn collect_if_due(session: &Session) {
    let Ok(folder) = session.cache_folder() else { return };
    let disk = session.system.disk_size(&folder);
    let limit = match limit(session.system.variable(LIMIT_VARIABLE).as_deref(), disk) {
        Ok(limit) => limit,
        Err(text) => {
            session.terminal.say(&format!("warning: {LIMIT_VARIABLE} is `{text}`; expected a size or `unlimited`"));
            return;
        }
    };
    let Some(ByteSize(limit)) = limit else { return };
    let collected = Store::open(&folder).and_then(|store| store.gc_if_due(limit, || kept(&store)));
    if let Ok(Some(GcReport { removed_bytes, kept_bytes, .. })) = collected {
        let [removed, kept, limit] = [removed_bytes, kept_bytes, limit].map(bytes);
        session.terminal.say(&format!(
            "note: removed {removed} of the least recently used artifacts; the cache has {kept} ({LIMIT_VARIABLE}: {limit})"
        ));
    }
}

/// The limit of a text, or of a cache on a disk of `disk` bytes; `None` for `unlimited`.
fn limit(text: Option<&str>, disk: Option<u64>) -> Result<Option<ByteSize>, &str> {
    match text {
        None | Some("") => Ok(Some(default_limit(disk))),
        Some("unlimited") => Ok(None),
        Some(text) => ByteSize::parse(text).map(Some).ok_or(text),
    }
}

fn default_limit(disk: Option<u64>) -> ByteSize {
    disk.map_or(UNKNOWN_DISK, |bytes| ByteSize((bytes / DISK_SHARE).min(LARGEST.0)))
}

fn folder_of(root: &Root) -> String {
    root.witness.parent().unwrap_or(&root.witness).display().to_string()
}

/// The folder of compiler caches, which only save time.
fn scratch(store: &Store) -> PathBuf {
    store.root().join("v1").join("scratch")
}

fn remove_scratch(store: &Store) {
    let _ = std::fs::remove_dir_all(scratch(store));
}

/// Bytes of all files below a folder, without following links.
fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

fn policy(max_size: Option<&str>, max_age: Option<u64>) -> Result<GcPolicy<'static>, Vec<Diagnostic>> {
    let parse = |text: &str| ByteSize::parse(text).ok_or_else(|| vec![not_a_size(text)]);
    let max_bytes = max_size.map(parse).transpose()?.map(|size| size.0);
    let max_age = max_age.map(|days| DAY.saturating_mul(u32::try_from(days).unwrap_or(u32::MAX)));
    // Collection waits for builds under way, so a limit of the user's needs no grace.
    let grace = if max_bytes.is_some() || max_age.is_some() { Duration::ZERO } else { GcPolicy::default().grace };
    Ok(GcPolicy { max_bytes, max_age, grace, ..GcPolicy::default() })
}

fn not_a_size(text: &str) -> Diagnostic {
    Diagnostic::error(Code::Usage, format!("`{text}` is not a size")).help("write a number and a unit: `10 GiB`")
}

fn collected(session: &Session, report: &GcReport) {
    let GcReport { removed_blobs, removed_bytes, removed_records, kept_bytes } = report;
    let value = serde_json::json!({
        "removed_blobs": removed_blobs, "removed_bytes": removed_bytes, "removed_records": removed_records,
        "kept_bytes": kept_bytes,
    });
    let (removed, kept) = (bytes(*removed_bytes), bytes(*kept_bytes));
    session.terminal.succeed("cache-gc", value, &format!("removed {removed_blobs} artifacts, {removed}; kept {kept}"));
}

fn verified(session: &Session, findings: &[Finding]) -> Vec<Diagnostic> {
    let diagnostics: Vec<Diagnostic> = findings.iter().map(finding).collect();
    let value = serde_json::json!({ "schema": "etbuild.cache-verify/1", "ok": findings.is_empty(), "diagnostics": diagnostics });
    let text = if findings.is_empty() { "all artifacts are intact" } else { "removed damaged artifacts" };
    session.terminal.present(&value, text);
    session.terminal.explain(&diagnostics);
    diagnostics
}

fn finding(finding: &Finding) -> Diagnostic {
    let message = match finding {
        Finding::CorruptBlob { blob } => format!("artifact {blob} is damaged; moved to quarantine"),
        Finding::UnreadableRecord { action } => {
            format!("the record of action {action} is damaged; removed")
        }
        Finding::DanglingRecord { action, .. } => format!("an artifact of action {action} is missing"),
    };
    Diagnostic::error(Code::StoreCorrupt, message).help("the next deploy repeats the stage")
}

fn cleared(session: &Session, store: &Store) {
    remove_scratch(store);
    let folder = store.root().display().to_string();
    session.terminal.succeed("cache-clear", serde_json::json!({ "cleared": folder }), &format!("cleared {folder}"));
}

fn failed(error: StoreError) -> Vec<Diagnostic> {
    let code = if matches!(error, StoreError::Full { .. }) { Code::DiskFull } else { Code::StoreUnavailable };
    vec![Diagnostic::error(code, error.to_string())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_the_cache_is_a_size_or_none() {
        let disk = Some(250 << 30);
        assert_eq!(limit(Some("10 GiB"), disk), Ok(Some(ByteSize(10 << 30))));
        assert_eq!([limit(Some("unlimited"), disk), limit(Some("much"), disk)], [Ok(None), Err("much")]);
    }

    #[test]
    fn without_a_limit_the_cache_takes_a_tenth_of_the_disk() {
        let of = |disk: Option<u64>| limit(None, disk).unwrap().unwrap().0 >> 30;
        assert_eq!([of(Some(50 << 30)), of(Some(250 << 30))], [5, 25]);
        assert_eq!([of(Some(8 << 40)), of(None)], [100, 10]);
        assert_eq!(limit(Some(""), Some(50 << 30)), limit(None, Some(50 << 30)));
    }
}
