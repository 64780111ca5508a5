//! States that stay on a GPU with memory of its own. One test, because injected faults and counts of live objects belong to the whole process.

mod common;

use std::collections::BTreeSet;

use common::{Memory, Part, Program, call_parts, check_silence, start};
use et_core::{Access, Error, Tensor, Value};
use et_gpu::{Outcome, Role, Session, faults, live_objects, live_states};

const WORDS: usize = 300;

/// More words than a staging buffer has.
const MANY: usize = (40 << 20) / 4 + 1;

/// `state += step`, then `output = state`. The last argument is the state again.
fn counter(words: usize) -> Program {
    let mut program = Program::default();
    let (step, state) = (program.buffer(Role::Input, 0, 1), program.buffer(Role::State, 1, words as u64));
    let output = program.buffer(Role::Output, 2, 1);
    let kernel = program.kernel(
        "@group(0) @binding(0) var<storage, read> step: array<u32>;
         @group(0) @binding(1) var<storage, read_write> state: array<u32>;
         @group(0) @binding(2) var<storage, read_write> output: array<u32>;
         @compute @workgroup_size(64)
         fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
             for (var i = id.x; i < arrayLength(&state); i += 64u * groups.x) { state[i] += step[0]; }
             if id.x == 0 { output[0] = state[0]; }
         }",
    );
    program.dispatch(kernel, [8, 1, 1], &[step], &[state, output]);
    program.arguments = 4;
    program
}

/// A session whose state stays on the device.
fn keeping<'a>(words: usize) -> Session<'a> {
    counter(words).load().keeping(BTreeSet::from([1, 3]))
}

/// The tensors of a call.
struct Tensors {
    step: Memory,
    state: Memory,
    output: Memory,
}

impl Tensors {
    fn new(words: usize) -> Self {
        Self { step: Memory::of(&[1]), state: Memory::of(&vec![100; words]), output: Memory::new(4) }
    }

    /// Adds a step, and returns the first word of the state.
    fn add<'a>(&'a self, session: &Session<'a>, step: u32) -> Outcome<u32> {
        self.step.set(&[step]);
        let parts: [Part<'a>; 4] = [&self.step, &self.state, &self.output, &self.state].map(|memory| memory.from(0));
        call_parts(session, &parts, None)?;
        Ok(self.output.words()[0])
    }

    /// The state of the host after the state was stored.
    fn stored(&self, session: &Session<'_>) -> Outcome<Vec<u32>> {
        session.store_state(&tensor(&self.state))?;
        Ok(self.state.words())
    }
}

fn tensor(memory: &Memory) -> Tensor<'_> {
    match memory.value(Access::Writable) {
        Value::Tensor(tensor) => tensor,
        _ => unreachable!("a memory is a tensor"),
    }
}

#[test]
fn private_states_stay_on_a_gpu_with_memory_of_its_own() {
    start();
    faults::treat_as_discrete(true);
    keep_the_contents_on_the_device();
    share_a_state_between_sessions();
    keep_the_state_of_a_session_that_ends();
    read_other_contents_at_the_same_address();
    follow_a_state_to_other_memory();
    store_a_state_before_an_input_is_read();
    copy_a_large_state_in_pieces();
    copy_small_states();
    fail_after_a_loss();
    fail_every_allocation();
    assert_eq!((live_objects(), live_states()), ((0, 0), 0));
    faults::treat_as_discrete(false);
    import_states_of_unified_memory();
    check_silence();
}

fn keep_the_contents_on_the_device() {
    let tensors = Tensors::new(WORDS);
    let session = keeping(WORDS);
    assert_eq!((1..=10).map(|step| tensors.add(&session, step)).last(), Some(Ok(155)));
    assert_eq!((live_states(), tensors.state.words()[4..] == [100; WORDS - 4]), (1, true));
    assert_eq!(tensors.stored(&session), Ok(vec![155; WORDS]));
    // Nothing is left to store.
    assert_eq!(tensors.stored(&session), Ok(vec![155; WORDS]));
    assert_eq!(tensors.add(&session, 1), Ok(156));
}

fn share_a_state_between_sessions() {
    let tensors = Tensors::new(WORDS);
    let sessions = [keeping(WORDS), keeping(WORDS)];
    (1..=20).for_each(|step| assert_eq!(tensors.add(&sessions[step as usize % 2], 1), Ok(100 + step)));
    assert_eq!(live_states(), 1);
    // A session that has not executed stores the state too.
    assert_eq!(tensors.stored(&keeping(WORDS)), Ok(vec![120; WORDS]));
    let [one, two] = sessions;
    assert_eq!(tensors.add(&one, 1), Ok(121));
    drop(one);
    assert_eq!((live_states(), tensors.add(&two, 1)), (1, Ok(122)));
}

/// A session that is loaded after the last session has ended goes on with the contents.
fn keep_the_state_of_a_session_that_ends() {
    let tensors = Tensors::new(WORDS);
    (1..=3).for_each(|step| assert_eq!(tensors.add(&keeping(WORDS), 1), Ok(100 + step)));
    assert_eq!((live_states(), tensors.state.words()), (0, vec![103; WORDS]));
}

/// Initial values, or another arena.
fn read_other_contents_at_the_same_address() {
    let tensors = Tensors::new(WORDS);
    let session = keeping(WORDS);
    for first in [7, 9] {
        assert!(tensors.add(&session, 1).is_ok());
        tensors.state.set(&vec![first; WORDS]);
        assert_eq!(tensors.add(&session, 1), Ok(first + 1));
        assert_eq!(tensors.stored(&session), Ok(vec![first + 1; WORDS]));
    }
}

