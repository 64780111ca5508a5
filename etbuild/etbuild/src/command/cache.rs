//! `etbuild cache`: looking after the store.

use std::time::Duration;

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_store::{Finding, GcPolicy, GcReport, Statistics, Store, StoreError};

use super::Outcome;
use crate::arguments::Cache;
use crate::render::bytes;
use crate::session::Session;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub fn run(session: &Session, command: &Cache) -> Outcome {
    let folder = session.cache_folder()?;
    let store = Store::open(&folder).map_err(failed)?;
    match command {
        Cache::Stat => store.stat().map(|statistics| stat(session, &store, &statistics)),
        Cache::Gc { max_size, max_age } => {
            let policy = policy(max_size.as_deref(), *max_age)?;
            store.gc(&policy).map(|report| collected(session, &report))
        }
        Cache::Verify => return store.verify().map(|findings| verified(session, &findings)).map_err(failed),
        Cache::Clear => store.clear().map(|()| cleared(session, &store)),
    }
    .map_err(failed)?;
    Ok(Vec::new())
}

fn stat(session: &Session, store: &Store, statistics: &Statistics) {
    let Statistics { blobs, bytes: size, records, quarantined, temporary } = statistics;
    let folder = store.root().display().to_string();
    let value = serde_json::json!({
        "folder": folder, "blobs": blobs, "bytes": size, "records": records, "quarantined": quarantined,
        "temporary": temporary,
    });
    let text = format!(
        "folder       {folder}\nartifacts    {blobs}, {}\nstages run   {records}\nquarantined  {quarantined}",
        bytes(*size)
    );
    session.terminal.present(&value, &text);
}

fn policy(max_size: Option<&str>, max_age: Option<u64>) -> Result<GcPolicy<'static>, Vec<Diagnostic>> {
    let parse = |text: &str| etbuild_yaml::ByteSize::parse(text).ok_or_else(|| vec![not_a_size(text)]);
    let max_bytes = max_size.map(parse).transpose()?.map(|size| size.0);
    let max_age = max_age.map(|days| DAY.saturating_mul(u32::try_from(days).unwrap_or(u32::MAX)));
    Ok(GcPolicy { max_bytes, max_age, ..GcPolicy::default() })
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
    session.terminal.present(&value, &format!("removed {removed_blobs} artifacts, {removed}; kept {kept}"));
}

fn verified(session: &Session, findings: &[Finding]) -> Vec<Diagnostic> {
    let diagnostics: Vec<Diagnostic> = findings.iter().map(finding).collect();
    let value = serde_json::json!({ "ok": findings.is_empty(), "diagnostics": diagnostics });
    let text =
        if findings.is_empty() { "every artifact is what its name says" } else { "damage was found and removed" };
    session.terminal.present(&value, text);
    session.terminal.explain(&diagnostics);
    diagnostics
}

fn finding(finding: &Finding) -> Diagnostic {
    let message = match finding {
        Finding::CorruptBlob { blob } => format!("artifact {blob} was damaged; it is in quarantine"),
        Finding::UnreadableRecord { action } => {
            format!("the record of action {action} was damaged and has been removed")
        }
        Finding::DanglingRecord { action, .. } => format!("the record of action {action} had lost an artifact"),
    };
    Diagnostic::error(Code::StoreCorrupt, message).help("the next deploy derives it again")
}

fn cleared(session: &Session, store: &Store) {
    // What compilers left there only saves time.
    let _ = std::fs::remove_dir_all(store.root().join("v1").join("scratch"));
    let folder = store.root().display().to_string();
    session.terminal.present(&serde_json::json!({ "cleared": folder }), &format!("cleared {folder}"));
}

fn failed(error: StoreError) -> Vec<Diagnostic> {
    let code = if matches!(error, StoreError::Full { .. }) { Code::DiskFull } else { Code::StoreUnavailable };
    vec![Diagnostic::error(code, error.to_string())]
}
