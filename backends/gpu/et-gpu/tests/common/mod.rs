//! Blobs written by hand, and tensors for calls.
#![allow(unsafe_code, reason = "tensors are made of memory, and the environment is set before the driver is loaded")]
#![allow(dead_code, reason = "each test binary uses a part")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Once;

use et_core::{Access, Args, Indices, ScalarType, Tensor, TensorLayout, Value};
use et_gpu::{
    Binding, Dispatch, Header, Kernel, Kind, Language, MAGIC, Needs, Object, Observe, Outcome, Role, Session, VERSION,
    checksum,
};
use et_record::Record;
use et_runtime::Serial;

/// Switches the validation layer on, and fails without a Vulkan driver.
pub fn start() {
    static START: Once = Once::new();
    START.call_once(|| {
        // SAFETY: no other thread of the test binary reads the environment before this call.
        unsafe { std::env::set_var("ETBUILD_GPU_VALIDATION", "1") };
    });
    require_driver();
}

/// Fails without a Vulkan driver.
pub fn require_driver() {
    if et_gpu::device_summary().is_err() {
        panic!("these tests need a Vulkan driver, such as mesa-vulkan-drivers: {:?}", et_gpu::problem());
    }
}

/// Checks that the validation layer reported nothing.
pub fn check_silence() {
    assert_eq!(et_gpu::validation_messages(), [""; 0]);
}

/// Compiles a kernel.
pub fn spirv(source: &str) -> Vec<u32> {
    use naga::back::spv;

    let module =
        naga::front::wgsl::parse_str(source).unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
    let mut validator =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
    let info = validator.validate(&module).unwrap();
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::empty(),
        use_storage_input_output_16: false,
        ..Default::default()
    };
    let entry = spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: "main".into() };
    spv::write_vec(&module, &info, &options, Some(&entry)).unwrap()
}

/// A kernel, `results = values + image`, of four invocations in a workgroup.
pub const ADD_WEIGHTS: &str = "@group(0) @binding(0) var<storage, read> values: array<vec4<f32>>;
         @group(0) @binding(1) var image: texture_2d<f32>;
         @group(0) @binding(2) var<storage, read_write> results: array<vec4<f32>>;
         @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             results[id.x] = values[id.x] + textureLoad(image, vec2<u32>(id.x, 0), 0);
         }";

/// A blob in the making.
#[derive(Clone, Default)]
pub struct Program {
    pub needs: Needs,
    pub arguments: u32,
    pub objects: Vec<Object>,
    pub kernels: Vec<Vec<u32>>,
    /// The subgroup and the alternative of kernels that have any.
    pub subgroups: BTreeMap<u32, (u32, u32)>,
    pub dispatches: Vec<Dispatch>,
    pub bindings: Vec<Binding>,
}

impl Program {
    /// Adds a buffer of `words` words.
    pub fn buffer(&mut self, role: Role, argument: u32, words: u64) -> u32 {
        self.object(Object { kind: Kind::Buffer, role, argument, size: 4 * words, ..Object::default() })
    }

    /// Adds an image.
    pub fn image(&mut self, kind: Kind, role: Role, argument: u32, extent: [u32; 3]) -> u32 {
        let texels: u64 = extent.iter().map(|size| u64::from(*size)).product();
        let size = texels * kind.texel().unwrap();
        self.object(Object { kind, role, argument, size, extent, ..Object::default() })
    }

    fn object(&mut self, object: Object) -> u32 {
        if object.role != Role::Scratch {
            self.arguments = self.arguments.max(object.argument + 1);
        }
        self.objects.push(Object { life: [u32::MAX, 0], ..object });
        self.objects.len() as u32 - 1
    }

    /// Adds a kernel in WGSL.
    pub fn kernel(&mut self, source: &str) -> u32 {
        self.kernels.push(spirv(source));
        self.kernels.len() as u32 - 1
    }

    /// Adds a dispatch that reads objects and writes objects, in the order of the bindings.
    pub fn dispatch(&mut self, kernel: u32, workgroups: [u32; 3], reads: &[u32], writes: &[u32]) {
        let (number, first_binding) = (self.dispatches.len() as u32, self.bindings.len() as u32);
        let reads = reads.iter().map(|object| (*object, false));
        for (object, writes) in reads.chain(writes.iter().map(|object| (*object, true))) {
            self.bindings.push(Binding { object, writes });
            let life = &mut self.objects[object as usize].life;
            *life = [life[0].min(number), number];
        }
        let bindings = self.bindings.len() as u32 - first_binding;
        self.dispatches.push(Dispatch { kernel, workgroups, first_binding, bindings });
    }

    /// The bytes of the lists and of the kernels.
    pub fn body(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |word: u32| bytes.extend(word.to_le_bytes());
        self.objects.iter().for_each(|object| object.write(&mut put));
        let mut start = 0;
        for (number, kernel) in (0..).zip(&self.kernels) {
            let words = kernel.len() as u32;
            let (subgroup, otherwise) = self.subgroups.get(&number).copied().unwrap_or((0, number));
            Kernel { start, words, subgroup, otherwise }.write(&mut put);
            start += words;
        }
        self.dispatches.iter().for_each(|dispatch| dispatch.write(&mut put));
        self.bindings.iter().for_each(|binding| binding.write(&mut put));
        self.kernels.iter().flatten().for_each(|word| put(*word));
        bytes
    }

    /// The outputs: the arguments behind those of inputs, weights and states.
    fn outputs(&self) -> u32 {
        let is_before = |object: &&Object| matches!(object.role, Role::Input | Role::Weights | Role::State);
        let before = self.objects.iter().filter(is_before).map(|object| object.argument + 1).max();
        self.arguments.saturating_sub(before.unwrap_or(0))
    }

