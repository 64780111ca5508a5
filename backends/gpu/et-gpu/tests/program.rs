//! State of a program file that stays on a GPU with memory of its own. One test, because injected faults change the whole process.

mod common;

use std::rc::Rc;

use common::{Program, check_silence, start};
use et_core::ScalarType;
use et_format::write;
use et_gpu::{Role, faults, live_states};
use et_module::{Array, DataFiles, Engine, Engines, FileBytes, Kernels, Module};

static ENGINES: &[Engine] =
    &[Engine { id: et_gpu::ID, make: |host| Box::new(et_gpu::delegate(host.workers)), problem: et_gpu::problem }];

const WORDS: usize = 64;
const BYTES: usize = 4 * WORDS;

/// `state += step`, then `output = state`.
fn blob() -> Vec<u8> {
    let (mut program, words) = (Program::default(), WORDS as u64);
    let (step, state) = (program.buffer(Role::Input, 0, words), program.buffer(Role::State, 1, words));
    let output = program.buffer(Role::Output, 2, words);
    let kernel = program.kernel(
        "@group(0) @binding(0) var<storage, read> step: array<i32>;
         @group(0) @binding(1) var<storage, read_write> state: array<i32>;
         @group(0) @binding(2) var<storage, read_write> output: array<i32>;
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             state[id.x] += step[id.x];
             output[id.x] = state[id.x];
         }",
    );
    program.dispatch(kernel, [1, 1, 1], &[step], &[state, output]);
    program.arguments = 4;
    program.bytes()
}

fn tensor(memory_id: u32, offset: usize, name: Option<&str>, data_buffer: u32) -> write::EValue {
    let extra = name.map(|name| write::ExtraTensorInfo { fully_qualified_name: name.to_owned(), external: false });
    write::EValue::Tensor(write::Tensor {
        scalar_type: ScalarType::Int,
        sizes: vec![WORDS as i32],
        dim_order: vec![0],
        data_buffer,
        allocation: Some(write::Allocation { memory_id, offset: offset as u64 }),
        dynamic: false,
        extra,
    })
}

/// A method that counts in a state of this name.
fn method<'b>(name: &str, state: &str, initial: u32, blob: &'b [u8]) -> write::ExecutionPlan<'b> {
    let delegate = write::BackendDelegate { id: et_gpu::ID.to_owned(), blob, compile_specs: vec![] };
    let call = write::Instruction::DelegateCall { delegate: 0, arguments: vec![0, 1, 2, 3] };
    write::ExecutionPlan {
        name: name.to_owned(),
        values: vec![
            tensor(2, 0, None, 0),
            tensor(1, 0, Some(state), initial),
            tensor(2, BYTES, None, 0),
            tensor(1, 0, None, 0),
        ],
        inputs: vec![0],
        outputs: vec![2],
        chains: vec![write::Chain { instructions: vec![call] }],
        delegates: vec![delegate],
        arena_sizes: vec![BYTES as i64, 2 * BYTES as i64],
        ..write::ExecutionPlan::default()
    }
}

/// The methods `one` and `two` with the same state, which `first` loads with initial values, and the method `other`, which borrows a
/// state. If `is_read`, the host reads the state of `other`.
fn file(is_read: bool) -> Rc<FileBytes> {
    let (blob, initial) = (blob(), [3_i32; WORDS].map(i32::to_le_bytes).concat());
    let mut other = method("other", "count@0", 0, &blob);
    if is_read {
        other.outputs.push(3);
    }
    let program = write::Program {
        execution_plans: vec![
            method("one", "count", 0, &blob),
            method("two", "count", 0, &blob),
            method("first", "count", 1, &blob),
            other,
        ],
        initial_values: vec![&initial],
        ..write::Program::default()
    };
    let mut bytes = Vec::new();
    write::write_program(&program, &mut bytes).unwrap();
    Rc::new(FileBytes::embedded(Vec::leak(bytes)))
}

