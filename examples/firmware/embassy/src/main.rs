//! Two Embassy tasks: a task sends images through a channel, as a camera would, and a task with the model classifies the images.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use digits::{INPUT_SIZES, Memory, Model, OUTPUT_SIZES};
use embassy_executor::{Executor, task};
use embassy_sync::blocking_mutex::raw::ThreadModeRawMutex;
use embassy_sync::channel::Channel;
use panic_semihosting as _;
use static_cell::StaticCell;

/// Images of `float32` numbers, little-endian, one behind the other.
const IMAGES: &[u8] = include_bytes!(env!("CASES"));
const PIXELS: usize = INPUT_SIZES[0] / 4;
const SCORES: usize = OUTPUT_SIZES[0] / 4;

type Image = [f32; PIXELS];

/// The images that wait; `None` is the end.
static WAITING: Channel<ThreadModeRawMutex, Option<Image>, 2> = Channel::new();

#[entry]
fn main() -> ! {
    static EXECUTOR: StaticCell<Executor> = StaticCell::new();
    EXECUTOR.init(Executor::new()).run(|spawner| {
        spawner.spawn(sense().expect("the first task of its kind"));
        spawner.spawn(classify().expect("the first task of its kind"));
    })
}

#[task]
async fn sense() {
    for image in IMAGES.chunks_exact(INPUT_SIZES[0]) {
        let mut pixels = [0.0; PIXELS];
        for (pixel, bytes) in pixels.iter_mut().zip(image.as_chunks().0) {
            *pixel = f32::from_le_bytes(*bytes);
        }
        WAITING.send(Some(pixels)).await;
    }
    WAITING.send(None).await;
}

#[task]
async fn classify() {
    static MEMORY: StaticCell<Memory> = StaticCell::new();
    let mut model = Model::new(MEMORY.init(Memory::new())).expect("the model loads");
    while let Some(image) = WAITING.receive().await {
        let mut scores = [0.0_f32; SCORES];
        model.set_input(0, &image).expect("an image has the size of the input");
        model.run().expect("the model runs");
        model.output(0, &mut scores).expect("the scores have the size of the output");
        let digit = (0..SCORES).max_by(|left, right| scores[*left].total_cmp(&scores[*right]));
        hprintln!("{}", digit.unwrap_or_default());
    }
    debug::exit(debug::EXIT_SUCCESS);
}