    /// The blob.
    pub fn bytes(&self) -> Vec<u8> {
        let body = self.body();
        let header = Header {
            magic: MAGIC,
            version: VERSION,
            checksum: checksum(&body),
            language: Language::Spirv,
            needs: self.needs,
            arguments: self.arguments,
            outputs: self.outputs(),
            objects: self.objects.len() as u32,
            kernels: self.kernels.len() as u32,
            dispatches: self.dispatches.len() as u32,
            bindings: self.bindings.len() as u32,
            words: self.kernels.iter().map(|kernel| kernel.len() as u32).sum(),
        };
        let mut bytes = Vec::new();
        header.write(&mut |word| bytes.extend(word.to_le_bytes()));
        bytes.extend(body);
        bytes
    }

    /// Loads the blob on the calling thread.
    pub fn load<'a>(&self) -> Session<'a> {
        Session::load(&self.bytes(), &Serial).unwrap()
    }
}

/// The memory of a tensor, aligned to 64 bytes.
pub struct Memory {
    lines: Vec<Line>,
    bytes: usize,
}

#[derive(Clone)]
#[repr(align(64))]
struct Line([Cell<u8>; 64]);

impl Memory {
    /// Memory of `bytes` bytes.
    pub fn new(bytes: usize) -> Self {
        Self { lines: vec![Line([const { Cell::new(0) }; 64]); bytes.div_ceil(64)], bytes }
    }

    /// The same bytes but for the first `skipped`, as memory of a tensor that is not aligned.
    pub fn from(&self, skipped: usize) -> Part<'_> {
        Part { memory: self, skipped }
    }

    /// Memory with words.
    pub fn of(words: &[u32]) -> Self {
        let memory = Self::new(4 * words.len());
        memory.set(words);
        memory
    }

    /// Memory with floating-point numbers.
    pub fn of_floats(numbers: &[f32]) -> Self {
        Self::of(&numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>())
    }

    fn cells(&self) -> impl Iterator<Item = &Cell<u8>> {
        self.lines.iter().flat_map(|line| &line.0).take(self.bytes)
    }

    /// Overwrites the words.
    pub fn set(&self, words: &[u32]) {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        self.cells().zip(bytes).for_each(|(cell, byte)| cell.set(byte));
    }

    /// The bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.cells().map(Cell::get).collect()
    }

    /// The bytes between the end of the memory and the end of its last line.
    pub fn rest(&self) -> Vec<u8> {
        self.lines.iter().flat_map(|line| &line.0).skip(self.bytes).map(Cell::get).collect()
    }

    /// The words.
    pub fn words(&self) -> Vec<u32> {
        self.bytes().as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    /// The words as floating-point numbers.
    pub fn floats(&self) -> Vec<f32> {
        self.words().into_iter().map(f32::from_bits).collect()
    }

    /// A tensor of bytes.
    pub fn value(&self, access: Access) -> Value<'_> {
        self.from(0).value(access)
    }
}

/// The end of a memory.
#[derive(Clone, Copy)]
pub struct Part<'m> {
    memory: &'m Memory,
    skipped: usize,
}

impl<'m> Part<'m> {
    /// A tensor of bytes.
    pub fn value(self, access: Access) -> Value<'m> {
        let bytes = (self.memory.bytes - self.skipped) as i32;
        let size: &'static [u8; 4] = Box::leak(Box::new(bytes.to_le_bytes()));
        let layout = TensorLayout { scalar_type: ScalarType::Byte, sizes: Indices::new(size), dim_order: &[0] };
        let data = self.memory.lines.as_ptr().cast_mut().cast::<u8>().wrapping_add(self.skipped);
        // SAFETY: cells are memory that the tensor may write, and only this thread accesses the cells.
        Value::Tensor(unsafe { Tensor::new(layout, data, access) }.unwrap())
    }
}

/// Executes a session on tensors.
pub fn call<'a>(session: &Session<'a>, memory: &[&'a Memory]) -> Outcome<()> {
    call_observed(session, memory, None)
}

/// Executes a session on tensors, with an observer.
pub fn call_observed<'a>(session: &Session<'a>, memory: &[&'a Memory], observe: Option<Observe<'_>>) -> Outcome<()> {
    let parts: Vec<_> = memory.iter().map(|memory| memory.from(0)).collect();
    call_parts(session, &parts, observe)
}

/// Executes a session on parts of memory.
pub fn call_parts<'a>(session: &Session<'a>, parts: &[Part<'a>], observe: Option<Observe<'_>>) -> Outcome<()> {
    let values: Vec<_> = parts.iter().map(|part| part.value(Access::Writable)).collect();
    call_values(session, &values, observe)
}

/// Executes a session on values.
pub fn call_values<'a>(session: &Session<'a>, values: &[Value<'a>], observe: Option<Observe<'_>>) -> Outcome<()> {
    let values: Vec<_> = values.iter().copied().map(Cell::new).collect();
    let numbers: Vec<u8> = (0..values.len() as i32).flat_map(i32::to_le_bytes).collect();
    session.execute(&Args::new(&values, Indices::new(Vec::leak(numbers))), observe)
}

/// A kernel in WGSL on two buffers: `out[i] = expression of in[i]`, 64 elements a workgroup.
pub fn map(kind: &str, expression: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read> values: array<{kind}>;
         @group(0) @binding(1) var<storage, read_write> results: array<{kind}>;
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
             let i = id.x;
             if i >= arrayLength(&results) {{ return; }}
             let x = values[i];
             results[i] = {expression};
         }}"
    )
}
