//! The losses of quantization for people.

use etbuild_engine::ProgramLosses;

use super::Table;

/// What every program loses, the worst layers first.
pub fn quantization_text(programs: &[ProgramLosses]) -> String {
    programs.iter().map(program_text).collect::<Vec<_>>().join("\n\n")
}

fn program_text(program: &ProgramLosses) -> String {
    if program.layers.is_empty() {
        let what = if program.diagnostics.is_empty() { "nothing is lost" } else { "not measured" };
        return format!("{}: {what}", program.recipe);
    }
    let mut table = Table::new(&["sqnr", "quantized", "value", "operator", "module"]);
    for layer in &program.layers {
        table.row(vec![
            format!("{:.1} dB", layer.sqnr),
            if layer.quantized { "yes" } else { "no" }.to_owned(),
            layer.value.clone(),
            layer.operator.clone(),
            layer.module.clone().unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    format!("{}\n\n{}", program.recipe, table.render())
}
