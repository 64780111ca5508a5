//! States: arguments of the call that kernels change in place.

use core::ops::Range;
use std::collections::BTreeSet;
use std::sync::Arc;

use et_core::Tensor;

use crate::blob::{Object, Role};
use crate::device_memory::Purpose;
use crate::driver::import::import;
use crate::driver::memory::{Memory, Use};
use crate::driver::resource::Resource;
use crate::problem::Outcome;
use crate::resident::Resident;
use crate::shared::Shared;

/// A state of a session.
pub struct State<'a> {
    tensor: Tensor<'a>,
    /// The bytes of the tensor, whose shape may change later.
    bytes: usize,
    place: Place,
}

/// Where kernels access a state.
enum Place {
    /// The memory of the tensor.
    Imported(Resource),
    /// A copy of one session, which the host fills before kernels and stores after kernels.
    Copied(Resource, Arc<Memory>),
    /// A copy that keeps the contents.
    Kept(Arc<Resident>),
}

impl<'a> State<'a> {
    /// The state of a tensor, which has the size of the object. `keeps` says that nobody but sessions accesses the tensor.
    pub fn create(shared: &Shared, object: &Object, tensor: &Tensor<'a>, keeps: bool) -> Outcome<Self> {
        Ok(Self { tensor: *tensor, bytes: tensor.nbytes(), place: Place::of(shared, object, tensor, keeps)? })
    }

    /// Whether the state is in the memory of a tensor.
    pub fn is_of(&self, tensor: &Tensor<'_>) -> bool {
        (self.tensor.data(), self.bytes) == (tensor.data(), tensor.nbytes())
    }

    /// The buffer.
    pub fn resource(&self) -> &Resource {
        match &self.place {
            Place::Imported(resource) | Place::Copied(resource, _) => resource,
            Place::Kept(resident) => resident.resource(),
        }
    }

    /// Fills a copy before kernels.
    pub fn fill(&self, shared: &Shared) -> Outcome<()> {
        match &self.place {
            Place::Imported(_) => Ok(()),
            Place::Copied(_, memory) => {
                shared.store(&self.tensor)?;
                memory.write(0, &self.tensor, 0..self.tensor.nbytes())?;
                memory.flush()
            }
            Place::Kept(resident) => resident.fill(&self.tensor),
        }
    }

    /// Stores the copy of one session after kernels.
    pub fn store(&self) -> Outcome<()> {
        let Place::Copied(_, memory) = &self.place else { return Ok(()) };
        memory.invalidate()?;
        memory.read(0, &self.tensor, 0..self.tensor.nbytes())
    }
}

impl Place {
    fn of(shared: &Shared, object: &Object, tensor: &Tensor<'_>, keeps: bool) -> Outcome<Self> {
        let device = &shared.device;
        if let Some(buffer) = import(device, tensor, object.size, true) {
            return Ok(Self::Imported(Resource::Buffer(buffer)));
        }
        if keeps && Resident::can_hold(device, tensor) {
            return shared.resident(object, tensor).map(Self::Kept);
        }
        let (resource, memory) = Resource::with_memory(device, object, Use::Shared, Purpose::States)?;
        Ok(Self::Copied(resource, memory))
    }
}

// The last owner of a copy stores the contents: a session that is loaded later may have the same tensor.
impl Drop for State<'_> {
    fn drop(&mut self) {
        let Place::Kept(resident) = &self.place else { return };
        if Arc::strong_count(resident) == 1 {
            // After a failure, the tensor keeps its stamp, and later reads of the tensor fail.
            let _ = resident.store(&self.tensor);
        }
    }
}

/// The arguments without an object that must have the memory of a state: outputs that are not copied. A program may leave weights of the
/// call to the programs for other GPUs.
pub struct InPlace {
    outputs: Range<usize>,
    copied: BTreeSet<usize>,
}

impl InPlace {
    /// Of a call with `arguments` arguments, of which the last are `outputs` outputs; none without states.
    pub fn of(objects: &[Object], arguments: usize, outputs: usize) -> Self {
        let of = |role| objects.iter().filter(move |object| object.role == role).map(|object| object.argument as usize);
        let outputs = if of(Role::State).next().is_some() { outputs } else { 0 };
        Self { outputs: arguments.saturating_sub(outputs)..arguments, copied: of(Role::Output).collect() }
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
        let in_place = |objects: &[Object]| InPlace::of(objects, 9, 3).arguments().collect::<Vec<_>>();
        let inputs = [object(Role::State, 1), object(Role::Input, 2), object(Role::Scratch, 0)];
        let objects = [&inputs[..], &[object(Role::Weights, 4), object(Role::Output, 6)]].concat();
        assert_eq!(in_place(&objects), [7, 8]);
        assert_eq!(in_place(&objects[1..]), [0; 0]);
    }
}
