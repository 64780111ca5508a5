//! A program file and the memory requirements of its methods.

use et_core::{Error, Result};
use et_format::{ExecutionPlan, Kind, ProgramFile, ShapeDynamism, Tensor, View};

/// A program file in memory, such as flash or a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    file: ProgramFile<'a>,
}

/// A method of a program, not yet loaded.
#[derive(Clone, Copy, Debug)]
pub struct MethodPlan<'a> {
    pub(crate) file: ProgramFile<'a>,
    pub(crate) plan: ExecutionPlan<'a>,
}

/// How many items a method's memory must have; see [`Memory`](crate::Memory).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// Slots of the value table.
    pub values: usize,
    /// Arenas, whose sizes [`MethodPlan::arena_size`] gives.
    pub arenas: usize,
    /// Integers that hold the shapes of dynamic tensors.
    pub sizes: usize,
}

impl<'a> Program<'a> {
    /// Checks the frame of a program file.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        ProgramFile::parse(bytes).map(|file| Self { file })
    }

    /// The file.
    pub const fn file(&self) -> ProgramFile<'a> {
        self.file
    }

    /// The number of methods.
    pub fn method_count(&self) -> Result<usize> {
        self.file.program().execution_plans().map(|plans| plans.len())
    }

    /// Method `index`.
    pub fn method_at(&self, index: usize) -> Result<MethodPlan<'a>> {
        let plan = self.file.program().execution_plan(index)?;
        Ok(MethodPlan { file: self.file, plan })
    }

    /// The method with this name, such as `forward`.
    pub fn method(&self, name: &str) -> Result<MethodPlan<'a>> {
        for plan in self.file.program().execution_plans()?.iter() {
            let plan = plan?;
            if plan.is_named(name)? {
                return Ok(MethodPlan { file: self.file, plan });
            }
        }
        Err(Error::NotFound)
    }
}

impl<'a> MethodPlan<'a> {
    /// The file that the method is in.
    pub const fn file(&self) -> ProgramFile<'a> {
        self.file
    }

    /// The plan of the method in the file.
    pub const fn plan(&self) -> ExecutionPlan<'a> {
        self.plan
    }

    /// How much memory the method needs.
    pub fn requirements(&self) -> Result<Requirements> {
        let values = self.plan.values()?;
        let mut sizes = 0_usize;
        for value in values.iter() {
            let value = value?;
            if value.kind()? == Kind::Tensor {
                sizes = sizes.saturating_add(dynamic_sizes(Tensor::of(value.content()?))?);
            }
        }
        Ok(Requirements { values: values.len(), arenas: self.arena_count()?, sizes })
    }

    /// The number of arenas; the file's first entry is reserved.
    pub fn arena_count(&self) -> Result<usize> {
        Ok(self.plan.arena_sizes()?.len().saturating_sub(1))
    }

    /// Bytes that arena `index` must have.
    pub fn arena_size(&self, index: usize) -> Result<usize> {
        let size = self.plan.arena_sizes()?.get(index + 1).ok_or(Error::NotFound)?;
        usize::try_from(size).map_err(|_| Error::InvalidProgram)
    }
}

/// The number of integers for a tensor's shape at run time: 0 for a static tensor, else sizes and bounds.
pub(crate) fn dynamic_sizes(tensor: Tensor<'_>) -> Result<usize> {
    match tensor.shape_dynamism()? {
        ShapeDynamism::Static => Ok(0),
        ShapeDynamism::Bounded => Ok(2 * tensor.sizes()?.len()),
        ShapeDynamism::Unbounded => Err(Error::NotSupported),
    }
}
