//! The exchange of constants: a loaded method reads the tensors of another data file, such as that of another adapter.

use et_core::{Error, Result, Storage, Value};
use et_format::{Kind, Tensor, View};

use crate::load::{external, external_bytes, layout};
use crate::{Failure, Method, NamedData, Place};

impl<'a> Method<'a> {
    /// The number of external constants whose names begin with `prefix`, which `data` has all.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a constant that `data` lacks, [`Error::InvalidExternalData`] for one of another type, shape or dim order; the
    /// place is that of the value.
    pub fn exchangeable(
        &self,
        prefix: &str,
        data: &(impl NamedData<'a> + ?Sized),
    ) -> core::result::Result<usize, Failure> {
        self.each_external(prefix, data, |_, _| Ok(()))
    }

    /// Puts the tensors of `data` in the place of those constants. After a failure all constants are those of before.
    ///
    /// # Errors
    /// As [`Self::exchangeable`].
    pub fn exchange(&self, prefix: &str, data: &(impl NamedData<'a> + ?Sized)) -> core::result::Result<(), Failure> {
        self.exchangeable(prefix, data)?;
        let put = |slot, tensor| {
            self.slot(slot)?.set(Value::Tensor(tensor));
            Ok(())
        };
        self.each_external(prefix, data, put).map(|_| ())
    }

    /// Calls `see` with the slot of each constant and the tensor of `data`; returns how many there are.
    fn each_external(
        &self,
        prefix: &str,
        data: &(impl NamedData<'a> + ?Sized),
        mut see: impl FnMut(i32, et_core::Tensor<'a>) -> Result<()>,
    ) -> core::result::Result<usize, Failure> {
        let mut count = 0;
        for (slot, value) in (0_u32..).zip(self.plan.plan.values()?.iter()) {
            let value = value?;
            if value.kind()? != Kind::Tensor {
                continue;
            }
            let found = found(Tensor::of(value.content()?), prefix, data);
            let see = |tensor| see(i32::try_from(slot).map_err(|_| Error::InvalidProgram)?, tensor);
            let seen = found.and_then(|tensor| tensor.map(see).transpose());
            count += usize::from(seen.map_err(|error| Place::Value(slot).failure(error))?.is_some());
        }
        Ok(count)
    }
}

/// The tensor of `data` in the place of a tensor of the program; `None` for a tensor that is no external constant of such a name.
fn found<'a>(
    tensor: Tensor<'a>,
    prefix: &str,
    data: &(impl NamedData<'a> + ?Sized),
) -> Result<Option<et_core::Tensor<'a>>> {
    let Some(extra) = external(tensor.extra()?)?.filter(|_| matches!(tensor.allocation(), Ok(None))) else {
        return Ok(None);
    };
    let name = extra.fully_qualified_name()?;
    if !name.starts_with(prefix) {
        return Ok(None);
    }
    let layout = layout(tensor)?;
    let bytes = external_bytes(data, name, &layout)?;
    et_core::Tensor::place(layout, Storage::Constant(bytes), None).map(Some)
}
