//! Ctrl-C, and the other signals that end programs.
//!
//! The first signal ends the processes that etbuild runs, and so the stages; unfinished files are removed, and the
//! command ends with status 130. Slow work, and everything at the second signal, is left as after a kill.

use std::process;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use etbuild_diagnostic::Failure;
use etbuild_system::Processes;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

/// How long processes that were asked to end may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long stages may take to clear away after their processes have ended.
const CLEARING: Duration = Duration::from_millis(500);

/// Makes signals end `processes` and then this process. Otherwise a signal ends this process alone.
pub fn end_with(processes: Arc<Processes>) {
    let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal));
    if let Ok(signals) = Signals::new(wanted) {
        thread::spawn(move || listen(signals, processes));
    }
}

fn listen(mut signals: Signals, processes: Arc<Processes>) {
    let mut arrivals = signals.forever();
    arrivals.next();
    let asked = processes.clone();
    thread::spawn(move || end_in_order(&asked));
    arrivals.next();
    end(&processes);
}

fn end_in_order(processes: &Processes) {
    processes.interrupt();
    let start = Instant::now();
    while !processes.are_gone() && start.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(5));
    }
    processes.kill();
    // A command that is done by then has ended by itself.
    thread::sleep(CLEARING);
    end(processes);
}

#[expect(clippy::exit, reason = "other threads may be in the middle of anything")]
fn end(processes: &Processes) {
    processes.kill();
    process::exit(Failure::Interrupted.exit_code().into());
}

/// Whether the parent process wants a signal to be ignored, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal - 1) & 1 == 1
}
