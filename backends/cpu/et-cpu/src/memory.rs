//! The memory of a delegate call: operand slots as slices.
#![allow(unsafe_code, reason = "slots are parts of memory that the caller lends; their bounds are checked here")]

use core::marker::PhantomData;
use core::ops::Range;

use et_core::{Access, Args, Error, Plain, Result};
use et_runtime::Claims;

use crate::blob::Header;
use crate::{Blob, Instruction, Place, SlotKind, SlotNumber};

/// The operand memory of a delegate call.
pub struct Memory<'a, 'c> {
    /// The blob at the sizes of the call.
    blob: Blob<'c>,
    arguments: &'c Args<'a, 'c>,
    /// The scratch arena of the call, aligned to a cache line.
    scratch: (*mut u8, usize),
    /// Addresses of the words of the call and of the threads' workspaces. Kernels keep pointers there, so no operand tensor may
    /// overlap them.
    reserved: Range<usize>,
}

/// The operands of an instruction: the output tensors overlap no input tensor.
pub struct Operands<'m, 'a, 'c> {
    memory: &'m Memory<'a, 'c>,
    claims: Claims<MOST>,
}

/// The maximum number of operands of an instruction.
const MOST: usize = 12;

impl<'a, 'c> Memory<'a, 'c> {
    /// The memory of a delegate call: input tensors, output tensors, and the scratch arena where the blob needs scratch. Gives the
    /// blob the sizes of the inputs, and the outputs their shapes.
    pub fn new(blob: Blob<'a>, arguments: &'c Args<'a, 'c>) -> Result<Self> {
        let header = *blob.header();
        let scratch = match usize::try_from(header.scratch).map_err(|_| Error::InvalidProgram)? {
            0 => (core::ptr::null_mut(), 0),
            _ => scratch(arguments, (header.inputs as usize).saturating_add(header.outputs as usize))?,
        };
        let mut reserved = workspaces(&header, scratch.0.addr())?;
        if !cfg!(feature = "dynamic-sizes") || !blob.has_dynamic_sizes() {
            return Ok(Self { blob, arguments, scratch, reserved });
        }
        let words = words_of_call(&blob, scratch)?;
        let addresses = words.as_ptr_range();
        if addresses.end.addr() > reserved.start {
            return Err(Error::InvalidProgram);
        }
        reserved.start = addresses.start.addr();
        Ok(Self { blob: blob.sized(arguments, words)?, arguments, scratch, reserved })
    }

    /// The blob at the sizes of the call.
    pub const fn blob(&self) -> &Blob<'c> {
        &self.blob
    }

    /// The operands of an instruction, initially empty.
    pub fn operands(&self) -> Operands<'_, 'a, 'c> {
        Operands { memory: self, claims: Claims::new() }
    }

    /// Calls `visit` with the bytes of each slot that an instruction writes, after the instruction.
    pub fn written(&self, instruction: &Instruction, visit: &mut dyn FnMut(&[u8])) {
        instruction.visit_slots(&mut |slot, access| {
            if let (crate::Access::Write, Ok(bytes)) = (access, self.operands().read_all(SlotNumber(slot))) {
                visit(bytes);
            }
        });
    }

    /// The address and size of a thread's workspace.
    pub fn workspace(&self, thread: usize) -> Result<(*mut u8, usize)> {
        let header = self.blob.header();
        let size = usize::try_from(header.workspace).map_err(|_| Error::InvalidProgram)?;
        let start = usize::try_from(header.workspaces).map_err(|_| Error::InvalidProgram)?;
        let start = thread.checked_mul(size).and_then(|skipped| skipped.checked_add(start));
        let start = start.filter(|start| start.checked_add(size).is_some_and(|end| end <= self.scratch.1));
        let start = start.filter(|_| thread < header.threads as usize).ok_or(Error::InvalidProgram)?;
        Ok((self.scratch.0.wrapping_add(start), size))
    }

    /// The address and size of a slot's memory from `offset` on.
    fn region(&self, slot: SlotNumber, offset: usize, writes: bool) -> Result<(*mut u8, usize)> {
        let (kind, slot) = self.blob.slot(slot.0)?;
        let number = |number: u64| usize::try_from(number).map_err(|_| Error::InvalidProgram);
        let (start, size) = (number(slot.start)?, number(slot.size)?);
        let (begin, available) = match kind {
            SlotKind::Input if !writes => self.argument(start, 0, size)?,
            SlotKind::Output => self.argument(start, self.blob.header().inputs as usize, size)?,
            SlotKind::Scratch => part(self.scratch, start, size)?,
            SlotKind::Constant if !writes => {
                let constants = self.blob.constants();
                part((constants.as_ptr().cast_mut(), constants.len()), start, size)?
            }
            SlotKind::Input | SlotKind::Constant => return Err(Error::InvalidProgram),
        };
        part((begin, available), offset, available.checked_sub(offset).ok_or(Error::InvalidProgram)?)
    }

    fn argument(&self, position: usize, first: usize, size: usize) -> Result<(*mut u8, usize)> {
        let position = position.checked_add(first).ok_or(Error::InvalidProgram)?;
        let tensor = self.arguments.tensor(position)?;
        let constant = first > 0 && tensor.access() == Access::Constant;
        if tensor.nbytes() != size || tensor.data().is_null() || constant {
            return Err(Error::InvalidArgument);
        }
        Ok((tensor.data(), size))
    }
}

