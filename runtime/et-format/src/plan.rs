//! A method: its values, operators, delegates and instructions.

use et_core::{Error, Indices, Longs, Result};

use crate::view::views;
use crate::{EValue, FrameList, Instruction, Kind, List, Table, Tensor, View};

views! {
    /// A method.
    ExecutionPlan;
    /// How Python saw inputs and outputs.
    ContainerMetadata;
    /// A straight run of instructions.
    Chain;
    /// The name of an operator.
    Operator;
    /// A partition of the method that a delegate executes.
    BackendDelegate;
    /// An option that a backend was compiled with.
    CompileSpec;
    /// Which device an arena lies on.
    DeviceBuffer;
}

impl<'a> ExecutionPlan<'a> {
    /// The method's name, such as `forward`.
    pub fn name(self) -> Result<&'a str> {
        self.0.string(0)
    }

    /// Whether this is the method's name.
    pub fn is_named(self, name: &str) -> Result<bool> {
        self.0.vector(0, 1).map(|own| own == name.as_bytes())
    }

    /// How Python saw inputs and outputs.
    pub fn container_metadata(self) -> Result<Option<ContainerMetadata<'a>>> {
        self.0.table(1).map(|table| table.map(ContainerMetadata))
    }

    /// The value table; indices elsewhere in the method refer to this table.
    pub fn values(self) -> Result<List<'a, EValue<'a>>> {
        self.0.tables(2).map(List::new)
    }

    /// The values that are inputs.
    pub fn inputs(self) -> Result<Indices<'a>> {
        self.0.vector(3, 4).map(Indices::new)
    }

    /// The values that are outputs.
    pub fn outputs(self) -> Result<Indices<'a>> {
        self.0.vector(4, 4).map(Indices::new)
    }

    /// The instructions, in chains that are executed in order.
    pub fn chains(self) -> Result<List<'a, Chain<'a>>> {
        self.0.tables(5).map(List::new)
    }

    /// Value `index`.
    pub fn value(self, index: usize) -> Result<EValue<'a>> {
        self.0.element(2, index).map(EValue::of)
    }

    /// Delegate `index`.
    pub fn delegate(self, index: usize) -> Result<BackendDelegate<'a>> {
        self.0.element(7, index).map(BackendDelegate)
    }

    /// The operators that instructions refer to.
    pub fn operators(self) -> Result<List<'a, Operator<'a>>> {
        self.0.tables(6).map(List::new)
    }

    /// The delegates that instructions refer to.
    pub fn delegates(self) -> Result<List<'a, BackendDelegate<'a>>> {
        self.0.tables(7).map(List::new)
    }

    /// Bytes per arena; item 0 is reserved, and item `i` belongs to memory id `i`.
    pub fn arena_sizes(self) -> Result<Longs<'a>> {
        self.0.vector(8, 8).map(Longs::new)
    }

    /// The arenas that lie on another device than the processor.
    pub fn arena_devices(self) -> Result<List<'a, DeviceBuffer<'a>>> {
        self.0.tables(9).map(List::new)
    }

    /// The tensor in slot `index` of the value table.
    pub fn tensor(self, index: usize) -> Result<Tensor<'a>> {
        let value = self.value(index)?;
        match value.kind()? {
            Kind::Tensor => value.content().map(Tensor::of),
            _ => Err(Error::InvalidType),
        }
    }
}

impl<'a> ContainerMetadata<'a> {
    /// The inputs' pytree as JSON.
    pub fn inputs(self) -> Result<&'a str> {
        self.0.string(0)
    }

    /// The outputs' pytree as JSON.
    pub fn outputs(self) -> Result<&'a str> {
        self.0.string(1)
    }
}

impl<'a> Chain<'a> {
    /// The values that the chain reads.
    pub fn inputs(self) -> Result<Indices<'a>> {
        self.0.vector(0, 4).map(Indices::new)
    }

    /// The values that the chain writes.
    pub fn outputs(self) -> Result<Indices<'a>> {
        self.0.vector(1, 4).map(Indices::new)
    }

    /// The number of instructions.
    pub fn instruction_count(self) -> Result<usize> {
        self.0.tables(2).map(|tables| tables.len())
    }

    /// Instruction `index`.
    pub fn instruction(self, index: usize) -> Result<Instruction<'a>> {
        self.0.element(2, index).and_then(Instruction::read)
    }

    /// Where in Python each instruction came from.
    pub fn stacktrace(self) -> Result<List<'a, FrameList<'a>>> {
        self.0.tables(3).map(List::new)
    }
}

impl<'a> Operator<'a> {
    /// The name with its namespace, such as `aten::add`.
    pub fn name(self) -> Result<&'a str> {
        self.0.string(0)
    }

    /// The overload, such as `out`; empty for the default overload.
    pub fn overload(self) -> Result<&'a str> {
        self.0.string(1)
    }

    /// Whether `full` is the name with its overload, such as `aten::add.out`.
    pub fn is_named(self, full: &str) -> Result<bool> {
        let (name, overload) = (self.0.vector(0, 1)?, self.0.vector(1, 1)?);
        let rest = full.as_bytes().strip_prefix(name);
        Ok(match rest {
            Some([]) => overload.is_empty(),
            Some([b'.', rest @ ..]) => !overload.is_empty() && rest == overload,
            _ => false,
        })
    }
}

impl<'a> BackendDelegate<'a> {
    /// The backend's name.
    pub fn id(self) -> Result<&'a str> {
        self.0.string(0)
    }

    /// Where the blob is.
    pub fn processed(self) -> Result<DataReference> {
        self.0.required_table(1).and_then(DataReference::read)
    }

    /// The options that the blob was compiled with.
    pub fn compile_specs(self) -> Result<List<'a, CompileSpec<'a>>> {
        self.0.tables(2).map(List::new)
    }
}

/// The list that a data index refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataLocation {
    /// The program's `backend_delegate_data`.
    Inline,
    /// The program's segments.
    Segment,
}

/// Where a delegate's blob is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataReference {
    /// The list that `index` refers to.
    pub location: DataLocation,
    /// The index in the list.
    pub index: u32,
}

impl DataReference {
    fn read(table: Table<'_>) -> Result<Self> {
        let location = match table.u8(0)? {
            0 => DataLocation::Inline,
            1 => DataLocation::Segment,
            _ => return Err(Error::InvalidProgram),
        };
        Ok(Self { location, index: table.u32(1)? })
    }
}

impl<'a> CompileSpec<'a> {
    /// The option's name.
    pub fn key(self) -> Result<&'a str> {
        self.0.string(0)
    }

    /// The option's value.
    pub fn value(self) -> Result<&'a [u8]> {
        self.0.vector(1, 1)
    }
}

impl DeviceBuffer<'_> {
    /// The memory id of the arena.
    pub fn arena(self) -> Result<i32> {
        self.0.i32(0)
    }

    /// The kind of device; 0 is the processor.
    pub fn device_type(self) -> Result<u8> {
        self.0.u8(1)
    }

    /// The index among devices of the same kind.
    pub fn device_index(self) -> Result<u8> {
        self.0.u8(2)
    }
}
