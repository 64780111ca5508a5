//! Compute pipelines.
#![allow(unsafe_code, reason = "calls the Vulkan driver")]

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::failure::failed;
use crate::descriptor::Descriptor;
use crate::problem::Outcome;

/// What determines a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shader {
    /// The SPIR-V module.
    pub words: Vec<u32>,
    /// The bindings of descriptor set 0.
    pub descriptors: Vec<Descriptor>,
    /// The invocations of a subgroup; 0 for any number.
    pub subgroup: u32,
    /// The size of a workgroup.
    pub workgroup: [u32; 3],
}

/// A compute pipeline with its layouts.
pub struct Pipeline {
    device: Arc<Device>,
    set: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    raw: vk::Pipeline,
}

impl Descriptor {
    /// The type of the descriptor in Vulkan.
    pub const fn kind(self) -> vk::DescriptorType {
        match self {
            Self::Buffer => vk::DescriptorType::STORAGE_BUFFER,
            Self::Sampled { .. } => vk::DescriptorType::SAMPLED_IMAGE,
            Self::Storage { .. } => vk::DescriptorType::STORAGE_IMAGE,
        }
    }
}

impl Pipeline {
    /// Compiles a shader.
    pub fn create(device: &Arc<Device>, shader: &Shader) -> Outcome<Self> {
        let (set, layout, raw) = Default::default();
        let mut pipeline = Self { device: Arc::clone(device), set, layout, raw };
        pipeline.lay_out(&shader.descriptors)?;
        let info = vk::ShaderModuleCreateInfo::default().code(&shader.words);
        // SAFETY: the blob's checksum is right and its modules were validated at build time; `spirv` checked what devices lack.
        let module = unsafe { device.raw.create_shader_module(&info, None) }.map_err(failed("read a kernel"))?;
        let compiled = pipeline.compile(shader, module);
        // SAFETY: pipelines do not use the module after their creation.
        unsafe { device.raw.destroy_shader_module(module, None) };
        pipeline.raw = compiled?;
        Ok(pipeline)
    }

    fn lay_out(&mut self, descriptors: &[Descriptor]) -> Outcome<()> {
        let bindings: Vec<_> =
            (0..).zip(descriptors).map(|(number, descriptor)| layout_binding(number, *descriptor)).collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the numbers of descriptors are within the limits of the device.
        self.set = unsafe { self.device.raw.create_descriptor_set_layout(&info, None) }
            .map_err(failed("describe the bindings of a kernel"))?;
        let sets = [self.set];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        // SAFETY: the set layout is of the device.
        self.layout = unsafe { self.device.raw.create_pipeline_layout(&info, None) }
            .map_err(failed("describe the bindings of a kernel"))?;
        Ok(())
    }

    fn compile(&self, shader: &Shader, module: vk::ShaderModule) -> Outcome<vk::Pipeline> {
        let limits = self.device.limits();
        let mut size =
            vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default().required_subgroup_size(shader.subgroup);
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        if shader.subgroup > 0 {
            if limits.full_subgroups && shader.workgroup[0].is_multiple_of(shader.subgroup) {
                stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
            }
            stage = stage.push_next(&mut size);
        }
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout)];
        // SAFETY: the module has the entry point, and the layout has all bindings of the module.
        let made = unsafe { self.device.raw.create_compute_pipelines(self.device.cache, &info, None) };
        let made = made.map_err(|(_, result)| result).map_err(failed("compile a kernel"))?;
        made.first().copied().ok_or_else(|| et_core::Error::Internal.into())
    }

    /// The handle.
    pub const fn raw(&self) -> vk::Pipeline {
        self.raw
    }

    /// The layout of the pipeline.
    pub const fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }

    /// The layout of the descriptor set.
    pub const fn set(&self) -> vk::DescriptorSetLayout {
        self.set
    }
}

fn layout_binding(number: u32, descriptor: Descriptor) -> vk::DescriptorSetLayoutBinding<'static> {
    vk::DescriptorSetLayoutBinding::default()
        .binding(number)
        .descriptor_type(descriptor.kind())
        .descriptor_count(1)
        .stage_flags(vk::ShaderStageFlags::COMPUTE)
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        if !self.device.queue.hangs() {
            // SAFETY: the owner waits for the end of all executions of the pipeline; null handles are allowed.
            unsafe {
                self.device.raw.destroy_pipeline(self.raw, None);
                self.device.raw.destroy_pipeline_layout(self.layout, None);
                self.device.raw.destroy_descriptor_set_layout(self.set, None);
            }
        }
    }
}
