//! States: arguments of the call that kernels change in place.

use core::ops::Range;
use std::collections::BTreeSet;
use std::sync::Arc;

use et_core::Tensor;

use crate::blob::{Object, Role};
use crate::device_memory::Purpose;
use crate::problem::Outcome;
use crate::vulkan::device::Device;
use crate::vulkan::import::import;
use crate::vulkan::memory::{Memory, Use};
use crate::vulkan::resource::Resource;

/// A state on a device: the memory of a tensor, or a copy.
pub struct State {
    address: usize,
    bytes: usize,
    resource: Resource,
    /// The memory of a copy, which the host fills before kernels and stores after kernels.
    copy: Option<Arc<Memory>>,
}

impl State {
    /// The state of a tensor, which has the size of the object. Every delegate has a state of its own: executions follow each
    /// other, and each leaves the contents in the tensor.
    pub fn create(device: &Arc<Device>, object: &Object, tensor: &Tensor<'_>) -> Outcome<Self> {
        let (address, bytes) = (tensor.data().addr(), tensor.nbytes());
        if let Some(buffer) = import(device, tensor, object.size, true) {
            return Ok(Self { address, bytes, resource: Resource::Buffer(buffer), copy: None });
        }
        let mut resource = Resource::create(device, object)?;
        let requirements = resource.requirements();
        let memory =
            Memory::allocate(device, requirements.size, requirements.memory_type_bits, Use::Shared, Purpose::States)?;
        resource.bind(&memory, 0)?;
        Ok(Self { address, bytes, resource, copy: Some(memory) })
    }

    /// Whether the state is in the memory of a tensor.
    pub fn is_of(&self, tensor: &Tensor<'_>) -> bool {
        (self.address, self.bytes) == (tensor.data().addr(), tensor.nbytes())
    }

    /// The buffer.
    pub const fn resource(&self) -> &Resource {
        &self.resource
    }

    /// Fills a copy.
    pub fn fill(&self, tensor: &Tensor<'_>) -> Outcome<()> {
        let Some(memory) = &self.copy else { return Ok(()) };
        memory.write(0, tensor, 0..tensor.nbytes())?;
        memory.flush()
    }

    /// Stores a copy.
    pub fn store(&self, tensor: &Tensor<'_>) -> Outcome<()> {
        let Some(memory) = &self.copy else { return Ok(()) };
        memory.invalidate()?;
        memory.read(0, tensor)
    }
}

/// The arguments without an object that must have the memory of a state: outputs, which follow inputs, weights and states.
pub struct InPlace {
    outputs: Range<usize>,
    copied: BTreeSet<usize>,
}

impl InPlace {
    /// Of a call with `arguments` arguments; none without states.
    pub fn of(objects: &[Object], arguments: usize) -> Self {
        let of = |role| objects.iter().filter(move |object| object.role == role).map(|object| object.argument as usize);
        let before = of(Role::Input).chain(of(Role::Weights)).chain(of(Role::State));
        let first = of(Role::State).next().and_then(|_| before.max()).map_or(arguments, |last| last + 1);
        Self { outputs: first..arguments, copied: of(Role::Output).collect() }
    }

    /// The arguments in order.
    pub fn arguments(&self) -> impl Iterator<Item = usize> {
        self.outputs.clone().filter(|argument| !self.copied.contains(argument))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(role: Role, argument: u32) -> Object {
        Object { role, argument, ..Object::default() }
    }

    #[test]
    fn outputs_without_an_object_are_in_place_after_inputs() {
        let in_place = |objects: &[Object]| InPlace::of(objects, 9).arguments().collect::<Vec<_>>();
        let inputs = [object(Role::State, 1), object(Role::Input, 2), object(Role::Scratch, 0)];
        let objects = [&inputs[..], &[object(Role::Weights, 4), object(Role::Output, 6)]].concat();
        assert_eq!(in_place(&objects), [5, 7, 8]);
        assert_eq!(in_place(&objects[1..]), [0; 0]);
    }
}
