//! A program's method, loaded, with named inputs and outputs.

use std::cell::OnceCell;
use std::path::Path;
use std::rc::Rc;

use et_core::{Indices, Input, Kernel, MAX_RANK, ScalarType, Storage, Tensor, TensorLayout, Value};
use et_format::{Instruction, Operator};
use et_runtime::{Failure, MethodPlan, Place, Program};

use crate::TensorView;
use crate::callee::{callee, operator_name};
use crate::lent::Lend;
use crate::owned::{FirstArena, LoadedMethod};
use crate::{Array, DataFiles, Engines, Error, FileBytes, Named, order};

/// Where the kernels of a program's operators come from.
#[derive(Clone, Copy)]
pub enum Kernels<'k> {
    /// The operators of a program's methods by name, each with a kernel, as a selective build makes the table. A method that
    /// calls other operators is refused.
    Selected(&'k [(&'k str, Kernel)]),
    /// A catalogue that is asked for each operator by name and overload.
    Lookup(&'k dyn Fn(&str, &str) -> Option<Kernel>),
}

/// The type of an input that a caller has to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorType {
    /// The type of the elements.
    pub scalar_type: ScalarType,
    /// The size of each dimension; upper bounds when dynamic.
    pub shape: Vec<usize>,
    /// Whether smaller sizes are allowed.
    pub dynamic: bool,
}

/// A loaded method: the program's first.
pub struct Module {
    pub(crate) loaded: LoadedMethod,
    /// Made at the first use: programs that are called by position need no names.
    input_names: OnceCell<Vec<String>>,
    hidden_outputs: usize,
}

impl Module {
    /// Maps a program file and loads the method.
    pub fn open(path: &Path, kernels: Kernels<'_>) -> Result<Self, Error> {
        Self::load(FileBytes::open(path)?, kernels)
    }

    /// Loads the method of a program that is part of the binary.
    pub fn from_static(bytes: &'static [u8], kernels: Kernels<'_>) -> Result<Self, Error> {
        Self::load(FileBytes::embedded(bytes), kernels)
    }

    /// Loads a program's first method, with memory from the heap.
    pub fn load(file: FileBytes, kernels: Kernels<'_>) -> Result<Self, Error> {
        Self::load_chosen(file, DataFiles::default(), None, kernels, &Engines::none(), (None, &|_| None))
    }

    /// Loads the method of this name of a program, bundled or not, whose tensors may be in data files.
    pub fn load_method(
        file: FileBytes,
        data: DataFiles,
        name: &str,
        kernels: Kernels<'_>,
        engines: &Engines,
    ) -> Result<Self, Error> {
        Self::load_chosen(file, data, Some(name), kernels, engines, (None, &|_| None))
    }

    /// Loads another method of the same program. Both methods share the first arena: a method reads the state that the other method
    /// writes. Loading writes the first values, so load all methods before the first is run.
    pub fn load_beside(
        &self,
        file: FileBytes,
        data: DataFiles,
        name: &str,
        kernels: Kernels<'_>,
        engines: &Engines,
    ) -> Result<Self, Error> {
        let first = self.loaded.first_arena();
        Self::load_chosen(file, data, Some(name), kernels, engines, (first, &|_| None))
    }

    /// Loads a method with state of other modules in the place of its own, where `lend` has state for a name: the methods of all these
    /// modules read and write the same memory.
    ///
    /// # Errors
    /// As [`Self::load_method`]; state of another size.
    pub fn load_borrowing(
        file: FileBytes,
        data: DataFiles,
        name: &str,
        kernels: Kernels<'_>,
        engines: &Engines,
        lend: Lend<'_>,
    ) -> Result<Self, Error> {
        Self::load_chosen(file, data, Some(name), kernels, engines, (None, lend))
    }

    /// Loads the method of this name, or the first method.
    fn load_chosen(
        file: FileBytes,
        data: DataFiles,
        name: Option<&str>,
        kernels: Kernels<'_>,
        engines: &Engines,
        (first, lend): (Option<Rc<FirstArena>>, Lend<'_>),
    ) -> Result<Self, Error> {
        let choose = |program: Program<'static>| match name {
            Some(name) => find_method(&program, name),
            None => Ok(program.method_at(0)?),
        };
        let loaded = LoadedMethod::load(file, data, choose, |plan| find_kernels(plan, kernels), engines, first, lend)?;
        let mut module = Self { loaded, input_names: OnceCell::new(), hidden_outputs: 0 };
        module.give_memory()?;
        Ok(module)
    }

