//! Execution of blobs on the device of this machine.

mod common;

use std::cell::RefCell;

use common::{Memory, Program, call, call_observed, check_silence, map, start};
use et_core::Error;
use et_gpu::{Ended, Needs, Role, Session, faults};
use et_runtime::{Serial, Workers};

/// out = ((in * 2) + 1) * 3 through two scratch buffers.
fn chain(words: u64) -> Program {
    let mut program = Program::default();
    let input = program.buffer(Role::Input, 0, words);
    let scratch: Vec<_> = (0..4).map(|_| program.buffer(Role::Scratch, 0, words)).collect();
    let output = program.buffer(Role::Output, 1, words);
    let kernels = ["x * 2u", "x + 1u", "x * 3u", "x - 5u"].map(|expression| program.kernel(&map("u32", expression)));
    let groups = [words.div_ceil(64) as u32, 1, 1];
    program.dispatch(kernels[0], groups, &[input], &[scratch[0]]);
    program.dispatch(kernels[1], groups, &[scratch[0]], &[scratch[1]]);
    program.dispatch(kernels[2], groups, &[scratch[1]], &[scratch[2]]);
    program.dispatch(kernels[3], groups, &[scratch[2]], &[scratch[3]]);
    program.dispatch(kernels[1], groups, &[scratch[3]], &[output]);
    program
}

fn expected(value: u32) -> u32 {
    (value.wrapping_mul(2) + 1).wrapping_mul(3).wrapping_sub(5).wrapping_add(1)
}

#[test]
fn a_chain_of_kernels_gives_equal_results_in_every_execution() {
    start();
    let (input, output) = (Memory::new(4000), Memory::new(4000));
    let session = chain(1000).load();
    for round in 0..50 {
        let values: Vec<u32> = (0..1000).map(|index| index * 7 + round).collect();
        input.set(&values);
        call(&session, &[&input, &output]).unwrap();
        assert_eq!(output.words(), values.into_iter().map(expected).collect::<Vec<_>>());
    }
    check_silence();
}

#[test]
fn an_observer_sees_every_dispatch_in_order() {
    start();
    let (input, output) = (Memory::of(&[3; 100]), Memory::new(400));
    for lacks_timestamps in [false, true] {
        faults::without_timestamps(lacks_timestamps);
        let session = chain(100).load();
        let seen = RefCell::new(Vec::new());
        let observe = |ended: &Ended| seen.borrow_mut().push(*ended);
        call_observed(&session, &[&input, &output], Some(&observe)).unwrap();
        let seen = seen.into_inner();
        assert!(seen.iter().map(|ended| (ended.dispatch, ended.kernel)).eq([(0, 0), (1, 1), (2, 2), (3, 3), (4, 1)]));
        assert!(seen.iter().all(|ended| ended.workgroups == [2, 1, 1]));
        assert!(seen.iter().all(|ended| ended.duration.is_none() == lacks_timestamps));
        assert_eq!(output.words(), [expected(3); 100]);
        output.set(&[0; 100]);
        call(&session, &[&input, &output]).unwrap();
        assert_eq!(output.words(), [expected(3); 100]);
    }
    faults::without_timestamps(false);
    check_silence();
}

#[test]
fn a_tensor_may_have_three_bytes_less_than_its_buffer() {
    start();
    let mut program = Program::default();
    let (input, weights) = (program.buffer(Role::Input, 0, 2), program.buffer(Role::Weights, 1, 2));
    let output = program.buffer(Role::Output, 2, 2);
    let kernel = program.kernel(
        "@group(0) @binding(0) var<storage, read> one: array<u32>;
         @group(0) @binding(1) var<storage, read> other: array<u32>;
         @group(0) @binding(2) var<storage, read_write> results: array<u32>;
         @compute @workgroup_size(2) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             results[id.x] = one[id.x] + other[id.x];
         }",
    );
    program.dispatch(kernel, [1, 1, 1], &[input, weights], &[output]);
    let session = program.load();
    let memory = |bytes| {
        let memory = Memory::new(bytes);
        memory.set(&[1, 2]);
        memory
    };
    for bytes in 5..=8 {
        let [input, weights, output] =
            [memory(bytes), memory(bytes), memory(bytes)].map(|memory| &*Box::leak(Box::new(memory)));
        call(&session, &[input, weights, output]).unwrap();
        assert_eq!(output.bytes(), [2, 0, 0, 0, 4, 0, 0, 0][..bytes]);
    }
    for bytes in [4, 9] {
        let [input, weights, output] =
            [memory(8), memory(8), memory(bytes)].map(|memory| &*Box::leak(Box::new(memory)));
        let problem = call(&session, &[input, weights, output]).unwrap_err();
        assert_eq!(problem.error, Error::InvalidArgument);
        assert!(problem.sentence.contains(&format!("argument 2 of the GPU program has {bytes} bytes")));
    }
    check_silence();
}

