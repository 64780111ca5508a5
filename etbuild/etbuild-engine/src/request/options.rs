//! The options of stages that a recipe states.

use std::sync::Arc;

use et_module::app::CommandLine;
use etbuild_backend::{MemoryFacts, TargetFacts};
use etbuild_checkpoint::{Cache, Encoding, Options, Pooling};
use etbuild_memory::{Bank, DEFAULT_ALIGNMENT, Greedy, Naive};
use etbuild_recipe::{self as recipe, Model, Output, Planner, PythonFunction, Recipe, Runtime, Scheme};
use etbuild_target::Target;
use etbuild_yaml::Spanned;

use super::compiler;
use super::diffusion::pipeline_options;
use super::front_end::front_ends;
use super::operators::Operators;
use super::quantization::{keeps, quantize_options, rotation};
use super::reading::reading_options;
use crate::emit::FileOptions;
use crate::input::{ArchiveOrigin, CheckpointFolder, Db, ModelSource, PythonCall};
use crate::link::{LinkOptions, VerifyFiles};
use crate::partition::PartitionOptions;
use crate::program_source::{Archives, ProgramSource};
use crate::session::World;

/// The parts of the binary besides the program.
pub fn link_options(
    db: &dyn Db,
    recipe: &Recipe,
    operators: &Operators,
    file: &FileOptions,
    target: &Arc<Target>,
) -> LinkOptions {
    let verify = recipe.verify.as_ref().map(|verify| VerifyFiles {
        inputs: db.data_file(&verify.inputs.path),
        reference: verify.reference.as_ref().map(|file| db.data_file(&file.path)),
        outputs: verify.outputs.clone(),
    });
    LinkOptions {
        name: recipe.name.as_str().to_owned(),
        link: recipe.link.clone(),
        is_single: recipe.output == Output::Single,
        library: is_library(recipe, target),
        server: recipe.server.as_ref().is_some_and(|server| server.value),
        trace: recipe.trace.as_ref().is_some_and(|trace| trace.value),
        bench: recipe.bench.as_ref().map(|executions| executions.value),
        updates: recipe.updates.as_ref().map(|updates| updates.value),
        constrain: recipe.constrains() && file.texts.is_none_or(|folder| folder.options(db).encoder.is_none()),
        command_line: match (&file.texts, &file.pipeline) {
            (Some(_), _) => CommandLine::Language,
            (None, Some(_)) => CommandLine::Pictures,
            (None, None) => CommandLine::Tensors,
        },
        operators: operators.crates.clone(),
        target: target.clone(),
        verify,
        optimize: recipe.optimize,
    }
}

fn python_call(recipe: &Recipe, function: &PythonFunction) -> PythonCall {
    let arguments = recipe.export.arguments.iter();
    PythonCall {
        script: function.file.path.clone(),
        function: function.function.clone(),
        arguments: arguments.map(|(name, value)| (name.clone(), value.value.clone())).collect(),
        interpreter: recipe.export.interpreter(),
        files: recipe.export.files.iter().map(|file| file.path.clone()).collect(),
    }
}

/// The sources of the methods of a recipe's program.
fn sources(db: &dyn Db, recipe: &Recipe, operators: &Operators) -> Archives {
    if let Model::Checkpoint(folder) = &recipe.model {
        let tokens = |size: &Option<Spanned<u32>>| size.as_ref().map(|size| size.value);
        let (context, prefill) = (recipe.export.context().map(|length| length.value), recipe.export.prefill());
        let speculate = tokens(&recipe.export.speculate).filter(|tokens| *tokens > 0);
        let batch = recipe.batch();
        let (cache, rotation, encoder) = (cache(recipe), rotation(recipe), Some(encoding(recipe)));
        let options = Options {
            context,
            prefill,
            speculate,
            batch,
            image_tokens: tokens(&recipe.export.image_tokens),
            cache,
            rotation,
            keeps: keeps(recipe),
            encoder,
            embeds: false,
            vision: false,
            sound: None,
            source: false,
            words: recipe.export.word_timestamps.as_ref().is_some_and(|words| words.value),
            every: false,
        };
        let adapter = recipe.adapter.as_ref().map(|adapter| &*adapter.path);
        let folder = db.checkpoint(&folder.path, adapter, options);
        return folder
            .options(db)
            .methods()
            .into_iter()
            .map(|method| (method.name(), ModelSource::Checkpoint(folder, method)))
            .collect();
    }
    let archive = |origin| ModelSource::Archive(db.archive(origin, &operators.schemas));
    if let Model::Python(function) = &recipe.model {
        let model = archive(ArchiveOrigin::Python(db.python_model(python_call(recipe, function))));
        return Archives::from([(Model::METHOD.to_owned(), model)]);
    }
    let archives = recipe.model.archives().into_iter();
    archives
        .map(|(method, file)| (method.to_owned(), archive(ArchiveOrigin::File(db.model_file(&file.path)))))
        .collect()
}

/// What the recipe says about the texts of an encoder.
fn encoding(recipe: &Recipe) -> Encoding {
    let text = &recipe.text;
    let pooling = text.pooling.as_ref().map(|pooling| match pooling.value {
        recipe::Pooling::Mean => Pooling::Mean,
        recipe::Pooling::Cls => Pooling::Cls,
        recipe::Pooling::Max => Pooling::Max,
        recipe::Pooling::Last => Pooling::Last,
    });
    let normalize = text.normalize.as_ref().map(|normalize| normalize.value);
    Encoding { pooling, normalize, max_tokens: text.max_tokens.as_ref().map(|tokens| tokens.value.get()) }
}