impl<'m> Operands<'m, '_, '_> {
    /// `count` elements of an input tensor.
    pub fn read<T: Plain>(&mut self, place: Place, count: usize) -> Result<&'m [T]> {
        let start = self.claim::<T>(place.slot, place.offset as usize, count, false)?;
        // SAFETY: the region has `count` aligned elements; no kernel writes to the region while the instruction runs.
        Ok(unsafe { core::slice::from_raw_parts(start, count) })
    }

    /// `count` elements of an input tensor; `None` for an absent operand.
    pub fn read_present<T: Plain>(&mut self, place: Place, count: usize) -> Result<Option<&'m [T]>> {
        place.is_present().then(|| self.read(place, count)).transpose()
    }

    /// All elements of a slot.
    pub fn read_all<T: Plain>(&mut self, slot: SlotNumber) -> Result<&'m [T]> {
        let (_, size) = self.memory.region(slot, 0, false)?;
        self.read(Place { slot, offset: 0 }, size / size_of::<T>())
    }

    /// All elements of a slot; `None` for an absent operand.
    pub fn read_optional<T: Plain>(&mut self, slot: SlotNumber) -> Result<Option<&'m [T]>> {
        if slot == SlotNumber::NONE { Ok(None) } else { self.read_all(slot).map(Some) }
    }

    /// `count` elements of an output tensor.
    pub fn write<T: Plain>(&mut self, place: Place, count: usize) -> Result<Written<'m, T>> {
        let start = self.claim::<T>(place.slot, place.offset as usize, count, true)?;
        Ok(Written { start, count, memory: PhantomData })
    }

    /// Whether two operands have the same memory from their places on, as an input that a partition writes in place.
    pub fn are_one(&self, input: Place, output: Place) -> Result<bool> {
        let [input, output] = [(input, false), (output, true)]
            .map(|(place, writes)| self.memory.region(place.slot, place.offset as usize, writes));
        Ok(input?.0 == output?.0)
    }

    fn claim<T: Plain>(&mut self, slot: SlotNumber, offset: usize, count: usize, writes: bool) -> Result<*mut T> {
        let (start, size) = self.memory.region(slot, offset, writes)?;
        let bytes = count.checked_mul(size_of::<T>()).ok_or(Error::InvalidProgram)?;
        if bytes > size || start.addr() % align_of::<T>() != 0 {
            return Err(Error::InvalidProgram);
        }
        let (range, reserved) = (start.addr()..start.addr() + bytes, &self.memory.reserved);
        if bytes > 0 && range.start < reserved.end && reserved.start < range.end {
            return Err(Error::InvalidProgram);
        }
        self.claims.add(range, writes)?;
        Ok(start.cast())
    }
}

/// The elements of an output tensor: the exclusive access of an instruction to the tensor.
pub struct Written<'m, T> {
    start: *mut T,
    count: usize,
    memory: PhantomData<&'m mut [T]>,
}

impl<'m, T> Written<'m, T> {
    /// All elements of the tensor.
    pub fn slice(self) -> &'m mut [T] {
        // SAFETY: the region has `count` aligned elements and overlaps no input tensor; `self` was the exclusive access.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.count) }
    }

    /// The address of the first element and the number of elements.
    pub const fn raw(&self) -> (*mut T, usize) {
        (self.start, self.count)
    }
}

/// The addresses of all threads' workspaces, in the scratch arena at address `scratch`.
fn workspaces(header: &Header, scratch: usize) -> Result<Range<usize>> {
    let number = |number: u64| usize::try_from(number).map_err(|_| Error::InvalidProgram);
    let size = (header.threads as usize).checked_mul(number(header.workspace)?).ok_or(Error::InvalidProgram)?;
    let start = scratch.checked_add(number(header.workspaces)?).ok_or(Error::InvalidProgram)?;
    Ok(start..start.checked_add(size).ok_or(Error::InvalidProgram)?)
}

/// The part of the scratch arena for the words of a call with dynamic sizes.
fn words_of_call<'c>(blob: &Blob<'_>, scratch: (*mut u8, usize)) -> Result<&'c mut [[u8; 4]]> {
    let start = usize::try_from(blob.header().words_of_call).map_err(|_| Error::InvalidProgram)?;
    let bytes = blob.words_of_call().checked_mul(4).filter(|bytes| *bytes > 0).ok_or(Error::InvalidProgram)?;
    let (first, _) = part(scratch, start, bytes)?;
    // SAFETY: the bytes are initialized memory that the caller lends for the call, of which no operand may be a part
    // (`Memory::reserved`); bytes have no alignment.
    Ok(unsafe { core::slice::from_raw_parts_mut(first.cast(), bytes / 4) })
}

fn part((start, size): (*mut u8, usize), offset: usize, length: usize) -> Result<(*mut u8, usize)> {
    let fits = offset.checked_add(length).is_some_and(|end| end <= size);
    if fits { Ok((start.wrapping_add(offset), length)) } else { Err(Error::InvalidProgram) }
}

/// The scratch arena, aligned to a cache line.
fn scratch(arguments: &Args<'_, '_>, position: usize) -> Result<(*mut u8, usize)> {
    let tensor = arguments.tensor(position)?;
    if tensor.data().is_null() || tensor.access() == Access::Constant {
        return Err(Error::DelegateMemoryAllocationFailed);
    }
    let skip = tensor.data().addr().next_multiple_of(crate::ALIGNMENT) - tensor.data().addr();
    let size = tensor.nbytes().checked_sub(skip).ok_or(Error::DelegateMemoryAllocationFailed)?;
    Ok((tensor.data().wrapping_add(skip), size))
}
