//! The facts about a program file that a link needs, as an artifact: kernels, inputs, arenas. Two models with the same interface
//! share a hosted binary.

use std::collections::{BTreeMap, BTreeSet};

use et_core::Dtypes;
use etbuild_backend::Backend;
use etbuild_emit::{Emitted, MethodInfo};
use etbuild_ir::{DelegateCall, Graph, PlannedProgram};
use etbuild_link::{ArenaFacts, KernelUse, MethodFacts};
use etbuild_recipe::Model;
use serde::{Deserialize, Serialize};

/// The interface of a program file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    kernels: Vec<InterfaceKernel>,
    engines: Vec<InterfaceEngine>,
    methods: Vec<InterfaceMethod>,
    tokenizer: bool,
    media: bool,
    /// Absent for most programs, whose interfaces keep their bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    vision: bool,
    hearing: bool,
}

/// An engine that the program calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceEngine {
    /// The backend's name in the file.
    pub id: String,
    /// The features of the backend's device crate that the blobs need.
    pub features: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InterfaceKernel {
    operator: String,
    dtypes: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InterfaceMethod {
    name: String,
    kernels: Vec<InterfaceKernel>,
    engines: Vec<InterfaceEngine>,
    /// The backend's name of each blob, in the order of the file's delegates.
    delegates: Vec<String>,
    inputs: Vec<String>,
    input_bytes: Vec<usize>,
    output_bytes: Vec<usize>,
    output_types: Vec<u8>,
    arenas: Vec<ArenaFacts>,
    values: usize,
    sizes: usize,
}

impl Interface {
    /// The interface of the program file that was emitted for `planned`, which calls some of `backends`; whether the file has a
    /// tokenizer, preprocessing of pictures or recordings, pictures in prompts, and sound.
    pub fn new(
        planned: &PlannedProgram,
        emitted: &Emitted,
        backends: &[&dyn Backend],
        [tokenizer, media, vision, hearing]: [bool; 4],
    ) -> Self {
        let methods = &planned.program().program().methods;
        let infos = emitted.methods.iter().filter_map(|info| Some(method(info, methods.get(&info.name)?, backends)));
        let methods: Vec<InterfaceMethod> = infos.collect();
        let engines = union(methods.iter().flat_map(|method| &method.engines));
        Self { kernels: kernels(&emitted.kernels), engines, methods, tokenizer, media, vision, hearing }
    }

    /// Whether the program file holds a tokenizer.
    pub const fn has_tokenizer(&self) -> bool {
        self.tokenizer
    }

    /// Whether the program file states preprocessing of pictures or recordings.
    pub const fn has_media(&self) -> bool {
        self.media
    }

    /// Whether the model hears.
    pub const fn has_hearing(&self) -> bool {
        self.hearing
    }

    /// Whether prompts may have pictures.
    pub const fn has_vision(&self) -> bool {
        self.vision
    }

    /// The kernels for the selection: the kernels of all methods or, for a board, of the method that the board runs, in
    /// the order of the method's operators.
    pub fn kernel_uses(&self, is_board: bool) -> Vec<KernelUse> {
        let kernels = self.kernels(is_board).iter();
        kernels.map(|kernel| KernelUse { operator: kernel.operator.clone(), dtypes: Dtypes(kernel.dtypes) }).collect()
    }

    /// The kernels with the types, as users see the kernels: `aten::relu.out 0x40`.
    pub fn kernel_names(&self, is_board: bool) -> Vec<String> {
        self.kernels(is_board).iter().map(|kernel| format!("{} {:#x}", kernel.operator, kernel.dtypes)).collect()
    }

    /// The backends that the file calls, sorted: of all methods or, for a board, of the method that the board runs.
    pub fn engines(&self, is_board: bool) -> &[InterfaceEngine] {
        let method = self.main_method().filter(|_| is_board);
        method.map_or(&self.engines, |method| &method.engines)
    }

    /// Those of `known` that the file calls, sorted by delegate id.
    pub fn backends(&self, known: &'static [&'static dyn Backend]) -> impl Iterator<Item = &'static dyn Backend> {
        let find = |engine: &InterfaceEngine| known.iter().copied().find(|backend| backend.delegate_id() == engine.id);
        self.engines(false).iter().filter_map(find)
    }

    fn kernels(&self, is_board: bool) -> &[InterfaceKernel] {
        let method = self.main_method().filter(|_| is_board);
        method.map_or(&self.kernels, |method| &method.kernels)
    }

    fn main_method(&self) -> Option<&InterfaceMethod> {
        let forward = self.methods.iter().find(|method| method.name == Model::METHOD);
        forward.or(self.methods.first())
    }

    /// The bytes of the planned tensors of the method that binaries run.
    pub fn arenas(&self) -> u64 {
        self.main_method().map_or(0, |method| method.arenas.iter().map(|arena| arena.size as u64).sum())
    }

    /// The method that binaries run: `forward` if present, else the first.
    pub fn method(&self) -> Option<MethodFacts> {
        self.main_method().map(|method| MethodFacts {
            name: method.name.clone(),
            delegates: method.delegates.clone(),
            inputs: method.inputs.clone(),
            input_bytes: method.input_bytes.clone(),
            output_bytes: method.output_bytes.clone(),
            output_types: method.output_types.clone(),
            arenas: method.arenas.clone(),
            sizes: method.sizes,
            values: method.values,
        })
    }
}

