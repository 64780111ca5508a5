//! Measures the peak rates of the CPU, and the GEMM and convolution layers of four models as fractions of peak.
//!
//! `gemm_bench [float|int8|dynamic|weight-only|batch|all] [instruction set] [part of a layer's name]` measures every row of the
//! kernel table that this CPU has, or the row of an instruction set. Times are CPU time of
//! this thread; the minimum over many runs counts.
#![allow(unsafe_code, reason = "the clock of a thread is a C function, and peaks are loops of instructions")]
#![allow(clippy::print_stdout, reason = "a benchmark prints")]

mod peak;
mod runtime;
mod suites;

use et_gemm::{Isa, KERNELS};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let suite = arguments.next().unwrap_or_else(|| "all".into());
    let name = arguments.next();
    // Without a name, the portable kernels are left out.
    let is_chosen = |isa: Isa| name.as_ref().map_or(isa != Isa::Portable, |name| isa.name() == name);
    for isa in KERNELS.iter().map(|row| row.isa).filter(|isa| is_chosen(*isa) && isa.is_available()) {
        println!("{}", isa.name());
        measure(&suite, isa);
    }
}

/// Measures the layers of a suite with the kernels of an ISA.
fn measure(suite: &str, isa: Isa) {
    let chosen = |name: &str| suite == "all" || suite == name;
    if chosen("float") {
        suites::float(isa);
    }
    if chosen("int8") {
        suites::byte(isa);
    }
    if chosen("dynamic") {
        runtime::linear(isa);
    }
    if chosen("weight-only") {
        runtime::weight_only(isa);
    }
    if chosen("batch") {
        runtime::attention(isa);
    }
}

/// Seconds of processor time that this thread has taken.
pub fn seconds() -> f64 {
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    let mut time = [0; 2];
    // SAFETY: the clock of this thread is 3, and a time is two words.
    unsafe { clock_gettime(3, &mut time) };
    time[0] as f64 + time[1] as f64 * 1e-9
}

/// The minimum time of a call, over runs of about two milliseconds.
pub fn least(mut call: impl FnMut()) -> f64 {
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
