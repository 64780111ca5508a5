//! Memory allocations, and copies between them and the tensors of a call.
#![allow(unsafe_code, reason = "calls the Vulkan driver")]

use core::ffi::c_void;
use core::ops::Range;
use core::ptr::NonNull;
use std::sync::Arc;

use ash::vk;
use et_core::{Error, Tensor};

use super::device::Device;
use super::failure::failed;
use crate::device_memory::{Counted, Purpose};
use crate::mapping::Mapping;
use crate::problem::{Outcome, Problem};

/// A memory allocation, mapped if the host can access the memory and [`Use`] says so.
pub struct Memory {
    device: Arc<Device>,
    raw: vk::DeviceMemory,
    size: u64,
    mapped: Option<Mapping>,
    coherent: bool,
    _counted: Counted,
}

/// Who accesses memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Kernels.
    Device,
    /// The host and kernels.
    Shared,
}

type Flags = vk::MemoryPropertyFlags;

impl Use {
    /// The properties of memory, best first.
    fn preferences(self) -> Vec<Flags> {
        let cached = Flags::HOST_VISIBLE | Flags::HOST_CACHED;
        match self {
            Self::Device => vec![Flags::DEVICE_LOCAL, Flags::empty()],
            Self::Shared => {
                vec![cached | Flags::DEVICE_LOCAL, cached, Flags::HOST_VISIBLE | Flags::HOST_COHERENT]
            }
        }
    }
}

impl Memory {
    /// Allocates `size` bytes of one of the memory types in the bits `types`.
    pub fn allocate(device: &Arc<Device>, size: u64, types: u32, usage: Use, purpose: Purpose) -> Outcome<Arc<Self>> {
        let found = usage.preferences().into_iter().find_map(|flags| find_type(device, types, flags));
        let (index, flags) = found.ok_or_else(|| Problem::unsupported("the GPU has no memory of a needed type"))?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(index);
        let raw = allocate(device, &info).map_err(failed(&format!("hold {size} bytes of tensors")))?;
        let coherent = flags.contains(Flags::HOST_COHERENT);
        let _counted = Counted::new(purpose, size);
        let mut memory = Self { device: Arc::clone(device), raw, size, mapped: None, coherent, _counted };
        if usage == Use::Shared {
            memory.map()?;
        }
        Ok(Arc::new(memory))
    }

    /// Imports host memory without a copy. The address and the size are multiples of the alignment that the device states.
    ///
    /// # Safety
    /// The memory exists as long as the allocation. While kernels access bytes of the memory, the host writes none of these,
    /// and while kernels write bytes, the host reads none of these.
    pub unsafe fn import(device: &Arc<Device>, address: *mut c_void, size: u64, types: u32) -> Option<Arc<Self>> {
        let handle = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
        let functions = device.import.as_ref()?;
        let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
        // SAFETY: the device has the extension, and the caller guarantees the memory.
        let result = unsafe {
            let call = functions.fp().get_memory_host_pointer_properties_ext;
            call(device.raw.handle(), handle, address, &raw mut properties)
        };
        if result != vk::Result::SUCCESS {
            return None;
        }
        // Without a mapping, nothing is flushed.
        let (index, _) = find_type(device, types & properties.memory_type_bits, Flags::HOST_COHERENT)?;
        let mut import = vk::ImportMemoryHostPointerInfoEXT::default().handle_type(handle).host_pointer(address);
        let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(index);
        // SAFETY: as before, and the memory type can import the pointer.
        let raw = unsafe { device.raw.allocate_memory(&info.push_next(&mut import), None) }.ok()?;
        let _counted = Counted::new(Purpose::Imported, size);
        Some(Arc::new(Self { device: Arc::clone(device), raw, size, mapped: None, coherent: true, _counted }))
    }

    fn map(&mut self) -> Outcome<()> {
        // SAFETY: the memory is host-visible and not mapped.
        let start = unsafe { self.device.raw.map_memory(self.raw, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) };
        let start = NonNull::new(start.map_err(failed("map memory"))?.cast());
        // SAFETY: the mapping has the bytes until the memory is freed, and an execution ends before the host copies.
        self.mapped = start.map(|start| unsafe { Mapping::new(start, self.size) });
        Ok(())
    }

    /// The handle.
    pub const fn raw(&self) -> vk::DeviceMemory {
        self.raw
    }

    /// As [`Mapping::write`].
    pub fn write(&self, offset: u64, tensor: &Tensor<'_>, range: Range<usize>) -> Outcome<()> {
        self.mapping()?.write(offset, tensor, range)
    }

    /// As [`Mapping::read`].
    pub fn read(&self, offset: u64, tensor: &Tensor<'_>, range: Range<usize>) -> Outcome<()> {
        self.mapping()?.read(offset, tensor, range)
    }

    fn mapping(&self) -> Outcome<&Mapping> {
        self.mapped.as_ref().ok_or_else(|| Error::Internal.into())
    }

    /// Makes writes of the host visible to kernels.
    pub fn flush(&self) -> Outcome<()> {
        if self.coherent {
            return Ok(());
        }
        // SAFETY: the memory is mapped.
        unsafe { self.device.raw.flush_mapped_memory_ranges(&[self.whole()]) }.map_err(failed("flush memory"))
    }

    /// Makes writes of kernels visible to the host.
    pub fn invalidate(&self) -> Outcome<()> {
        if self.coherent {
            return Ok(());
        }
        // SAFETY: the memory is mapped.
        unsafe { self.device.raw.invalidate_mapped_memory_ranges(&[self.whole()]) }.map_err(failed("read memory"))
    }

    fn whole(&self) -> vk::MappedMemoryRange<'static> {
        vk::MappedMemoryRange::default().memory(self.raw).size(vk::WHOLE_SIZE)
    }
}

/// The first memory type in the bits `types` with the properties `flags`, and all its properties.
fn find_type(device: &Device, types: u32, flags: Flags) -> Option<(u32, Flags)> {
    let all = (0..).zip(device.description.memory.memory_types_as_slice());
    let mut all = all.map(|(index, kind)| (index, kind.property_flags));
    all.find(|(index, found)| types >> index & 1 == 1 && found.contains(flags))
}

fn allocate(device: &Device, info: &vk::MemoryAllocateInfo<'_>) -> Result<vk::DeviceMemory, vk::Result> {
    #[cfg(any(test, feature = "faults"))]
    if crate::faults::fails_allocation() {
        return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    }
    // SAFETY: the memory type exists; a size above the limits is an error of the driver.
    unsafe { device.raw.allocate_memory(info, None) }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !self.device.queue.hangs() {
            // SAFETY: buffers and images own their memory, so that none uses the memory. This unmaps the memory.
            unsafe { self.device.raw.free_memory(self.raw, None) };
        }
    }
}