    /// Names the inputs, in order; inputs beyond the names keep `input_0`, `input_1`, ...
    #[must_use]
    pub fn with_input_names(mut self, names: &[&str]) -> Self {
        let mut all = self.input_names.take().unwrap_or_else(|| default_names(self.loaded.counts()[0]));
        all.iter_mut().zip(names).for_each(|(name, given)| *name = (*given).to_owned());
        self.input_names = all.into();
        self
    }

    /// Returns the last `count` outputs alone: the outputs before are new values of inputs that a model changes.
    #[must_use]
    pub fn with_last_outputs(mut self, count: usize) -> Self {
        self.hidden_outputs = self.loaded.counts()[1].saturating_sub(count);
        self
    }

    /// Returns the results alone, if the file says how many there are.
    #[must_use]
    pub fn with_only_results(self) -> Self {
        match self.output_tree().ok().flatten().and_then(crate::result_count) {
            Some(results) => self.with_last_outputs(results),
            None => self,
        }
    }

    /// How Python saw the outputs: their pytree as JSON, if the file says.
    pub fn output_tree(&self) -> Result<Option<&str>, Error> {
        let container = self.loaded.method().plan().plan().container_metadata()?;
        Ok(container.map(|container| container.outputs()).transpose()?.filter(|tree| !tree.is_empty()))
    }

    /// The names of the inputs in the program file; `None` for a file without names.
    pub fn stored_input_names(&self) -> Option<Vec<String>> {
        let plan = self.loaded.method().plan();
        let names = plan.file().input_names(plan.plan().name().ok()?).ok()?;
        Some(names.lines().map(str::to_owned).collect())
    }

    /// The bytes that the program file has under this name.
    pub fn named_data(&self, key: &str) -> Option<&[u8]> {
        self.loaded.method().plan().file().named_data(key).ok()
    }

    /// The names of all methods of the program file.
    pub fn method_names(&self) -> Result<Vec<String>, Error> {
        let plans = self.loaded.method().plan().file().program().execution_plans()?;
        let names = plans.iter().map(|plan| Ok(plan?.name()?.to_owned()));
        Ok(names.collect::<et_core::Result<_>>()?)
    }

    /// The names of the inputs.
    pub fn input_names(&self) -> &[String] {
        self.input_names.get_or_init(|| default_names(self.loaded.counts()[0]))
    }

    /// The number of outputs.
    pub fn output_count(&self) -> Result<usize, Error> {
        Ok(self.loaded.counts()[1])
    }

    /// The outputs that are given out.
    pub fn shown_outputs(&self) -> Result<std::ops::Range<usize>, Error> {
        Ok(self.hidden_outputs..self.output_count()?)
    }

    /// The type of input `index`; `None` for a number or text, which the export fixed.
    pub fn input_type(&self, index: usize) -> Result<Option<TensorType>, Error> {
        let Value::Tensor(tensor) = self.loaded.input(index)? else { return Ok(None) };
        let plan = self.loaded.method().plan().plan();
        let slot = plan.inputs()?.get(index).ok_or(et_core::Error::NotFound)?;
        let bounds = plan.tensor(slot as usize)?.sizes()?;
        let shape = bounds.iter().map(|size| size as usize).collect();
        Ok(Some(TensorType { scalar_type: tensor.scalar_type(), shape, dynamic: tensor.is_dynamic() }))
    }

    /// Copies a tensor into input `index`.
    pub fn set_input(&mut self, index: usize, view: &TensorView<'_>) -> Result<(), Error> {
        self.copy_input(index, view).map_err(|error| self.input_error(index, view.scalar_type, &view.shape, error))
    }

    /// Copies tensors into the inputs of the same names and ignores other tensors.
    pub fn set_inputs(&mut self, inputs: &Named<TensorView<'_>>) -> Result<(), Error> {
        for (index, name) in self.input_names().to_vec().iter().enumerate() {
            if self.input_type(index)?.is_some() {
                let view = inputs.get(name).ok_or_else(|| missing(name, inputs))?;
                self.set_input(index, view)?;
            }
        }
        Ok(())
    }

    /// Sets every input that is a tensor to zeros.
    pub fn set_zeros(&mut self) -> Result<(), Error> {
        for index in 0..self.input_names().len() {
            if let Some(wanted) = self.input_type(index)? {
                self.set_input(index, &Array::zeros(wanted.scalar_type, &wanted.shape).view())?;
            }
        }
        Ok(())
    }

    /// Executes the method.
    pub fn execute(&mut self) -> Result<(), Error> {
        self.loaded.execute().map_err(|failure| self.explain(failure))
    }

