//! `etbuild check`: every stage up to the program file runs, and nothing is compiled or written out.

use etbuild_engine::{Goal, Mode};

use super::Outcome;
use super::deploy::diagnostics;
use crate::arguments::Recipes;
use crate::render::Table;
use crate::session::Session;

pub fn run(session: &Session, recipes: &Recipes) -> Outcome {
    let request = session.request(recipes)?;
    let reports = etbuild_engine::deploy(&session.world(Mode::Build)?, &request, Goal::Check, &session.global.out)?;
    let mut table = Table::new(&["recipe", "target", "result"]);
    for report in &reports {
        let result = if report.diagnostics.is_empty() { "ok" } else { "refused" };
        table.row(vec![report.recipe.clone(), report.target.clone(), result.to_owned()]);
    }
    let diagnostics = diagnostics(&reports, false);
    let units: Vec<String> = reports.iter().map(|report| format!("{}@{}", report.recipe, report.target)).collect();
    let value = serde_json::json!({
        "schema": "etbuild.check/1", "ok": diagnostics.is_empty(), "units": units, "diagnostics": diagnostics,
    });
    session.terminal.present(&value, &table.render());
    session.terminal.explain(&diagnostics);
    Ok(diagnostics)
}
