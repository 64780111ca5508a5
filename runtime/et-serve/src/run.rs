//! The server as a command.

use std::ffi::OsString;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use et_llm::app::AppSpec;
use et_module::app::Failure;
use tokio::net::TcpListener;
use tokio::runtime;

use crate::arguments::{Command, Options, parse, usage};
use crate::encoder::{self, Desk};
use crate::http::listen;
use crate::key::Key;
use crate::language::Language;
use crate::load::{LanguageModels, Model, load};
use crate::metrics::Metrics;
use crate::scheduler::{Queue, Scheduler};
use crate::server::{Served, Server};
use crate::speech::{self, SpeechDesk};
use crate::trace::Trace;

/// Serves the model of a binary until SIGTERM or SIGINT: an [`et_llm::app::Serve`].
///
/// # Errors
/// Mistakes in the command line; a program that cannot be loaded; an address that cannot be listened at.
pub fn serve(
    spec: &AppSpec,
    arguments: &mut dyn Iterator<Item = OsString>,
    talk: &mut dyn Write,
) -> Result<String, Failure> {
    match parse(arguments) {
        Err(problem) => Err(Failure::Usage(format!("{problem}\n\n{}", usage(spec.name)))),
        Ok(Command::Help) => Ok(usage(spec.name)),
        Ok(Command::Serve(options)) => run(spec, &options, talk).map(|()| String::new()),
    }
}

fn run(spec: &AppSpec, options: &Options, talk: &mut dyn Write) -> Result<(), Failure> {
    let key = options.api_key.as_deref().map(Key::read).transpose().map_err(Failure::Usage)?;
    let metrics = Arc::new(Metrics::default());
    let model = start_model(*spec, options.clone(), &metrics)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING).build();
    let runtime = runtime.map_err(Failure::failed)?;
    let server = Server::new(spec, options, model, metrics, key);
    let done = runtime.block_on(async {
        let listener = TcpListener::bind(&options.address).await;
        let listener = listener.map_err(|error| Failure::Failed(format!("{}: {error}", options.address)))?;
        let address = listener.local_addr().map_err(Failure::failed)?;
        writeln!(talk, "serving http://{address}/v1").map_err(Failure::failed)?;
        if !address.ip().is_loopback() && options.api_key.is_none() {
            writeln!(talk, "note: other machines can use the model without a key; --api-key demands one")
                .map_err(Failure::failed)?;
        }
        listen(Arc::new(server), listener, options.grace).await;
        Ok(())
    });
    // A tokenizer may still be at work for a client that went away.
    runtime.shutdown_background();
    done
}

/// The most threads that make tokens of prompts.
const BLOCKING: usize = 2;

/// Ends the process where the thread with the model panics: without the thread no request has an answer.
struct EndsWithPanic;

impl Drop for EndsWithPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            std::process::abort();
        }
    }
}

/// Starts the thread with the model, and waits until the model is loaded.
fn start_model(spec: AppSpec, options: Options, metrics: &Arc<Metrics>) -> Result<Served, Failure> {
    let (ready, loaded) = sync_channel(1);
    let metrics = Arc::clone(metrics);
    let work = move || {
        let _guard = EndsWithPanic;
        run_model(&spec, &options, metrics, &ready);
    };
    thread::Builder::new().name("model".to_owned()).spawn(work).map_err(Failure::failed)?;
    loaded.recv().map_err(|_| Failure::Failed("the thread with the model ended".to_owned()))?
}

fn untraceable(options: &Options, error: &std::io::Error) -> Failure {
    let path = options.trace.as_deref().unwrap_or(std::path::Path::new(""));
    Failure::Failed(format!("{}: {error}", path.display()))
}

/// The thread with the model: a model stays on the thread that loaded the model.
fn run_model(spec: &AppSpec, options: &Options, metrics: Arc<Metrics>, ready: &SyncSender<Result<Served, Failure>>) {
    match load(spec, options) {
        Ok(Model::Language(models)) => {
            let queue = Arc::new(Queue::new(options.queue));
            queue.open(models.models.len());
            let trace = match Trace::open(options.trace.as_deref(), models.models.len()) {
                Ok(trace) => trace,
                Err(error) => return drop(ready.send(Err(untraceable(options, &error)))),
            };
            let LanguageModels { models, batches, text, viewer, facts, vocabulary, adapters } = *models;
            let names = options.adapters.iter().map(|(name, _)| name.clone()).collect();
            let known = (facts.clone(), Arc::clone(&text), viewer);
            let language = Language::new(spec, known, vocabulary, names, Arc::clone(&queue));
            let _received = ready.send(Ok(Served::Language(Box::new(language))));
            Scheduler { text, facts, queue, metrics, trace, adapters }.run(models, batches);
        }
        Ok(Model::Encoder(encoder)) => {
            let queue = Arc::new(Queue::new(options.queue));
            queue.open(1);
            let desk = Desk { facts: encoder.facts().clone(), queue: Arc::clone(&queue) };
            let _received = ready.send(Ok(Served::Encoder(desk)));
            encoder::run(*encoder, &queue, &metrics);
        }
        Ok(Model::Speech(speech)) => {
            let queue = Arc::new(Queue::new(options.queue));
            queue.open(1);
            let desk = SpeechDesk { facts: speech.facts.clone(), queue: Arc::clone(&queue) };
            let _received = ready.send(Ok(Served::Speech(desk)));
            speech::run(*speech, &queue, &metrics);
        }
        // The other thread waits for this message.
        Err(failure) => drop(ready.send(Err(failure))),
    }
}
