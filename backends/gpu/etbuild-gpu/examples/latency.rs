//! The latency of a program on the GPU: `latency PROGRAM.pte [ROUNDS [dispatches [LABELS.txt]]]` prints the times of loading, of the
//! first execution and of further executions; with `dispatches`, the time of each dispatch by the clock of the GPU, as median of the
//! executions, slowest first. A line of LABELS.txt names a dispatch.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use et_module::{Array, DataFiles, DelegateEvent, Engine, Engines, FileBytes, Kernels, Module, Observer};

static ENGINES: &[Engine] = &[Engine {
    id: et_gpu::ID,
    make: |host| match host.listener() {
        Some(listener) => Box::new(et_gpu::reporting_delegate(host.workers, listener)),
        None => Box::new(et_gpu::delegate(host.workers)),
    },
    problem: et_gpu::problem,
}];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which program file?")?;
    let rounds: usize = arguments.next().map_or(Ok(10), |number| number.parse())?;
    let start = Instant::now();
    let mut module = load(&path, Engines::new(ENGINES, 2))?;
    println!("load {:.1} ms", millis(start));
    let start = Instant::now();
    module.execute()?;
    println!("first {:.1} ms", millis(start));
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        module.execute()?;
        times.push(millis(start));
    }
    println!("median {:.2} ms, least {:.2} ms", median(&mut times), times[0]);
    println!("{:?}", et_gpu::peak_memory());
    if arguments.next().is_some_and(|word| word == "dispatches") {
        let labels = arguments.next().map(std::fs::read_to_string).transpose()?.unwrap_or_default();
        dispatches(&path, rounds, &labels.lines().collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Prints the times of the dispatches.
fn dispatches(path: &str, rounds: usize, labels: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    let seen = Arc::new(Noting::default());
    let mut module = load(path, Engines::new(ENGINES, 2).observed_by(Arc::clone(&seen) as Arc<dyn Observer>))?;
    module.execute()?;
    drop(seen.take());
    let mut times: Vec<Vec<f64>> = Vec::new();
    for _ in 0..rounds {
        module.execute()?;
        for (dispatch, time) in seen.take().into_iter().enumerate() {
            times.resize_with(times.len().max(dispatch + 1), Vec::new);
            times[dispatch].push(time.ok_or("the GPU has no clock")?.as_secs_f64() * 1e3);
        }
    }
    let mut medians: Vec<(usize, f64)> = times.iter_mut().map(|times| median(times)).enumerate().collect();
    let sum: f64 = medians.iter().map(|(_, time)| time).sum();
    println!("{sum:9.3} ms in {} dispatches", medians.len());
    medians.sort_by(|one, other| other.1.total_cmp(&one.1));
    for (dispatch, time) in medians {
        println!("{time:9.3} ms {:4.1} % {dispatch} {}", 100.0 * time / sum, labels.get(dispatch).unwrap_or(&""));
    }
    Ok(())
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Notes the time of each dispatch.
#[derive(Default)]
struct Noting(Mutex<Vec<Option<Duration>>>);

impl Noting {
    fn take(&self) -> Vec<Option<Duration>> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for Noting {
    fn delegate_executed(&self, event: &DelegateEvent<'_>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event.duration);
    }
}

fn load(path: &str, engines: Engines) -> Result<Module, et_module::Error> {
    let kernels = Kernels::Lookup(&|name: &str, overload: &str| {
        let full = if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") };
        et_ops::find_kernel(&full)
    });
    let file = FileBytes::open(path.as_ref())?;
    let mut module = Module::load_method(file, DataFiles::default(), "forward", kernels, &engines)?;
    for index in 0..module.input_names().len() {
        if let Some(wanted) = module.input_type(index)? {
            let zeros = Array::zeros(wanted.scalar_type, &wanted.shape);
            module.set_input(index, &zeros.view())?;
        }
    }
    Ok(module)
}

fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
