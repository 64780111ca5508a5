//! A loaded method together with the memory that the method borrows.
#![allow(unsafe_code)] // One struct holds a borrower and what it borrows, which safe Rust cannot say.

use std::alloc::{Layout, alloc_zeroed};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use et_core::{Access, Error as CoreError, Indices, Kernel, Result as CoreResult, Tensor, Value};
use et_format::DataFile;
use et_runtime::{Delegate, Events, Failure, Memory, Method, MethodPlan, NoEvents, Place, Program, Step, Workers};

use crate::engine::Host;
use crate::events::{Observed, Reporting};
use crate::lent::{Borrowed, Lend, WithBorrowed};
use crate::{DataFiles, Engines, Error, FileBytes, Observer, bundled_file, data_files};

/// The alignment of arenas in bytes: a cache line, and a multiple of the runtime's alignment. Metal takes whole pages of Apple's systems.
const ALIGNMENT: usize = if cfg!(target_vendor = "apple") { 16384 } else { 64 };

/// The bytes beside an arena: those ahead of the first multiple of the alignment, and on Apple's systems the rest of the last page, which a GPU takes
/// with the arena.
const BESIDE: usize = if cfg!(target_vendor = "apple") { 2 * ALIGNMENT } else { ALIGNMENT };

/// The most bytes between two constants that are released as one range.
const NEIGHBOUR: usize = 4096;

