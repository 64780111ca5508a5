//! The page of a report: a self-contained HTML file. The template engine escapes text; this module computes the
//! geometry of the drawings.

mod accuracy;
mod gpu;
mod graph;
mod index;
mod latency;
mod memory;
mod npu;
mod overview;
mod partition;
mod sizes;
mod treemap;

use std::path::Path;

use serde::Serialize;
use tera::{Context, Tera};

use crate::report::DeployReport;

const TEMPLATES: [(&str, &str); 14] = [
    ("report.html", include_str!("../../../templates/report/report.html")),
    ("index.html", include_str!("../../../templates/report/index.html")),
    ("style.css", include_str!("../../../templates/report/style.css")),
    ("overview.html", include_str!("../../../templates/report/overview.html")),
    ("stages.html", include_str!("../../../templates/report/stages.html")),
    ("sizes.html", include_str!("../../../templates/report/sizes.html")),
    ("partition.html", include_str!("../../../templates/report/partition.html")),
    ("gpu.html", include_str!("../../../templates/report/gpu.html")),
    ("npu.html", include_str!("../../../templates/report/npu.html")),
    ("graph.html", include_str!("../../../templates/report/graph.html")),
    ("memory.html", include_str!("../../../templates/report/memory.html")),
    ("accuracy.html", include_str!("../../../templates/report/accuracy.html")),
    ("latency.html", include_str!("../../../templates/report/latency.html")),
    ("changes.html", include_str!("../../../templates/report/changes.html")),
];

/// The variables of the templates.
#[derive(Serialize)]
struct View {
    overview: overview::View,
    sizes: Option<sizes::View>,
    changes: Option<sizes::Changes>,
    partition: Option<partition::View>,
    gpu: Vec<gpu::View>,
    npu: Vec<npu::View>,
    graph: Vec<graph::View>,
    memory: Vec<memory::View>,
    accuracy: accuracy::View,
    latency: Option<latency::View>,
}

/// The page.
///
/// # Errors
/// A template that cannot be filled in: a bug.
pub fn html(report: &DeployReport) -> tera::TeraResult<String> {
    let view = View {
        overview: overview::view(report),
        sizes: report.sizes.as_ref().map(|sizes| sizes::view(sizes, &report.anatomy)),
        changes: report.previous.as_ref().map(|previous| sizes::changes(report, previous)),
        partition: (!report.anatomy.nodes.is_empty()).then(|| partition::view(&report.anatomy)),
        gpu: gpu::views(&report.anatomy.blobs),
        npu: npu::views(&report.anatomy.blobs),
        graph: graph::views(&report.anatomy),
        memory: memory::views(&report.anatomy.memory),
        accuracy: accuracy::view(report),
        latency: latency::view(report),
    };
    render("report.html", &view)
}

/// The page in `folder` that links the reports of several units.
///
/// # Errors
/// As of [`html`].
pub fn index(reports: &[DeployReport], folder: &Path) -> tera::TeraResult<String> {
    render("index.html", &index::view(reports, folder))
}

fn render(template: &str, view: &impl Serialize) -> tera::TeraResult<String> {
    let mut tera = Tera::new();
    tera.autoescape_on([".html"]);
    tera.add_raw_templates(TEMPLATES)?;
    tera.render(template, &Context::from_serialize(view)?)
}

/// A part of a whole in percent, for style sheets.
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

#[cfg(test)]
mod tests {
    use etbuild_engine::{NodePlace, UnitReport};
    use etbuild_inspect::UnitAnatomy;

    use super::*;
    use crate::report::Before;

    const NAME: &str = "<script>alert('&\"')</script>";

    fn report() -> DeployReport {
        let node = NodePlace {
            work: 1,
            scalar_type: "float32".to_owned(),
            method: NAME.to_owned(),
            operator: NAME.to_owned(),
            value: NAME.to_owned(),
            shape: NAME.to_owned(),
            reads: vec![0],
            module: Some(NAME.to_owned()),
            engine: Some(NAME.to_owned()),
            partition: Some(0),
            refusals: Vec::new(),
        };
        let anatomy = UnitAnatomy {
            recipe: NAME.to_owned(),
            target: NAME.to_owned(),
            engines: vec![NAME.to_owned()],
            nodes: vec![node; 3],
            blobs: Vec::new(),
            crossings: Vec::new(),
            constants: std::collections::BTreeMap::new(),
            kernels: vec![NAME.to_owned()],
            code: Vec::new(),
            packed: std::collections::BTreeMap::new(),
            calls: std::collections::BTreeMap::new(),
            lines: etbuild_inspect::Lines::default(),
            memory: Vec::new(),
            diagnostics: Vec::new(),
        };
        let deploy = UnitReport::new(NAME, NAME);
        DeployReport::new("report.html".into(), deploy, anatomy, None, (None, Before::default()))
    }

    #[test]
    fn names_are_escaped() {
        let html = html(&report()).unwrap();
        assert!(!html.contains("<script") && html.contains("&lt;script&gt;"), "{html}");
    }

    #[test]
    fn a_huge_program_has_a_small_page() {
        let mut huge = report();
        let long =
            NodePlace { operator: "aten.a_rather_long_name.default".to_owned(), ..huge.anatomy.nodes[0].clone() };
        huge.anatomy.nodes = vec![long; 200_000];
        let html = html(&huge).unwrap();
        assert!(html.len() < 3_000_000 && html.contains("196000 more are not listed"), "{}", html.len());
    }

    #[test]
    fn shares_and_durations_are_short() {
        assert_eq!((share(1, 3), share(0, 0)), ("33.3 %".to_owned(), "-".to_owned()));
        assert_eq!([999, 1_500, 90_000].map(duration), ["999 ms", "1.5 s", "1.5 min"]);
    }
}
