//! Kernels in SPIR-V 1.3.

use etbuild_backend::Refusal;
use naga::Module;
use naga::back::spv;
use naga::valid::ModuleInfo;

use super::{ENTRY, UNCHECKED, refuse};

/// The SPIR-V of a module.
pub fn spirv(module: &Module, info: &ModuleInfo) -> Result<Vec<u32>, Refusal> {
    let bindings = module.global_variables.iter().filter_map(|(_, variable)| variable.binding);
    let binding_map = bindings
        .map(|binding| {
            let place =
                spv::BindingInfo { descriptor_set: binding.group, binding: binding.binding, binding_array_size: None };
            (binding, place)
        })
        .collect();
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        fake_missing_bindings: false,
        binding_map,
        bounds_check_policies: UNCHECKED,
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..spv::Options::default()
    };
    let entry = spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: ENTRY.to_owned() };
    spv::write_vec(module, info, &options, Some(&entry)).map_err(|error| refuse(&error.to_string()))
}