/// A method and everything that the method refers to. The method's lifetime is a lie that stays in this crate: no borrow from the method
/// may outlive this struct.
pub(crate) struct LoadedMethod {
    method: Method<'static>,
    steps: Box<[Step<'static>]>,
    inputs: Indices<'static>,
    outputs: Indices<'static>,
    // Before the memory: a delegate that keeps state on a device stores the state in this memory at its end.
    delegates: Delegates,
    // The memory that the method borrows: freed with this struct, after the method is gone.
    memory: Vec<Owned<[u8]>>,
    /// The first arena, which the program's methods may share.
    first: Option<Rc<FirstArena>>,
    /// State of other instances of the program.
    _borrowed: Borrowed,
    _values: Owned<[Cell<Value<'static>>]>,
    _arenas: Owned<[&'static [Cell<u8>]]>,
    _sizes: Owned<[i32]>,
    _kernels: Owned<[Kernel]>,
    /// The program file and the data files, as long as the owners below.
    sources: (&'static FileBytes, &'static DataFiles),
    /// The adapters in the place of that of the data files, the last in use: a backend may know the weights of an adapter by their addresses
    /// until the next execution.
    adapters: RefCell<Vec<Rc<DataFiles>>>,
    _file: Owned<FileBytes>,
    _data: Owned<DataFiles>,
}

/// The arena with the state that methods share. Neither the arena nor a holder of the arena leaves the thread.
pub(crate) struct FirstArena {
    _memory: Vec<Owned<[u8]>>,
    cells: &'static [Cell<u8>],
}

impl FirstArena {
    fn new(size: usize) -> CoreResult<Self> {
        let mut memory = Vec::new();
        let cells = Cell::from_mut(allocate(&mut memory, size)?).as_slice_of_cells();
        Ok(Self { _memory: memory, cells })
    }

    /// A range of the arena, for a method that keeps the arena.
    pub(crate) fn range(&self, start: usize, length: usize) -> Option<&'static [Cell<u8>]> {
        self.cells.get(start..)?.get(..length)
    }
}

/// The delegates of a method, and the memory that the delegates borrow.
struct Delegates {
    references: Owned<[&'static dyn Delegate<'static>]>,
    problems: Box<[LastProblem]>,
    _delegates: Owned<[BoxedDelegate]>,
    // The last fields, since the delegates borrow the workers and the observer.
    _workers: Arc<dyn Workers + Send>,
    observer: Option<Arc<dyn Observer>>,
}

type BoxedDelegate = Box<dyn Delegate<'static>>;

/// Tells the last problem of a backend.
type LastProblem = fn() -> Option<String>;

impl LoadedMethod {
    /// Loads the method that `choose` picks from the program; `kernels` gives the kernels of its operators. With `first` it
    /// has the first arena in common with the method that this is of.
    pub(crate) fn load(
        file: FileBytes,
        data: DataFiles,
        choose: impl FnOnce(Program<'static>) -> Result<MethodPlan<'static>, Error>,
        kernels: impl FnOnce(MethodPlan<'static>) -> Result<Box<[Kernel]>, Error>,
        engines: &Engines,
        first: Option<Rc<FirstArena>>,
        lend: Lend<'_>,
    ) -> Result<Self, Error> {
        let (mut file, mut data) = (Owned::new(Box::new(file)), Owned::new(Box::new(data)));
        // SAFETY: the owners are stored in the struct, so the owners live as long as the method.
        let (bytes, data_files): (&'static FileBytes, &'static DataFiles) = unsafe { (file.borrow(), data.borrow()) };
        let external = data_files.parse()?;
        let plan = choose(Program::new(bundled_file::program_in(bytes)?)?)?;
        let needs = plan.requirements()?;
        let _borrowed = Borrowed::of(plan, lend)?;
        let mut delegates = Delegates::new(plan, engines)?;
        let mut kernels = Owned::new(kernels(plan)?);
        let mut values = Owned::new(vec![Cell::new(Value::None); needs.values].into_boxed_slice());
        let mut sizes = Owned::new(vec![0; needs.sizes].into_boxed_slice());
        let mut memory = Vec::with_capacity(needs.arenas);
        let mut arenas = Vec::with_capacity(needs.arenas);
        let first = match (first, needs.arenas) {
            (None, 0) => None,
            (Some(first), 1..) if first.cells.len() == plan.arena_size(0)? => Some(first),
            (Some(_), _) => return Err(et_core::Error::InvalidArgument.into()),
            (None, _) => Some(Rc::new(FirstArena::new(plan.arena_size(0)?)?)),
        };
        arenas.extend(first.iter().map(|first| first.cells));
        for index in 1..needs.arenas {
            arenas.push(Cell::from_mut(allocate(&mut memory, plan.arena_size(index)?)?).as_slice_of_cells());
        }
        let mut arenas = Owned::new(arenas.into_boxed_slice());
        // SAFETY: as above.
        let (values_of, arenas_of, sizes_of) = unsafe { (values.borrow(), arenas.borrow(), sizes.borrow()) };
        // Fresh allocations are zeros, and reading the zeros would commit memory.
        let borrowed = Memory { values: values_of, arenas: arenas_of, sizes: sizes_of, holds_state: true };
        // SAFETY: as above.
        let (called, delegated) = unsafe { (kernels.borrow(), delegates.references.borrow()) };
        let sources = WithBorrowed { data: external.as_slice(), borrowed: &_borrowed };
        let method = Method::load_with_data(plan, called, delegated, borrowed, &sources).map_err(|failure| {
            data_files::explain(plan, &external, failure).unwrap_or_else(|| delegates.explain(failure))
        })?;
        let (steps, inputs, outputs) = (method.steps()?.collect(), plan.plan().inputs()?, plan.plan().outputs()?);
        let (_values, _arenas, _sizes, _kernels, _file, _data) = (values, arenas, sizes, kernels, file, data);
        Ok(Self {
            method,
            steps,
            inputs,
            outputs,
            delegates,
            memory,
            first,
            _borrowed,
            _values,
            _arenas,
            _sizes,
            _kernels,
            sources: (bytes, data_files),
            adapters: RefCell::default(),
            _file,
            _data,
        })
    }

    pub(crate) const fn method(&self) -> &Method<'static> {
        &self.method
    }

    /// The first arena, for another method.
    pub(crate) fn first_arena(&self) -> Option<Rc<FirstArena>> {
        self.first.clone()
    }

    /// The number of inputs and of outputs.
    pub(crate) const fn counts(&self) -> [usize; 2] {
        [self.inputs.len(), self.outputs.len()]
    }

    pub(crate) fn input(&self, index: usize) -> CoreResult<Value<'static>> {
        self.method.value(self.inputs.get(index).ok_or(CoreError::NotFound)?)
    }

    /// Input `index`, which must be a tensor.
    pub(crate) fn input_tensor(&self, index: usize) -> CoreResult<Tensor<'static>> {
        match self.input(index)? {
            Value::Tensor(tensor) => Ok(tensor),
            _ => Err(CoreError::InvalidType),
        }
    }

    pub(crate) fn output(&self, index: usize) -> CoreResult<Value<'static>> {
        self.method.value(self.outputs.get(index).ok_or(CoreError::NotFound)?)
    }

    pub(crate) fn execute(&self) -> Result<(), Failure> {
        self.execute_heard(&mut NoEvents)
    }

