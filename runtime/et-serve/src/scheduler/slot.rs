//! A slot: a KV cache, and the job that uses the cache.

use std::time::Instant;

use serde_json::json;

use et_llm::{AnswerText, Continuation, Error, Likelihood, Limits, Model, Sampler, Step};

use et_module::Adapter;

use super::{Ended, Event, Failure, Job, Reason, Scheduler};

/// A model with a KV cache of its own.
pub struct Slot {
    number: usize,
    model: Model,
    /// The adapter of the model's text.
    adapter: usize,
    work: Option<Work>,
    used: Option<Instant>,
    /// Whether the model has read the token of the next turn.
    has_read: bool,
    /// Whether the next turn passes.
    waits: bool,
}

/// A job in progress.
struct Work {
    job: Job,
    /// The number of the slot.
    slot: usize,
    /// When the job came into the slot.
    begun: Instant,
    /// Where in the prompt the part begins that the model has not read.
    read: usize,
    /// The number of tokens of the prompt that the KV cache had.
    cached: usize,
    /// The answer, once the last chunk of the prompt is to be read.
    answer: Option<Continuation>,
    sampler: Sampler,
    text: AnswerText,
    /// Why the job could not begin: the adapter, or the text encoder.
    failed: Option<Error>,
}

impl Slot {
    /// A free slot.
    pub const fn new(number: usize, model: Model) -> Self {
        Self { number, model, adapter: 0, work: None, used: None, has_read: false, waits: false }
    }

    /// The number of the slot.
    pub const fn number(&self) -> usize {
        self.number
    }

    /// The adapter of the model's text, of those of the scheduler.
    pub const fn adapter(&self) -> usize {
        self.adapter
    }

    /// Whether the slot has no job.
    pub const fn is_free(&self) -> bool {
        self.work.is_none()
    }

    /// Whether the slot has a job that has read its prompt.
    pub fn has_answer(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.answer.is_some())
    }

    /// When the last job came into the slot.
    pub const fn used(&self) -> Option<Instant> {
        self.used
    }

    /// How many tokens at the beginning of a prompt the model keeps, if that is half of its text or more: other texts give a copy of
    /// their beginning, and stay.
    pub fn continued(&self, job: &Job) -> usize {
        let kept = if job.adapter == self.adapter { self.model.kept(&job.prompt) } else { 0 };
        if 2 * kept >= self.model.tokens().len() { kept } else { 0 }
    }

    /// The prompt that the model reads, and the number of tokens that it has read; `None` for a slot whose job reads no prompt.
    pub fn reading(&self) -> Option<(&[u32], usize)> {
        let work = self.work.as_ref().filter(|work| work.answer.is_none() && work.failed.is_none())?;
        Some((&work.job.prompt, work.read))
    }

    /// How many tokens at the beginning of a prompt the slot can give to another slot now.
    pub fn offered(&self, prompt: &[u32]) -> usize {
        self.model.offered(self.model.tokens(), prompt)
    }

    /// How many tokens at the beginning of a prompt the slot can give to another slot when it has read its own, more than now; `None` for
    /// a slot whose job reads no prompt.
    pub fn coming(&self, prompt: &[u32]) -> Option<usize> {
        let (own, read) = self.reading()?;
        Some(self.model.offered(own, prompt)).filter(|coming| *coming > read)
    }

    /// The next turn passes.
    pub fn wait(&mut self) {
        self.waits = true;
    }

    /// Goes on behind the first `count` tokens of the prompt, which the KV cache of another slot has.
    ///
    /// # Errors
    /// As [`Model::take_prefix`].
    pub fn take_prefix(&mut self, from: &Self, count: usize) -> Result<(), Error> {
        self.model.take_prefix(&from.model, count)?;
        if let Some(work) = &mut self.work {
            work.cached += count - work.read;
            work.read = count;
        }
        Ok(())
    }

    /// Begins a job, with its adapter.
    pub fn begin(&mut self, mut job: Job, adapters: &[Adapter]) {
        let chosen = adapters.get(job.adapter).filter(|_| job.adapter != self.adapter);
        let exchanged = chosen.map_or(Ok(()), |adapter| self.model.exchange(adapter));
        if exchanged.is_ok() {
            self.adapter = job.adapter;
        }
        // A failure of the adapter or of the text encoder is that of the first turn.
        let prompt = std::mem::take(&mut job.prompt);
        let failed = match exchanged.and_then(|()| self.model.open(prompt)) {
            Ok(prompt) => {
                job.prompt = prompt;
                None
            }
            Err(error) => Some(error),
        };
        let cached = self.model.rewind(&job.prompt);
        self.model.show(&job.tiles);
        let mut sampler = Sampler::new(job.sampling).biased(std::mem::take(&mut job.bias));
        sampler.begin_behind(job.behind, job.matcher.take());
        let text = AnswerText::new(std::mem::take(&mut job.shown), std::mem::take(&mut job.stops));
        let (slot, begun) = (self.number, Instant::now());
        self.used = Some(begun);
        self.work = Some(Work { job, slot, begun, read: cached, cached, answer: None, sampler, text, failed });
    }

    /// The model, with the token that the next turn would read, if the turn would read exactly one.
    pub fn next_read(&mut self, scheduler: &Scheduler) -> (&mut Model, Option<u32>) {
        let work = self.work.as_ref().filter(|work| !self.has_read && !work.job.events.is_closed());
        let token = work.and_then(|work| {
            let limits = Limits { tokens: work.job.most, stops: &scheduler.facts.stops };
            work.answer.as_ref()?.next_read(&self.model, &limits)
        });
        (&mut self.model, token)
    }

    /// The next turn finds the logits of its token in the model.
    pub fn was_read(&mut self) {
        self.has_read = true;
    }

    /// Ends the job, if any, because a forward pass failed.
    pub fn fail(&mut self, scheduler: &Scheduler, error: &Error) {
        if let Some(work) = self.work.take() {
            work.leave(scheduler, Event::Failed(Failure::Model(error.to_string())));
        }
    }

    /// Gives the job a turn: a chunk of the prompt, or a token.
    pub fn turn(&mut self, scheduler: &Scheduler, now: Instant, is_cut: bool) {
        let Some(work) = &mut self.work else { return };
        let (has_read, waits) = (std::mem::take(&mut self.has_read), std::mem::take(&mut self.waits));
        let is_left = work.job.events.is_closed();
        let next = match () {
            () if is_left => Err(Failure::Stopping),
            () if is_cut => Err(Failure::Stopping),
            () if now >= work.job.deadline => Err(Failure::TimedOut),
            () if waits => return,
            () => work.advance(&mut self.model, scheduler, has_read).map_err(Failure::from),
        };
        let last = match next {
            Ok(None) => return,
            Ok(Some(reason)) => Event::Ended(work.ended(reason)),
            Err(failure) => Event::Failed(failure),
        };
        if is_left {
            scheduler.metrics.abort();
        }
        if let Some(work) = self.work.take() {
            work.leave(scheduler, last);
        }
    }
}

