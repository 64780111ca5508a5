//! The objects that dispatches access.

use std::sync::Arc;

use et_core::Error;

use super::device::Device;
use super::memory::Memory;
use super::pipeline::Pipeline;
use super::resource::Resource;
use crate::descriptor::Descriptor;
use crate::problem::Outcome;

/// The bindings of a dispatch.
pub struct Bindings<'r> {
    /// The pipeline.
    #[expect(dead_code, reason = "the interface of drivers")]
    pub pipeline: &'r Pipeline,
    /// The objects, in the order of the bindings.
    pub objects: Vec<(Descriptor, &'r Resource)>,
}

/// The buffers of a dispatch in the order of the bindings: the memory, and the first byte in it.
pub type Bound = Arc<[(Arc<Memory>, usize)]>;

/// The bound objects of dispatches.
pub struct Descriptors(Vec<Bound>);

impl Descriptors {
    /// The bound objects of each of the dispatches.
    pub fn create(_device: &Arc<Device>, dispatches: &[Bindings<'_>]) -> Outcome<Self> {
        let place = |(_, resource): &(Descriptor, &Resource)| {
            let (memory, offset) = resource.buffer()?.place()?;
            Some((Arc::clone(memory), *offset as usize))
        };
        let bound = |dispatch: &Bindings<'_>| dispatch.objects.iter().map(place).collect::<Option<Bound>>();
        let bound = dispatches.iter().map(bound).collect::<Option<_>>();
        Ok(Self(bound.ok_or(Error::Internal)?))
    }

    /// The bound objects of a dispatch.
    pub fn set(&self, dispatch: usize) -> Option<Bound> {
        self.0.get(dispatch).cloned()
    }
}