    /// Executes the method with a listener, and for the observer of the backends, if there is one.
    pub(crate) fn execute_heard(&self, events: &mut impl Events) -> Result<(), Failure> {
        let done = match self.delegates.observer.as_deref() {
            Some(observer) if cfg!(feature = "events") => self.report(observer, events),
            _ => self.execute_unobserved(events),
        };
        let mut adapters = self.adapters.borrow_mut();
        let old = adapters.len().saturating_sub(1);
        adapters.drain(..old);
        done
    }

    /// Whether these constants are in their places.
    pub(crate) fn has_adapter(&self, adapter: &Rc<DataFiles>) -> bool {
        self.adapters.borrow().last().is_some_and(|last| Rc::ptr_eq(last, adapter))
    }

    /// The number of constants of an adapter in data files.
    ///
    /// # Errors
    /// An adapter that lacks one of them, or has one of another shape.
    pub(crate) fn exchangeable(&self, adapter: &DataFiles) -> Result<usize, Error> {
        // SAFETY: the borrow ends with this call: the count refers to no file.
        let files = unsafe { outliving(adapter) }.parse()?;
        let count = self.method.exchangeable(data_files::ADAPTER, files.as_slice());
        count.map_err(|failure| self.mismatch(&files, failure))
    }

    /// Puts the constants of an adapter in the place of those of the adapter before.
    ///
    /// # Errors
    /// As [`Self::exchangeable`]; the adapter before stays.
    pub(crate) fn exchange(&self, adapter: &Rc<DataFiles>) -> Result<(), Error> {
        // SAFETY: the struct keeps the owner as long as a value refers to the owner's bytes.
        let files = unsafe { outliving(adapter) }.parse()?;
        let exchanged = self.method.exchange(data_files::ADAPTER, files.as_slice());
        exchanged.map_err(|failure| self.mismatch(&files, failure))?;
        self.adapters.borrow_mut().push(Rc::clone(adapter));
        Ok(())
    }

    fn mismatch(&self, files: &[DataFile<'_>], failure: Failure) -> Error {
        data_files::explain(self.method.plan(), files, failure).unwrap_or_else(|| self.explain(failure))
    }

    /// Executes the method with a listener besides the observer.
    fn report(&self, observer: &dyn Observer, others: &mut impl Events) -> Result<(), Failure> {
        let method = Observed(&self.method);
        observer.method_begins(&method);
        let done = self.execute_unobserved(&mut Reporting { method, observer, others });
        observer.method_ended();
        done
    }

    /// Executes the method with a listener alone.
    fn execute_unobserved(&self, events: &mut impl Events) -> Result<(), Failure> {
        self.method.execute_steps_heard(&self.steps, events)
    }

    /// The last failure in words of the backend of a delegate.
    pub(crate) fn problem(&self, delegate: u32) -> Option<String> {
        self.delegates.problem(delegate)
    }

    /// The failure of a delegate outside an execution, in the words of the backend.
    pub(crate) fn explain(&self, failure: Failure) -> Error {
        self.delegates.explain(failure)
    }

    /// Takes the constants out of the process's memory where they are pages of mapped files.
    pub(crate) fn release_constants(&self) {
        let values = (0..).map_while(|slot| self.method.value(slot).ok());
        let mut ranges: Vec<Range<usize>> = values.filter_map(constant).collect();
        ranges.sort_by_key(|range| range.start);
        // A bias is smaller than a page, and leaves memory with the weights beside the bias.
        ranges.dedup_by(|next, last| {
            let joins = next.start <= last.end + NEIGHBOUR;
            if joins {
                last.end = last.end.max(next.end);
            }
            joins
        });
        let (file, data) = self.sources;
        for source in std::iter::once(file).chain(data.files()) {
            ranges.iter().for_each(|range| source.release(range.clone()));
        }
    }

    /// Memory that lives as long as the method.
    pub(crate) fn allocate(&mut self, size: usize) -> CoreResult<&'static mut [u8]> {
        allocate(&mut self.memory, size)
    }
}

/// Data files for longer than the known lifetime.
///
/// # Safety
/// The borrow is not used after the owner is dropped.
unsafe fn outliving(files: &DataFiles) -> &'static DataFiles {
    // SAFETY: as the caller promises.
    unsafe { &*std::ptr::from_ref(files) }
}

/// The addresses of a constant tensor; `None` for another value.
fn constant(value: Value<'_>) -> Option<Range<usize>> {
    match value {
        Value::Tensor(tensor) if tensor.access() == Access::Constant => {
            let start = tensor.data().addr();
            Some(start..start + tensor.capacity())
        }
        _ => None,
    }
}

