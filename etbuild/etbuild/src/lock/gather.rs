//! A lock of the present state.

use std::path::Path;

use etbuild_engine::UnitReport;
use etbuild_inspect::{Materials, SourceFile};

use super::file::{Lock, LockedSource, LockedTarget, LockedTool, LockedUnit};
use crate::repository;

/// Sources, tools and targets of units. `with_revisions` looks into git for each file.
pub fn gather(materials: &[Materials], with_revisions: bool) -> Lock {
    let mut lock = Lock::new();
    for unit in materials {
        lock.sources.extend(unit.sources.iter().map(locked_source));
        lock.tools.extend(
            unit.tools.iter().map(|(name, version)| LockedTool { name: name.clone(), version: version.clone() }),
        );
        lock.targets.push(LockedTarget { name: unit.target.clone(), b3: unit.target_digest.to_string() });
    }
    lock.sort();
    if with_revisions {
        let ours = lock.sources.iter_mut().filter(|source| source.revision.is_none());
        ours.for_each(|source| source.revision = repository::revision(Path::new(&source.path)));
    }
    lock
}

fn locked_source(source: &SourceFile) -> LockedSource {
    let path = source.path.to_string_lossy().replace('\\', "/");
    LockedSource { path, size: source.size, b3: source.digest.to_string(), revision: source.commit.clone() }
}

/// The results of units.
pub fn add_outputs(lock: &mut Lock, reports: &[UnitReport]) {
    lock.units.extend(reports.iter().map(|report| {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A manifest says also which stages were asked for, which is no result.
        let results = report.files.iter().filter(|file| name(&file.path) != "manifest.json");
        let outputs = results.map(|file| (name(&file.path), file.digest.clone())).collect();
        LockedUnit { id: format!("{}@{}", report.recipe, report.target), outputs }
    }));
    lock.sort();
}
