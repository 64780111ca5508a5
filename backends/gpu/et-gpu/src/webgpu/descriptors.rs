//! The objects that dispatches access.

use std::sync::Arc;

use et_core::Error;

use super::buffer::Buffer;
use super::calls::{self, Bound};
use super::device::Device;
use super::pipeline::Pipeline;
use super::resource::Resource;
use crate::descriptor::Descriptor;
use crate::problem::Outcome;

/// The bindings of a dispatch.
pub struct Bindings<'r> {
    /// The pipeline.
    pub pipeline: &'r Pipeline,
    /// The objects, in the order of the bindings.
    pub objects: Vec<(Descriptor, &'r Resource)>,
}

/// The bound objects of dispatches.
pub struct Descriptors(Vec<u32>);

impl Descriptors {
    /// The bound objects of each of the dispatches.
    pub fn create(device: &Arc<Device>, dispatches: &[Bindings<'_>]) -> Outcome<Self> {
        let mut descriptors = Self(Vec::new());
        for Bindings { pipeline, objects } in dispatches {
            let of_object = |(_, resource): &(Descriptor, &Resource)| bound(resource.buffer()?);
            let bound: Vec<Bound> = objects.iter().map(of_object).collect::<Option<_>>().ok_or(Error::Internal)?;
            descriptors.0.push(calls::bindings(device.number(), pipeline.number(), &bound));
        }
        Ok(descriptors)
    }

    /// The bound objects of a dispatch.
    pub fn set(&self, dispatch: usize) -> Option<u32> {
        self.0.get(dispatch).copied()
    }
}

/// A buffer for bindings.
fn bound(buffer: &Buffer) -> Option<Bound> {
    let (memory, offset) = buffer.place()?;
    Some([memory.number(), *offset as u32, buffer.size() as u32])
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        self.0.iter().for_each(|set| calls::release(*set));
    }
}
