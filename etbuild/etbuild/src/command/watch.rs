//! `etbuild watch`: deploys at every change of a file that is read, and shows the effect of each change.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use etbuild_diagnostic::Diagnostic;
use etbuild_engine::{EngineDatabase, Goal, Mode, Request, UnitReport, Verification, deploy, inputs, resolve};
use etbuild_system::FileStamp;

use super::Outcome;
use super::deploy::diagnostics;
use crate::arguments;
use crate::render::{Table, bytes};
use crate::session::Session;

/// How often files are looked at.
const INTERVAL: Duration = Duration::from_millis(150);

pub fn run(session: &Session, arguments: &arguments::Watch) -> Outcome {
    let request = session.request(&arguments.recipes)?;
    let mut before: Vec<UnitReport> = Vec::new();
    let mut count = 0;
    loop {
        // A change during a deploy is not lost: the stamps differ from these.
        let watched = Watched::new(session, files(session, &request));
        let start = Instant::now();
        let world = session.world(Mode::Build);
        let found = match world.and_then(|world| deploy(&world, &request, Goal::Deploy, &session.global.out)) {
            Ok(reports) => {
                show(session, &before, &reports, start.elapsed());
                before = reports;
                diagnostics(&before, false)
            }
            Err(found) => found,
        };
        session.terminal.explain(&found);
        count += 1;
        if arguments.deploys == Some(count) {
            return Ok(found);
        }
        // A first deploy learns the files of a Python model.
        let watched = watched.with(session, files(session, &request));
        session.terminal.say(&format!("watching {} files", watched.stamps.len()));
        while watched.is_unchanged(session) {
            std::thread::sleep(INTERVAL);
        }
    }
}

/// Every file that is read; where the recipe has a mistake, the recipe.
fn files(session: &Session, request: &Request) -> Vec<PathBuf> {
    let look = || -> Result<Vec<PathBuf>, Vec<Diagnostic>> {
        let db = EngineDatabase::new(session.world(Mode::Plan)?);
        Ok(resolve(&db, request)?.iter().flat_map(|unit| inputs(&db, unit).unwrap_or_default()).collect())
    };
    let mut files = look().unwrap_or_default();
    files.extend(request.recipes.iter().cloned());
    files.sort();
    files.dedup();
    files
}

/// Stamps of files at some moment.
struct Watched {
    stamps: Vec<(PathBuf, Option<FileStamp>)>,
}

impl Watched {
    fn new(session: &Session, files: Vec<PathBuf>) -> Self {
        let stamp = |file: PathBuf| (file.clone(), session.system.stamp(&file).ok());
        Self { stamps: files.into_iter().map(stamp).collect() }
    }

    /// The same with more files; watched files keep their stamps.
    fn with(mut self, session: &Session, files: Vec<PathBuf>) -> Self {
        let fresh: Vec<PathBuf> = files.into_iter().filter(|file| !self.has(file)).collect();
        self.stamps.extend(Self::new(session, fresh).stamps);
        self
    }

    fn has(&self, file: &Path) -> bool {
        self.stamps.iter().any(|(watched, _)| watched == file)
    }

    fn is_unchanged(&self, session: &Session) -> bool {
        self.stamps.iter().all(|(file, stamp)| match (session.system.stamp(file).ok(), stamp) {
            (Some(now), Some(then)) => now.is_of_the_same_bytes(then),
            (now, then) => now.is_some() == then.is_some(),
        })
    }
}

/// A row for each unit: the stages that ran, and sizes and accuracy against the deploy before.
fn show(session: &Session, before: &[UnitReport], reports: &[UnitReport], took: Duration) {
    let mut table = Table::new(&["unit", "ran", "program", "binary", "max error", "accuracy"]);
    for report in reports {
        let last = before.iter().find(|last| (&last.recipe, &last.target) == (&report.recipe, &report.target));
        let size = |report: &UnitReport, end: &str| {
            report
                .files
                .iter()
                .find(|file| {
                    file.path
                        .file_name()
                        .is_some_and(|name| name.to_string_lossy() == format!("{}{end}", report.recipe))
                })
                .map(|file| file.size)
        };
        let sizes = |end: &str| change(last.and_then(|last| size(last, end)), size(report, end), bytes);
        table.row(vec![
            format!("{}@{}", report.recipe, report.target),
            ran(report),
            sizes(".pte"),
            sizes(""),
            change(last.and_then(max_error), max_error(report), |error| format!("{error:.1e}")),
            change(last.and_then(accuracy), accuracy(report), |share| format!("{:.2} %", share * 100.0)),
        ]);
    }
    let values: Vec<&UnitReport> = reports.iter().collect();
    let value =
        serde_json::json!({ "milliseconds": u64::try_from(took.as_millis()).unwrap_or(u64::MAX), "units": values });
    session.terminal.succeed("watch", value, &format!("{}\n{:.2} s", table.render(), took.as_secs_f64()));
}

/// The stages that ran, with their times.
fn ran(report: &UnitReport) -> String {
    let rows = report.stages.iter().filter(|row| !row.cached && !row.fetched);
    let names: Vec<String> = rows.map(|row| format!("{} {} ms", row.name(), row.milliseconds)).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

fn max_error(report: &UnitReport) -> Option<f64> {
    match &report.verification {
        Verification::Done(judgement) => Some(judgement.max_error),
        Verification::Skipped { .. } | Verification::None => None,
    }
}

fn accuracy(report: &UnitReport) -> Option<f64> {
    match &report.verification {
        Verification::Done(judgement) => judgement.accuracy(),
        Verification::Skipped { .. } | Verification::None => None,
    }
}

/// `before -> now`, or only the present value without a change.
fn change<T: PartialEq>(before: Option<T>, now: Option<T>, text: impl Fn(T) -> String) -> String {
    match (before, now) {
        (_, None) => "-".to_owned(),
        (Some(before), Some(now)) if before != now => format!("{} -> {}", text(before), text(now)),
        (_, Some(now)) => text(now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_shows_both_values_and_an_unchanged_value_once() {
        assert_eq!(change(Some(1), Some(2), |value| value.to_string()), "1 -> 2");
        assert_eq!(change(Some(2), Some(2), |value| value.to_string()), "2");
        assert_eq!(change(Some(2), None, |value| value.to_string()), "-");
    }
}
