//! Two Embassy tasks: a task sends images through a channel, as a camera would, and a task with the model classifies the images.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use digits::{Hooks, INPUT_SIZES, Memory, Model, OUTPUT_SIZES};
use embassy_executor::{Executor, task};
use embassy_sync::blocking_mutex::raw::ThreadModeRawMutex;
use embassy_sync::channel::Channel;
use panic_semihosting as _;
use static_cell::StaticCell;

/// The images of the test set: `float32` pixels, little-endian.
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

/// Counts the operators between which a watchdog could be fed.
struct Watchdog(AtomicU32);

impl Hooks for Watchdog {
    fn alive(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

static WATCHDOG: Watchdog = Watchdog(AtomicU32::new(0));

#[task]
async fn classify() {
    static MEMORY: StaticCell<Memory> = StaticCell::new();
    let mut model = Model::new(MEMORY.init(Memory::new())).expect("the model loads");
    model.set_hooks(&WATCHDOG);
    while let Some(image) = WAITING.receive().await {
        let mut scores = [0.0_f32; SCORES];
        model.set_input(0, &image).expect("an image has the size of the input");
        model.run().expect("the model runs");
        model.output(0, &mut scores).expect("the scores have the size of the output");
        let digit = (0..SCORES).max_by(|left, right| scores[*left].total_cmp(&scores[*right]));
        hprintln!("{}", digit.unwrap_or_default());
    }
    assert!(WATCHDOG.0.load(Ordering::Relaxed) > 0, "runs feed the watchdog");
    debug::exit(debug::EXIT_SUCCESS);
}
