//! The losses of quantization for people.

use etbuild_engine::LayerLoss;
use etbuild_inspect::{ProgramLosses, SimulatedOutput};

use super::Table;
use crate::perplexity::Perplexity;

/// The number of worst layers that are shown beside another result.
const WORST: usize = 5;

/// The loss of every program, the worst layers first.
pub fn quantization_text(programs: &[ProgramLosses]) -> String {
    programs.iter().map(program_text).collect::<Vec<_>>().join("\n\n")
}

/// The same of programs that are quantized, their worst layers alone.
pub fn worst_text(programs: &[ProgramLosses]) -> String {
    let quantized = programs.iter().filter(|program| program.quantizes && !program.layers.is_empty());
    let text = |program: &ProgramLosses| {
        let worst = program.layers.get(..WORST).unwrap_or(&program.layers);
        format!("{}, the worst of {} layers\n\n{}", program.recipe, program.layers.len(), table(worst))
            + &answers_text(program)
    };
    quantized.map(text).collect::<Vec<_>>().join("\n\n")
}

/// The right answers before and after, where counted.
fn answers_text(program: &ProgramLosses) -> String {
    let Some(answers) = program.answers else { return String::new() };
    let [before, after] = answers.shares();
    let lost = answers.lost();
    format!(
        "\n\nright answers: {before:.2} % before, {after:.2} % after, {lost:.2} points lost ({} cases)",
        answers.cases
    )
}

fn program_text(program: &ProgramLosses) -> String {
    if program.layers.is_empty() {
        let what = if program.diagnostics.is_empty() { "no loss" } else { "not measured" };
        return format!("{}: {what}", program.recipe);
    }
    format!("{}\n\n{}{}", program.recipe, table(&program.layers), answers_text(program))
}

/// The outputs of quantized programs on the portable kernels and on a simulated NPU.
pub fn simulation_text(outputs: &[SimulatedOutput]) -> String {
    let mut table =
        Table::new(&["recipe", "method", "output", "samples", "sqnr", "sqnr simulated", "largest difference"]);
    let decibels = |sqnr: Option<f64>| sqnr.map_or_else(|| "no loss".to_owned(), |sqnr| format!("{sqnr:.1} dB"));
    for output in outputs {
        table.row(vec![
            output.recipe.clone(),
            output.method.clone(),
            output.output.clone(),
            output.samples.to_string(),
            decibels(output.portable_sqnr),
            decibels(output.simulated_sqnr),
            output.steps.map_or_else(|| "-".to_owned(), |steps| format!("{steps:.0} steps")),
        ]);
    }
    table.render()
}

/// The perplexity of a language model on a text: before quantization, on the portable kernels, and on a simulated NPU.
pub fn perplexity_text(recipe: &str, [float, portable, simulated]: &[Perplexity; 3]) -> String {
    let mut table =
        Table::new(&["recipe", "variant", "tokens", "perplexity", "likeliest as in float", "written as in float"]);
    for (variant, found) in [("float", float), ("portable", portable), ("simulated", simulated)] {
        let same = found.likeliest.iter().zip(&float.likeliest).filter(|(token, other)| token == other).count();
        let written = found.written.iter().zip(&float.written).take_while(|(token, other)| token == other).count();
        table.row(vec![
            recipe.to_owned(),
            variant.to_owned(),
            found.tokens.to_string(),
            format!("{:.5}", found.perplexity),
            format!("{same} of {}", found.tokens),
            format!("{written} of {}", found.written.len()),
        ]);
    }
    format!("{}\n\n{} ...{}", table.render(), simulated.prompt, simulated.text)
}

fn table(layers: &[LayerLoss]) -> String {
    let mut table = Table::new(&["sqnr", "quantized", "value", "operator", "module"]);
    for layer in layers {
        table.row(vec![
            format!("{:.1} dB", layer.sqnr),
            if layer.quantized { "yes" } else { "no" }.to_owned(),
            layer.value.clone(),
            layer.operator.clone(),
            layer.module.clone().unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    table.render()
}
