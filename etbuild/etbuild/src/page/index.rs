//! The page that links the reports of several units, with their main figures side by side.

use std::path::Path;

use serde::Serialize;

use super::overview;
use crate::report::DeployReport;

/// The variables of the template.
#[derive(Serialize)]
pub struct View {
    /// The names of the figures that a unit has.
    columns: Vec<&'static str>,
    units: Vec<Unit>,
}

#[derive(Serialize)]
struct Unit {
    recipe: String,
    target: String,
    /// The report, relative to the folder of this page.
    page: String,
    /// A figure for each column; empty where the unit has none.
    cells: Vec<String>,
    /// The codes of the diagnostics.
    diagnostics: String,
}

/// The index of `reports`, for a page in `folder`.
pub fn view(reports: &[DeployReport], folder: &Path) -> View {
    let figures: Vec<_> = reports.iter().map(overview::figures).collect();
    let mut columns = Vec::new();
    for (name, _) in figures.iter().flatten() {
        if !columns.contains(name) {
            columns.push(*name);
        }
    }
    let unit = |(report, figures): (&DeployReport, &Vec<(&str, String)>)| Unit {
        recipe: report.deploy.recipe.clone(),
        target: report.deploy.target.clone(),
        page: href(report.page.strip_prefix(folder).unwrap_or(&report.page)),
        cells: columns.iter().map(|column| cell(figures, column)).collect(),
        diagnostics: overview::findings(report).iter().map(overview::Finding::code).collect::<Vec<_>>().join(", "),
    };
    let units = reports.iter().zip(&figures).map(unit).collect();
    View { columns, units }
}

fn cell(figures: &[(&str, String)], column: &str) -> String {
    figures.iter().find(|(name, _)| *name == column).map(|(_, figure)| figure.clone()).unwrap_or_default()
}

/// A path as a reference: names of recipes and targets are words, and a separator is a slash on every system.
fn href(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}
