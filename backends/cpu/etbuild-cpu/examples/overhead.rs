//! The overhead of a program besides kernels: `overhead PROGRAM.pte [ROUNDS [TOGETHER [THREADS]]]` prints the median latency of opening
//! the file, loading the first method, executing the method, and executing with copies of the input and output tensors.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::time::{Duration, Instant};

use et_module::{Array, DataFiles, Engine, Engines, FileBytes, Kernels, Module};

static ENGINES: &[Engine] =
    &[Engine { id: et_cpu::ID, make: |host| Box::new(et_cpu::delegate(host.workers)), problem: || None }];

/// Default executions per latency measurement: a small program is faster than the clock's resolution.
const TOGETHER: u32 = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which program file?")?;
    let rounds: usize = arguments.next().map_or(Ok(200), |number| number.parse())?;
    let together: u32 = arguments.next().map_or(Ok(TOGETHER), |number| number.parse())?;
    let threads: usize = arguments.next().map_or(Ok(1), |number| number.parse())?;
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..rounds {
        let measured = round(path.as_ref(), together, threads)?;
        times.iter_mut().zip(measured).for_each(|(times, time)| times.push(time));
    }
    for (name, mut times) in ["open", "init", "execute", "call"].into_iter().zip(times) {
        times.sort_unstable();
        let [median, least] = [rounds / 2, 0].map(|index| times[index].as_secs_f64() * 1e6);
        println!("{name:8} {median:8.3} us, least {least:.3} us");
    }
    Ok(())
}

fn round(path: &std::path::Path, together: u32, threads: usize) -> Result<[Duration; 4], et_module::Error> {
    let start = Instant::now();
    let file = FileBytes::open(path)?;
    let open = start.elapsed();
    let start = Instant::now();
    let lookup = |name: &str, overload: &str| {
        let full = if overload.is_empty() { name.to_owned() } else { format!("{name}.{overload}") };
        et_ops::find(&full).map(|operator| operator.kernel)
    };
    let engines = Engines::new(ENGINES, threads);
    let mut module = Module::load_method(file, DataFiles::default(), "forward", Kernels::Lookup(&lookup), &engines)?;
    let init = start.elapsed();
    let inputs = (0..module.input_names().len()).map(|index| module.input_type(index));
    let inputs: Vec<_> = inputs.collect::<Result<_, _>>()?;
    let zeros: Vec<_> = inputs.iter().flatten().map(|wanted| Array::zeros(wanted.scalar_type, &wanted.shape)).collect();
    let start = Instant::now();
    for _ in 0..together {
        module.execute()?;
    }
    let execute = start.elapsed() / together;
    let views: Vec<_> = zeros.iter().map(Array::view).collect();
    let mut results: Vec<Array> = module.outputs()?.arrays.into_iter().map(|(_, array)| array).collect();
    let start = Instant::now();
    for _ in 0..together {
        views.iter().enumerate().try_for_each(|(index, view)| module.set_input(index, view))?;
        module.execute()?;
        for (index, result) in results.iter_mut().enumerate() {
            module.copy_output(index, &mut result.bytes)?;
        }
    }
    Ok([open, init, execute, start.elapsed() / together])
}
