//! The blob's bytes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use et_gpu::{Binding, Dispatch, Header, Kernel as Module, MAGIC, Needs, Object, Role, VERSION, checksum, list};
use et_record::Record;
use etbuild_backend::{Blob, DeviceReport, GpuApi, Refusal, Weights as Packed};
use rayon::prelude::*;

use crate::builder::{Builder, Weights};
use crate::expr::TensorId;
use crate::kernel::Kernel;
use crate::module::compile;
use crate::pack::packed;
use crate::tensor::{Layout, Source, Tensor, Texels};

/// The blob of a partition with the kernels for each class of GPUs. All programs have the same
/// arguments: the weights of a call are those of all programs, each once.
pub fn blob(builders: &[Builder<'_>]) -> Result<Blob, Refusal> {
    let used: Vec<Used> = builders.iter().map(Used::of).collect();
    let mut weights = Arguments::default();
    let of_programs: Vec<Vec<usize>> = builders
        .iter()
        .zip(&used)
        .map(|(builder, used)| used.weights.iter().map(|number| weights.add(builder, *number)).collect())
        .collect();
    let count = weights.list.len();
    let programs = builders.iter().zip(&used).zip(&of_programs);
    let programs = programs
        .map(|((builder, used), positions)| Ok((builder.profile.on_cpu(), program(builder, used, positions, count)?)));
    let programs = programs.collect::<Result<_, Refusal>>()?;
    let labels = |builder: &Builder<'_>| builder.kernels.iter().map(|kernel| kernel.label.clone()).collect();
    Ok(Blob {
        bytes: list(programs),
        scratch: 0,
        weights: weights.list,
        layers: builders.iter().map(labels).collect(),
        stored: Vec::new(),
        device: DeviceReport::default(),
    })
}

/// The weights of a call.
#[derive(Default)]
struct Arguments {
    list: Vec<Packed>,
    known: HashMap<String, usize>,
}

impl Arguments {
    /// The position of a builder's weights among those of the call.
    fn add(&mut self, builder: &Builder<'_>, number: usize) -> usize {
        let weights = weights_of(builder, &builder.weights[number]);
        let next = self.list.len();
        let position = *self.known.entry(weights.identity.clone()).or_insert(next);
        if position == next {
            self.list.push(weights);
        }
        position
    }
}

/// The blob of one program, whose used weights are at these positions among `weights` of the call.
fn program(builder: &Builder<'_>, used: &Used, positions: &[usize], weights: usize) -> Result<Vec<u8>, Refusal> {
    let graph = builder.links.graph;
    let modules = Modules::compile(&builder.kernels, builder.profile.api)?;
    let inputs = graph.inputs.len();
    let position_of: HashMap<usize, usize> = used.weights.iter().copied().zip(positions.iter().copied()).collect();
    let mut objects = Vec::new();
    for id in &used.tensors {
        let tensor = builder.tensor(*id);
        let (role, argument) = match tensor.source {
            Source::Scratch => (Role::Scratch, 0),
            Source::Input(position) => (Role::Input, position),
            Source::State(position) => (Role::State, position),
            Source::Weights(number) => (Role::Weights, inputs + position_of[&number]),
            Source::Output(position) => (Role::Output, inputs + weights + position),
        };
        objects.push(object(tensor, role, argument as u32, used.lives[id]));
    }
    let (mut dispatches, mut bindings) = (Vec::new(), Vec::<Binding>::new());
    for (kernel, module) in builder.kernels.iter().zip(&modules.of_kernel) {
        let accessed = kernel.reads.iter().map(|id| (id, false)).chain([(&kernel.output, true)]);
        let first_binding = bindings.len() as u32;
        bindings.extend(accessed.map(|(id, writes)| Binding { object: used.numbers[id] as u32, writes }));
        dispatches.push(Dispatch {
            kernel: *module,
            workgroups: kernel.workgroups,
            first_binding,
            bindings: bindings.len() as u32 - first_binding,
        });
    }
    let header = Header {
        magic: MAGIC,
        version: VERSION,
        language: builder.profile.language(),
        needs: needs(builder),
        arguments: (inputs + weights + graph.outputs.len()) as u32,
        outputs: graph.outputs.len() as u32,
        objects: objects.len() as u32,
        kernels: modules.modules.len() as u32,
        dispatches: dispatches.len() as u32,
        bindings: bindings.len() as u32,
        words: modules.words.len() as u32,
        ..Header::default()
    };
    let mut body = Vec::new();
    records(&objects, &mut body);
    records(&modules.modules, &mut body);
    records(&dispatches, &mut body);
    records(&bindings, &mut body);
    body.extend(modules.words.iter().flat_map(|word| word.to_le_bytes()));
    let header = Header { checksum: checksum(&body), ..header };
    let mut bytes = Vec::new();
    records(&[header], &mut bytes);
    bytes.extend(body);
    Ok(bytes)
}

fn records<T: Record>(records: &[T], bytes: &mut Vec<u8>) {
    records.iter().for_each(|record| record.write(&mut |word| bytes.extend_from_slice(&word.to_le_bytes())));
}

fn object(tensor: &Tensor, role: Role, argument: u32, life: [u32; 2]) -> Object {
    let kind = tensor.kind();
    let extent = match (kind.texel(), tensor.layout.as_texels()) {
        (Some(_), Some(texels)) => texels.extent.map(|size| size as u32),
        _ => [0; 3],
    };
    Object { kind, role, argument, size: tensor.bytes(), extent, life }
}

/// The optional features that the kernels use.
fn needs(builder: &Builder<'_>) -> Needs {
    let any = |of: fn(&Needs) -> bool| builder.kernels.iter().any(|kernel| of(&kernel.needs));
    Needs {
        int64: any(|needs| needs.int64),
        float64: any(|needs| needs.float64),
        float16: false,
        zero_clamp: builder.profile.clamps_to_zero && any(|needs| needs.zero_clamp),
    }
}

/// The distinct modules of kernels.
#[derive(Default)]
struct Modules {
    modules: Vec<Module>,
    words: Vec<u32>,
    /// The module of each kernel.
    of_kernel: Vec<u32>,
}

impl Modules {
    fn compile(kernels: &[Kernel], api: GpuApi) -> Result<Self, Refusal> {
        let mut sources = Sources::default();
        let of_kernel = kernels.iter().map(|kernel| sources.kernel(kernel)).collect();
        let compiled =
            sources.list.par_iter().map(|(source, ..)| compile(source, api)).collect::<Result<Vec<_>, _>>()?;
        let mut all = Self { of_kernel, ..Self::default() };
        for (words, (_, subgroup, otherwise)) in compiled.into_iter().zip(sources.list) {
            let start = all.words.len() as u32;
            all.modules.push(Module { start, words: words.len() as u32, subgroup, otherwise });
            all.words.extend(words);
        }
        Ok(all)
    }
}

/// Distinct sources, with subgroup sizes and the numbers of alternatives.
#[derive(Default)]
pub struct Sources<'b> {
    list: Vec<(&'b str, u32, u32)>,
    numbers: HashMap<&'b str, u32>,
}

impl<'b> Sources<'b> {
    /// The number of the source of a kernel.
    pub fn kernel(&mut self, kernel: &'b Kernel) -> u32 {
        let otherwise = kernel.otherwise.as_deref().map(|source| self.add(source, 0, None));
        self.add(&kernel.source, kernel.subgroup, otherwise)
    }

    fn add(&mut self, source: &'b str, subgroup: u32, otherwise: Option<u32>) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(source).or_insert(next);
        if number == next {
            self.list.push((source, subgroup, otherwise.unwrap_or(number)));
        }
        number
    }
}

/// The tensors that kernels access.
#[derive(Default)]
pub struct Used {
    /// In order of their first use.
    pub tensors: Vec<TensorId>,
    /// The object of each.
    pub numbers: HashMap<TensorId, usize>,
    /// The first and the last kernel that accesses each.
    pub lives: HashMap<TensorId, [u32; 2]>,
    /// The used weights by number.
    weights: BTreeSet<usize>,
}

impl Used {
    /// The tensors that the kernels of a partition access.
    pub fn of(builder: &Builder<'_>) -> Self {
        let mut used = Self::default();
        for (position, kernel) in builder.kernels.iter().enumerate() {
            for id in kernel.reads.iter().chain([&kernel.output]) {
                let life = used.lives.entry(*id).or_insert([position as u32; 2]);
                life[1] = position as u32;
                if !used.numbers.contains_key(id) {
                    used.numbers.insert(*id, used.tensors.len());
                    used.tensors.push(*id);
                }
                if let Source::Weights(number) = builder.tensor(*id).source {
                    used.weights.insert(number);
                }
            }
        }
        used
    }
}

/// The weights as an input of the call.
fn weights_of(builder: &Builder<'_>, weights: &Weights) -> Packed {
    // Dequantized constants are computed values: they have no name in the checkpoint.
    let origin = match &builder.links.graph.value(weights.value).kind {
        etbuild_ir::ValueKind::Constant { qualified_name, .. } => Some(qualified_name.clone()),
        _ => None,
    };
    let Weights { data, tensor, .. } = weights.clone();
    let is_plain =
        tensor.scalar_type.size() * tensor.numel() == data.bytes().len() && tensor.layout.as_texels().is_none();
    let identity =
        format!("gpu {} {:?} {:?} {}", data.digest(), tensor.scalar_type, tensor.sizes, order(&tensor.layout));
    let size = if is_plain { data.bytes().len() } else { tensor.bytes() as usize };
    let content = move |take: &mut dyn FnMut(&[u8])| {
        match tensor.layout.as_texels() {
            None => take(data.bytes()),
            Some(texels) => take(&packed(data.bytes(), &tensor, texels)),
        }
        data.release();
        Ok(())
    };
    Packed { identity, name: None, origin, size, content: Arc::new(content) }
}

/// The order of a layout's elements in bytes, which images and buffers may have in common.
fn order(layout: &Layout) -> String {
    match layout {
        Layout::Elements(strides) => format!("{strides:?}"),
        Layout::Texels(Texels { storage: _, channel, strides, extent }) => format!("{channel} {strides:?} {extent:?}"),
    }
}