    /// Takes the weights out of the process's memory where they are pages of a mapped file, for a method whose turn is over while others
    /// run. The next execution brings them back, from the system's cache of files while it has room.
    pub fn release_weights(&self) {
        self.loaded.release_constants();
    }

    /// Executes the method on named inputs and returns `output_0`, `output_1`, ...
    pub fn run(&mut self, inputs: &Named<TensorView<'_>>) -> Result<Named<Array>, Error> {
        self.set_inputs(inputs)?;
        self.execute()?;
        Ok(self.outputs()?.arrays)
    }

    /// Memory for inputs and outputs that the memory plan leaves out.
    fn give_memory(&mut self) -> Result<(), Error> {
        let wanted = |value| match value {
            Value::Tensor(tensor) if tensor.data().is_null() => Some(tensor.capacity()),
            _ => None,
        };
        let [inputs, outputs] = self.loaded.counts();
        for index in 0..inputs {
            if let Some(size) = wanted(self.loaded.input(index)?) {
                let memory = self.loaded.allocate(size)?;
                self.loaded.method().set_input_memory(index, memory)?;
            }
        }
        for index in 0..outputs {
            if let Some(size) = wanted(self.loaded.output(index)?) {
                let memory = self.loaded.allocate(size)?;
                self.loaded.method().set_output_memory(index, memory)?;
            }
        }
        Ok(())
    }

    fn copy_input(&self, index: usize, view: &TensorView<'_>) -> et_core::Result<()> {
        let (method, target) = (self.loaded.method(), self.loaded.input_tensor(index)?);
        if target.is_dynamic() && view.shape.iter().zip(self.least_sizes(index)).any(|(size, least)| *size < least) {
            return Err(et_core::Error::InvalidArgument);
        }
        if is_as_it_is(&target, view) {
            let bytes = target.bytes_mut()?;
            if bytes.len() != view.bytes.len() {
                return Err(et_core::Error::InvalidArgument);
            }
            bytes.copy_from(Input::of(view.bytes));
            return Ok(());
        }
        let order = target.dim_order();
        let mut sizes = [0; 4 * MAX_RANK];
        let room = sizes.as_chunks_mut().0;
        for (slot, size) in room.iter_mut().zip(&view.shape) {
            *slot = i32::try_from(*size).map_err(|_| et_core::Error::InvalidArgument)?.to_le_bytes();
        }
        let sizes = sizes.get(..4 * view.shape.len()).ok_or(et_core::Error::InvalidArgument)?;
        let layout =
            TensorLayout { scalar_type: view.scalar_type, sizes: Indices::new(sizes), dim_order: order.dims() };
        let tensor = Tensor::place(layout, Storage::Constant(view.bytes), None)?;
        if order.is_contiguous() {
            return method.set_input(index, &Value::Tensor(tensor));
        }
        let bytes = order::from_row_major(&tensor, view.bytes);
        method.set_input(index, &Value::Tensor(Tensor::place(layout, Storage::Constant(&bytes), None)?))
    }

    /// The name of input `index`.
    pub(crate) fn input_name(&self, index: usize) -> String {
        self.input_names().get(index).cloned().unwrap_or_else(|| index.to_string())
    }

    /// The smallest sizes of input `index`; empty where the program file states none.
    fn least_sizes(&self, index: usize) -> Vec<usize> {
        let plan = self.loaded.method().plan();
        let lines = plan.plan().name().and_then(|method| plan.file().least_sizes(method));
        let line = lines.unwrap_or_default().lines().nth(index).unwrap_or_default();
        line.split(',').map_while(|size| size.parse().ok()).collect()
    }

    /// Names the expected type of an input.
    pub(crate) fn input_error(
        &self,
        index: usize,
        scalar_type: ScalarType,
        shape: &[usize],
        error: et_core::Error,
    ) -> Error {
        let problem = match self.input_type(index) {
            Ok(Some(wanted)) => {
                let (given, name) = (scalar_type.name(), wanted.scalar_type.name());
                let least = if wanted.dynamic { self.least_sizes(index) } else { vec![] };
                let sizes = match (wanted.dynamic, least.is_empty()) {
                    (false, _) => format!("{name}{:?}", wanted.shape),
                    (true, true) => format!("at most {name}{:?}", wanted.shape),
                    (true, false) => format!("{name} from {least:?} to {:?}", wanted.shape),
                };
                format!("{given}{shape:?} was given, {sizes} is wanted")
            }
            _ => error.message().to_owned(),
        };
        Error::Input { name: self.input_name(index), problem }
    }

