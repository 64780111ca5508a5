//! Jobs between HTTP and the thread with the model.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::failure::Failure;
use super::waiting::Waiting;

/// A queue with a bound, first in, first out. Jobs that have left the queue for a slot count until they end.
pub struct Queue<J> {
    /// The limit of jobs that wait.
    waiting: usize,
    state: Mutex<State<J>>,
    changed: Condvar,
}

struct State<J> {
    jobs: VecDeque<J>,
    /// Jobs that have a slot.
    running: usize,
    slots: usize,
    is_closed: bool,
    is_cut: bool,
}

/// The refusal of a further job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl<J: Waiting> Queue<J> {
    /// An empty queue for `waiting` jobs besides those that have a slot; [`Self::open`] says how many slots there are.
    pub fn new(waiting: usize) -> Self {
        let state = State { jobs: VecDeque::new(), running: 0, slots: 0, is_closed: false, is_cut: false };
        Self { waiting, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// There are so many slots.
    pub fn open(&self, slots: usize) {
        self.state().slots = slots;
    }

    /// Adds a job.
    ///
    /// # Errors
    /// [`Full`] if there are as many jobs as there may be, apart from waiting jobs whose clients went away.
    pub fn push(&self, job: J) -> Result<(), Full> {
        let mut state = self.state();
        let most = self.waiting.saturating_add(state.slots);
        if state.count() >= most {
            state.jobs.retain(|job| !job.is_gone());
        }
        if state.count() >= most || state.is_closed {
            return Err(Full);
        }
        state.jobs.push_back(job);
        self.changed.notify_one();
        Ok(())
    }

    /// The next job. Waits for a job if the caller may wait; `None` for a closed and empty queue.
    pub fn take(&self, may_wait: bool) -> Option<J> {
        let mut state = self.state();
        loop {
            match state.jobs.pop_front() {
                // The client went away.
                Some(job) if job.is_gone() => {}
                Some(job) => {
                    state.running += 1;
                    return Some(job);
                }
                None if state.is_closed || !may_wait => return None,
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// A job that has left the queue has ended.
    pub fn done(&self) {
        let mut state = self.state();
        state.running = state.running.saturating_sub(1);
    }

    /// Ends the waiting jobs whose deadlines have passed.
    pub fn expire(&self, now: Instant) {
        let mut state = self.state();
        while state.jobs.front().is_some_and(|job| job.deadline() <= now) {
            if let Some(late) = state.jobs.pop_front() {
                late.fail(Failure::TimedOut);
            }
        }
    }

    /// The numbers of running and of waiting jobs.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.running, state.jobs.len())
    }

    /// Whether a job waits.
    pub fn has_waiting(&self) -> bool {
        !self.state().jobs.is_empty()
    }

    /// Accepts no further job. The scheduler ends after the last job.
    pub fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// Ends all jobs, running or waiting.
    pub fn cut(&self) {
        self.state().is_cut = true;
    }

    /// Whether all jobs are to end.
    pub fn is_cut(&self) -> bool {
        self.state().is_cut
    }

    /// A panic elsewhere leaves the queue whole: no method breaks off halfway.
    fn state(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J> State<J> {
    fn count(&self) -> usize {
        self.running + self.jobs.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use et_llm::Sampling;
    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::super::{Event, Job};
    use super::*;

    /// A job whose prompt is `name`, and the receiver of the events.
    fn job(name: u32) -> (Job, UnboundedReceiver<Event>) {
        let (events, receiver) = unbounded_channel();
        let came = Instant::now();
        let (sampling, deadline) = (Sampling::default(), came + Duration::from_secs(9));
        let job = Job {
            prompt: vec![name],
            tiles: Vec::new(),
            adapter: 0,
            sampling,
            bias: Vec::new(),
            matcher: None,
            behind: None,
            shown: Vec::new(),
            most: 1,
            stops: Vec::new(),
            alternatives: None,
            came,
            deadline,
            events,
        };
        (job, receiver)
    }

    fn taken(queue: &Queue<Job>) -> Option<u32> {
        queue.take(false).map(|job| job.prompt[0])
    }

    #[test]
    fn jobs_come_in_order_and_running_jobs_count() {
        let queue = Queue::new(1);
        queue.open(1);
        let [one, two, three] = [1, 2, 3].map(job);
        assert_eq!((queue.push(one.0), queue.push(two.0)), (Ok(()), Ok(())));
        assert_eq!(taken(&queue), Some(1));
        assert_eq!(queue.counts(), (1, 1));
        let (again, _receiver) = job(3);
        assert_eq!(queue.push(again), Err(Full));
        queue.done();
        assert_eq!(queue.push(three.0), Ok(()));
        assert_eq!([taken(&queue), taken(&queue), taken(&queue)], [Some(2), Some(3), None]);
    }

    #[test]
    fn jobs_of_clients_that_went_away_take_no_room() {
        let queue = Queue::new(1);
        let (gone, receiver) = job(1);
        assert_eq!(queue.push(gone), Ok(()));
        drop(receiver);
        let (next, _receiver) = job(2);
        assert_eq!(queue.push(next), Ok(()));
        assert_eq!(taken(&queue), Some(2));
    }

    #[test]
    fn a_waiting_job_ends_at_its_deadline() {
        let queue = Queue::new(2);
        let [(mut late, mut told), (other, _receiver)] = [1, 2].map(job);
        late.deadline = late.came;
        queue.push(late).unwrap();
        queue.push(other).unwrap();
        queue.expire(Instant::now());
        assert_eq!(told.try_recv(), Ok(Event::Failed(Failure::TimedOut)));
        assert_eq!(taken(&queue), Some(2));
    }

    #[test]
    fn a_closed_queue_gives_what_it_has_and_takes_nothing() {
        let queue = Queue::new(2);
        let [(one, _first), (two, _second)] = [1, 2].map(job);
        queue.push(one).unwrap();
        queue.close();
        assert_eq!(queue.push(two), Err(Full));
        assert_eq!((queue.take(true).map(|job| job.prompt), queue.take(true).is_none()), (Some(vec![1]), true));
    }
}
