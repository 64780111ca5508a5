//! Measures the peak rates of the CPU, and GEMM and convolution layers as fractions of peak.
//!
//! `gemm_bench [float|int8|dynamic|weight-only|batch|all] [instruction set] [part of a layer's name]` measures every row of the
//! kernel table that this CPU has, or the row of an instruction set. Times are CPU time of this thread; the minimum over
//! many runs counts.
#![allow(unsafe_code, reason = "the clock of a thread is a C function, and peaks are loops of instructions")]
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

mod layers;
mod peak;
mod products;

use et_gemm::{Halves, Isa, KERNELS, Scales, Shape, Width};
use layers::Layer;
use products::Product;

/// Makes a product of a layer.
type New = fn(Isa, Shape) -> Product;

/// Layers, and what is measured for each layer.
struct Suite {
    name: &'static str,
    /// The peak rate of the arithmetic, in operations per second.
    peak: fn(Isa) -> f64,
    layers: fn() -> Vec<Layer>,
    products: &'static [(&'static str, New)],
}

const SUITES: [Suite; 5] = [
    Suite { name: "float", peak: peak::float, layers: layers::models, products: &[("", products::float)] },
    Suite { name: "int8", peak: peak::byte, layers: layers::models, products: &[("", products::int8)] },
    Suite {
        name: "dynamic",
        peak: peak::byte,
        layers: layers::linear,
        products: &[
            ("quantize rows ", products::quantize),
            ("quantize blocks ", products::quantize_blocks),
            ("int8 ", products::dynamic_int8),
            ("int4 ", |isa, shape| products::blocks(isa, shape, (Width::Int4, Scales::Halves, false))),
            ("int4 with steps ", |isa, shape| products::blocks(isa, shape, (Width::Int4, Scales::Steps, false))),
            ("int8 in blocks ", |isa, shape| products::blocks(isa, shape, (Width::Int8, Scales::Halves, false))),
            ("int4 in super-blocks with offsets ", |isa, shape| {
                products::blocks(isa, shape, (Width::Int4, Scales::SuperBlocks, true))
            }),
            ("int6 in super-blocks ", |isa, shape| {
                products::blocks(isa, shape, (Width::Int6, Scales::SuperBlocks, false))
            }),
        ],
    },
    Suite {
        name: "weight-only",
        peak: peak::float,
        layers: layers::linear,
        products: &[
            ("float32 ", products::float),
            ("bf16 to float32 ", |isa, shape| products::weight_only_halves(isa, shape, Halves::Bf16)),
            ("fp16 to float32 ", |isa, shape| products::weight_only_halves(isa, shape, Halves::Fp16)),
            ("int8 to float32 ", products::weight_only_int8),
            ("int4 to float32 ", |isa, shape| {
                products::weight_only_blocks(isa, shape, (Width::Int4, Scales::Steps, false))
            }),
            ("int8 in blocks to float32 ", |isa, shape| {
                products::weight_only_blocks(isa, shape, (Width::Int8, Scales::Halves, false))
            }),
        ],
    },
    Suite {
        name: "batch",
        peak: peak::float,
        layers: layers::attention,
        products: &[("pack ", products::pack), ("", products::float)],
    },
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let suite = arguments.next().unwrap_or_else(|| "all".into());
    let (name, part) = (arguments.next(), arguments.next().unwrap_or_default());
    // Without a name, the portable kernels are left out.
    let is_chosen = |isa: Isa| name.as_ref().map_or(isa != Isa::Portable, |name| isa.name() == name);
    println!("memory is read at {:.1} GB/s", peak::reading() / 1e9);
    for isa in KERNELS.iter().map(|row| row.isa).filter(|isa| is_chosen(*isa) && isa.is_available()) {
        println!("{}", isa.name());
        SUITES.iter().filter(|each| [each.name, "all"].contains(&&*suite)).for_each(|suite| measure(suite, isa, &part));
    }
}

/// Prints a row per product of the layers whose names contain `part`, and the share of the peak over all operations.
fn measure(suite: &Suite, isa: Isa, part: &str) {
    let peak = (suite.peak)(isa);
    let (mut operations, mut time) = (0.0, 0.0);
    for Layer { name, shape } in (suite.layers)().into_iter().filter(|layer| layer.name.contains(part)) {
        for (kind, product) in suite.products {
            let mut product = product(isa, shape);
            let least = least(&mut product.run);
            print!("{:34} {:9.1} us", format!("{kind}{name}"), least * 1e6);
            if product.operations > 0.0 {
                let rate = product.operations / least;
                print!(" {:8.1} G/s of {:8.1} {:5.1} %,", rate / 1e9, peak / 1e9, 100.0 * rate / peak);
                (operations, time) = (operations + product.operations, time + least);
            }
            println!(" {:.1} GB/s of weights or rows", product.bytes as f64 / least / 1e9);
        }
    }
    println!("{}: {:.1} % of peak over all operations", suite.name, 100.0 * operations / time / peak);
}

/// Seconds of processor time that this thread has taken.
fn seconds() -> f64 {
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    let mut time = [0; 2];
    // SAFETY: the clock of this thread is 3, and a time is two words.
    unsafe { clock_gettime(3, &mut time) };
    time[0] as f64 + time[1] as f64 * 1e-9
}

/// The minimum time of a call, over runs of about two milliseconds.
fn least(mut call: impl FnMut()) -> f64 {
    let start = seconds();
    call();
    let once = (seconds() - start).max(1e-7);
    let calls = (0.002 / once).ceil() as usize;
    let runs = ((0.25 / (calls as f64 * once)) as usize).clamp(3, 40);
    let mut least = f64::INFINITY;
    for _ in 0..runs {
        let start = seconds();
        (0..calls).for_each(|_| call());
        least = least.min((seconds() - start) / calls as f64);
    }
    least
}
