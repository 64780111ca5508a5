//! Modules of kernels: validated WGSL, for Vulkan as SPIR-V.

use et_gpu::Language;
use etbuild_backend::{Refusal, RefusalKind};
use naga::Module;
use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

/// The words of a module in a language.
///
/// # Errors
/// A module that is not valid WGSL: a bug of a rule, whose text the refusal has.
pub fn compile(source: &str, language: Language) -> Result<Vec<u32>, Refusal> {
    match language {
        Language::Spirv => {
            // Subgroups exchange values in control flow that is uniform in each of them.
            let flags = ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY;
            let (module, info) = validated(source, flags, Capabilities::all())?;
            spirv(&module, &info)
        }
        Language::Wgsl => {
            validated(source, ValidationFlags::all(), Capabilities::empty())?;
            Ok(words(source))
        }
    }
}

fn refuse(problem: &str) -> Refusal {
    Refusal::new(RefusalKind::Partition, format!("a kernel is invalid: {problem}"))
}

fn validated(source: &str, flags: ValidationFlags, has: Capabilities) -> Result<(Module, ModuleInfo), Refusal> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| refuse(&error.emit_to_string(source)))?;
    let info = Validator::new(flags, has).validate(&module).map_err(|error| refuse(&error.emit_to_string(source)))?;
    Ok((module, info))
}

/// A text without indentation, with spaces up to a whole word.
fn words(source: &str) -> Vec<u32> {
    let mut text: String = source.lines().flat_map(|line| [line.trim_start(), "\n"]).collect();
    text.extend(core::iter::repeat_n(' ', text.len().next_multiple_of(4) - text.len()));
    text.as_bytes().as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// The SPIR-V of a module.
fn spirv(module: &Module, info: &ModuleInfo) -> Result<Vec<u32>, Refusal> {
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
    spv::write_vec(module, info, &options, Some(&entry)).map_err(|error| refuse(&error.to_string()))
}
