//! The backends of a binary, which execute the blobs of a program.

use std::fmt;
use std::sync::Arc;

use et_runtime::{Delegate, DelegateEvent, MethodPlan, Serial, Workers};

use crate::events::ObservedWorkers;
use crate::{Error, Observer, Pool};

/// Makes the delegates of one backend.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// The name of the backend in program files.
    pub id: &'static str,
    /// Makes a delegate for a blob.
    pub make: MakeDelegate,
    /// The last failure of a delegate of this process in words, without a full stop; `None` from a backend without words.
    pub problem: fn() -> Option<String>,
}

/// Makes a delegate for a host.
pub type MakeDelegate = for<'a> fn(Host<'a>) -> Box<dyn Delegate<'a> + 'a>;

/// What a delegate borrows of the process that executes the delegate.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    /// The threads.
    pub workers: &'a dyn Workers,
    /// The observer of instructions, for profilers and debuggers.
    pub observer: Option<&'a dyn Observer>,
}

impl<'a> Host<'a> {
    /// What a delegate with events calls after each of its instructions; `None` where nobody listens.
    pub fn listener(self) -> Option<impl Fn(&DelegateEvent<'_>) + 'a> {
        let observer = self.observer?;
        Some(move |event: &DelegateEvent<'_>| observer.delegate_executed(event))
    }
}

/// The backends that programs are loaded with, and the thread pool that the backends share.
#[derive(Clone)]
pub struct Engines {
    table: &'static [Engine],
    workers: Arc<dyn Workers + Send>,
    observer: Option<Arc<dyn Observer>>,
}

impl Engines {
    /// No backend: a program that needs a backend is refused.
    pub fn none() -> Self {
        Self::new(&[], 1)
    }

    /// These backends on at most `threads` threads, the caller's thread included.
    pub fn new(table: &'static [Engine], threads: usize) -> Self {
        // A program without delegates starts no threads.
        let alone = threads <= 1 || table.is_empty();
        let workers: Arc<dyn Workers + Send> = if alone { Arc::new(Serial) } else { Arc::new(Pool::new(threads)) };
        Self { table, workers, observer: None }
    }

    /// The same backends, whose executions the observer hears of.
    #[must_use]
    pub fn observed_by(self, observer: Arc<dyn Observer>) -> Self {
        let workers = ObservedWorkers { workers: self.workers, observer: Arc::clone(&observer) };
        Self { observer: Some(observer), workers: Arc::new(workers), ..self }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.workers.threads()
    }

    /// The threads.
    pub(crate) fn workers(&self) -> &Arc<dyn Workers + Send> {
        &self.workers
    }

    /// The observer of instructions.
    pub(crate) fn observer(&self) -> Option<&Arc<dyn Observer>> {
        self.observer.as_ref()
    }

    /// The backend of each of a method's delegates, or an error that lists the missing backends.
    pub(crate) fn find(&self, plan: MethodPlan<'_>) -> Result<Vec<Engine>, Error> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for delegate in plan.plan().delegates()?.iter() {
            let id = delegate?.id()?;
            match self.table.iter().find(|engine| engine.id == id) {
                Some(engine) => found.push(*engine),
                None => missing.push(id.to_owned()),
            }
        }
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() { Ok(found) } else { Err(Error::DelegatesMissing(missing)) }
    }
}

impl fmt::Debug for Engines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<&str> = self.table.iter().map(|engine| engine.id).collect();
        write!(formatter, "{ids:?} on {} threads", self.threads())
    }
}
