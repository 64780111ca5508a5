//! `etbuild doctor`: the tools of the machine for each target, the way to install missing tools, and the GPU.

use etbuild_diagnostic::Diagnostic;
use etbuild_engine::Mode;
use etbuild_inspect::{ToolCheck, check_tools};
use etbuild_target::Catalogue;

use super::Outcome;
use super::gpu::{self, Gpu};
use super::npu;
use crate::render::Table;
use crate::session::Session;

pub fn run(session: &Session) -> Outcome {
    let world = session.world_without_network(Mode::Plan)?;
    let mut table = Table::new(&["target", "toolchain", "runner"]);
    let mut values = Vec::new();
    let mut findings = Vec::new();
    for target in Catalogue::shipped()?.iter() {
        let ToolCheck { toolchain, runner } = check_tools(&world, target);
        let cells = [cell(&toolchain, &mut findings), cell(&runner, &mut findings)];
        values.push(serde_json::json!({ "target": target.name(), "toolchain": cells[0], "runner": cells[1] }));
        table.row([vec![target.name().to_owned()], cells.to_vec()].concat());
    }
    findings.sort();
    findings.dedup();
    let Gpu { value: gpu, text } = gpu::describe();
    let (npu, npu_text) = npu::describe();
    let cache = world.store().root();
    let value =
        serde_json::json!({ "cache": cache, "targets": values, "gpu": gpu, "npu": npu, "diagnostics": findings });
    let text = format!("{}\n\ngpu: {text}\nnpu: {npu_text}\ncache: {}", table.render(), cache.display());
    session.terminal.succeed("doctor", value, &text);
    session.terminal.explain(&findings);
    Ok(Vec::new())
}

/// The found tools; a missing tool becomes a finding, which is advice here and no error.
fn cell(result: &Result<String, Box<Diagnostic>>, findings: &mut Vec<Diagnostic>) -> String {
    match result {
        Ok(text) => text.clone(),
        Err(diagnostic) => {
            findings.push(Diagnostic { severity: etbuild_diagnostic::Severity::Warning, ..(**diagnostic).clone() });
            "missing".to_owned()
        }
    }
}
