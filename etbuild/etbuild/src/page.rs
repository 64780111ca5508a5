//! The page of a report: one HTML file that needs nothing else. Text is escaped by the template engine; what is drawn is
//! laid out here.

mod accuracy;
mod memory;
mod overview;
mod partition;
mod sizes;
mod treemap;

use serde::Serialize;
use tera::{Context, Tera};

use crate::report::DeployReport;

const TEMPLATES: [(&str, &str); 9] = [
    ("report.html", include_str!("../../../templates/report/report.html")),
    ("style.css", include_str!("../../../templates/report/style.css")),
    ("overview.html", include_str!("../../../templates/report/overview.html")),
    ("stages.html", include_str!("../../../templates/report/stages.html")),
    ("sizes.html", include_str!("../../../templates/report/sizes.html")),
    ("partition.html", include_str!("../../../templates/report/partition.html")),
    ("memory.html", include_str!("../../../templates/report/memory.html")),
    ("accuracy.html", include_str!("../../../templates/report/accuracy.html")),
    ("changes.html", include_str!("../../../templates/report/changes.html")),
];

/// What the templates can say.
#[derive(Serialize)]
struct View {
    overview: overview::View,
    sizes: Option<sizes::View>,
    changes: Option<sizes::Changes>,
    partition: Option<partition::View>,
    memory: Vec<memory::View>,
    accuracy: accuracy::View,
}

/// The page.
///
/// # Errors
/// A template that cannot be filled in: a bug.
pub fn html(report: &DeployReport) -> tera::TeraResult<String> {
    let view = View {
        overview: overview::view(report),
        sizes: report.sizes.as_ref().map(|sizes| sizes::view(sizes, &report.anatomy.kernels)),
        changes: report.previous.as_ref().map(|previous| sizes::changes(report, previous)),
        partition: (!report.anatomy.nodes.is_empty()).then(|| partition::view(&report.anatomy)),
        memory: memory::views(&report.anatomy.memory),
        accuracy: accuracy::view(report),
    };
    let mut tera = Tera::new();
    tera.autoescape_on([".html"]);
    tera.add_raw_templates(TEMPLATES)?;
    tera.render("report.html", &Context::from_serialize(&view)?)
}

/// A part of a whole in percent, as style sheets take it.
fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.3}", part / whole * 100.0) } else { "0".to_owned() }
}

/// The same for people: `12.3 %`.
fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", part as f64 / whole as f64 * 100.0) }
}

/// A duration for people.
fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{:.1} s", milliseconds as f64 / 1e3),
        _ => format!("{:.1} min", milliseconds as f64 / 6e4),
    }
}