    /// A failed execution, with the callee and the words of the backend.
    pub(crate) fn explain(&self, failure: Failure) -> Error {
        let failed = match failure.place {
            Place::Instruction(index) => self.instruction(index),
            _ => None,
        };
        let problem = match failed {
            Some(Instruction::DelegateCall { delegate, .. }) => self.loaded.problem(delegate),
            _ => None,
        };
        Error::Program {
            failure,
            operator: failed.and_then(|failed| callee(self.loaded.method().plan(), failed)),
            problem,
        }
    }

    /// An instruction, counted over all chains.
    fn instruction(&self, mut index: u32) -> Option<Instruction<'static>> {
        for chain in self.loaded.method().plan().plan().chains().ok()?.iter() {
            let chain = chain.ok()?;
            let count = chain.instruction_count().ok()? as u32;
            if index < count {
                return chain.instruction(index as usize).ok();
            }
            index -= count;
        }
        None
    }
}

fn default_names(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("input_{index}")).collect()
}

/// Whether an input is given in the type, the shape and the order that `target` has, so that its bytes are those of `target`.
fn is_as_it_is(target: &Tensor<'_>, view: &TensorView<'_>) -> bool {
    target.scalar_type() == view.scalar_type
        && target.rank() == view.shape.len()
        && view.shape.iter().enumerate().all(|(dim, size)| target.size(dim) == *size)
        && target.is_contiguous()
}

/// The error for a missing input.
pub(crate) fn missing(name: &str, inputs: &Named<TensorView<'_>>) -> Error {
    let given: Vec<&str> = inputs.keys().map(String::as_str).collect();
    let given = if given.is_empty() { "none".to_owned() } else { given.join(", ") };
    Error::Input { name: name.to_owned(), problem: format!("not given; given are: {given}") }
}

/// The method of this name, or an error that lists the program's methods.
fn find_method(program: &Program<'static>, name: &str) -> Result<MethodPlan<'static>, Error> {
    match program.method(name) {
        Err(et_core::Error::NotFound) => {
            let names =
                (0..program.method_count()?).map(|index| Ok(program.method_at(index)?.plan().name()?.to_owned()));
            Err(Error::MethodMissing { name: name.to_owned(), methods: names.collect::<et_core::Result<_>>()? })
        }
        found => Ok(found?),
    }
}

/// A kernel per operator of the method, or an error that lists the operators without a kernel.
fn find_kernels(plan: MethodPlan<'_>, kernels: Kernels<'_>) -> Result<Box<[Kernel]>, Error> {
    match kernels {
        Kernels::Selected(table) => selected(plan, table),
        Kernels::Lookup(lookup) => look_up(plan, lookup),
    }
}

fn selected(plan: MethodPlan<'_>, table: &[(&str, Kernel)]) -> Result<Box<[Kernel]>, Error> {
    let operators = plan.plan().operators()?;
    let mut found = Vec::with_capacity(operators.len());
    for (index, operator) in operators.iter().enumerate() {
        match find_selected(table, index, operator?) {
            Some(kernel) => found.push(kernel),
            None => return Err(Error::OtherOperators(operator_names(plan)?)),
        }
    }
    Ok(found.into())
}

/// The kernel of operator `index`. For a program with a single method, the table is in the order of the operators.
fn find_selected(table: &[(&str, Kernel)], index: usize, operator: Operator<'_>) -> Option<Kernel> {
    let is_it = |(name, _): &&(&str, Kernel)| operator.is_named(name) == Ok(true);
    let found = table.get(index).filter(is_it).or_else(|| table.iter().find(is_it));
    found.map(|(_, kernel)| *kernel)
}

fn operator_names(plan: MethodPlan<'_>) -> Result<Vec<String>, Error> {
    let count = plan.plan().operators()?.len() as u32;
    Ok((0..count).filter_map(|index| operator_name(plan, index)).collect())
}

fn look_up(plan: MethodPlan<'_>, lookup: &dyn Fn(&str, &str) -> Option<Kernel>) -> Result<Box<[Kernel]>, Error> {
    let operators = plan.plan().operators()?;
    let (mut found, mut missing) = (Vec::with_capacity(operators.len()), Vec::new());
    for (index, operator) in (0..).zip(operators.iter()) {
        let operator = operator?;
        match lookup(operator.name()?, operator.overload()?) {
            Some(kernel) => found.push(kernel),
            None => missing.extend(operator_name(plan, index)),
        }
    }
    if missing.is_empty() { Ok(found.into()) } else { Err(Error::OperatorsMissing(missing)) }
}
