//! Sends signals to processes, and checks whether processes run.

use std::fs;
use std::process::Command;

/// Sends a signal, such as `INT`, to a process, or to a process group if `to` begins with a dash.
pub fn send(signal: &str, to: &str) {
    let status = Command::new("sh").args(["-c", "kill -s \"$0\" -- \"$1\"", signal, to]).status().unwrap();
    assert!(status.success(), "no signal {signal} to {to}");
}

/// All descendants of a process.
pub fn descendants(process: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
    let children: Vec<u32> = lists.collect::<String>().split_whitespace().map(|id| id.parse().unwrap()).collect();
    children.into_iter().flat_map(|child| [vec![child], descendants(child)].concat()).collect()
}

/// The descendants that are compilers or run compilers, without watchdog shells.
pub fn compilers(process: u32) -> Vec<u32> {
    let name = |process: &u32| fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    descendants(process).into_iter().filter(|process| name(process).trim() != "sh").collect()
}

/// Whether a process is running; a zombie counts as ended.
pub fn is_alive(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|text| !text.contains(") Z"))
}
