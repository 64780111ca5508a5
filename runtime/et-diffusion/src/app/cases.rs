//! Pictures with known numbers: tokens and noise in, the numbers of the pictures out.

use std::path::Path;

use et_core::ScalarType;
use et_llm::app::{token_rows, write_tensor};
use et_module::safetensors::SafeTensors;
use et_module::{Array, FileBytes};

use crate::elements::to_floats;
use crate::{Error, Given, Pipeline};

/// Reads `tokens`, `negative` and `noise` from a safetensors file, a row per picture, and writes `output_0`,
/// `float32 [cases, 3, height, width]`, with the settings of the program file.
///
/// # Errors
/// [`Error::File`] for a malformed file; errors of the pipeline.
pub fn run(pipeline: &Pipeline<'_>, inputs: &Path, outputs: &Path) -> Result<(), Error> {
    let bytes = FileBytes::open(inputs)?;
    let file = SafeTensors::parse(&bytes).map_err(|error| failed(inputs, &error))?;
    let missing = |name: &str| failed(inputs, &format!("there is no tensor `{name}` of the right type"));
    let prompts = file.tensors.get("tokens").and_then(token_rows).ok_or_else(|| missing("tokens"))?;
    let negatives = file.tensors.get("negative").and_then(token_rows).unwrap_or_default();
    let noise = file.tensors.get("noise").and_then(|tensor| to_floats(tensor.scalar_type, tensor.bytes));
    let noise = noise.ok_or_else(|| missing("noise"))?;
    let settings = pipeline.facts().settings;
    if settings.is_guided() && negatives.len() != prompts.len() {
        return Err(missing("negative"));
    }
    let (mut all, mut shape) = (Vec::new(), Vec::new());
    let rows = noise.chunks(noise.len().div_ceil(prompts.len().max(1)).max(1));
    for (case, (prompt, noise)) in prompts.iter().zip(rows).enumerate() {
        let negative = negatives.get(case).cloned().unwrap_or_default();
        let given = Given { prompt: prompt.clone(), negative, noise: Some(noise.to_vec()) };
        let (sizes, numbers, _) = pipeline.make(&given, &settings, &mut |_| Ok(()))?;
        all.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        shape = sizes;
    }
    if let Some(count) = shape.first_mut() {
        *count = prompts.len();
    }
    Ok(write_tensor(outputs, "output_0", Array { scalar_type: ScalarType::Float, shape, bytes: all })?)
}

fn failed(path: &Path, problem: &dyn std::fmt::Display) -> Error {
    Error::File { path: path.to_owned(), problem: problem.to_string() }
}
