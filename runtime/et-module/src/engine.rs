//! The backends of a binary, which execute the blobs of a program.

use std::fmt;
use std::sync::Arc;

use et_runtime::{Delegate, MethodPlan, Serial, Workers};

use crate::{Error, Pool};

/// Makes the delegates of one backend.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// The name of the backend in program files.
    pub id: &'static str,
    /// Makes a delegate for a blob, which may use these threads.
    pub make: MakeDelegate,
}

/// Makes a delegate that may use these threads.
pub type MakeDelegate = for<'a> fn(&'a dyn Workers) -> Box<dyn Delegate<'a> + 'a>;

/// The backends that programs are loaded with, and the thread pool that the backends share.
#[derive(Clone)]
pub struct Engines {
    table: &'static [Engine],
    workers: Arc<dyn Workers + Send>,
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
        Self { table, workers }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.workers.threads()
    }

    /// The threads.
    pub(crate) fn workers(&self) -> &Arc<dyn Workers + Send> {
        &self.workers
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
        missing.sort();
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
