//! The scheduler: the thread with the model, which continues the texts of all requests in turns.

mod failure;
mod job;
mod prefix;
mod queue;
mod slot;
mod waiting;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use et_llm::{Batch, Facts, Model, Text};
use et_module::Adapter;
use serde_json::json;

pub use failure::Failure;
pub use job::{Ended, Event, Job, Reason};
pub use queue::{Full, Queue};
pub use waiting::Waiting;

use crate::metrics::Metrics;
use crate::trace::Trace;
use slot::Slot;

/// The parts that all slots share.
pub struct Scheduler {
    /// The tokenizer.
    pub text: Arc<dyn Text>,
    /// The stop tokens and the context.
    pub facts: Facts,
    /// The jobs.
    pub queue: Arc<Queue<Job>>,
    /// The counters.
    pub metrics: Arc<Metrics>,
    /// The trace.
    pub trace: Trace,
    /// The adapters that jobs choose, the usual one first; empty where there is no choice.
    pub adapters: Vec<Adapter>,
}

impl Scheduler {
    /// Works on jobs until the queue is closed and empty; each model has a KV cache of its own. In each round every prompt advances by a
    /// chunk, then every answer by a token: a new request does not wait for the tokens of the others, and a forward pass for several answers
    /// ends where a request comes for a free slot, to begin anew behind the prompt. That one goes through, so that the answers go on however
    /// many requests come. Batches are of the models in their order.
    pub fn run(&self, models: Vec<Model>, mut batches: Vec<Batch>) {
        let mut slots: Vec<Slot> = (0..).zip(models).map(|(number, model)| Slot::new(number, model)).collect();
        let mut may_end = true;
        loop {
            while let Some(free) = slots.iter().position(Slot::is_free) {
                let is_idle = slots.iter().all(Slot::is_free);
                let Some(job) = self.queue.take(is_idle) else { break };
                let best = best_slot(&slots, &job).unwrap_or(free);
                if let Some(slot) = slots.get_mut(best) {
                    slot.begin(job, &self.adapters);
                }
            }
            if slots.iter().all(Slot::is_free) {
                return self.trace.finish();
            }
            let (now, is_cut) = (Instant::now(), self.queue.is_cut());
            self.queue.expire(now);
            self.share(&mut slots);
            slots.iter_mut().filter(|slot| !slot.has_answer()).for_each(|slot| slot.turn(self, now, is_cut));
            may_end = self.read_all(&mut batches, &mut slots, may_end);
            if !may_end {
                continue;
            }
            slots.iter_mut().filter(|slot| slot.has_answer()).for_each(|slot| slot.turn(self, now, is_cut));
        }
    }
}

/// The least number of texts that are read in one forward pass: the pass computes all rows of the batch, and takes longer than two
/// passes for one text.
const LEAST: usize = 3;

impl Scheduler {
    /// Reads the next tokens of the answers of each batch; false where a request came for a free slot, and passes may end for one.
    fn read_all(&self, batches: &mut [Batch], slots: &mut [Slot], may_end: bool) -> bool {
        let has_room = may_end && slots.iter().any(Slot::is_free);
        let mut rest = slots;
        for batch in batches {
            let (own, others) = rest.split_at_mut(rest.len().min(batch.rows()));
            if !self.read_together(batch, own, has_room) {
                return false;
            }
            rest = others;
        }
        true
    }

    /// Reads the next tokens of all answers in one forward pass for each adapter, where there are enough; false as of [`Self::read_all`].
    fn read_together(&self, batch: &mut Batch, slots: &mut [Slot], has_room: bool) -> bool {
        let adapters: BTreeSet<usize> = slots.iter().filter(|slot| slot.has_answer()).map(Slot::adapter).collect();
        adapters.into_iter().all(|adapter| self.read_with(adapter, batch, slots, has_room))
    }

    /// Reads the next tokens of the answers of an adapter.
    fn read_with(&self, adapter: usize, batch: &mut Batch, slots: &mut [Slot], has_room: bool) -> bool {
        let texts = slots.iter_mut().map(|slot| {
            let is_own = slot.adapter() == adapter;
            let (model, token) = slot.next_read(self);
            (model, token.filter(|_| is_own))
        });
        let mut texts: Vec<(&mut Model, Option<u32>)> = texts.collect();
        let has_token: Vec<bool> = texts.iter().map(|(_, token)| token.is_some()).collect();
        let count = has_token.iter().filter(|has_token| **has_token).count();
        if count < LEAST {
            return true;
        }
        let begin = self.trace.begin();
        let exchanged = self.adapters.get(adapter).map_or(Ok(()), |adapter| batch.exchange(adapter));
        let goes_on = || !has_room || !self.queue.has_waiting();
        match exchanged.and_then(|()| batch.read_while(&mut texts, goes_on)) {
            Ok(true) => {
                self.metrics.batch(count);
                let read = slots.iter_mut().zip(has_token).filter(|(_, has_token)| *has_token);
                read.for_each(|(slot, _)| {
                    self.trace.span(begin, slot.number(), "decode", || json!({ "texts": count }));
                    slot.was_read();
                });
                true
            }
            Ok(false) => {
                self.metrics.end_pass();
                false
            }
            Err(error) => {
                slots.iter_mut().for_each(|slot| slot.fail(self, &error));
                true
            }
        }
    }
}

/// The free slot that shares most of the prompt, of those that share half of their text with the prompt; without one, the slot that was
/// used longest ago.
fn best_slot(slots: &[Slot], job: &Job) -> Option<usize> {
    let free = slots.iter().enumerate().filter(|(_, slot)| slot.is_free());
    let best = free.max_by_key(|(_, slot)| (slot.continued(job), std::cmp::Reverse(slot.used())));
    best.map(|(index, _)| index)
}
