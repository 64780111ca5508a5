//! `etbuild check`: recipes and targets are read, no stage runs.

use etbuild_engine::{EngineDatabase, Mode, resolve};

use super::Outcome;
use crate::arguments::Recipes;
use crate::render::Table;
use crate::session::Session;

pub fn run(session: &Session, recipes: &Recipes) -> Outcome {
    let request = session.request(recipes)?;
    let db = EngineDatabase::new(session.world(Mode::Plan)?);
    let units = resolve(&db, &request)?;
    let mut table = Table::new(&["recipe", "target", "model"]);
    for unit in &units {
        let models: Vec<String> =
            unit.recipe.model.files().iter().map(|file| file.path.display().to_string()).collect();
        table.row(vec![unit.name().to_owned(), unit.target.name().to_owned(), models.join(", ")]);
    }
    let instances: Vec<String> = units.iter().map(etbuild_engine::Unit::instance).collect();
    let value = serde_json::json!({ "schema": "etbuild.check/1", "ok": true, "units": instances });
    session.terminal.present(&value, &table.render());
    session.terminal.explain(&[]);
    Ok(Vec::new())
}
