//! Builds a method's value table.

use core::cell::Cell;

use et_core::{Error, Kernel, Result, Storage, TensorLayout, Value};
use et_format::{Allocation, EValue, ExtraTensorInfo, Kind, Tensor, TensorLocation, View};

use crate::program::dynamic_sizes;
use crate::values::Values;
use crate::{Delegate, DelegateSetup, Failure, Method, MethodPlan, NamedData, NoData, Place};

/// The alignment of every arena, in bytes.
const ARENA_ALIGNMENT: usize = 16;

/// The memory that a method lives in; [`MethodPlan::requirements`] says how much of each is needed.
pub struct Memory<'a> {
    /// Slots for values.
    pub values: &'a [Cell<Value<'a>>],
    /// The memory of planned tensors, each arena aligned to 16 bytes. Methods that never run concurrently may share
    /// arenas.
    pub arenas: &'a [&'a [Cell<u8>]],
    /// Integers for the shapes of dynamic tensors.
    pub sizes: &'a mut [i32],
    /// Whether the arenas hold valid state for buffers without an initial value: zeroed memory, or the state of another
    /// method with the same arenas. Otherwise loading writes zeros.
    pub holds_state: bool,
}

impl<'a> Method<'a> {
    /// Loads a method: checks every value against the file and the memory, and prepares the delegates.
    ///
    /// `kernels` and `delegates` are in the order of the file's operators and delegates.
    pub fn load(
        plan: MethodPlan<'a>,
        kernels: &'a [Kernel],
        delegates: &'a [&'a dyn Delegate<'a>],
        memory: Memory<'a>,
    ) -> core::result::Result<Self, Failure> {
        Self::load_with_data(plan, kernels, delegates, memory, &NoData)
    }

    /// Loads a method with external tensors from data files.
    ///
    /// A tensor that `data` lacks is [`Error::NotFound`], a tensor of another type, shape or dim order is
    /// [`Error::InvalidExternalData`].
    pub fn load_with_data(
        plan: MethodPlan<'a>,
        kernels: &'a [Kernel],
        delegates: &'a [&'a dyn Delegate<'a>],
        memory: Memory<'a>,
        data: &(impl NamedData<'a> + ?Sized),
    ) -> core::result::Result<Self, Failure> {
        let values = plan.plan.values()?;
        let slots = memory.values.get(..values.len()).ok_or(Error::MemoryAllocationFailed)?;
        let Memory { arenas, sizes, holds_state, .. } = memory;
        let mut loader = Loader { plan, arenas, sizes, holds_state, data };
        loader.check_tables(kernels, delegates)?;
        for (index, slot) in (0..).zip(slots) {
            let value = values.get(index as usize).and_then(|value| loader.value(value));
            slot.set(value.map_err(|error| Place::Value(index).failure(error))?);
        }
        for (index, delegate) in (0..).zip(delegates) {
            init(plan, index, *delegate).map_err(|error| Place::Delegate(index).failure(error))?;
        }
        Ok(Self { plan, kernels, delegates, values: Values(slots) })
    }
}

/// Initializes the delegate with its blob.
fn init<'a>(plan: MethodPlan<'a>, index: u32, delegate: &dyn Delegate<'a>) -> Result<()> {
    let entry = plan.plan.delegate(index as usize)?;
    let blob = plan.file.delegate_blob(entry)?;
    delegate.init(&DelegateSetup { blob, compile_specs: entry.compile_specs()?, file: plan.file })
}

struct Loader<'a, 'd, D: ?Sized> {
    plan: MethodPlan<'a>,
    arenas: &'a [&'a [Cell<u8>]],
    /// The unused rest of the buffer.
    sizes: &'a mut [i32],
    holds_state: bool,
    data: &'d D,
}

