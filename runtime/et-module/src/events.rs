//! What an observer of executions hears: methods, their instructions, the instructions of delegates, and the tasks of threads.
//!
//! Observers are for profilers and debuggers. Only a build with the feature `events` reports methods and their instructions;
//! without the feature, the execution of a method has no code for events.

use std::sync::Arc;
use std::time::Instant;

use et_core::Value;
use et_format::Instruction;
use et_runtime::{DelegateEvent, Events, Method, Position, Workers};

use crate::Array;
use crate::array::to_array;
use crate::callee::callee;

/// Hears of executions. All functions but [`Observer::task_ended`] are called on the thread of the caller.
pub trait Observer: Send + Sync {
    /// A method is about to execute.
    fn method_begins(&self, method: &Observed<'_>) {
        let _ = method;
    }

    /// The method has executed.
    fn method_ended(&self) {}

    /// An instruction of the method is about to execute.
    fn instruction_begins(&self, at: Position) {
        let _ = at;
    }

    /// The instruction has executed.
    fn instruction_ended(&self, method: &Observed<'_>, at: Position) {
        let _ = (method, at);
    }

    /// A delegate has executed an instruction of its own. Without a duration of the event, the next begins after the return of this
    /// function.
    fn delegate_executed(&self, event: &DelegateEvent<'_>) {
        let _ = event;
    }

    /// A thread has executed a task of a delegate, since `begin`. Called on that thread.
    fn task_ended(&self, begin: Instant) {
        let _ = begin;
    }
}

/// The method that an observer hears of.
#[derive(Clone, Copy)]
pub struct Observed<'m>(pub(crate) &'m Method<'static>);

impl Observed<'_> {
    /// The name of the method.
    pub fn name(&self) -> &str {
        self.0.plan().plan().name().unwrap_or_default()
    }

    /// What the instruction calls: an operator, or a backend; `None` for an instruction without callee.
    pub fn callee(&self, at: Position) -> Option<String> {
        callee(self.0.plan(), self.instruction(at)?)
    }

    /// Copies of the tensors that a kernel has just written.
    pub fn results(&self, at: Position) -> Vec<Array> {
        self.tensors(at).filter_map(|tensor| to_array(&tensor).ok()).collect()
    }

    /// The bytes of these tensors.
    pub fn result_bytes(&self, at: Position) -> usize {
        self.tensors(at).map(|tensor| tensor.nbytes()).sum()
    }

    fn tensors(&self, at: Position) -> impl Iterator<Item = et_core::Tensor<'_>> {
        let slots = self.instruction(at).map(results).unwrap_or_default();
        let slots = slots.into_iter().flat_map(|slot| match self.0.value(slot) {
            Ok(Value::TensorList(slots)) => slots.iter().collect(),
            _ => vec![slot],
        });
        slots.filter_map(|slot| match self.0.value(slot) {
            Ok(Value::Tensor(tensor)) if !tensor.data().is_null() => Some(tensor),
            _ => None,
        })
    }

    fn instruction(&self, at: Position) -> Option<Instruction<'_>> {
        let chain = self.0.plan().plan().chains().ok()?.get(at.chain as usize).ok()?;
        chain.instruction(at.instruction as usize).ok()
    }
}

/// The slots of the values that a kernel writes: a call's arguments end with the out tensors, and then with the results, which
/// are the same slots. A call without results ends with the out tensor, or with a list of the out tensors.
fn results(instruction: Instruction<'_>) -> Vec<i32> {
    let Instruction::KernelCall { arguments, .. } = instruction else { return Vec::new() };
    let slots: Vec<i32> = arguments.iter().collect();
    let repeats = |count: &usize| {
        let (before, last) = slots.split_at(slots.len() - count);
        before.ends_with(last)
    };
    let count = (1..=slots.len() / 2).find(repeats).unwrap_or(1).min(slots.len());
    slots[slots.len() - count..].to_vec()
}

/// Reports the instructions of a method.
pub(crate) struct Reporting<'m, E> {
    pub(crate) method: Observed<'m>,
    pub(crate) observer: &'m dyn Observer,
    /// Another listener.
    pub(crate) others: &'m mut E,
}

impl<E: Events> Events for Reporting<'_, E> {
    fn begin(&mut self, at: Position) {
        self.others.begin(at);
        self.observer.instruction_begins(at);
    }

    fn end(&mut self, at: Position) -> et_core::Result<()> {
        self.observer.instruction_ended(&self.method, at);
        self.others.end(at)
    }
}

/// Threads that report their tasks.
pub(crate) struct ObservedWorkers {
    pub(crate) workers: Arc<dyn Workers + Send>,
    pub(crate) observer: Arc<dyn Observer>,
}

impl Workers for ObservedWorkers {
    fn threads(&self) -> usize {
        self.workers.threads()
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        self.workers.run(tasks, &|index| {
            let begin = Instant::now();
            task(index);
            self.observer.task_ended(begin);
        });
    }
}

#[cfg(test)]
mod tests {
    use et_core::Indices;

    use super::*;

    fn written(arguments: &[i32]) -> Vec<i32> {
        let bytes: Vec<u8> = arguments.iter().flat_map(|slot| slot.to_le_bytes()).collect();
        results(Instruction::KernelCall { operator: 0, arguments: Indices::new(&bytes) })
    }

    #[test]
    fn results_are_the_repeated_last_arguments() {
        assert_eq!(written(&[0, 1, 2, 2]), [2]);
        assert_eq!(written(&[0, 1, 5, 6, 5, 6]), [5, 6]);
        assert_eq!(written(&[0, 1, 2]), [2]);
        assert_eq!(written(&[]), Vec::<i32>::new());
    }
}
