//! States: arguments that kernels change in place. One test, because faults count the allocations of the process.

mod common;

use common::{Memory, Part, Program, call_parts, call_values, check_silence, map, start};
use et_core::{Access, Error};
use et_gpu::{Ended, Kind, Observe, Role, Session, device_summary, faults, live_objects};

const WORDS: usize = 3000;

/// `state[i] += steps[i]`, in one dispatch.
const ADD: &str = "@group(0) @binding(0) var<storage, read> steps: array<u32>;
    @group(0) @binding(1) var<storage, read_write> state: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        if id.x >= arrayLength(&state) { return; }
        state[id.x] += steps[id.x];
    }";

/// Twice `state += steps`, then `output = state * 3`. The last argument is the state again.
fn counter(words: usize) -> Program {
    let (mut program, words) = (Program::default(), words as u64);
    let (steps, state) = (program.buffer(Role::Input, 0, words), program.buffer(Role::State, 1, words));
    let output = program.buffer(Role::Output, 2, words);
    let (add, triple) = (program.kernel(ADD), program.kernel(&map("u32", "x * 3u")));
    let groups = [words.div_ceil(64) as u32, 1, 1];
    program.dispatch(add, groups, &[steps], &[state]);
    program.dispatch(add, groups, &[steps], &[state]);
    program.dispatch(triple, groups, &[state], &[output]);
    program.arguments = 4;
    program
}

/// `state += weights`, for weights that are an image.
fn weighted() -> Program {
    let mut program = Program::default();
    let (weights, state) = (program.image(Kind::Image32, Role::Weights, 0, [16, 1, 1]), 1);
    assert_eq!(state, program.buffer(Role::State, 1, 64));
    let kernel = program.kernel(
        "@group(0) @binding(0) var weights: texture_2d<f32>;
         @group(0) @binding(1) var<storage, read_write> state: array<vec4<f32>>;
         @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             state[id.x] += textureLoad(weights, vec2<u32>(id.x, 0), 0);
         }",
    );
    program.dispatch(kernel, [1, 1, 1], &[weights], &[state]);
    program.arguments = 3;
    program
}

/// A counter on the CPU and its memory.
struct Counter {
    steps: Memory,
    state: Memory,
    output: Memory,
    expected: Vec<u32>,
    skipped: usize,
}

impl Counter {
    /// A counter whose state starts after `skipped` bytes of its memory.
    fn new(skipped: usize) -> Self {
        let expected: Vec<u32> = (0..WORDS as u32).map(|index| index.wrapping_mul(2_654_435_761)).collect();
        let state = Memory::new(4 * WORDS + skipped);
        state.set(&[&vec![77; skipped / 4][..], &expected].concat());
        Self { steps: Memory::new(4 * WORDS), state, output: Memory::new(4 * WORDS), expected, skipped }
    }

    fn parts(&self) -> [Part<'_>; 4] {
        let state = self.state.from(self.skipped);
        [self.steps.from(0), state, self.output.from(0), state]
    }

    /// Adds 2 * `step`, and checks the state and the output.
    fn add<'a>(&'a self, session: &Session<'a>, step: u32, before: u32, observe: Option<Observe<'_>>) -> u32 {
        self.steps.set(&[step; WORDS]);
        call_parts(session, &self.parts(), observe).unwrap();
        let after = before.wrapping_add(step * 2);
        let expected: Vec<_> = self.expected.iter().map(|word| word.wrapping_add(after)).collect();
        assert_eq!(self.state.words()[self.skipped / 4..], expected);
        assert_eq!(self.state.words()[..self.skipped / 4], vec![77; self.skipped / 4]);
        assert!(self.output.words().into_iter().eq(expected.iter().map(|word| word.wrapping_mul(3))));
        after
    }
}

#[test]
fn states_are_changed_in_place_or_through_copies() {
    start();
    let imports = device_summary().unwrap().imports_weights;
    for discrete in [false, true] {
        faults::treat_as_discrete(discrete);
        for skipped in [0, 4] {
            let copies = discrete || !imports || skipped > 0;
            count_in_one_session(skipped, copies);
            count_in_two_sessions_in_turn(skipped);
        }
        follow_a_state_to_other_memory();
        keep_weights_when_a_state_moves();
        change_only_the_bytes_of_the_tensor(discrete || !imports);
        refuse_other_memory();
    }
    check_silence();
}

