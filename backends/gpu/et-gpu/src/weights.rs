//! Weights on a device.

use std::sync::Arc;

use et_core::Tensor;

use crate::blob::{Kind, Object};
use crate::device_memory::Purpose;
use crate::driver::device::Device;
use crate::driver::import::import;
use crate::driver::memory::Use;
use crate::driver::resource::Resource;
use crate::driver::staging;
use crate::problem::Outcome;

/// What determines weights on a device: the memory of the tensor, which does not change, and the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WeightsKey {
    address: usize,
    bytes: usize,
    kind: u32,
    extent: [u32; 3],
    size: u64,
}

impl WeightsKey {
    /// The key of an object that holds a tensor.
    pub fn of(object: &Object, tensor: &Tensor<'_>) -> Self {
        let Object { kind, extent, size, .. } = *object;
        Self { address: tensor.data().addr(), bytes: tensor.nbytes(), kind: kind as u32, extent, size }
    }
}

/// Weights on a device.
pub struct Weights(Resource);

impl Weights {
    /// Loads a tensor.
    pub fn create(device: &Arc<Device>, object: &Object, tensor: &Tensor<'_>) -> Outcome<Self> {
        load(device, object, tensor).map(Self)
    }

    /// The buffer or image.
    pub const fn resource(&self) -> &Resource {
        &self.0
    }
}

fn load(device: &Arc<Device>, object: &Object, tensor: &Tensor<'_>) -> Outcome<Resource> {
    if let Some(buffer) = (object.kind == Kind::Buffer).then(|| import(device, tensor, object.size, false)).flatten() {
        return Ok(Resource::Buffer(buffer));
    }
    let writes = object.kind == Kind::Buffer && device.is_unified();
    let usage = if writes { Use::Shared } else { Use::Device };
    let (resource, memory) = Resource::with_memory(device, object, usage, Purpose::Weights)?;
    if writes {
        memory.write(0, tensor, 0..tensor.nbytes())?;
        memory.flush()?;
    } else {
        staging::fill(device, &resource, object, tensor)?;
    }
    Ok(resource)
}
