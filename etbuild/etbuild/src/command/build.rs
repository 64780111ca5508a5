//! `etbuild build`: deploys without running.

use etbuild_engine::{Goal, Mode};

use super::Outcome;
use super::cache::collect_if_due;
use super::deploy::{diagnostics, show};
use super::lock::deploy_locked;
use crate::arguments::Recipes;
use crate::session::Session;

pub fn run(session: &Session, recipes: &Recipes) -> Outcome {
    let request = session.request(recipes)?;
    let world = session.world(Mode::Build)?;
    let reports = deploy_locked(session, &world, &request, Goal::Build, &session.global.out)?;
    // The world's lease on the cache would block garbage collection.
    drop(world);
    collect_if_due(session);
    let diagnostics = diagnostics(&reports, false);
    show(session, &reports, &diagnostics);
    Ok(diagnostics)
}
