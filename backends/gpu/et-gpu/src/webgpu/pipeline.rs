//! Compute pipelines.

use std::sync::Arc;

use super::calls;
use super::device::Device;
use crate::descriptor::Descriptor;
use crate::problem::Outcome;

/// What determines a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shader {
    /// The module in WGSL.
    pub words: Vec<u32>,
    /// The bindings, which the module states too.
    pub descriptors: Vec<Descriptor>,
    /// The invocations of a subgroup; 0 for any number.
    pub subgroup: u32,
    /// The size of a workgroup.
    pub workgroup: [u32; 3],
}

/// A compute pipeline.
pub struct Pipeline {
    number: u32,
    // Released after the pipeline.
    _device: Arc<Device>,
}

impl Pipeline {
    /// Begins to compile a shader; [`Device::finish_pipelines`] waits for the end.
    pub fn create(device: &Arc<Device>, shader: &Shader) -> Outcome<Self> {
        device.check()?;
        Ok(Self { number: calls::pipeline(device.number(), &shader.words), _device: Arc::clone(device) })
    }

    /// The number for calls.
    pub const fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        calls::release(self.number);
    }
}