const NONE: Kernels<'_> = Kernels::Selected(&[]);

fn load_one(file: &Rc<FileBytes>) -> Module {
    Module::load_method(FileBytes::shared(file), DataFiles::default(), "one", NONE, &Engines::new(ENGINES, 1)).unwrap()
}

fn load_beside(file: &Rc<FileBytes>, one: &Module, name: &str) -> Module {
    let engines = Engines::new(ENGINES, 1);
    one.load_beside(FileBytes::shared(file), DataFiles::default(), name, NONE, &engines).unwrap()
}

fn load_other(file: &Rc<FileBytes>, one: &Module) -> Module {
    let lend = |name: &str| one.state(name.strip_suffix("@0")?).unwrap();
    let engines = Engines::new(ENGINES, 1);
    Module::load_borrowing(FileBytes::shared(file), DataFiles::default(), "other", NONE, &engines, &lend).unwrap()
}

/// Adds a step, and returns the state by the output.
fn add(module: &mut Module, step: i32) -> i32 {
    module.set_input(0, &array(step).view()).unwrap();
    module.execute().unwrap();
    let outputs = module.outputs().unwrap().arrays;
    first(outputs.values().next().unwrap())
}

fn array(number: i32) -> Array {
    Array { bytes: [number; WORDS].map(i32::to_le_bytes).concat(), ..Array::zeros(ScalarType::Int, &[WORDS]) }
}

/// The element that all elements of an array equal.
fn first(array: &Array) -> i32 {
    let numbers: Vec<_> = array.bytes.as_chunks().0.iter().map(|word| i32::from_le_bytes(*word)).collect();
    assert_eq!(numbers, vec![numbers[0]; WORDS]);
    numbers[0]
}

fn attribute(module: &Module, name: &str) -> i32 {
    first(&module.attribute(name).unwrap().unwrap())
}

/// The host learns in words that the contents are gone.
fn lose_the_state_with_the_gpu() {
    faults::treat_as_discrete(true);
    let mut one = load_one(&file(false));
    assert_eq!(add(&mut one, 1), 1);
    faults::lose_device_at(0);
    let failure = one.attribute("count").unwrap_err().to_string();
    assert!(failure.ends_with("the GPU was lost: its driver reset it"), "{failure}");
}

#[test]
fn methods_share_a_state_that_stays_on_the_gpu() {
    start();
    for (is_discrete, is_read) in [(true, false), (true, true), (false, false), (false, true)] {
        faults::treat_as_discrete(is_discrete);
        let file = file(is_read);
        let mut one = load_one(&file);
        let (mut two, mut other) = (load_beside(&file, &one, "two"), load_other(&file, &one));
        assert_eq!([add(&mut one, 1), add(&mut two, 2), add(&mut other, 4)], [1, 3, 7]);
        assert_eq!(live_states(), usize::from(is_discrete && !is_read));
        assert_eq!([attribute(&one, "count"), attribute(&two, "count"), attribute(&other, "count@0")], [7; 3]);
        assert_eq!([add(&mut two, 1), add(&mut one, 1)], [8, 9]);
        let unused = load_other(&file, &one);
        assert_eq!(attribute(&unused, "count@0"), 9);
        assert_eq!([add(&mut other, 1), add(&mut one, 1)], [10, 11]);
        // The arena lives on, and with the arena the contents.
        drop((one, unused, other));
        assert_eq!(add(&mut two, 1), 12);
        assert_eq!(attribute(&two, "count"), 12);
        // Loading a method writes the initial values.
        let one = load_beside(&file, &two, "first");
        assert_eq!([attribute(&two, "count"), attribute(&one, "count"), add(&mut two, 1)], [3, 3, 4]);
        let state = load_other(&file, &two);
        drop((one, two));
        assert_eq!(attribute(&state, "count@0"), 4);
    }
    assert_eq!(live_states(), 0);
    lose_the_state_with_the_gpu();
    faults::treat_as_discrete(false);
    check_silence();
}
