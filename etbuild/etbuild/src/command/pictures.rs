//! `etbuild run` on a pipeline: a prompt in, a picture out.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use et_diffusion::app::{Progress, Request, picture};
use et_diffusion::{DIFFUSION_KEY, Error, Loading, Pipeline};
use et_module::{FileBytes, Kernels, Observer, default_threads, named_data};
use etbuild_diagnostic::{Code, Diagnostic};
use serde_json::Value;

use super::Outcome;
use super::program::failed;
use crate::arguments;
use crate::engines::{ENGINES, kernel};
use crate::feature::{Feature, MAKE_TEXT, WRITE_PICTURE};
use crate::session::Session;

/// Whether the program file is a pipeline.
pub fn is_pipeline(bytes: &FileBytes) -> bool {
    named_data(bytes, DIFFUSION_KEY).is_some()
}

/// Refuses the options of language models, for a pipeline.
fn refuse_language(language: &arguments::Language) -> Result<(), Vec<Diagnostic>> {
    let options = [
        ("--chat", language.chat),
        ("--pair", language.pair.is_some()),
        ("--max-new-tokens", language.max_new_tokens.is_some()),
        ("--temperature", language.temperature.is_some()),
        ("--top-k", language.top_k.is_some()),
        ("--top-p", language.top_p.is_some()),
        ("--stop", !language.stop.is_empty()),
        ("--lookup", language.lookup),
        ("--draft-model", language.draft_model.is_some()),
        ("--logits", language.logits.is_some()),
    ];
    let given = options.into_iter().find(|(_, is_given)| *is_given);
    given.map_or(Ok(()), |(name, _)| {
        let message = format!("{name} is for language models, and the model is a pipeline that makes pictures");
        Err(vec![Diagnostic::error(Code::Usage, message).help("docs/diffusion.md has the options of pictures")])
    })
}

/// Refuses the options of pictures, for another model.
pub fn refuse_options(arguments: &arguments::Pictures) -> Result<(), Vec<Diagnostic>> {
    let arguments::Pictures { negative, steps, guidance } = arguments;
    let options =
        [("--negative", negative.is_some()), ("--steps", steps.is_some()), ("--guidance", guidance.is_some())];
    let given = options.into_iter().find(|(_, is_given)| *is_given);
    given.map_or(Ok(()), |(name, _)| {
        let message = format!("{name} is for pipelines that make pictures, and the model is another");
        Err(vec![Diagnostic::error(Code::Usage, message).help("docs/diffusion.md has the recipe of a pipeline")])
    })
}

/// Makes the picture of a prompt with the pipeline of a program file; `observer` hears of the executions.
pub fn run(
    session: &Session,
    arguments: &arguments::Run,
    bytes: FileBytes,
    observer: Option<&Arc<dyn Observer>>,
) -> Outcome {
    Feature::Text.require("a prompt")?;
    let write = Feature::Media.require("a picture").map(|()| WRITE_PICTURE)?;
    refuse_language(&arguments.language)?;
    let usage = |mistake: String| vec![Diagnostic::error(Code::Usage, mistake)];
    let request = request(arguments);
    request.check(observer.is_some()).map_err(usage)?;
    let loading = Loading {
        kernels: Kernels::Lookup(&kernel),
        engines: ENGINES,
        threads: arguments.threads.unwrap_or_else(default_threads),
        text: MAKE_TEXT,
        data: &arguments.data,
        observer,
    };
    let refused = |error: Error| vec![refusal(&arguments.file, &error)];
    let pipeline = Pipeline::find(&Rc::new(bytes), loading).map_err(refused)?;
    let (Some(pipeline), Some(write)) = (pipeline, write) else { return Err(usage("no pipeline".to_owned())) };
    let mut talk = io::stderr();
    let has_bar = talk.is_terminal();
    let done = picture(&pipeline, &request, write, &mut Progress::new(&mut talk, has_bar)).map_err(refused)?;
    let value: Value = serde_json::from_str(&done.json()).unwrap_or_default();
    // A trace has a result of its own.
    if let Some(path) = &done.path {
        let text = format!("{}: {} x {} pixels", path.display(), done.picture.width, done.picture.height);
        session.terminal.succeed("picture", value, &text);
    }
    Ok(Vec::new())
}

fn request(arguments: &arguments::Run) -> Request {
    let (language, pictures) = (&arguments.language, &arguments.pictures);
    Request {
        prompt: language.prompt.clone(),
        negative: pictures.negative.clone(),
        steps: pictures.steps,
        guidance: pictures.guidance,
        seed: language.seed,
        outputs: arguments.outputs.clone(),
        ..Request::default()
    }
}

fn refusal(file: &Path, error: &Error) -> Diagnostic {
    match error {
        Error::Module(error) => failed(file, error),
        Error::Option { .. } => Diagnostic::error(Code::Usage, error.to_string()),
        Error::NotAPipeline(_) => Diagnostic::error(Code::InputsMismatch, format!("`{}`: {error}", file.display()))
            .help("docs/diffusion.md has the form of the methods"),
        _ => Diagnostic::error(Code::RunFailed, format!("`{}`: {error}", file.display())),
    }
}
