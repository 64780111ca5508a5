//! Pipelines that make pictures: the options that a recipe states, and refusals of recipes that no pipeline follows.

use std::collections::BTreeMap;

use et_diffusion::METHODS;
use etbuild_checkpoint::{PIPELINE_FILES, read_pipeline};
use etbuild_diagnostic::{Code, Diagnostic, Span};
use etbuild_recipe::{Diffusion, DiffusionScheduler, Recipe};
use etbuild_system::System;
use etbuild_target::Target;
use etbuild_yaml::Spanned;

use crate::emit::PipelineOptions;
use crate::input::{Db, checkpoint};

/// The pipeline of a recipe.
pub fn pipeline_options(db: &dyn Db, recipe: &Recipe) -> Option<PipelineOptions> {
    let diffusion = recipe.diffusion.as_ref()?;
    let folder = &diffusion.pipeline.path;
    let present = PIPELINE_FILES.iter().filter(|name| db.world().system().stamp(&folder.join(name)).is_ok());
    Some(PipelineOptions {
        folder: folder.clone(),
        files: present.map(|name| ((*name).to_owned(), db.data_file(&folder.join(name)))).collect(),
        scheduler: scheduler(diffusion),
        steps: diffusion.steps.as_ref().map(|steps| steps.value.get()),
        guidance: diffusion.guidance.as_ref().map(|guidance| guidance.value),
        seed: diffusion.seed.as_ref().map(|seed| seed.value),
    })
}

fn scheduler(diffusion: &Diffusion) -> Option<&'static str> {
    diffusion.scheduler.as_ref().map(|scheduler| DiffusionScheduler::name(scheduler.value))
}

/// The mistakes in the files of a pipeline, and in options that a pipeline lacks.
pub fn mistakes(system: &dyn System, recipe: &Recipe) -> Vec<Diagnostic> {
    let Some(diffusion) = &recipe.diffusion else { return Vec::new() };
    let library = recipe.library.as_ref().filter(|library| library.value).map(|library| {
        let message = "`library` has no functions for pictures, and `diffusion` states a pipeline";
        refusal(message, &library.span).help("leave `library` out")
    });
    unreadable(system, diffusion).into_iter().chain(without_network(recipe, diffusion)).chain(library).collect()
}

/// A network without a method.
fn without_network(recipe: &Recipe, diffusion: &Diffusion) -> Option<Diagnostic> {
    let archives = recipe.model.archives();
    let missing = METHODS.into_iter().find(|name| !archives.contains_key(name))?;
    let message = format!("`diffusion` requires a method for each network, and `{missing}` has none");
    let mistake = Diagnostic::error(Code::BadValue, message).at((*diffusion.pipeline.span).clone());
    Some(mistake.help("write `model: { methods: { text_encoder: FILE, unet: FILE, vae_decoder: FILE } }`"))
}

/// What keeps the files of a pipeline from being read.
fn unreadable(system: &dyn System, diffusion: &Diffusion) -> Option<Diagnostic> {
    let pipeline = &diffusion.pipeline;
    if !system.is_dir(&pipeline.path) {
        return None;
    }
    let read = |name: &str| Some((name.to_owned(), system.read(&pipeline.path.join(name)).ok()?));
    let files: BTreeMap<String, Vec<u8>> = PIPELINE_FILES.iter().filter_map(|name| read(name)).collect();
    let views = files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
    let facts = match read_pipeline(&views, scheduler(diffusion)) {
        Ok(data) => data.facts,
        Err(error) => return Some(checkpoint(&error).at((*pipeline.span).clone())),
    };
    let (steps, most) = (diffusion.steps.as_ref()?, facts.schedule.train_steps);
    let is_over = steps.value.get() as usize > most;
    let message = format!("`diffusion.steps` is {}, and the model was trained with {most} timesteps", steps.value);
    let diagnostic = Diagnostic::error(Code::BadValue, message).at((*steps.span).clone());
    is_over.then(|| diagnostic.help("choose a number of steps such as 20 or 50"))
}

/// A pipeline on a target without a command line to give prompts on.
pub fn no_prompt(recipe: &Recipe, target: &Target, named: &Spanned<String>) -> Option<Diagnostic> {
    let is_firmware = recipe.diffusion.is_some() && target.memory().is_some();
    let message =
        format!("`{}` runs firmware, which takes no prompt, so a pipeline has no picture to make", target.name());
    is_firmware
        .then(|| refusal(&message, &named.span).help("choose a hosted target; `etbuild targets list` shows them"))
}

fn refusal(message: &str, span: &Span) -> Diagnostic {
    Diagnostic::error(Code::OptionUnavailable, message).at(span.clone())
}
