//! WGSL to SPIR-V, validated.

use etbuild_backend::{Refusal, RefusalKind};
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// The SPIR-V of a module, and the capabilities that the module uses.
///
/// # Errors
/// A module that is not valid WGSL: a bug of a rule, whose text the refusal has.
pub fn compile(source: &str) -> Result<Vec<u32>, Refusal> {
    let refuse = |problem: String| Refusal::new(RefusalKind::Partition, format!("a kernel is invalid: {problem}"));
    let module = naga::front::wgsl::parse_str(source).map_err(|error| refuse(error.emit_to_string(source)))?;
    // Subgroups exchange values in control flow that is uniform in each of them.
    let flags = ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY;
    let mut validator = Validator::new(flags, Capabilities::all());
    let info = validator.validate(&module).map_err(|error| refuse(error.emit_to_string(source)))?;
    let bindings = module.global_variables.iter().filter_map(|(_, variable)| variable.binding);
    let binding_map = bindings
        .map(|binding| {
            let place =
                spv::BindingInfo { descriptor_set: binding.group, binding: binding.binding, binding_array_size: None };
            (binding, place)
        })
        .collect();
    let checks = BoundsCheckPolicies {
        index: BoundsCheckPolicy::Unchecked,
        buffer: BoundsCheckPolicy::Unchecked,
        image_load: BoundsCheckPolicy::Unchecked,
        binding_array: BoundsCheckPolicy::Unchecked,
    };
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        fake_missing_bindings: false,
        binding_map,
        bounds_check_policies: checks,
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..spv::Options::default()
    };
    let entry = spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: "main".to_owned() };
    spv::write_vec(&module, &info, &options, Some(&entry)).map_err(|error| refuse(error.to_string()))
}
