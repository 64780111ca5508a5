//! The scheduler: the thread with the model, which continues the texts of all requests in turns.

mod job;
mod likelihood;
mod queue;
mod slot;
mod stops;

use std::sync::Arc;
use std::time::Instant;

use et_llm::{Facts, Model, Text};

pub use job::{Ended, Event, Failure, Job, Reason};
pub use likelihood::{Alternative, Likelihood};
pub use queue::{Full, Queue};

use crate::metrics::Metrics;
use slot::Slot;

/// The parts that all slots share.
pub struct Scheduler {
    /// The tokenizer.
    pub text: Arc<dyn Text>,
    /// The stop tokens and the context.
    pub facts: Facts,
    /// The jobs.
    pub queue: Arc<Queue>,
    /// The counters.
    pub metrics: Arc<Metrics>,
}

impl Scheduler {
    /// Works on jobs until the queue is closed and empty; each model has a KV cache of its own. In each round every job gets a turn: a
    /// chunk of the prompt, or a token.
    pub fn run(&self, models: Vec<Model>) {
        let mut slots: Vec<Slot> = models.into_iter().map(Slot::new).collect();
        loop {
            while let Some(free) = slots.iter().position(Slot::is_free) {
                let is_idle = slots.iter().all(Slot::is_free);
                let Some(job) = self.queue.take(is_idle) else { break };
                let best = best_slot(&slots, &job.prompt).unwrap_or(free);
                if let Some(slot) = slots.get_mut(best) {
                    slot.begin(job);
                }
            }
            if slots.iter().all(Slot::is_free) {
                return;
            }
            let (now, is_cut) = (Instant::now(), self.queue.is_cut());
            self.queue.expire(now);
            slots.iter_mut().for_each(|slot| slot.turn(self, now, is_cut));
        }
    }
}

/// The free slot whose KV cache has the longest prefix of a prompt; of equal ones, the slot that was used longest ago.
fn best_slot(slots: &[Slot], prompt: &[u32]) -> Option<usize> {
    let free = slots.iter().enumerate().filter(|(_, slot)| slot.is_free());
    let best = free.max_by_key(|(_, slot)| (slot.shared(prompt), std::cmp::Reverse(slot.used())));
    best.map(|(index, _)| index)
}
