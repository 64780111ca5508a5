//! The server as a command.

use std::ffi::OsString;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use et_llm::app::AppSpec;
use et_llm::{Batch, CHAT_KEY, Error, Facts, Model, TOKENIZER_KEY};
use et_module::app::Failure;
use et_module::{DataFiles, Engines, Kernels, default_threads};
use tokio::net::TcpListener;
use tokio::runtime;

use crate::arguments::{Command, Options, parse, usage};
use crate::http::listen;
use crate::key::Key;
use crate::metrics::Metrics;
use crate::scheduler::{Queue, Scheduler};
use crate::server::{Loaded, Server};

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
    let queue = Arc::new(Queue::new(options.queue));
    let metrics = Arc::new(Metrics::default());
    let loaded = start_scheduler(*spec, options.clone(), &queue, &metrics)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING).build();
    let runtime = runtime.map_err(Failure::failed)?;
    let server = Server::new(spec, options, loaded, (queue, metrics), key);
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

/// Ends the process where the scheduler panics: without a scheduler no request has an answer.
struct EndsWithPanic;

impl Drop for EndsWithPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            std::process::abort();
        }
    }
}

/// Starts the thread of the scheduler, and waits until the model is loaded.
fn start_scheduler(
    spec: AppSpec,
    options: Options,
    queue: &Arc<Queue>,
    metrics: &Arc<Metrics>,
) -> Result<Loaded, Failure> {
    let (ready, loaded) = sync_channel(1);
    let (queue, metrics) = (Arc::clone(queue), Arc::clone(metrics));
    let work = move || {
        let _guard = EndsWithPanic;
        run_scheduler(&spec, &options, queue, metrics, &ready);
    };
    thread::Builder::new().name("scheduler".to_owned()).spawn(work).map_err(Failure::failed)?;
    let loaded = loaded.recv().map_err(|_| Failure::Failed("the scheduler ended".to_owned()))?;
    loaded.map_err(Failure::failed)
}

/// The thread of the scheduler. A model stays on the thread that loaded the model.
fn run_scheduler(
    spec: &AppSpec,
    options: &Options,
    queue: Arc<Queue>,
    metrics: Arc<Metrics>,
    ready: &SyncSender<Result<Loaded, Error>>,
) {
    match load(spec, options) {
        Ok((models, batches, loaded)) => {
            let (text, facts) = (Arc::clone(&loaded.text), loaded.facts.clone());
            queue.open(models.len());
            let _received = ready.send(Ok(loaded));
            Scheduler { text, facts, queue, metrics }.run(models, batches);
        }
        // The other thread waits for this message.
        Err(error) => drop(ready.send(Err(error))),
    }
}

/// The number of texts at the same time for a program without a method for several texts.
const SLOTS: usize = 4;

/// The models, each with a KV cache of its own; weights are shared.
fn load(spec: &AppSpec, options: &Options) -> Result<(Vec<Model>, Vec<Batch>, Loaded), Error> {
    let make = spec.text.ok_or(Error::NoTokenizer)?;
    let (file, beside) = spec.program.open()?;
    let (file, named) = (Rc::new(file), beside.or_named(&options.data, options.adapter.as_deref()));
    let engines = Engines::new(spec.engines, options.threads.unwrap_or_else(default_threads));
    let load = |()| Model::load(&file, || DataFiles::open(&named), Kernels::Selected(spec.kernels), &engines);
    let first = load(())?;
    let rows = Batch::size(&first)?;
    let slots = options.slots.unwrap_or_else(|| rows.unwrap_or(SLOTS));
    let others = std::iter::repeat_with(|| load(())).take(slots.saturating_sub(1));
    let mut models: Vec<Model> = std::iter::once(Ok(first)).chain(others).collect::<Result<_, _>>()?;
    let batch = |models: &[Model]| {
        Batch::load(&file, DataFiles::open(&named)?, Kernels::Selected(spec.kernels), &engines, models)
    };
    let batches = rows.map(|rows| models.chunks(rows.max(1)).map(batch).collect::<Result<_, _>>());
    let batches = batches.transpose()?.unwrap_or_default();
    let first = models.first().ok_or(Error::NoTokens)?;
    let tokenizer = first.named_data(TOKENIZER_KEY).ok_or(Error::NoTokenizer)?;
    let (text, facts) = (Arc::from(make(tokenizer, first.named_data(CHAT_KEY))?), Facts::of(first));
    let vocabulary = first.vocabulary();
    models.iter_mut().for_each(|model| model.limit(facts.context));
    Ok((models, batches, Loaded { text, facts, vocabulary }))
}
