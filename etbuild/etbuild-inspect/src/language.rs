//! The programs of a quantized language model that a simulation of an NPU is judged by.

use std::path::Path;
use std::sync::Arc;

use etbuild_diagnostic::Diagnostic;
use etbuild_engine::program_source::ProgramSource;
use etbuild_engine::request::{HostProgram, of_host};
use etbuild_engine::session::World;
use etbuild_recipe::{Override, Partition};
use etbuild_store::Blob;

/// Program files of a language model for this machine.
pub struct LanguageVariants {
    /// The recipe's name.
    pub recipe: String,
    /// Before quantization, on the portable kernels.
    pub float: Blob,
    /// Quantized, on the portable kernels.
    pub portable: Blob,
    /// Quantized, with partitions for the backend.
    pub simulated: Blob,
}

/// The variants of the language model of a recipe. The engine of the name `backend` in `world` is a simulation.
///
/// # Errors
/// Mistakes in the recipe, and failures of the compilation.
pub fn language_variants(
    world: &Arc<World>,
    path: &Path,
    overrides: &[Override],
    backend: &str,
) -> Result<LanguageVariants, Vec<Diagnostic>> {
    let placed = |engines: &str| -> Result<Vec<Override>, Vec<Diagnostic>> {
        let partition = Override::parse(&format!("partition=[{engines}]")).map_err(|mistake| vec![mistake])?;
        Ok(overrides.iter().cloned().chain([partition]).collect())
    };
    let (recipe, float, portable) = of_host(world, path, &placed(Partition::PORTABLE)?, |db, host| {
        let program = ProgramSource { quantize: None, ..host.program.clone() };
        let (file, memory, recipe) = (host.file.clone(), host.memory.clone(), host.recipe.clone());
        let float = HostProgram { program, file, memory, recipe };
        Ok((host.recipe.name.clone(), float.open(db)?, host.open(db)?))
    })?;
    let engines = format!("{backend}, {}", Partition::PORTABLE);
    let simulated = of_host(world, path, &placed(&engines)?, |db, host| host.open(db))?;
    Ok(LanguageVariants { recipe: recipe.to_string(), float, portable, simulated })
}
