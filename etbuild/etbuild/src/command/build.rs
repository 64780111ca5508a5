//! `etbuild build`: deploys without running.

use etbuild_engine::Goal;

use super::Outcome;
use super::deploy::deployed;
use crate::arguments::Recipes;
use crate::session::Session;

pub fn run(session: &Session, recipes: &Recipes) -> Outcome {
    let request = session.request(recipes)?;
    let (_, diagnostics) = deployed(session, &request, Goal::Build, false)?;
    Ok(diagnostics)
}
