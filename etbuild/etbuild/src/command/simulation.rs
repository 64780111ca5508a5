//! `etbuild explain --simulate`: what an NPU computes, without the vendor's kit.

use std::path::Path;

use et_module::{Array, Named};
use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_inspect::{SimulatedOutput, language_variants, simulated};
use etbuild_recipe::Partition;

use super::Outcome;
use super::program::write_outputs;
use crate::arguments::{self, Recipes};
use crate::perplexity::{Passage, Perplexity};
use crate::render::{perplexity_text, simulation_text};
use crate::session::Session;

/// The outputs as an NPU computes them, or the perplexity of a language model there. The recipe's own backends are left out, as their
/// kits may be absent.
pub fn explain(session: &Session, mut recipes: Recipes, backend: &str, arguments: &arguments::Explain) -> Outcome {
    recipes.options.partition = Some(Partition::PORTABLE.to_owned());
    let found = simulated(&session.world(etbuild_engine::Mode::Build)?, &session.request(&recipes)?, backend)?;
    if let Some(text) = found.texts.first() {
        if found.texts.len() > 1 || !found.outputs.is_empty() {
            let message = "a language model is simulated alone";
            return Err(usage(message, "name its recipe only"));
        }
        if arguments.outputs.is_some() {
            return Err(usage("`--outputs` is not for language models", "leave `--outputs` out"));
        }
        let text = arguments.text.as_deref().unwrap_or(text);
        return explain_language(session, &arguments.subject, backend, text);
    }
    if arguments.text.is_some() {
        return Err(usage("`--text` is for language models, and the recipe has none", "leave `--text` out"));
    }
    if let Some(file) = &arguments.outputs {
        write_outputs(session, file, &arrays(&found.outputs), &Named::default())?;
    }
    let value = serde_json::json!({
        "backend": backend, "outputs": found.outputs,
    });
    session.terminal.succeed("simulation", value, &simulation_text(&found.outputs));
    Ok(Vec::new())
}

fn usage(message: &str, help: &str) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Code::Usage, message).help(help)]
}

/// The simulated outputs by the names that `etbuild run` gives them.
fn arrays(outputs: &[SimulatedOutput]) -> Named<Array> {
    let numbered = outputs.iter().enumerate().map(|(number, SimulatedOutput { tensor, .. })| {
        let shape = tensor.sizes.iter().map(|size| size.unsigned_abs() as usize).collect();
        (format!("output_{number}"), Array { scalar_type: tensor.scalar_type, shape, bytes: tensor.bytes.clone() })
    });
    numbered.collect()
}

/// The perplexity of a language model before quantization, after it, and on the NPU, and what the model writes.
fn explain_language(session: &Session, recipe: &Path, backend: &str, text: &Path) -> Outcome {
    let world = session.world_of_simulations()?;
    let variants = language_variants(&world, recipe, &session.overrides(Vec::new())?, backend)?;
    let passage = Passage::read(&*session.system, recipe, text)?;
    let measured = |program| Perplexity::of(recipe, program, &passage);
    let all = [measured(variants.float)?, measured(variants.portable)?, measured(variants.simulated)?];
    let [float, portable, simulated] = &all;
    let value = serde_json::json!({
        "backend": backend, "outputs": [],
        "language": { "recipe": variants.recipe, "float": float, "portable": portable, "simulated": simulated },
    });
    session.terminal.succeed("simulation", value, &perplexity_text(&variants.recipe, &all));
    Ok(Vec::new())
}
