//! Running a stage: look the key up, wait for another process with the same stage, run, record.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_store::{ActionKey, BlobRef, Key, Lookup};

use super::{Action, ArtifactKind, ArtifactRef, Artifacts, Blocked, Missing, Products, StageResult, Staged};
use crate::input::Db;
use crate::pipeline::{Source, Stage};
use crate::session::{Event, Mode, Transient, World, interrupt};

/// The artifacts of an action: from the store, or from the work of the action, which runs at most once at a time on this machine.
pub fn run<A: Action>(db: &dyn Db, action: &A) -> StageResult {
    let key = action.action_key();
    let known = || Some(key.clone());
    run_discovering(db.world(), A::STAGE, &key, known, |products| action.run(db, products).map(|()| key.clone()))
}

/// The same for a stage that learns the inputs by running, as compilers learn of header files. `known` is the key, where an
/// earlier run left a note of the inputs; `body` returns the key of the actual inputs. `before` is the key of the inputs that are certain
/// beforehand: of all runs with the same `before`, one runs and the other runs wait.
pub fn run_discovering(
    world: &World,
    stage: Stage,
    before: &Key,
    known: impl Fn() -> Option<Key>,
    body: impl FnOnce(&mut Products<'_>) -> Result<Key, Vec<Diagnostic>>,
) -> StageResult {
    end_if_interrupted(world);
    if let Some(found) = hit(world, stage, known()) {
        return Ok(found);
    }
    if world.mode() == Mode::Plan {
        if let Some(found) = fetched(world, stage, known()) {
            return Ok(found);
        }
        let key = Arc::new(known().unwrap_or_else(|| before.clone()));
        return Err(Blocked::Missing(Missing { stage, key }));
    }
    let guard = world.store().lock(&before.action(), |holder| world.tell(&Event::Waiting { stage, holder: *holder }));
    let _guard = guard.unwrap_or_else(|error| interrupt(error));
    let found = hit(world, stage, known()).or_else(|| fetched(world, stage, known()));
    found.map_or_else(|| execute(world, stage, before.action(), body), Ok)
}

/// The artifacts of a key in the store.
fn hit(world: &World, stage: Stage, key: Option<Key>) -> Option<Arc<Staged>> {
    let key = Arc::new(key.filter(|_| world.mode() != Mode::Rebuild)?);
    let artifacts = lookup(world, stage, &key)?;
    Some(staged(world, stage, key, artifacts, Source::Cache))
}

/// The artifacts of a key in the remote cache.
fn fetched(world: &World, stage: Stage, key: Option<Key>) -> Option<Arc<Staged>> {
    let (remote, key) = (world.remote()?, Arc::new(key?));
    let start = world.system().now();
    let artifacts = artifacts(&remote.find(&key)?)?;
    let source = Source::Fetched(world.system().now().saturating_sub(start));
    Some(staged(world, stage, key, artifacts, source))
}

fn execute(
    world: &World,
    stage: Stage,
    action: ActionKey,
    body: impl FnOnce(&mut Products<'_>) -> Result<Key, Vec<Diagnostic>>,
) -> StageResult {
    let slot = stage.is_work_here().then(|| world.slots().take());
    end_if_interrupted(world);
    let start = world.system().now();
    world.tell(&Event::Started { stage, action });
    let mut products = Products::new(world);
    let result = panic::catch_unwind(AssertUnwindSafe(|| body(&mut products)));
    drop(slot);
    world.release();
    world.tell(&Event::Ended { stage, action });
    end_if_interrupted(world);
    let key = match result {
        Ok(Ok(key)) => Arc::new(key),
        Ok(Err(diagnostics)) => return Err(Blocked::failed(stage, diagnostics)),
        Err(payload) if payload.is::<Transient>() => panic::resume_unwind(payload),
        Err(payload) => return Err(Blocked::internal(stage, &panic_message(payload.as_ref()))),
    };
    world.check_unchanged();
    let (made, by_worker) = products.into_parts();
    let outputs: Vec<(String, BlobRef)> =
        made.iter().map(|artifact| (artifact.kind.name().to_owned(), artifact.blob())).collect();
    world.store().record(&key, &outputs).unwrap_or_else(|error| interrupt(error));
    if let Some(remote) = world.remote() {
        remote.publish(key.action(), &outputs);
    }
    let duration = world.system().now().saturating_sub(start);
    let source = if by_worker { Source::Worker(duration) } else { Source::Run(duration) };
    Ok(staged(world, stage, key, Artifacts::new(made), source))
}

/// A stage whose process was ended has no diagnostics, and no other stage begins.
fn end_if_interrupted(world: &World) {
    if world.system().is_interrupted() {
        interrupt(Transient::Interrupted);
    }
}

fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
    format!("a stage panicked: {}", text.unwrap_or("no message"))
}

fn lookup(world: &World, stage: Stage, key: &Key) -> Option<Artifacts> {
    match world.store().lookup(key).unwrap_or_else(|error| interrupt(error)) {
        Lookup::Hit(result) => artifacts(&result.outputs),
        Lookup::Miss(reason) => {
            world.tell(&Event::Missed { stage, reason });
            None
        }
    }
}

/// A record with an unknown kind is of another build.
fn artifacts(outputs: &[(String, BlobRef)]) -> Option<Artifacts> {
    let refs: Option<Vec<ArtifactRef>> = outputs
        .iter()
        .map(|(name, BlobRef { digest, size })| {
            ArtifactKind::from_name(name).map(|kind| ArtifactRef { digest: *digest, size: *size, kind })
        })
        .collect();
    refs.map(Artifacts::new)
}

fn staged(world: &World, stage: Stage, key: Arc<Key>, artifacts: Artifacts, source: Source) -> Arc<Staged> {
    let staged = Arc::new(Staged { stage, key, artifacts, source });
    let bytes = staged.artifacts.iter().map(|artifact| artifact.size).sum();
    world.tell(&Event::Finished { stage, source, bytes });
    staged
}
