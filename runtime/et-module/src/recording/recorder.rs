//! Records the events of executions.

use std::borrow::Cow;
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use et_runtime::{DelegateEvent, Position};

use super::TENSOR_ALIGNMENT;
use super::recorded::{Event, MethodFacts, Recording, Run, Task};
use crate::{Observed, Observer};

/// The most events and tasks of a recording; the rest is counted.
const MOST: usize = 1_000_000;

/// What a recorder keeps beside the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    Times,
    /// The tensors that kernels write, up to this number of bytes.
    Kernels(usize),
    /// The tensors that kernels write, and the memory that instructions of delegates write.
    Everything,
}

/// An observer that keeps the events of executions.
pub struct Recorder {
    start: Instant,
    keep: Keep,
    state: Mutex<State>,
    tasks: Mutex<Tasks>,
}

/// The events so far.
#[derive(Default)]
struct State {
    recording: Recording,
    /// The method that executes, and what is known of the call.
    method: usize,
    /// The instruction, and when the instruction began.
    at: Option<Position>,
    begin: u64,
    /// When the next instruction of a delegate begins at the earliest.
    last: u64,
    /// The instructions of the delegate since then.
    steps: Vec<Event>,
    /// The number of events of the recording.
    kept: usize,
    /// The bytes of the tensors that kernels wrote, kept or not.
    written: usize,
}

#[derive(Default)]
struct Tasks {
    threads: Vec<ThreadId>,
    names: Vec<String>,
    tasks: Vec<Task>,
    left_out: usize,
}

impl Recorder {
    /// A recorder that starts now.
    pub fn new(keep: Keep) -> Self {
        let tasks = Tasks { threads: vec![thread::current().id()], names: vec!["main".to_owned()], ..Tasks::default() };
        Self { start: Instant::now(), keep, state: Mutex::default(), tasks: Mutex::new(tasks) }
    }

    /// Takes the recording so far; a warm-up ends this way. Facts about methods stay.
    pub fn take(&self) -> Recording {
        let (mut state, mut tasks) = (lock(&self.state), lock(&self.tasks));
        (state.kept, state.written) = (0, 0);
        let methods = state.recording.methods.clone();
        let left_out = take(&mut state.recording.left_out) + take(&mut tasks.left_out);
        Recording {
            methods,
            runs: take(&mut state.recording.runs),
            tasks: take(&mut tasks.tasks),
            threads: tasks.names.clone(),
            left_out,
        }
    }

    /// The bytes that the tensors of the kernels need, where these are more than the recorder may keep.
    pub fn excess(&self) -> Option<usize> {
        let Keep::Kernels(most) = self.keep else { return None };
        let written = lock(&self.state).written;
        (written > most).then_some(written)
    }

    fn now(&self) -> u64 {
        self.since_start(Instant::now())
    }

    fn since_start(&self, time: Instant) -> u64 {
        nanoseconds(time.saturating_duration_since(self.start))
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl State {
    /// The facts about the method that executes.
    fn facts(&mut self) -> Option<&mut MethodFacts> {
        self.recording.methods.get_mut(self.method)
    }

    /// Whether the results of a kernel are kept, which have this number of bytes.
    fn takes(&mut self, keep: Keep, size: impl FnOnce() -> usize) -> bool {
        match keep {
            Keep::Times => false,
            Keep::Kernels(most) => {
                self.written = self.written.saturating_add(size().next_multiple_of(TENSOR_ALIGNMENT));
                self.written <= most
            }
            Keep::Everything => true,
        }
    }

    /// Adds the instruction and its steps to the execution.
    fn add(&mut self, event: Event) {
        let steps = take(&mut self.steps);
        let Some(run) = self.recording.runs.last_mut() else { return };
        if self.kept >= MOST {
            self.recording.left_out += steps.len() + 1;
            return;
        }
        self.kept += steps.len() + 1;
        run.events.extend(steps);
        run.events.push(event);
    }
}

impl Observer for Recorder {
    fn method_begins(&self, method: &Observed<'_>) {
        let mut state = lock(&self.state);
        let known = state.recording.methods.iter().position(|facts| facts.name == method.name());
        state.method = known.unwrap_or_else(|| {
            state.recording.methods.push(MethodFacts { name: method.name().to_owned(), ..MethodFacts::default() });
            state.recording.methods.len() - 1
        });
        let begin = self.now();
        let method = state.method;
        state.recording.runs.push(Run { method, begin, end: begin, events: Vec::new() });
    }

    fn method_ended(&self) {
        let end = self.now();
        if let Some(run) = lock(&self.state).recording.runs.last_mut() {
            run.end = end;
        }
    }

    fn instruction_begins(&self, at: Position) {
        let mut state = lock(&self.state);
        state.at = Some(at);
        // A failed call leaves its instructions behind.
        state.steps.clear();
        let begin = self.now();
        (state.begin, state.last) = (begin, begin);
    }

    fn instruction_ended(&self, method: &Observed<'_>, at: Position) {
        let end = self.now();
        let mut state = lock(&self.state);
        let (key, begin) = ((at.chain, at.instruction), state.begin);
        if let Some(facts) = state.facts().filter(|facts| !facts.callees.contains_key(&key)) {
            facts.callees.insert(key, method.callee(at).unwrap_or_default());
            facts.bytes.insert((key.0, key.1, None), method.result_bytes(at));
        }
        let results = if state.takes(self.keep, || method.result_bytes(at)) { method.results(at) } else { Vec::new() };
        state.add(Event { at, step: None, begin, end, results, memory: Vec::new() });
    }

    fn delegate_executed(&self, event: &DelegateEvent<'_>) {
        let now = self.now();
        let mut state = lock(&self.state);
        let Some(at) = state.at else { return };
        let (begin, number) = (state.last, state.steps.len() as u32);
        // The instructions of a device are reported after all have ended: one begins at the end of the instruction before.
        let end = event.duration.map_or(now, |duration| begin.saturating_add(nanoseconds(duration)));
        let key = (at.chain, at.instruction, Some(number));
        if let Some(facts) = state.facts().filter(|facts| !facts.bytes.contains_key(&key)) {
            let mut size = 0;
            (event.results)(&mut |bytes| size += bytes.len());
            facts.bytes.insert(key, size);
        }
        let mut memory = Vec::new();
        if self.keep == Keep::Everything {
            (event.results)(&mut |bytes| memory.push(bytes.to_vec()));
        }
        state.steps.push(Event {
            at,
            step: Some((number, Cow::Borrowed(event.name))),
            begin,
            end,
            results: Vec::new(),
            memory,
        });
        state.last = if event.duration.is_some() { end } else { self.now() };
    }

    fn task_ended(&self, begin: Instant) {
        let (begin, end) = (self.since_start(begin), self.now());
        let mut tasks = lock(&self.tasks);
        if tasks.tasks.len() >= MOST {
            tasks.left_out += 1;
            return;
        }
        let own = thread::current();
        let thread = tasks.threads.iter().position(|id| *id == own.id()).unwrap_or_else(|| {
            tasks.threads.push(own.id());
            tasks.names.push(own.name().unwrap_or("worker").to_owned());
            tasks.threads.len() - 1
        });
        tasks.tasks.push(Task { thread, begin, end });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
