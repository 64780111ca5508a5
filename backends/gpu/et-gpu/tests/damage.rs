//! Damaged blobs: errors or results, and never a crash.

mod common;

use common::{Memory, Program, call, map, require_driver};
use et_core::Error;
use et_gpu::{Header, Kind, Role, Session, checksum};
use et_record::Record;
use et_runtime::Serial;

/// in, through an image, plus weights.
fn program() -> Program {
    let mut program = Program::default();
    let input = program.buffer(Role::Input, 0, 64);
    let weights = program.buffer(Role::Weights, 1, 64);
    let image = program.image(Kind::Image32, Role::Scratch, 0, [4, 4, 1]);
    let scratch = program.buffer(Role::Scratch, 0, 64);
    let output = program.buffer(Role::Output, 2, 64);
    let write = program.kernel(
        "@group(0) @binding(0) var<storage, read> values: array<vec4<f32>>;
         @group(0) @binding(1) var image: texture_storage_2d<rgba32float, write>;
         @compute @workgroup_size(4, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             textureStore(image, id.xy, values[id.y * 4 + id.x]);
         }",
    );
    let read = program.kernel(
        "@group(0) @binding(0) var image: texture_2d<f32>;
         @group(0) @binding(1) var<storage, read> weights: array<vec4<f32>>;
         @group(0) @binding(2) var<storage, read_write> results: array<vec4<f32>>;
         @compute @workgroup_size(4, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             let i = id.y * 4 + id.x;
             if any(id.xy >= vec2<u32>(4)) { return; }
             results[i] = textureLoad(image, id.xy, 0) + weights[i];
         }",
    );
    let double = program.kernel(&map("f32", "x * 2.0"));
    program.dispatch(write, [1, 1, 1], &[input], &[image]);
    program.dispatch(read, [1, 1, 1], &[image, weights], &[scratch]);
    program.dispatch(double, [1, 1, 1], &[scratch], &[output]);
    program
}

fn header_bytes() -> usize {
    let mut words = 0;
    Header::default().write(&mut |_| words += 1);
    4 * words
}

/// Writes the checksum anew.
fn seal(bytes: &mut [u8]) {
    let sum = checksum(&bytes[header_bytes()..]);
    // The checksum follows the magic number and the version.
    bytes[8..16].copy_from_slice(&sum.to_le_bytes());
}

struct Tensors([Memory; 3]);

impl Tensors {
    fn new() -> Self {
        Self([Memory::of_floats(&[1.0; 64]), Memory::of_floats(&[2.0; 64]), Memory::new(256)])
    }
}

fn execute(bytes: &[u8], tensors: &Tensors) -> Result<(), Error> {
    let session = Session::load(bytes, &Serial).map_err(|problem| problem.error)?;
    let Tensors([input, weights, output]) = tensors;
    call(&session, &[input, weights, output, output]).map_err(|problem| problem.error)
}

#[test]
fn a_blob_without_its_checksum_is_refused() {
    require_driver();
    let (whole, tensors) = (program().bytes(), Tensors::new());
    execute(&whole, &tensors).unwrap();
    assert_eq!(tensors.0[2].floats(), [6.0; 64]);
    for index in (0..header_bytes()).chain((header_bytes()..whole.len()).step_by(37)) {
        let mut bytes = whole.clone();
        bytes[index] ^= 1 << (index % 8);
        let refused = execute(&bytes, &tensors);
        // The needs and the number of arguments are in the header.
        assert!(refused.is_err() || (16..header_bytes()).contains(&index), "{index}");
    }
    for length in (0..whole.len()).step_by(11) {
        assert!(execute(&whole[..length], &tensors).is_err());
    }
}

#[test]
fn damaged_lists_with_a_right_checksum_never_crash() {
    require_driver();
    check_damaged_lists(&program());
    check_damaged_lists(&in_place(program()));
    check_damaged_lists(&with_an_alternative(program()));
}

/// The output as a state, which is among the outputs of the call again.
fn in_place(mut program: Program) -> Program {
    program.objects[4].role = Role::State;
    program.arguments = 4;
    program
}

/// The last kernel in subgroups, or without.
fn with_an_alternative(mut program: Program) -> Program {
    let subgroup = et_gpu::device_summary().unwrap().subgroup;
    let kernel = program.kernel(&map("f32", "x + subgroupShuffleXor(x, 1u)"));
    program.dispatches[2].kernel = kernel;
    program.subgroups.insert(kernel, (subgroup, 2));
    program
}

fn check_damaged_lists(program: &Program) {
    let tensors = Tensors::new();
    let (whole, words) = (program.bytes(), program.kernels.iter().map(Vec::len).sum::<usize>());
    let mut executed = 0;
    for index in 0..whole.len() - 4 * words {
        for flip in [0x01, 0x02, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[index] ^= flip;
            if !(8..16).contains(&index) {
                seal(&mut bytes);
            }
            executed += u32::from(execute(&bytes, &tensors).is_ok());
        }
    }
    assert!(executed > 0);
    // A damaged blob may have written any of its arguments.
    let tensors = Tensors::new();
    execute(&whole, &tensors).unwrap();
    assert_eq!(tensors.0[2].floats(), [6.0; 64]);
}

