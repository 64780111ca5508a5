//! Images: kernels write and read images of every kind.

mod common;

use common::{Memory, Program, call, check_silence, start};
use et_gpu::{Kind, Role};

fn write_image(image: &str, format: &str, is_array: bool) -> String {
    let (place, layer) = if is_array { ("vec2<u32>(id.xy), id.z", "id.z") } else { ("id.xy", "0u") };
    format!(
        "@group(0) @binding(0) var<storage, read> values: array<vec4<f32>>;
         @group(0) @binding(1) var image: {image}<{format}, write>;
         @compute @workgroup_size(4, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
             let size = textureDimensions(image);
             if any(id.xy >= size) {{ return; }}
             textureStore(image, {place}, values[({layer} * size.y + id.y) * size.x + id.x]);
         }}"
    )
}

fn read_image(image: &str, is_array: bool) -> String {
    let (place, layer) = if is_array { ("vec2<u32>(id.xy), id.z, 0", "id.z") } else { ("id.xy, 0", "0u") };
    format!(
        "@group(0) @binding(0) var image: {image}<f32>;
         @group(0) @binding(1) var<storage, read_write> results: array<vec4<f32>>;
         @compute @workgroup_size(4, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
             let size = textureDimensions(image);
             if any(id.xy >= size) {{ return; }}
             results[({layer} * size.y + id.y) * size.x + id.x] = textureLoad(image, {place}) + 1.0;
         }}"
    )
}

/// Buffer to image to buffer, three times, so that images share memory.
fn images(kind: Kind, extent: [u32; 3]) -> Program {
    let is_array = matches!(kind, Kind::Array32 | Kind::Array16);
    let format = if matches!(kind, Kind::Image16 | Kind::Array16) { "rgba16float" } else { "rgba32float" };
    let [written, read] = match is_array {
        true => ["texture_storage_2d_array", "texture_2d_array"],
        false => ["texture_storage_2d", "texture_2d"],
    };
    let words = 4 * extent.iter().map(|size| u64::from(*size)).product::<u64>();
    let groups = [extent[0].div_ceil(4), extent[1].div_ceil(4), extent[2]];
    let mut program = Program::default();
    let write = program.kernel(&write_image(written, format, is_array));
    let read = program.kernel(&read_image(read, is_array));
    let mut from = program.buffer(Role::Input, 0, words);
    for round in 0..3 {
        let image = program.image(kind, Role::Scratch, 0, extent);
        let (role, argument) = if round < 2 { (Role::Scratch, 0) } else { (Role::Output, 1) };
        let to = program.buffer(role, argument, words);
        program.dispatch(write, groups, &[from], &[image]);
        program.dispatch(read, groups, &[image], &[to]);
        from = to;
    }
    program
}

fn check_images(kind: Kind, extent: [u32; 3]) {
    start();
    let program = images(kind, extent);
    let count = program.objects[0].size as usize / 4;
    let numbers: Vec<f32> = (0..count).map(|index| (index % 1000) as f32).collect();
    let (input, output) = (Memory::of_floats(&numbers), Memory::new(4 * count));
    let session = program.load();
    for _ in 0..3 {
        call(&session, &[&input, &output]).unwrap();
        assert_eq!(output.floats(), numbers.iter().map(|number| number + 3.0).collect::<Vec<_>>());
    }
    check_silence();
}

#[test]
fn images_of_fp32_are_written_and_read() {
    check_images(Kind::Image32, [13, 7, 1]);
}

#[test]
fn images_of_fp16_are_written_and_read() {
    check_images(Kind::Image16, [8, 20, 1]);
}

#[test]
fn array_images_of_fp32_are_written_and_read() {
    check_images(Kind::Array32, [9, 5, 3]);
}

#[test]
fn array_images_of_fp16_are_written_and_read() {
    check_images(Kind::Array16, [9, 5, 6]);
}

#[test]
fn an_image_of_weights_larger_than_a_staging_buffer_is_copied() {
    start();
    let extent = [1024, 600, 2];
    let mut program = Program::default();
    let weights = program.image(Kind::Array32, Role::Weights, 0, extent);
    let words = program.objects[0].size / 4;
    let output = program.buffer(Role::Output, 1, words);
    let read = program.kernel(&read_image("texture_2d_array", true));
    program.dispatch(read, [256, 150, 2], &[weights], &[output]);
    let numbers: Vec<f32> = (0..words).map(|index| (index % 4001) as f32).collect();
    let (input, output) = (Memory::of_floats(&numbers), Memory::new(4 * words as usize));
    let session = program.load();
    call(&session, &[&input, &output]).unwrap();
    assert!(output.floats().iter().zip(&numbers).all(|(result, number)| *result == number + 1.0));
    check_silence();
}
