//! What the delegates of a process share. One test, because all tests of a binary share the device.

mod common;

use common::{Memory, Program, call, check_silence, map, start};
use et_gpu::{Kind, Role, live_objects};

const COPY_IMAGE: &str = "@group(0) @binding(0) var image: texture_2d<f32>;
    @group(0) @binding(1) var<storage, read_write> results: array<vec4<f32>>;
    @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        results[id.x] = textureLoad(image, vec2<u32>(id.x, 0), 0);
    }";

fn buffer_of_weights() -> Program {
    let mut program = Program::default();
    let (weights, output) = (program.buffer(Role::Weights, 0, 64), program.buffer(Role::Output, 1, 64));
    let kernel = program.kernel(&map("u32", "x + 1u"));
    program.dispatch(kernel, [1, 1, 1], &[weights], &[output]);
    program
}

fn image_of_weights() -> Program {
    let mut program = Program::default();
    let weights = program.image(Kind::Image32, Role::Weights, 0, [16, 1, 1]);
    let output = program.buffer(Role::Output, 1, 64);
    let kernel = program.kernel(COPY_IMAGE);
    program.dispatch(kernel, [4, 1, 1], &[weights], &[output]);
    program
}

#[test]
fn delegates_share_pipelines_and_weights_while_they_live() {
    start();
    let [weights, others, output] = [Memory::of(&[7; 64]), Memory::of(&[9; 64]), Memory::new(256)];
    assert_eq!(live_objects(), (0, 0));
    let (one, two) = (buffer_of_weights().load(), buffer_of_weights().load());
    assert_eq!(live_objects(), (1, 0));
    for session in [&one, &two] {
        call(session, &[&weights, &output]).unwrap();
        assert_eq!(output.words(), [8; 64]);
        assert_eq!(live_objects(), (1, 1));
    }
    let images = [image_of_weights().load(), image_of_weights().load()];
    for session in &images {
        call(session, &[&weights, &output]).unwrap();
        assert_eq!(output.words(), [7; 64]);
        assert_eq!(live_objects(), (2, 2));
    }
    // Weights in other memory are loaded again.
    call(&two, &[&others, &output]).unwrap();
    assert_eq!(output.words(), [10; 64]);
    assert_eq!(live_objects(), (2, 3));
    drop(one);
    assert_eq!(live_objects(), (2, 2));
    drop(two);
    assert_eq!(live_objects(), (1, 1));
    drop(images);
    assert_eq!(live_objects(), (0, 0));
    check_silence();
}