fn kernels(uses: &[etbuild_emit::KernelUse]) -> Vec<InterfaceKernel> {
    let uses = uses.iter();
    uses.map(|kernel| InterfaceKernel { operator: kernel.operator.clone(), dtypes: kernel.dtypes.0 }).collect()
}

/// The backends that a graph calls, with the features of the blobs.
fn engines(graph: &Graph, backends: &[&dyn Backend]) -> Vec<InterfaceEngine> {
    let engine = |call: DelegateCall<'_>| {
        let backend = backends.iter().find(|backend| backend.name() == call.backend)?;
        let features = backend.device_features(call.blob_data(graph)?.bytes());
        let features = features.into_iter().map(str::to_owned).collect();
        Some(InterfaceEngine { id: backend.delegate_id().to_owned(), features })
    };
    let called: Vec<InterfaceEngine> = graph.nodes.iter().filter_map(DelegateCall::of).filter_map(engine).collect();
    union(&called)
}

/// The delegate id of each blob, in the order of first calls: equal blobs of a backend share a delegate.
fn delegates(graph: &Graph, backends: &[&dyn Backend]) -> Vec<String> {
    let (mut seen, mut delegates) = (BTreeSet::new(), Vec::new());
    for call in graph.nodes.iter().filter_map(DelegateCall::of) {
        let backend = backends.iter().find(|backend| backend.name() == call.backend);
        if let (Some(backend), Some(blob)) = (backend, call.blob_data(graph))
            && seen.insert((call.backend, blob.digest()))
        {
            delegates.push(backend.delegate_id().to_owned());
        }
    }
    delegates
}

/// Each backend once, with all needed features.
fn union<'e>(engines: impl IntoIterator<Item = &'e InterfaceEngine>) -> Vec<InterfaceEngine> {
    let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for engine in engines {
        found.entry(&engine.id).or_default().extend(engine.features.iter().cloned());
    }
    found.into_iter().map(|(id, features)| InterfaceEngine { id: id.to_owned(), features }).collect()
}

fn method(info: &MethodInfo, graph: &Graph, backends: &[&dyn Backend]) -> InterfaceMethod {
    let bytes = |ids: &[etbuild_ir::ValueId]| ids.iter().map(|id| graph.spec(*id).nbytes()).collect();
    InterfaceMethod {
        name: info.name.clone(),
        kernels: kernels(&info.kernels),
        engines: engines(graph, backends),
        delegates: delegates(graph, backends),
        inputs: info.inputs.clone(),
        input_bytes: bytes(&graph.inputs),
        output_bytes: bytes(&graph.outputs),
        output_types: graph.outputs.iter().map(|id| graph.spec(*id).scalar_type as u8).collect(),
        arenas: info.arenas.iter().map(arena).collect(),
        sizes: dynamic_sizes(graph),
        values: info.values,
    }
}

fn arena(arena: &etbuild_ir::Arena) -> ArenaFacts {
    ArenaFacts { bank: arena.bank.clone(), size: usize::try_from(arena.size).unwrap_or(usize::MAX) }
}

/// The number of integers that hold the shapes of dynamic tensors: the sizes and their bounds.
fn dynamic_sizes(graph: &Graph) -> usize {
    let dynamic = graph.values.iter().filter(|value| value.spec.is_dynamic());
    dynamic.map(|value| 2 * value.spec.rank()).sum()
}
