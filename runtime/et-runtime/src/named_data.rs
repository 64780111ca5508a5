//! Tensors outside the program file, by name.

use core::cell::Cell;

use et_core::{Error, Result, TensorLayout};
use et_format::{Allocation, DataFile};

/// A source of tensors that the program file refers to by name.
pub trait NamedData<'a> {
    /// The tensor with this fully qualified name: its layout, and at least the bytes of that layout;
    /// [`Error::NotFound`] for an unknown name.
    fn tensor(&self, name: &str) -> Result<(TensorLayout<'a>, &'a [u8])>;

    /// Memory in the place of an arena from this place on: the state of another method. `None` for the arena itself.
    #[inline]
    fn lent(&self, _place: Allocation) -> Option<&'a [Cell<u8>]> {
        None
    }
}

/// No data files.
#[derive(Clone, Copy, Debug)]
pub struct NoData;

impl<'a> NamedData<'a> for NoData {
    #[inline]
    fn tensor(&self, _: &str) -> Result<(TensorLayout<'a>, &'a [u8])> {
        Err(Error::NotFound)
    }
}

impl<'a> NamedData<'a> for DataFile<'a> {
    /// An entry without layout is a blob for a delegate, not a tensor.
    fn tensor(&self, name: &str) -> Result<(TensorLayout<'a>, &'a [u8])> {
        let entry = self.find(name)?;
        let layout = entry.layout()?.ok_or(Error::InvalidExternalData)?.read()?;
        let bytes = self.bytes(entry)?;
        if bytes.len() < layout.nbytes()? { Err(Error::InvalidExternalData) } else { Ok((layout, bytes)) }
    }
}

/// Several files: the first that has the name counts.
impl<'a, D: NamedData<'a>> NamedData<'a> for [D] {
    fn tensor(&self, name: &str) -> Result<(TensorLayout<'a>, &'a [u8])> {
        let found = self.iter().map(|file| file.tensor(name)).find(|tensor| !matches!(tensor, Err(Error::NotFound)));
        found.unwrap_or(Err(Error::NotFound))
    }
}