/// The type of a language model's KV cache: fp16 where keys and values are computed from int8 activations.
fn cache(recipe: &Recipe) -> Cache {
    let scheme = recipe.quantize.as_ref().map(|quantize| quantize.scheme.value);
    let rounds = matches!(scheme, Some(Scheme::Stored | Scheme::DynamicInt8 | Scheme::Dynamic8Weight4));
    match recipe.export.cache.as_ref().map(|cache| cache.value) {
        Some(recipe::Cache::Float32) => Cache::Float32,
        Some(recipe::Cache::Float16) => Cache::Float16,
        Some(recipe::Cache::Int8) => Cache::Int8,
        None if rounds => Cache::Float16,
        None => Cache::Float32,
    }
}

/// The parts of the program file besides the model.
pub fn file_options(db: &dyn Db, recipe: &Recipe, archives: &Archives) -> FileOptions {
    let constants = recipe.export.constants.iter();
    FileOptions {
        constants: constants.map(|(name, value)| (name.clone(), value.value.clone())).collect(),
        external_weights: recipe.export.external_weights().is_some(),
        adapter: recipe.adapter.is_some(),
        texts: checkpoint(archives),
        reading: reading_options(db, recipe),
        pipeline: pipeline_options(db, recipe),
    }
}

/// The checkpoint of the methods, if any.
fn checkpoint(archives: &Archives) -> Option<CheckpointFolder> {
    archives.values().find_map(|source| match source {
        ModelSource::Checkpoint(folder, _) => Some(*folder),
        ModelSource::Archive(_) => None,
    })
}

/// The inputs of a program before memory planning.
pub fn program_source(db: &dyn Db, recipe: &Recipe, operators: &Operators, target: TargetFacts) -> ProgramSource {
    let engines = recipe.partition.backends(&best_backends(recipe, db.world(), &target));
    let widens_halves = recipe.export.widens_halves() && target.hosted && !engines.is_empty();
    let npu_context = recipe.export.npu_context.as_ref().map(|size| size.value.0);
    let target = TargetFacts { contexts: recipe.export.shorter_contexts(), npu_context, ..target };
    ProgramSource {
        archives: sources(db, recipe, operators),
        runtime: runtime(recipe.runtime),
        widens_halves,
        front_ends: front_ends(recipe),
        seed: recipe.export.seed.as_ref().map_or(0, |seed| seed.value),
        quantize: quantize_options(db, recipe),
        partition: PartitionOptions { compilers: compiler::digests(db.world(), &engines), engines, target },
    }
}

/// The backends that `partition: auto` stands for, best first. ExecuTorch's runtime lacks these backends.
pub fn best_backends(recipe: &Recipe, world: &World, target: &TargetFacts) -> Vec<&'static str> {
    let asked = world.engines().iter().filter(|backend| recipe.runtime == Runtime::Etbuild && backend.runs_on(target));
    asked.map(|backend| backend.name()).collect()
}

/// Whether the unit has a library.
pub fn is_library(recipe: &Recipe, target: &Target) -> bool {
    recipe.library.as_ref().is_some_and(|library| library.value) || !target.has_binary()
}

/// How tensors are placed in banks of these names and sizes.
pub fn memory_options(
    recipe: &Recipe,
    banks: Vec<(String, Option<u64>)>,
    PartitionOptions { engines, target, .. }: &PartitionOptions,
) -> etbuild_memory::Options {
    // Backends get cache lines.
    let has_engines = target.hosted && !engines.is_empty();
    let alignment = if has_engines { etbuild_backend::ALIGNMENT as u64 } else { DEFAULT_ALIGNMENT };
    let banks = banks.into_iter().map(|(name, size)| Bank { name, size, alignment });
    etbuild_memory::Options { planner: planner(recipe.memory.planner), banks: banks.collect() }
}

const fn runtime(runtime: Runtime) -> etbuild_pass::Runtime {
    match runtime {
        Runtime::Etbuild => etbuild_pass::Runtime::Etbuild,
        Runtime::Executorch => etbuild_pass::Runtime::Executorch,
    }
}

const fn planner(planner: Planner) -> &'static dyn etbuild_memory::Planner {
    match planner {
        Planner::Greedy => &Greedy,
        Planner::Naive => &Naive,
    }
}

/// The banks for tensors, without the stack. A hosted target has the memory of the operating system. The tensors of a
/// library lie in the bank `arena` alone.
pub fn banks(target: &Target, is_library: bool) -> Vec<(String, Option<u64>)> {
    let Some(memory) = target.memory() else { return vec![("memory".to_owned(), None)] };
    let banks = if is_library { std::slice::from_ref(&memory.arena) } else { &memory.tensors };
    banks.iter().map(|bank| (bank.name.to_string(), Some(memory.room(bank)))).collect()
}

/// The bytes of the arena, or somewhat more, that the runtime's own data of a program take on a board.
const RUNTIME: u64 = 256;

/// The memory of a board for tensors: all of the banks, unless the budget leaves less beside the stack.
pub fn memory_facts(recipe: &Recipe, target: &Target, banks: &[(String, Option<u64>)]) -> Option<MemoryFacts> {
    let stack = target.memory()?.stack.0;
    let budget = recipe.budget.ram.as_ref().map_or(u64::MAX, |ram| ram.value.0.saturating_sub(stack));
    let sizes = || banks.iter().filter_map(|(_, size)| *size);
    let (largest, total) = (sizes().max()?, sizes().fold(0, u64::saturating_add));
    let [largest, total] = [largest, total].map(|bytes| bytes.min(budget).saturating_sub(RUNTIME));
    Some(MemoryFacts { largest, total })
}
