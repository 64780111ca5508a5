//! Kernels in subgroups, and their alternatives. A single test, because subgroups are turned off for the whole process.

mod common;

use std::cell::RefCell;

use common::{Memory, Program, call, call_observed, check_silence, map, start};
use et_core::Error;
use et_gpu::{Ended, Kind, Needs, Role, Session, device_summary, faults, live_objects};
use et_runtime::Serial;

/// The sum of each 64 words, in subgroups of `subgroup` invocations or, as the alternative, in shared memory; then the sum + 1.
fn program(subgroup: u32, has_alternative: bool) -> Program {
    let mut program = Program::default();
    let input = program.buffer(Role::Input, 0, 640);
    let sums = program.buffer(Role::Scratch, 0, 640);
    let output = program.buffer(Role::Output, 1, 640);
    let add = program.kernel(&map("u32", "x + 1u"));
    let exchange = |steps: &str, declarations: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read> values: array<u32>;
             @group(0) @binding(1) var<storage, read_write> results: array<u32>;
             var<workgroup> parts: array<u32, 64>;
             @compute @workgroup_size(64) fn main(
                 @builtin(global_invocation_id) id: vec3<u32>,
                 @builtin(local_invocation_index) own: u32 {declarations}
             ) {{
                 {steps}
                 var sum = 0u;
                 for (var i = 0u; i < 64u; i++) {{ sum += parts[i]; }}
                 results[id.x] = sum;
             }}"
        )
    };
    let sum = "let part = subgroupAdd(values[id.x]);
        parts[own] = select(0u, part, lane == 0u);
        workgroupBarrier();";
    let kernel = program.kernel(&exchange(sum, ", @builtin(subgroup_invocation_id) lane: u32"));
    program.subgroups.insert(kernel, (subgroup, kernel));
    if has_alternative {
        let alternative = program.kernel(&exchange("parts[own] = values[id.x]; workgroupBarrier();", ""));
        program.subgroups.insert(kernel, (subgroup, alternative));
    }
    program.dispatch(kernel, [10, 1, 1], &[input], &[sums]);
    program.dispatch(add, [10, 1, 1], &[sums], &[output]);
    program
}

/// The dispatch, the kernel and the workgroups.
type Executed = (usize, usize, [u32; 3]);

/// Executes a program, and returns the kernels that were executed.
fn executed(program: &Program) -> Vec<Executed> {
    let values: Vec<u32> = (0..640).map(|index| index * index).collect();
    let expected = values.chunks(64).flat_map(|part| [part.iter().sum::<u32>() + 1; 64]);
    let (input, output) = (Memory::of(&values), Memory::new(2560));
    let session = program.load();
    // The kernel that is not executed has no pipeline.
    assert_eq!(live_objects().0, 2);
    call(&session, &[&input, &output]).unwrap();
    assert!(output.words().into_iter().eq(expected));
    let seen = RefCell::new(Vec::new());
    let observe = |ended: &Ended| seen.borrow_mut().push((ended.dispatch, ended.kernel, ended.workgroups));
    call_observed(&session, &[&input, &output], Some(&observe)).unwrap();
    drop(session);
    seen.into_inner()
}

fn ended(kernel: usize) -> [Executed; 2] {
    [(0, kernel, [10, 1, 1]), (1, 0, [10, 1, 1])]
}

#[test]
fn a_device_without_the_subgroups_of_a_kernel_executes_the_alternative() {
    start();
    let subgroup = device_summary().unwrap().subgroup;
    assert_eq!(executed(&program(subgroup, true)), ended(1));
    assert_eq!(executed(&program(subgroup, false)), ended(1));
    assert_eq!(executed(&program(5, true)), ended(2));
    faults::without_subgroups(true);
    assert_eq!(executed(&program(subgroup, true)), ended(2));
    let problem = Session::load(&program(subgroup, false).bytes(), &Serial).err().unwrap();
    assert_eq!(problem.error, Error::NotSupported);
    assert!(problem.sentence.starts_with("kernel 1 of the GPU program: the GPU ("), "{problem}");
    assert!(problem.sentence.ends_with(&format!(") lacks subgroups of {subgroup} invocations")), "{problem}");
    faults::without_subgroups(false);
    assert_eq!(executed(&program(subgroup, true)), ended(1));
    reads_outside_of_images_give_zero();
    check_silence();
}

fn reads_outside_of_images_give_zero() {
    for kind in [Kind::Image32, Kind::Image16] {
        let mut program = Program { needs: Needs { zero_clamp: true, ..Needs::default() }, ..Program::default() };
        let (image, output) = (program.image(kind, Role::Weights, 0, [4, 4, 1]), program.buffer(Role::Output, 1, 256));
        // Texels from -2 to 5 in both dimensions.
        let kernel = program.kernel(
            "@group(0) @binding(0) var image: texture_2d<f32>;
             @group(0) @binding(1) var<storage, read_write> results: array<vec4<f32>>;
             @compute @workgroup_size(8, 8) fn main(@builtin(local_invocation_id) id: vec3<u32>) {
                 results[id.y * 8 + id.x] = textureLoad(image, vec2<i32>(id.xy) - 2, 0);
             }",
        );
        program.dispatch(kernel, [1, 1, 1], &[image], &[output]);
        let ones = match kind {
            Kind::Image32 => Memory::of_floats(&[1.0; 64]),
            _ => Memory::of(&[0x3c00_3c00; 32]),
        };
        let output = Memory::new(1024);
        let loaded = Session::load(&program.bytes(), &Serial);
        if !device_summary().unwrap().zero_clamp {
            assert_eq!(loaded.err().unwrap().error, Error::NotSupported);
            continue;
        }
        call(&loaded.unwrap(), &[&ones, &output]).unwrap();
        let inside = |place: usize| (2..6).contains(&(place / 8)) && (2..6).contains(&(place % 8));
        let expected = (0..64).flat_map(|place| [f32::from(u8::from(inside(place))); 4]);
        assert!(output.floats().into_iter().eq(expected));
    }
}