impl Work {
    /// Counts the job, and tells the last event.
    fn leave(self, scheduler: &Scheduler, last: Event) {
        let generated = self.answer.as_ref().map_or(0, |answer| answer.tokens().len());
        scheduler.queue.done();
        scheduler.metrics.finish(self.job.prompt.len(), self.cached, generated);
        scheduler.trace.request((self.job.came, self.begun), self.slot, || {
            json!({
                "prompt": self.job.prompt.len(), "cached": self.cached, "generated": generated, "end": last.end(),
            })
        });
        // The receiver may be gone.
        let _gone = self.job.events.send(last);
    }

    /// A turn; the reason for the end at the end.
    fn advance(&mut self, model: &mut Model, scheduler: &Scheduler, has_read: bool) -> Result<Option<Reason>, Error> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.answer.is_none() {
            let unread = self.job.prompt.get(self.read..).unwrap_or_default();
            let (chunk, rest) = unread.split_at(model.chunk(unread));
            if !rest.is_empty() {
                let begin = scheduler.trace.begin();
                model.read(chunk)?;
                scheduler.trace.span(
                    begin,
                    self.slot,
                    "prefill",
                    || json!({ "from": self.read, "tokens": chunk.len() }),
                );
                self.read += chunk.len();
                return Ok(None);
            }
            self.answer = Some(Continuation::new(unread, None));
        }
        let Some(answer) = &mut self.answer else { return Ok(None) };
        let limits = Limits { tokens: self.job.most, stops: &scheduler.facts.stops };
        let (begin, is_first) = (scheduler.trace.begin(), answer.tokens().is_empty());
        let step = match has_read {
            true => answer.pick(model, &mut self.sampler, &limits),
            false => answer.step(model, None, &mut self.sampler, &limits),
        }?;
        if is_first {
            let unread = self.job.prompt.len().saturating_sub(self.read);
            scheduler.trace.span(begin, self.slot, "prefill", || json!({ "from": self.read, "tokens": unread }));
        } else if !has_read {
            scheduler.trace.span(begin, self.slot, "decode", || json!({ "texts": 1 }));
        }
        match step {
            Step::Ended(ended) => self.finish(scheduler, reason(ended)).map(Some),
            Step::Token(token) => {
                if answer.tokens().len() == 1 {
                    scheduler.metrics.first_token(self.job.came.elapsed());
                }
                let (is_complete, is_enough) = (answer.is_complete(), answer.tokens().len() >= self.job.most);
                let is_stopped = self.tell(model, scheduler, token)?;
                match () {
                    () if is_stopped => Ok(Some(Reason::Stop)),
                    () if is_complete => self.finish(scheduler, Reason::Stop).map(Some),
                    () if is_enough => self.finish(scheduler, Reason::Length).map(Some),
                    () => Ok(None),
                }
            }
        }
    }

    /// Tells the text of a token; returns whether the text has a stop text.
    fn tell(&mut self, model: &Model, scheduler: &Scheduler, token: u32) -> Result<bool, Error> {
        let text = self.text.push(&*scheduler.text, token)?;
        let likelihood = self.job.alternatives;
        let likelihood = likelihood.map(|count| Likelihood::of(token, count, model.logits(), Some(&*scheduler.text)));
        self.send(text, likelihood.transpose()?);
        Ok(self.text.is_stopped())
    }

    /// Tells the text that later tokens could have changed; a stop text may be in it.
    fn finish(&mut self, scheduler: &Scheduler, reason: Reason) -> Result<Reason, Error> {
        let rest = self.text.finish(&*scheduler.text)?;
        self.send(rest, None);
        Ok(if self.text.is_stopped() { Reason::Stop } else { reason })
    }

    fn send(&self, text: String, likelihood: Option<Likelihood>) {
        if !text.is_empty() || likelihood.is_some() {
            // The next turn notices that the receiver is gone.
            let _gone = self.job.events.send(Event::Piece { text, likelihood });
        }
    }

    fn ended(&self, reason: Reason) -> Ended {
        let generated = self.answer.as_ref().map_or(0, |answer| answer.tokens().len());
        Ended { reason, prompt: self.job.prompt.len(), cached: self.cached, generated }
    }
}

const fn reason(ended: et_llm::Ended) -> Reason {
    match ended {
        et_llm::Ended::Stopped | et_llm::Ended::Complete => Reason::Stop,
        et_llm::Ended::Enough | et_llm::Ended::ContextFull => Reason::Length,
    }
}