type Damage = (&'static str, fn(&mut Program));

#[test]
fn every_invalid_number_has_a_sentence() {
    require_driver();
    let cases: &[Damage] = &[
        ("the argument does not exist", |program| program.objects[0].argument = 3),
        ("scratch has an argument", |program| program.objects[2].argument = 1),
        ("an input, output or state is an image", |program| program.objects[2].role = Role::Input),
        ("an input, output or state is an image", |program| program.objects[2].role = Role::State),
        ("the argument does not exist", |program| {
            (program.objects[0].role, program.objects[0].argument) = (Role::State, 3)
        }),
        ("another object has the argument of the state", |program| {
            (program.objects[0].role, program.objects[0].argument) = (Role::State, 1);
        }),
        ("another object has the argument of the state", |program| {
            (program.objects[4].role, program.objects[4].argument) = (Role::State, 0);
        }),
        ("the lifetime is not within the dispatches", |program| program.objects[0].life = [0, 3]),
        ("the lifetime is not within the dispatches", |program| program.objects[0].life = [1, 0]),
        ("a dispatch outside the lifetime uses the object", |program| program.objects[2].life = [0, 0]),
        ("the size of the buffer is invalid", |program| program.objects[0].size = 255),
        ("the size of the buffer is invalid", |program| program.objects[0].size = 0),
        ("the size of the image is invalid", |program| program.objects[2].extent = [4, 4, 2]),
        ("the size of the image is invalid", |program| program.objects[2].extent = [u32::MAX; 3]),
        ("the kernel does not exist", |program| program.dispatches[0].kernel = 3),
        ("no dispatch executes the kernel", |program| program.kernels.push(program.kernels[0].clone())),
        ("there are no workgroups", |program| program.dispatches[0].workgroups = [1, 0, 1]),
        ("there are too many workgroups", |program| program.dispatches[0].workgroups = [u32::MAX; 3]),
        ("the bindings do not exist", |program| program.dispatches[2].bindings = 3),
        ("the bindings do not exist", |program| program.dispatches[2].bindings = 0),
        ("the bindings do not exist", |program| program.dispatches[2].first_binding = u32::MAX),
        ("an object does not exist", |program| program.bindings[0].object = 5),
        ("a kernel writes weights", |program| program.bindings[3].writes = true),
        ("scratch is read before a kernel writes", |program| program.bindings[1].writes = false),
        ("bindings of two kinds", |program| program.dispatches[2].kernel = 0),
        ("a binding of the kernel has no object", |program| program.dispatches[2].bindings = 1),
        ("has an object of another kind", |program| program.objects[2].kind = Kind::Array32),
        ("the words are no compute shader", |program| program.kernels[1][0] = 0),
        ("kernel 2 of the GPU program: the GPU", |program| _ = program.subgroups.insert(2, (5, 2))),
        ("lacks subgroups of 5 invocations", |program| _ = program.subgroups.insert(2, (5, 2))),
        ("kernel 2 of the GPU program: the alternative does not exist", |program| {
            program.subgroups.insert(2, (8, 3));
        }),
        ("kernel 2 of the GPU program: the alternative has subgroups", |program| {
            program.kernels.push(program.kernels[2].clone());
            program.subgroups.extend([(2, (8, 3)), (3, (8, 3))]);
        }),
        ("kernel 2 of the GPU program: a kernel without subgroups has an alternative", |program| {
            program.kernels.push(program.kernels[2].clone());
            program.subgroups.insert(2, (0, 3));
        }),
        ("kernel 0 of the GPU program has bindings of two kinds", |program| {
            program.subgroups.insert(2, (8, 0));
        }),
        ("kernel 3 of the GPU program: binding 1 of the kernel has an object of another kind", |program| {
            program.kernels.push(program.kernels[0].clone());
            program.subgroups.insert(2, (8, 3));
        }),
        ("kernel 3 of the GPU program: no dispatch executes the kernel", |program| {
            program.kernels.extend([program.kernels[2].clone(), program.kernels[2].clone()]);
            program.subgroups.insert(3, (8, 4));
        }),
    ];
    for (sentence, damage) in cases {
        let mut program = program();
        damage(&mut program);
        let problem = Session::load(&program.bytes(), &Serial).err().unwrap();
        assert!(problem.sentence.contains(sentence), "{problem} instead of {sentence}");
        assert!(matches!(problem.error, Error::InvalidProgram | Error::NotSupported));
    }
}

#[test]
fn kernels_with_too_much_shared_memory_are_unsupported() {
    require_driver();
    let load = |bytes: u32| {
        let mut program = Program::default();
        let (input, output) = (program.buffer(Role::Input, 0, 64), program.buffer(Role::Output, 1, 64));
        let declaration = format!("var<workgroup> tile: array<vec4<f32>, {}>;", bytes / 16);
        let body = map("f32", "tile[i * 4u].x").replace("let x", "tile[i * 4u].x = values[i] + 1.0; let x");
        let kernel = program.kernel(&(declaration + &body));
        program.dispatch(kernel, [1, 1, 1], &[input], &[output]);
        Session::load(&program.bytes(), &Serial).map(|_| ())
    };
    assert_eq!(load(16 << 10), Ok(()));
    let problem = load(16 << 20).unwrap_err();
    assert_eq!(problem.error, Error::NotSupported);
    assert!(problem.sentence.contains("less shared memory than the kernel's 16777216"), "{problem}");
}

#[test]
fn objects_beyond_the_limits_of_the_device_are_unsupported() {
    require_driver();
    let mut program = program();
    program.objects[0].size = u64::MAX - 3;
    let problem = Session::load(&program.bytes(), &Serial).err().unwrap();
    assert_eq!(problem.error, Error::NotSupported);
    assert!(problem.sentence.starts_with("object 0 of the GPU program: the buffer has 18446744073709551612 bytes"));
}
