//! States that stay on a device with memory of its own.
//!
//! The contents are on the device or in the tensor. While the contents are on the device, the tensor has the stamp of the
//! copy: any other bytes, such as initial values, or another arena at the address, are contents.

use std::sync::Arc;

use et_core::{Error, Tensor};

use crate::blob::Object;
use crate::device_memory::Purpose;
use crate::driver::buffer::Buffer;
use crate::driver::device::Device;
use crate::driver::memory::Use;
use crate::driver::resource::Resource;
use crate::driver::staging::Staging;
use crate::problem::{Outcome, Problem};
use crate::stamp::{SIZE, Stamp, is_stamped};

/// What determines a state on a device: the memory of the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResidentKey {
    address: usize,
    bytes: usize,
}

impl ResidentKey {
    /// The key of a tensor.
    pub fn of(tensor: &Tensor<'_>) -> Self {
        Self { address: tensor.data().addr(), bytes: tensor.nbytes() }
    }
}

/// The copy of a state on a device, which all sessions with the state share.
pub struct Resident {
    device: Arc<Device>,
    resource: Resource,
    stamp: Stamp,
}

impl Resident {
    /// Whether the state of a tensor can stay on a device: a device with the memory of the host needs no copy.
    pub fn can_hold(device: &Device, tensor: &Tensor<'_>) -> bool {
        !device.is_unified() && !tensor.is_dynamic() && tensor.nbytes() >= SIZE
    }

    /// A copy without contents.
    pub fn create(device: &Arc<Device>, object: &Object) -> Outcome<Self> {
        let (resource, _) = Resource::with_memory(device, object, Use::Device, Purpose::States)?;
        Ok(Self { device: Arc::clone(device), resource, stamp: Stamp::new() })
    }

    /// The buffer.
    pub const fn resource(&self) -> &Resource {
        &self.resource
    }

    /// Copies the contents to the device, unless the contents are there.
    ///
    /// # Errors
    /// [`Error::InvalidState`] where the contents were in another copy, which is gone; errors of the driver.
    pub fn fill(&self, tensor: &Tensor<'_>) -> Outcome<()> {
        if self.has(tensor)? {
            return Ok(());
        }
        let buffer = self.buffer()?;
        Staging::for_buffer(&self.device, buffer)?.fill_buffer(buffer, tensor)?;
        self.stamp.put_on(tensor)
    }

    /// Copies the contents to the tensor, unless the contents are there.
    ///
    /// # Errors
    /// As of [`Self::fill`].
    pub fn store(&self, tensor: &Tensor<'_>) -> Outcome<()> {
        if !self.has(tensor)? {
            return Ok(());
        }
        let buffer = self.buffer()?;
        Staging::for_buffer(&self.device, buffer)?.read_buffer(buffer, tensor)
    }

    /// Whether the contents of a tensor are on the device.
    fn has(&self, tensor: &Tensor<'_>) -> Outcome<bool> {
        let is_here = self.stamp.is_on(tensor);
        if is_here || !is_stamped(tensor) { Ok(is_here) } else { Err(lost()) }
    }

    fn buffer(&self) -> Outcome<&Buffer> {
        self.resource.buffer().ok_or_else(|| Error::Internal.into())
    }
}

/// The failure of a state whose copy is gone.
pub fn lost() -> Problem {
    Problem::new(Error::InvalidState, "a state was lost with the GPU that had the state: load the program anew")
}