#[test]
fn kernels_use_64_bit_integers_and_fp16_and_subgroups() {
    start();
    let summary = et_gpu::device_summary().unwrap();
    let words = u64::from(summary.subgroup);
    let cases = [
        (Needs { int64: true, ..Needs::default() }, map("u32", "u32((u64(x) * 4000000000lu) >> 32u)"), 30_000_u32),
        (Needs { float16: true, ..Needs::default() }, format!("enable f16;\n{}", map("u32", "u32(f16(x) * 2.0h)")), 30),
        (Needs::default(), map("u32", "subgroupAdd(x)"), 11),
    ];
    for (needs, kernel, value) in cases {
        let available = (summary.int64 || !needs.int64) && (summary.float16 || !needs.float16);
        let mut program = Program { needs, ..Program::default() };
        let (input, output) = (program.buffer(Role::Input, 0, words), program.buffer(Role::Output, 1, words));
        let kernel = program.kernel(&kernel.replace("workgroup_size(64)", &format!("workgroup_size({words})")));
        if needs == Needs::default() {
            program.subgroups.insert(kernel, (summary.subgroup, kernel));
        }
        program.dispatch(kernel, [1, 1, 1], &[input], &[output]);
        let (input, output) = (Memory::of(&vec![value; words as usize]), Memory::new(4 * words as usize));
        let session = match Session::load(&program.bytes(), &Serial) {
            Ok(session) => session,
            Err(problem) => {
                assert!(!available && problem.error == Error::NotSupported, "{problem}");
                continue;
            }
        };
        call(&session, &[&input, &output]).unwrap();
        let expected = match (needs.int64, needs.float16) {
            (true, _) => ((u64::from(value) * 4_000_000_000) >> 32) as u32,
            (_, true) => 2 * value,
            _ => value * words as u32,
        };
        assert_eq!(output.words(), vec![expected; words as usize]);
    }
    check_silence();
}

#[test]
fn sessions_execute_on_several_threads() {
    start();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let (input, output) = (Memory::of(&[thread; 500]), Memory::new(2000));
                let session = chain(500).load();
                for _ in 0..10 {
                    call(&session, &[&input, &output]).unwrap();
                    assert_eq!(output.words(), [expected(thread); 500]);
                }
            });
        }
    });
    check_silence();
}

/// A thread for each task.
struct Threads;

impl Workers for Threads {
    fn threads(&self) -> usize {
        4
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            (0..tasks).for_each(|index| {
                scope.spawn(move || task(index));
            });
        });
    }
}

#[test]
fn kernels_are_compiled_on_several_threads() {
    start();
    let mut program = Program::default();
    let objects: Vec<_> = (0..9)
        .map(|index| match index {
            0 => program.buffer(Role::Input, 0, 64),
            8 => program.buffer(Role::Output, 1, 64),
            _ => program.buffer(Role::Scratch, 0, 64),
        })
        .collect();
    for (index, pair) in objects.windows(2).enumerate() {
        let kernel = program.kernel(&map("u32", &format!("x * 2u + {}u", index % 3)));
        program.dispatch(kernel, [1, 1, 1], &pair[..1], &pair[1..]);
    }
    let (input, output) = (Memory::of(&[5; 64]), Memory::new(256));
    let session = Session::load(&program.bytes(), &Threads).unwrap();
    call(&session, &[&input, &output]).unwrap();
    assert_eq!(output.words(), [(0..8).fold(5, |value, index| value * 2 + index % 3); 64]);
    check_silence();
}

#[test]
fn the_summary_names_the_device() {
    start();
    let summary = et_gpu::device_summary().unwrap();
    assert!(!summary.name.is_empty() && summary.buffer >= 1 << 27 && summary.heap > 0);
    assert!(summary.api == "Vulkan" && summary.api_version.starts_with("1.") && summary.subgroup > 0);
}
