//! `etbuild plan`: every stage, and whether the stage is cached.

use etbuild_engine::{Mode, plan};

use super::Outcome;
use crate::arguments::Recipes;
use crate::render::plan_table;
use crate::session::Session;

pub fn run(session: &Session, recipes: &Recipes) -> Outcome {
    let request = session.request(recipes)?;
    let plans = plan(&session.world(Mode::Plan)?, &request)?;
    let value = serde_json::json!({ "units": plans });
    session.terminal.succeed("plan", value, &plan_table(&plans, None));
    Ok(Vec::new())
}
