//! `etbuild build`: everything but running.

use etbuild_engine::{Goal, Mode, deploy};

use super::Outcome;
use super::deploy::show;
use crate::arguments::Recipes;
use crate::session::Session;

pub fn run(session: &Session, recipes: &Recipes) -> Outcome {
    let request = session.request(recipes)?;
    let world = session.world(Mode::Build)?;
    let reports = deploy(&world, &request, Goal::Build, &session.global.out)?;
    let diagnostics: Vec<_> = reports.iter().flat_map(|report| report.diagnostics.iter().cloned()).collect();
    show(session, &reports, &diagnostics);
    Ok(diagnostics)
}
