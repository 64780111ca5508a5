//! The engines of a binary: who executes the blobs of a program.

use std::fmt;
use std::sync::Arc;

use et_runtime::{Delegate, MethodPlan, Serial, Workers};

use crate::{Error, Pool};

/// Makes the delegates of one backend.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// What program files call the backend.
    pub id: &'static str,
    /// Makes a delegate for one blob, which may use these threads.
    pub make: MakeDelegate,
}

/// Makes a delegate that may use these threads.
pub type MakeDelegate = for<'a> fn(&'a dyn Workers) -> Box<dyn Delegate<'a> + 'a>;

/// The engines that programs are loaded with, and the threads that they share.
#[derive(Clone)]
pub struct Engines {
    table: &'static [Engine],
    workers: Arc<dyn Workers + Send>,
}

impl Engines {
    /// No engine: programs that need one are refused.
    pub fn none() -> Self {
        Self::new(&[], 1)
    }

    /// These engines on at most `threads` threads, of which the caller's is one.
    pub fn new(table: &'static [Engine], threads: usize) -> Self {
        // A program without engines keeps no threads busy.
        let alone = threads <= 1 || table.is_empty();
        let workers: Arc<dyn Workers + Send> = if alone { Arc::new(Serial) } else { Arc::new(Pool::new(threads)) };
        Self { table, workers }
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.workers.threads()
    }

    /// The threads.
    pub(crate) fn workers(&self) -> &Arc<dyn Workers + Send> {
        &self.workers
    }

    /// The engine of each of a method's delegates, or an error that lists what is missing.
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