impl Delegates {
    /// A delegate for each that the method calls, not yet prepared.
    fn new(plan: MethodPlan<'static>, engines: &Engines) -> Result<Self, Error> {
        let (workers, observer) = (engines.workers().clone(), engines.observer().cloned());
        // SAFETY: the struct keeps the workers and the observer, and drops both after the delegates. The makers of delegates take
        // borrows of any length, so that a maker keeps no borrow beyond the life of the delegate.
        let host: Host<'static> = unsafe {
            Host {
                workers: &*Arc::as_ptr(&workers),
                observer: observer.as_ref().map(|observer| &*Arc::as_ptr(observer)),
            }
        };
        let found = engines.find(plan)?;
        let delegates: Box<[BoxedDelegate]> = found.iter().map(|engine| (engine.make)(host)).collect();
        let mut delegates = Owned::new(delegates);
        // SAFETY: the owner is stored in the struct, and dropped after the references.
        let references = unsafe { delegates.borrow() }.iter().map(|delegate| &**delegate);
        Ok(Self {
            references: Owned::new(references.collect()),
            problems: found.iter().map(|engine| engine.problem).collect(),
            _delegates: delegates,
            _workers: workers,
            observer,
        })
    }

    /// The last failure of a delegate's backend in words.
    fn problem(&self, delegate: u32) -> Option<String> {
        self.problems.get(delegate as usize)?()
    }

    /// The failure of a method outside an execution, in the words of the backend where a delegate failed.
    fn explain(&self, failure: Failure) -> Error {
        let problem = match failure.place {
            Place::Delegate(delegate) => self.problem(delegate),
            _ => None,
        };
        Error::Program { failure, operator: None, problem }
    }
}

/// `size` zeroed bytes at a multiple of `ALIGNMENT`, owned by `memory`. The size is a number of a program file, so an absurd
/// size is an error and not an abort.
fn allocate(memory: &mut Vec<Owned<[u8]>>, size: usize) -> CoreResult<&'static mut [u8]> {
    let whole = size.checked_add(BESIDE).ok_or(CoreError::MemoryAllocationFailed)?;
    let mut owned = Owned::new(zeroed(whole)?);
    // SAFETY: callers store `memory` next to the method that uses these bytes.
    let bytes = unsafe { owned.borrow() };
    memory.push(owned);
    let skip = bytes.as_ptr().align_offset(ALIGNMENT);
    bytes.get_mut(skip..skip + size).ok_or(CoreError::MemoryAllocationFailed)
}

/// Zeroed bytes, which commit no memory before the first write.
fn zeroed(size: usize) -> CoreResult<Box<[u8]>> {
    let layout = Layout::array::<u8>(size).map_err(|_| CoreError::MemoryAllocationFailed)?;
    if layout.size() == 0 {
        return Ok(Box::default());
    }
    // SAFETY: the layout is not empty.
    let start = unsafe { alloc_zeroed(layout) };
    if start.is_null() {
        return Err(CoreError::MemoryAllocationFailed);
    }
    // SAFETY: the allocator gave `size` initialised bytes with the layout that a boxed slice of bytes is freed with.
    Ok(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(start, size)) })
}

/// A box that can be borrowed for longer than the known lifetime.
struct Owned<T: ?Sized>(*mut T);

impl<T: ?Sized> Owned<T> {
    fn new(boxed: Box<T>) -> Self {
        Self(Box::into_raw(boxed))
    }

    /// Borrows the content.
    ///
    /// # Safety
    /// Called once; the borrow is not used after the owner is dropped.
    unsafe fn borrow(&mut self) -> &'static mut T {
        // SAFETY: the pointer came from a box, and by the contract no other borrow exists.
        unsafe { &mut *self.0 }
    }
}

impl<T: ?Sized> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a box and is given back once.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_sizes_are_errors_and_memory_is_aligned_zeros() {
        let mut memory = Vec::new();
        for size in [usize::MAX, usize::MAX - ALIGNMENT, isize::MAX as usize, 1 << 60] {
            assert_eq!(allocate(&mut memory, size).err(), Some(CoreError::MemoryAllocationFailed), "{size}");
        }
        for size in [0, 1, 1000] {
            let bytes = allocate(&mut memory, size).unwrap();
            assert!(bytes.len() == size && bytes.iter().all(|byte| *byte == 0));
            assert_eq!(bytes.as_ptr().align_offset(ALIGNMENT), 0);
        }
    }
}
