//! Modules of kernels: validated WGSL, for Vulkan as SPIR-V, for Metal as MSL.

mod msl;
mod spirv;

use etbuild_backend::{GpuApi, Refusal, RefusalKind};
use naga::Module;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

/// The words of a module for an interface.
///
/// # Errors
/// A module that is not valid WGSL: a bug of a rule, whose text the refusal has.
pub fn compile(source: &str, api: GpuApi) -> Result<Vec<u32>, Refusal> {
    match api {
        GpuApi::Vulkan => {
            let (module, info) = validated(source, without_uniformity(), Capabilities::all())?;
            spirv::spirv(&module, &info)
        }
        GpuApi::WebGpu => {
            validated(source, ValidationFlags::all(), Capabilities::empty())?;
            Ok(words(source))
        }
        GpuApi::Metal { msl } => {
            let has = Capabilities::SHADER_INT64 | Capabilities::SUBGROUP;
            let (module, info) = validated(source, without_uniformity(), has)?;
            msl::msl(&module, &info, msl)
        }
    }
}

/// The checks of kernels that may exchange values in subgroups, in control flow that is uniform in each of them.
fn without_uniformity() -> ValidationFlags {
    ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY
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

/// Kernels read and write within their tensors for the inputs that programs allow; a driver of Vulkan and a browser check the others.
const UNCHECKED: BoundsCheckPolicies = BoundsCheckPolicies {
    index: BoundsCheckPolicy::Unchecked,
    buffer: BoundsCheckPolicy::Unchecked,
    image_load: BoundsCheckPolicy::Unchecked,
    binding_array: BoundsCheckPolicy::Unchecked,
};

/// The entry point of every kernel.
const ENTRY: &str = "main";
