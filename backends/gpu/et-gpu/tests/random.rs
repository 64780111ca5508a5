//! Random programs over many short-lived buffers and images, compared with the same program on the CPU.

mod common;

use common::{Memory, Program, call_observed, check_silence, start};
use et_gpu::{Ended, Kind, Observe, Role};

/// The modulus of all values, so that fp16 holds each exactly.
const MODULUS: u32 = 97;

/// `results[i] = (one[i] + other[i]) mod 97`, with indices that wrap around.
const ADD: &str = "@group(0) @binding(0) var<storage, read> one: array<f32>;
    @group(0) @binding(1) var<storage, read> other: array<f32>;
    @group(0) @binding(2) var<storage, read_write> results: array<f32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        let i = id.x;
        if i >= arrayLength(&results) { return; }
        let sum = one[i % arrayLength(&one)] + other[i % arrayLength(&other)];
        results[i] = select(sum, sum - 97.0, sum >= 97.0);
    }";

fn to_image(format: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read> values: array<f32>;
         @group(0) @binding(1) var image: texture_storage_2d<{format}, write>;
         @compute @workgroup_size(4, 4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
             let size = textureDimensions(image);
             if any(id.xy >= size) {{ return; }}
             let i = 4 * (id.y * size.x + id.x);
             let n = arrayLength(&values);
             let texel = vec4(values[i % n], values[(i + 1) % n], values[(i + 2) % n], values[(i + 3) % n]);
             textureStore(image, id.xy, texel);
         }}"
    )
}

/// The sum of two images, which wrap around.
const FROM_IMAGES: &str = "@group(0) @binding(0) var one: texture_2d<f32>;
    @group(0) @binding(1) var other: texture_2d<f32>;
    @group(0) @binding(2) var<storage, read_write> results: array<f32>;
    fn load(image: texture_2d<f32>, i: u32) -> f32 {
        let size = textureDimensions(image);
        let texel = (i / 4) % (size.x * size.y);
        return textureLoad(image, vec2(texel % size.x, texel / size.x), 0)[i % 4];
    }
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        let i = id.x;
        if i >= arrayLength(&results) { return; }
        let sum = load(one, i) + load(other, i);
        results[i] = select(sum, sum - 97.0, sum >= 97.0);
    }";

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    /// One of the latest items, so that lifetimes are short.
    fn recent<T: Clone>(&mut self, items: &[T]) -> T {
        items[items.len() - 1 - self.below(items.len().min(4))].clone()
    }
}

/// An object with its values on the CPU.
type Known = (u32, Vec<u32>);

fn add(one: &[u32], other: &[u32], count: usize) -> Vec<u32> {
    (0..count).map(|index| (one[index % one.len()] + other[index % other.len()]) % MODULUS).collect()
}

/// A program and its expected output.
fn random_program(random: &mut Random, input: &[u32]) -> (Program, Vec<u32>) {
    let mut program = Program::default();
    let input_object = program.buffer(Role::Input, 0, input.len() as u64);
    let adds = program.kernel(ADD);
    let images = [program.kernel(&to_image("rgba32float")), program.kernel(&to_image("rgba16float"))];
    let reads = program.kernel(FROM_IMAGES);
    let mut buffers: Vec<Known> = vec![(input_object, input.to_vec())];
    let mut textures: Vec<Known> = Vec::new();
    let kinds = [Kind::Image32, Kind::Image16];
    let mut step = |random: &mut Random, choice: usize, role: Role| {
        let words = 64 * (1 + random.below(6));
        let argument = u32::from(role == Role::Output);
        match choice {
            0 | 1 => {
                let (width, height, from) = (1 + random.below(12), 1 + random.below(12), random.recent(&buffers));
                let image = program.image(kinds[choice], role, 0, [width as u32, height as u32, 1]);
                let groups = [width.div_ceil(4) as u32, height.div_ceil(4) as u32, 1];
                program.dispatch(images[choice], groups, &[from.0], &[image]);
                textures.push((image, add(&from.1, &[0], 4 * width * height)));
            }
            _ => {
                let (kernel, from) = if choice == 2 { (reads, &textures) } else { (adds, &buffers) };
                let (one, other) = (random.recent(from), random.recent(from));
                let buffer = program.buffer(role, argument, words as u64);
                program.dispatch(kernel, [words as u32 / 64, 1, 1], &[one.0, other.0], &[buffer]);
                buffers.push((buffer, add(&one.1, &other.1, words)));
            }
        }
        buffers.last().cloned().unwrap_or_default()
    };
    for choice in [0, 1, 2, 3] {
        step(random, choice, Role::Scratch);
    }
    for _ in 0..40 {
        let choice = random.below(4);
        step(random, choice, Role::Scratch);
    }
    let (_, expected) = step(random, 3, Role::Output);
    (program, expected)
}

#[test]
fn random_programs_compute_the_same_as_the_cpu() {
    start();
    for seed in 0..30 {
        let mut random = Random(seed);
        let values: Vec<u32> = (0..200).map(|_| random.below(MODULUS as usize) as u32).collect();
        let (program, expected) = random_program(&mut random, &values);
        let input = Memory::of_floats(&values.iter().map(|value| *value as f32).collect::<Vec<_>>());
        let output = Memory::new(4 * expected.len());
        let session = program.load();
        let observe = |_: &Ended| {};
        for observe in [None, None, Some(&observe as Observe<'_>)] {
            output.set(&vec![0; expected.len()]);
            call_observed(&session, &[&input, &output], observe).unwrap();
            let results: Vec<u32> = output.floats().into_iter().map(|result| result as u32).collect();
            assert_eq!(results, expected, "{seed}");
        }
    }
    check_silence();
}
