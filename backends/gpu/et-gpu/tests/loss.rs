//! Losses of the device and of memory. One test, because all tests of a binary share the device.

mod common;

use common::{ADD_WEIGHTS, Memory, Program, call, check_silence, map, start};
use et_core::Error;
use et_gpu::{Kind, Role, Session, faults, live_objects};
use et_runtime::Serial;

/// in + weights image, in two dispatches.
fn program() -> Program {
    let mut program = Program::default();
    let input = program.buffer(Role::Input, 0, 64);
    let weights = program.image(Kind::Image32, Role::Weights, 1, [16, 1, 1]);
    let scratch = program.buffer(Role::Scratch, 0, 64);
    let output = program.buffer(Role::Output, 2, 64);
    let add = program.kernel(ADD_WEIGHTS);
    let double = program.kernel(&map("f32", "x * 2.0"));
    program.dispatch(add, [4, 1, 1], &[input, weights], &[scratch]);
    program.dispatch(double, [1, 1, 1], &[scratch], &[output]);
    program
}

#[test]
fn losses_are_errors_and_later_sessions_work() {
    start();
    lose_the_device_at_every_submission();
    fail_every_allocation();
    assert_eq!(live_objects(), (0, 0));
    check_silence();
}

fn tensors() -> [Memory; 3] {
    [Memory::of_floats(&[1.0; 64]), Memory::of_floats(&[2.0; 64]), Memory::new(256)]
}

fn check_execution() {
    let tensors = tensors();
    call(&program().load(), &tensors.each_ref()).unwrap();
    assert_eq!(tensors[2].floats(), [6.0; 64]);
}

fn lose_the_device_at_every_submission() {
    // A copy of weights, and an execution for each call.
    for submission in 0..4 {
        let tensors = tensors();
        let session = program().load();
        faults::lose_device_at(submission);
        let results: Vec<_> = (0..3).map(|_| call(&session, &tensors.each_ref())).collect();
        let failed = results.iter().position(Result::is_err).unwrap();
        assert_eq!(failed, submission.saturating_sub(1) as usize);
        for result in &results[failed..] {
            let problem = result.clone().unwrap_err();
            assert_eq!(problem.error, Error::DelegateInvalidHandle);
            assert_eq!(problem.sentence, "the GPU was lost: its driver reset it");
        }
        // A session of the lost device may live as long as sessions of the next device.
        check_execution();
        drop(session);
        check_execution();
    }
}

fn fail_every_allocation() {
    // Scratch, inputs, outputs, weights and a staging buffer.
    for allocation in 0..6 {
        let tensors = tensors();
        faults::fail_allocation_at(allocation);
        let session = Session::load(&program().bytes(), &Serial);
        let result = session.and_then(|session| call(&session, &tensors.each_ref()).and(Ok(session)));
        if faults::clear() {
            assert!(result.is_ok() && allocation == 5);
            continue;
        }
        let problem = result.err().unwrap();
        assert_eq!(problem.error, Error::DelegateMemoryAllocationFailed);
        assert!(problem.sentence.starts_with("the GPU driver has no memory to hold"));
        check_execution();
    }
}
