//! The latency of a program on the GPU: `latency PROGRAM.pte [ROUNDS [LAYERS.txt]]` prints the times of loading, of the first execution and
//! of further executions; with a third argument, the time of each dispatch, submitted by itself.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::sync::{Arc, Mutex};
use std::time::Instant;

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
    times.sort_by(f64::total_cmp);
    println!("median {:.2} ms, least {:.2} ms", times[rounds / 2], times[0]);
    if arguments.next().is_some() {
        layers(&path)?;
    }
    Ok(())
}

fn layers(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let seen = Arc::new(Mutex::new((Instant::now(), Vec::new())));
    let noted = Arc::clone(&seen);
    let engines = Engines::new(ENGINES, 2).observed_by(Arc::new(Noting(noted)));
    let mut module = load(path, engines)?;
    module.execute()?;
    if let Ok(mut seen) = seen.lock() {
        *seen = (Instant::now(), Vec::new());
    }
    module.execute()?;
    if let Ok(seen) = seen.lock() {
        seen.1.iter().for_each(|(dispatch, time)| println!("{time:9.3} ms {dispatch}"));
    }
    Ok(())
}

/// The start of the next dispatch, and the dispatches with times in milliseconds.
type Seen = Mutex<(Instant, Vec<(String, f64)>)>;

/// Notes the time of each dispatch.
struct Noting(Arc<Seen>);

impl Observer for Noting {
    fn delegate_executed(&self, event: &DelegateEvent<'_>) {
        let mut seen = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let time = millis(seen.0);
        seen.1.push((format!("{event:?}"), time));
        seen.0 = Instant::now();
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
