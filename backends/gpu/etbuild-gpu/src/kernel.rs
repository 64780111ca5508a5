//! Kernels: WGSL source, the tensors of the bindings, and the number of workgroups.

use et_core::ScalarType;
use et_gpu::Needs;

use crate::emitter::{Body, Emitter, Scope};
use crate::expr::TensorId;
use crate::functions::called;
use crate::profile::Profile;
use crate::sharing::Sharing;
use crate::tensor::{Layout, Source, Storage, Tensor};

/// The invocations of a workgroup.
pub const WORKGROUP: usize = 64;

/// The iterations of all loops of a kernel that every driver allows: Mesa's driver for CPUs ends loops behind 65,535.
pub const MOST_ITERATIONS: usize = 30_000;

/// The most workgroups in x, which every device has.
const MOST_WORKGROUPS: usize = 65535;

/// A kernel with its tensors.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The module in WGSL.
    pub source: String,
    /// The module for devices without subgroups of the size, with the same bindings and workgroups.
    pub otherwise: Option<String>,
    /// The tensors that the kernel reads, bindings 0 and up.
    pub reads: Vec<TensorId>,
    /// The tensor that the kernel writes, the last binding.
    pub output: TensorId,
    /// Workgroups in x, y and z.
    pub workgroups: [u32; 3],
    /// The value that the kernel computes, for profiles.
    pub label: String,
    /// The size of the subgroups in which the kernel exchanges values; 0 for none.
    pub subgroup: u32,
    /// The optional features of a device that the kernel uses; `zero_clamp` if the kernel reads images.
    pub needs: Needs,
}

/// The entry point of a kernel.
pub struct Entry {
    /// Attributes, name and parameters.
    pub head: String,
    /// The first statements.
    pub begin: String,
    /// Workgroups in x, y and z.
    pub workgroups: [u32; 3],
}

impl Kernel {
    /// The kernel with the statements of an emitter, which store a tensor.
    pub fn new(emitter: Emitter<'_>, entry: Entry, output: TensorId, label: &str) -> Self {
        let scope = emitter.scope();
        let Body { text, workgroup, reads, needs } = emitter.finish();
        let Entry { head, begin, workgroups } = entry;
        let source = module(scope, &reads, output, &workgroup, &head, &(begin + &text));
        Self { source, otherwise: None, reads, output, workgroups, label: label.to_owned(), subgroup: 0, needs }
    }
}

/// The module of a kernel: bindings, variables in workgroup memory, functions, and the entry point with these statements.
fn module(scope: Scope<'_>, reads: &[TensorId], output: TensorId, workgroup: &str, head: &str, body: &str) -> String {
    let mut source = String::new();
    for (position, id) in reads.iter().enumerate() {
        let (space, ty) = read(scope.tensor(*id), scope.profile);
        source += &format!("@group(0) @binding({position}) {space} b{position}: {ty};\n");
    }
    let (space, ty) = written(scope.tensor(output), scope.profile);
    source += &format!("@group(0) @binding({}) {space} out: {ty};\n", reads.len());
    source += workgroup;
    source += &called(body);
    source + &format!("@compute {head}{{\n{body}}}\n")
}

/// The entry point of a kernel with an invocation for each of `count` numbers, `n`.
pub fn counted(count: usize) -> Entry {
    let groups = count.div_ceil(WORKGROUP).max(1);
    let x = groups.min(MOST_WORKGROUPS);
    let y = groups.div_ceil(x);
    let head = format!("@workgroup_size({WORKGROUP}) fn main(@builtin(global_invocation_id) id: vec3<u32>) ");
    let row = if y > 1 { format!(" + i32(id.y) * {}i", x * WORKGROUP) } else { String::new() };
    let begin = format!("    let n = i32(id.x){row};\n    if (n >= {count}i) {{ return; }}\n");
    Entry { head, begin, workgroups: [x as u32, y as u32, 1] }
}

/// The lanes that store a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// The first, which has the result.
    First,
    /// All, each a part of a row.
    All,
}

/// The entry point of a kernel whose lanes share the folds of each of `count` numbers, `n`; lanes `store` under a condition.
pub fn shared(count: usize, Sharing { lanes, across }: Sharing, stores: Stores) -> Entry {
    let groups = count.div_ceil(across).max(1);
    let x = groups.min(MOST_WORKGROUPS);
    let y = groups.div_ceil(x);
    let head = format!(
        "@workgroup_size({lanes}, {across}) fn main(@builtin(local_invocation_id) local: vec3<u32>, \
         @builtin(workgroup_id) group: vec3<u32>) "
    );
    // Lanes behind the last number meet the others at the barriers.
    let begin = format!(
        "    let lane = i32(local.x);\n    let number = (i32(group.y) * {x}i + i32(group.x)) * {across}i + i32(local.y);\n    \
         let stores = {}number < {count}i;\n    let n = min(number, {}i);\n",
        if stores == Stores::First { "lane == 0i && " } else { "" },
        count.saturating_sub(1)
    );
    Entry { head, begin, workgroups: [x as u32, y as u32, 1] }
}

/// The address space and the type of a tensor that is read.
fn read(tensor: &Tensor, profile: Profile) -> (&'static str, String) {
    // A page binds parts of one buffer for what kernels write, and WebGPU has no buffer that a dispatch writes and only reads.
    let space = match tensor.source {
        Source::Scratch | Source::Output(_) if profile.is_web() => "var<storage, read_write>",
        _ => "var<storage, read>",
    };
    match &tensor.layout {
        Layout::Elements(_) if profile.is_web() && tensor.scalar_type == ScalarType::Long => {
            (space, "array<vec2<u32>>".to_owned())
        }
        Layout::Texels(texels) if texels.storage == Storage::Image => {
            ("var", if texels.extent[2] > 1 { "texture_2d_array<f32>" } else { "texture_2d<f32>" }.to_owned())
        }
        _ => (space, array(tensor, profile)),
    }
}

/// The address space and the type of a tensor that is written.
fn written(tensor: &Tensor, profile: Profile) -> (&'static str, String) {
    let is_half = tensor.scalar_type == ScalarType::Half;
    match &tensor.layout {
        Layout::Texels(texels) if texels.storage == Storage::Image => (
            "var",
            match (texels.extent[2] > 1, is_half) {
                (false, false) => "texture_storage_2d<rgba32float, write>",
                (false, true) => "texture_storage_2d<rgba16float, write>",
                (true, false) => "texture_storage_2d_array<rgba32float, write>",
                (true, true) => "texture_storage_2d_array<rgba16float, write>",
            }
            .to_owned(),
        ),
        _ => ("var<storage, read_write>", array(tensor, profile)),
    }
}

/// The type of a tensor in a buffer: an array, with the length where the GPU wants it.
fn array(tensor: &Tensor, profile: Profile) -> String {
    let (item, size) = match &tensor.layout {
        Layout::Elements(_) => element(tensor.scalar_type),
        Layout::Texels(_) if tensor.scalar_type == ScalarType::Half => ("vec2<u32>", 8),
        Layout::Texels(_) => ("vec4<f32>", 16),
    };
    match profile.states_lengths() {
        true => format!("array<{item}, {}>", tensor.bytes() / size),
        false => format!("array<{item}>"),
    }
}

/// The type and the bytes of an element in a buffer; narrow elements share a word.
const fn element(scalar_type: ScalarType) -> (&'static str, u64) {
    match scalar_type {
        ScalarType::Float => ("f32", 4),
        ScalarType::Double => ("f64", 8),
        ScalarType::Int => ("i32", 4),
        ScalarType::Long => ("i64", 8),
        _ => ("u32", 4),
    }
}