impl<'a, D: NamedData<'a> + ?Sized> Loader<'a, '_, D> {
    /// Checks that the tables and the arenas fit the method.
    fn check_tables(&self, kernels: &[Kernel], delegates: &[&dyn Delegate<'a>]) -> Result<()> {
        if kernels.len() != self.plan.plan.operators()?.len() {
            return Err(Error::OperatorMissing);
        }
        if delegates.len() != self.plan.plan.delegates()?.len() {
            return Err(Error::NotFound);
        }
        (0..self.plan.arena_count()?).try_for_each(|index| self.check_arena(index))
    }

    fn check_arena(&self, index: usize) -> Result<()> {
        let wanted = self.plan.arena_size(index)?;
        let arena = self.arenas.get(index).copied().unwrap_or_default();
        if arena.len() < wanted {
            return Err(Error::MemoryAllocationFailed);
        }
        if wanted > 0 && arena.as_ptr().addr() % ARENA_ALIGNMENT != 0 { Err(Error::InvalidArgument) } else { Ok(()) }
    }

    fn value(&mut self, value: EValue<'a>) -> Result<Value<'a>> {
        Ok(match value.kind()? {
            Kind::Null => Value::None,
            Kind::Int => Value::Int(value.int()?),
            Kind::Bool => Value::Bool(value.bool()?),
            Kind::Double => Value::Double(value.double()?),
            Kind::Tensor => Value::Tensor(self.tensor(Tensor::of(value.content()?))?),
            Kind::String => Value::String(value.string()?),
            Kind::IntList => Value::IntList(value.int_list()?),
            Kind::DoubleList => Value::DoubleList(value.double_list()?),
            Kind::BoolList => Value::BoolList(value.bool_list()?),
            Kind::TensorList => Value::TensorList(value.tensor_list()?),
            Kind::OptionalTensorList => Value::OptionalTensorList(value.tensor_list()?),
        })
    }

    fn tensor(&mut self, tensor: Tensor<'a>) -> Result<et_core::Tensor<'a>> {
        let extra = tensor.extra()?;
        check_supported(tensor, extra)?;
        let layout = layout(tensor)?;
        let bounds = self.take_sizes(dynamic_sizes(tensor)?)?;
        let storage = match external(extra)? {
            Some(extra) => self.external(tensor, extra, &layout)?,
            None => self.storage(tensor, extra, layout.nbytes()?)?,
        };
        et_core::Tensor::place(layout, storage, bounds)
    }

    fn storage(&self, tensor: Tensor<'a>, extra: Option<ExtraTensorInfo<'a>>, size: usize) -> Result<Storage<'a>> {
        match (tensor.data_buffer_index()?, tensor.allocation()?) {
            (0, None) => Ok(Storage::Missing),
            // Planned memory with a name is state.
            (0, Some(place)) if extra.is_some() => self.zeroed(place, size),
            (index, None) => self.plan.file.constant(index, size).map(Storage::Constant),
            (0, Some(place)) => self.planned(place, size).map(Storage::Shared),
            (index, Some(place)) => self.initialized(place, self.plan.file.initial_value(index, size)?),
        }
    }

    /// The memory of a tensor in a data file: the file's for a constant, planned memory for a mutable buffer.
    fn external(
        &self,
        tensor: Tensor<'a>,
        extra: ExtraTensorInfo<'a>,
        layout: &TensorLayout<'_>,
    ) -> Result<Storage<'a>> {
        let bytes = external_bytes(self.data, extra.fully_qualified_name()?, layout)?;
        match tensor.allocation()? {
            None => Ok(Storage::Constant(bytes)),
            Some(place) => self.initialized(place, bytes),
        }
    }

    /// A part of an arena that starts with these bytes.
    fn initialized(&self, place: Allocation, bytes: &[u8]) -> Result<Storage<'a>> {
        let cells = self.planned(place, bytes.len())?;
        cells.iter().zip(bytes).for_each(|(cell, byte)| cell.set(*byte));
        Ok(Storage::Shared(cells))
    }

    /// A range of an arena, zeroed unless the arena holds state.
    fn zeroed(&self, place: Allocation, size: usize) -> Result<Storage<'a>> {
        let cells = self.planned(place, size)?;
        if !self.holds_state {
            cells.iter().for_each(|cell| cell.set(0));
        }
        Ok(Storage::Shared(cells))
    }

    /// `size` bytes of an arena, or of the memory in the place of the arena.
    fn planned(&self, place: Allocation, size: usize) -> Result<&'a [Cell<u8>]> {
        if let Some(lent) = self.data.lent(place) {
            return lent.get(..size).ok_or(Error::InvalidProgram);
        }
        let index = (place.memory_id as usize).checked_sub(1).ok_or(Error::InvalidProgram)?;
        let arena = self.arenas.get(index).copied().ok_or(Error::InvalidProgram)?;
        let offset = usize::try_from(place.offset).map_err(|_| Error::InvalidProgram)?;
        arena.get(offset..).and_then(|rest| rest.get(..size)).ok_or(Error::InvalidProgram)
    }

    /// Memory for the shape of a dynamic tensor; `None` for a static tensor.
    fn take_sizes(&mut self, count: usize) -> Result<Option<&'a mut [i32]>> {
        if count == 0 {
            return Ok(None);
        }
        let (taken, left) =
            core::mem::take(&mut self.sizes).split_at_mut_checked(count).ok_or(Error::MemoryAllocationFailed)?;
        self.sizes = left;
        Ok(Some(taken))
    }
}

pub(crate) fn layout(tensor: Tensor<'_>) -> Result<TensorLayout<'_>> {
    Ok(TensorLayout { scalar_type: tensor.scalar_type()?, sizes: tensor.sizes()?, dim_order: tensor.dim_order()? })
}

/// The location of a tensor whose data is in another file.
pub(crate) fn external(extra: Option<ExtraTensorInfo<'_>>) -> Result<Option<ExtraTensorInfo<'_>>> {
    let Some(extra) = extra else { return Ok(None) };
    Ok((extra.location()? == TensorLocation::External).then_some(extra))
}

/// The elements of a tensor in a data file, which has this layout.
pub(crate) fn external_bytes<'a>(
    data: &(impl NamedData<'a> + ?Sized),
    name: &str,
    layout: &TensorLayout<'_>,
) -> Result<&'a [u8]> {
    let (found, bytes) = data.tensor(name)?;
    bytes.get(..layout.nbytes()?).filter(|_| found == *layout).ok_or(Error::InvalidExternalData)
}

/// Rejects features of the format that this runtime lacks: storage offsets, layouts with gaps, other devices.
fn check_supported(tensor: Tensor<'_>, extra: Option<ExtraTensorInfo<'_>>) -> Result<()> {
    let elsewhere = extra.map_or(Ok(0), ExtraTensorInfo::device_type)? != 0;
    if elsewhere || tensor.storage_offset()? != 0 || tensor.layout()? != 0 {
        return Err(Error::NotSupported);
    }
    Ok(())
}