fn follow_a_state_to_other_memory() {
    let tensors = [Tensors::new(WORDS), Tensors::new(WORDS)];
    let session = keeping(WORDS);
    for (index, sum) in [(0, 101), (1, 101), (1, 102), (0, 102), (1, 103), (0, 103)] {
        assert_eq!((tensors[index].add(&session, 1), live_states()), (Ok(sum), 1));
    }
}

/// The blob of another session reads the state as an input.
fn store_a_state_before_an_input_is_read() {
    let tensors = Tensors::new(WORDS);
    let (session, output) = (keeping(WORDS), Memory::new(4 * WORDS));
    let mut program = Program::default();
    let (input, result) = (program.buffer(Role::Input, 0, WORDS as u64), program.buffer(Role::Output, 1, WORDS as u64));
    let kernel = program.kernel(&common::map("u32", "x * 2u"));
    program.dispatch(kernel, [5, 1, 1], &[input], &[result]);
    let reader = program.load();
    for step in 1..=3 {
        assert_eq!(tensors.add(&session, 1), Ok(100 + step));
        common::call(&reader, &[&tensors.state, &output]).unwrap();
        assert_eq!(output.words(), vec![200 + 2 * step; WORDS]);
    }
    assert_eq!(tensors.add(&session, 1), Ok(104));
    // A session that copies its state reads the contents too.
    assert_eq!((tensors.add(&counter(WORDS).load(), 1), tensors.add(&session, 1)), (Ok(105), Ok(106)));
}

fn copy_a_large_state_in_pieces() {
    let tensors = Tensors::new(MANY);
    let session = keeping(MANY);
    tensors.state.set(&(0..MANY as u32).collect::<Vec<_>>());
    assert_eq!([tensors.add(&session, 5), tensors.add(&session, 6)], [Ok(5), Ok(11)]);
    assert!(tensors.stored(&session).unwrap().into_iter().eq((0..MANY as u32).map(|index| index + 11)));
}

/// A state without room for a stamp.
fn copy_small_states() {
    for words in [3, 4] {
        let tensors = Tensors::new(words);
        let session = keeping(words);
        assert_eq!((tensors.add(&session, 1), live_states()), (Ok(101), usize::from(words == 4)));
        assert_eq!(tensors.state.words() == vec![101; words], words == 3);
        assert_eq!(tensors.stored(&session), Ok(vec![101; words]));
    }
}

/// The contents are lost with the device: no session and no host takes the old contents for new contents.
fn fail_after_a_loss() {
    let lost = "a state was lost with the GPU that had the state: load the program anew";
    // The first call copies the state and executes, the second executes, and the state is stored.
    for submission in 0..4 {
        let tensors = Tensors::new(WORDS);
        let session = keeping(WORDS);
        faults::lose_device_at(submission);
        let results =
            [tensors.add(&session, 1), tensors.add(&session, 1), tensors.stored(&session).map(|words| words[0])];
        let handle = Err(Error::DelegateInvalidHandle);
        // Without a copy, the contents have not left the tensor.
        let expected = [
            [handle, handle, Ok(100)],
            [handle, handle, handle],
            [Ok(101), handle, handle],
            [Ok(101), Ok(102), handle],
        ];
        let results = results.map(|result| result.map_err(|problem| problem.error));
        assert_eq!(results, expected[submission as usize]);
        drop(session);
        let other = keeping(WORDS);
        if submission == 0 {
            assert_eq!(tensors.add(&other, 1), Ok(101));
            continue;
        }
        for problem in [tensors.add(&other, 1).unwrap_err(), tensors.stored(&other).unwrap_err()] {
            assert_eq!((problem.error, problem.sentence.as_str()), (Error::InvalidState, lost));
        }
        tensors.state.set(&[50; WORDS]);
        assert_eq!(tensors.add(&other, 1), Ok(51));
    }
}

fn fail_every_allocation() {
    // Inputs, outputs, the state, and a staging buffer.
    for allocation in 0..4 {
        let tensors = Tensors::new(WORDS);
        faults::fail_allocation_at(allocation);
        let session = Session::load(&counter(WORDS).bytes(), &et_runtime::Serial);
        let session = session.map(|session| session.keeping(BTreeSet::from([1])));
        let result = session.and_then(|session| tensors.add(&session, 1));
        assert_eq!(result.unwrap_err().error, Error::DelegateMemoryAllocationFailed);
        assert_eq!(tensors.state.words(), vec![100; WORDS]);
        let session = keeping(WORDS);
        assert_eq!(tensors.add(&session, 1), Ok(101));
        // A failure to store a state leaves the state on the device.
        faults::fail_allocation_at(0);
        assert_eq!(tensors.stored(&session).unwrap_err().error, Error::DelegateMemoryAllocationFailed);
        assert_eq!(tensors.stored(&session), Ok(vec![101; WORDS]));
        assert!(!faults::clear());
    }
}

fn import_states_of_unified_memory() {
    let tensors = Tensors::new(WORDS);
    let session = keeping(WORDS);
    assert_eq!((tensors.add(&session, 1), live_states()), (Ok(101), 0));
    assert_eq!(tensors.state.words(), vec![101; WORDS]);
}