fn count_in_one_session(skipped: usize, copies: bool) {
    let counter = Counter::new(skipped);
    let session = counter_session();
    faults::fail_allocation_at(0);
    let first = call_parts(&session, &counter.parts(), None);
    assert_eq!(faults::clear(), !copies);
    assert_eq!(first.is_err(), copies);
    let ignore = |_: &Ended| {};
    (0..100).fold(0, |sum, step| counter.add(&session, step, sum, (step % 9 == 8).then_some(&ignore)));
}

fn counter_session<'a>() -> Session<'a> {
    counter(WORDS).load()
}

/// The host and another session change the state between the executions of a session.
fn count_in_two_sessions_in_turn(skipped: usize) {
    let counter = Counter::new(skipped);
    let sessions = [counter_session(), counter_session()];
    (0..100).fold(0, |sum, step| counter.add(&sessions[step as usize % 2], step, sum, None));
    counter.state.set(&[&vec![77; skipped / 4][..], &counter.expected].concat());
    sessions.iter().fold(0, |sum, session| counter.add(session, 5, sum, None));
}

fn follow_a_state_to_other_memory() {
    let counters = [Counter::new(0), Counter::new(4), Counter::new(0)];
    let session = counter_session();
    let mut sums = [0; 3];
    for (step, index) in [0, 0, 1, 0, 2, 2, 1, 0].into_iter().enumerate() {
        sums[index] = counters[index].add(&session, step as u32, sums[index], None);
    }
}

fn keep_weights_when_a_state_moves() {
    let (weights, states) = (Memory::of_floats(&[1.0; 64]), [Memory::new(256), Memory::new(256)]);
    let session = weighted().load();
    let call = |state: &'static Memory, weights: &'static Memory| {
        call_parts(&session, &[weights, state, state].map(|memory| memory.from(0)), None)
    };
    let (weights, [one, two]) = (&*Box::leak(Box::new(weights)), states.map(|state| &*Box::leak(Box::new(state))));
    call(one, weights).unwrap();
    // Weights never change: other values would show that the weights are copied again.
    weights.set(&[f32::to_bits(9.0); 64]);
    call(two, weights).unwrap();
    call(one, weights).unwrap();
    assert_eq!((one.floats(), two.floats()), (vec![2.0; 64], vec![1.0; 64]));
    assert_eq!(live_objects().1, 1);
}

/// Kernels change whole words: a state of fewer bytes is a copy on every device.
fn change_only_the_bytes_of_the_tensor(copies: bool) {
    for bytes in 5..=8 {
        let [steps, state, output] = [8, bytes, 8].map(|bytes| &*Box::leak(Box::new(Memory::new(bytes))));
        steps.set(&[u32::MAX; 2]);
        let session = counter(2).load();
        let parts = [steps, state, output, state].map(|memory| memory.from(0));
        faults::fail_allocation_at(0);
        assert_eq!(call_parts(&session, &parts, None).is_err(), copies || bytes < 8);
        faults::clear();
        state.set(&[7; 2]);
        call_parts(&session, &parts, None).unwrap();
        assert_eq!(state.bytes(), [5, 0, 0, 0, 5, 0, 0, 0][..bytes]);
        assert!(state.rest().into_iter().all(|byte| byte == 0));
    }
}

fn refuse_other_memory() {
    let counter = Counter::new(0);
    let session = counter_session();
    let [steps, state, output, _] = counter.parts();
    let problem = call_parts(&session, &[steps, state, output, output], None).unwrap_err();
    assert_eq!(problem.error, Error::InvalidState);
    assert_eq!(problem.sentence, "argument 3 of the GPU program is not in the memory of a state");
    let constant = state.value(Access::Constant);
    let values = [steps.value(Access::Constant), constant, output.value(Access::Writable), constant];
    let problem = call_values(&session, &values, None).unwrap_err();
    assert_eq!(
        (problem.error, problem.sentence.as_str()),
        (Error::AccessFailed, "a state of the GPU program is a constant")
    );
    let values = [steps.value(Access::Constant), state.value(Access::Writable), output.value(Access::Writable)];
    assert_eq!(call_values(&session, &values, None).unwrap_err().error, Error::InvalidArgument);
    assert_eq!(counter.state.words(), counter.expected);
    counter.add(&session, 1, 0, None);
}
