//! Reports and plans as tables.

use etbuild_engine::{PlanState, UnitPlan, UnitReport, Verification};

use super::{Table, bytes};

/// One row per unit: what was built, how large it is, whether it is right, what the cache had.
pub fn deployment_table(reports: &[UnitReport]) -> String {
    let mut table = Table::new(&["target", "binary", "size", "flash", "ram", "accuracy", "max error", "cached"]);
    for report in reports {
        table.row(vec![
            report.target.clone(),
            report.files.first().map_or_else(|| "failed".to_owned(), |file| file.path.display().to_string()),
            report.files.first().map_or_else(String::new, |file| bytes(file.size)),
            report
                .sizes
                .as_ref()
                .filter(|sizes| sizes.stack > 0)
                .map_or_else(|| "-".to_owned(), |sizes| bytes(sizes.flash())),
            report
                .sizes
                .as_ref()
                .filter(|sizes| sizes.stack > 0)
                .map_or_else(|| "-".to_owned(), |sizes| bytes(sizes.ram())),
            accuracy(&report.verification),
            max_error(&report.verification),
            cached(report),
        ]);
    }
    table.render()
}

fn accuracy(verification: &Verification) -> String {
    match verification {
        Verification::Done(judgement) => match (judgement.accuracy(), judgement.correct) {
            (Some(share), Some(correct)) => format!("{:.2} % ({correct}/{})", share * 100.0, judgement.cases),
            _ => format!("{}/{} as PyTorch", judgement.same_prediction, judgement.cases),
        },
        Verification::Skipped { .. } => "not run".to_owned(),
        Verification::None => "-".to_owned(),
    }
}

fn max_error(verification: &Verification) -> String {
    match verification {
        Verification::Done(judgement) => format!("{:.1e}", judgement.max_error),
        Verification::Skipped { .. } | Verification::None => "-".to_owned(),
    }
}

fn cached(report: &UnitReport) -> String {
    let names: Vec<&str> = report.stages.iter().filter(|row| row.cached).map(|row| row.stage).collect();
    match names.len() {
        0 => "nothing".to_owned(),
        count if count == report.stages.len() => "everything".to_owned(),
        _ => names.join(", "),
    }
}

/// One row per stage of each unit: what the store has, and why not.
pub fn plan_table(plans: &[UnitPlan], wanted: Option<&str>) -> String {
    let mut table = Table::new(&["unit", "stage", "state", "key", "because"]);
    for plan in plans {
        for row in plan.stages.iter().filter(|row| wanted.is_none_or(|wanted| wanted == row.stage)) {
            let (state, key, reason) = plan_cells(&row.state);
            let unit = format!("{}@{}", plan.recipe, plan.target);
            table.row(vec![unit, row.stage.to_owned(), state.to_owned(), key, reason]);
        }
    }
    table.render()
}

fn plan_cells(state: &PlanState) -> (&'static str, String, String) {
    match state {
        PlanState::Cached { key } => ("cached", short(key), String::new()),
        PlanState::Waiting => ("waiting", String::new(), "a stage before it has to run".to_owned()),
        PlanState::Missing { key, difference, known } => ("run", short(key), because(difference.as_deref(), *known)),
        PlanState::Failed { diagnostics } => {
            ("cannot run", String::new(), diagnostics.first().map_or_else(String::new, |first| first.message.clone()))
        }
    }
}

fn because(difference: Option<&str>, known: bool) -> String {
    match (difference, known) {
        (Some(difference), _) => difference.to_owned(),
        (None, true) => "its artifacts are no longer in the cache".to_owned(),
        (None, false) => "it never ran".to_owned(),
    }
}

fn short(key: &str) -> String {
    key.chars().take(12).collect()
}
