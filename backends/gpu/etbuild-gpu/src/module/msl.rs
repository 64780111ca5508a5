//! Kernels in the Metal shading language, with what the device half sets beside the tensors.

use et_gpu::{METAL_ENTRY, Metal};
use et_record::Record;
use etbuild_backend::Refusal;
use naga::back::msl;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::ModuleInfo;
use naga::{AddressSpace, Module, ShaderStage};

use super::{ENTRY, UNCHECKED, refuse, words};

/// Kernels change states in the memory of the process, where inputs choose the place, and Metal by itself keeps no access within a buffer: an index
/// beyond a tensor is that of the last element.
const CHECKED: BoundsCheckPolicies = BoundsCheckPolicies { buffer: BoundsCheckPolicy::Restrict, ..UNCHECKED };

/// The bytes that Metal allocates workgroup memory in.
const UNIT: u32 = 16;

/// The words of a module: a [`Metal`], the lengths of the variables in workgroup memory, and the text.
pub fn msl(module: &Module, info: &ModuleInfo, version: [u8; 2]) -> Result<Vec<u32>, Refusal> {
    let text = text(module, info, version)?;
    let entry = module.entry_points.first().ok_or_else(|| refuse("there is no entry point"))?;
    let lengths = lengths(module, info);
    let head =
        Metal { version: version.map(u32::from), workgroup: entry.workgroup_size, variables: lengths.len() as u32 };
    let mut all = Vec::new();
    head.write(&mut |word| all.push(word));
    all.extend(lengths);
    all.extend(words(&text));
    Ok(all)
}

/// The MSL of a module. Tensor `n` is buffer `n`; no buffer has lengths, since the arrays of kernels for Metal state theirs.
fn text(module: &Module, info: &ModuleInfo, [major, minor]: [u8; 2]) -> Result<String, Refusal> {
    let bindings = module.global_variables.iter().filter_map(|(_, variable)| Some((variable.binding?, variable.space)));
    let resources = bindings.map(|(binding, space)| {
        let mutable = matches!(space, AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE));
        let buffer = u8::try_from(binding.binding).ok();
        (binding, msl::BindTarget { buffer, mutable, ..msl::BindTarget::default() })
    });
    let resources = msl::EntryPointResources { resources: resources.collect(), ..msl::EntryPointResources::default() };
    let options = msl::Options {
        lang_version: (major, minor),
        per_entry_point_map: [(ENTRY.to_owned(), resources)].into_iter().collect(),
        fake_missing_bindings: false,
        bounds_check_policies: CHECKED,
        zero_initialize_workgroup_memory: false,
        force_loop_bounding: false,
        emit_int_div_checks: false,
        ..msl::Options::default()
    };
    let pipeline = msl::PipelineOptions {
        entry_point: Some((ShaderStage::Compute, ENTRY.to_owned())),
        ..msl::PipelineOptions::default()
    };
    let written = msl::write_string(module, info, &options, &pipeline).map_err(|error| refuse(&error.to_string()))?;
    match written.1.entry_point_names.as_slice() {
        [Ok(name)] if name == METAL_ENTRY => Ok(written.0),
        [Err(error)] => Err(refuse(&error.to_string())),
        names => Err(refuse(&format!("the entry points are {names:?}"))),
    }
}

/// The bytes of each variable in workgroup memory, in the order of the entry point's parameters.
fn lengths(module: &Module, info: &ModuleInfo) -> Vec<u32> {
    let (used, global) = (info.get_entry_point(0), module.to_ctx());
    let shared = module.global_variables.iter().filter(|(_, variable)| variable.space == AddressSpace::WorkGroup);
    let shared = shared.filter(|(handle, _)| !used[*handle].is_empty());
    shared.map(|(_, variable)| module.types[variable.ty].inner.size(global).next_multiple_of(UNIT)).collect()
}
