//! The number of threads of backends: the default, and the bounds of an explicit number.

use std::fs;
use std::thread::available_parallelism;

/// The most threads of a pool: more than the cores of any machine that the runtime is made for, and few enough that a mistaken
/// number does not exhaust the system.
pub const MOST_THREADS: usize = 256;

/// The most threads by default: waking and joining more threads costs a small model more than their work saves.
const MOST_BY_DEFAULT: usize = 16;

/// The number of threads where the caller names none: one for each physical core that the process may use, at most 16.
///
/// The second hardware thread of a core does not count, because both share the vector units. A core with less than half the
/// capacity of the fastest does not count either: the other cores would wait for it. The result never exceeds the processors that the
/// system grants the process (affinity, quotas of control groups).
pub fn default_threads() -> usize {
    let granted = available_parallelism().map_or(1, usize::from);
    let cores = physical_cores(&|path| fs::read_to_string(path).ok()).unwrap_or(granted);
    cores.min(granted).clamp(1, MOST_BY_DEFAULT)
}

/// A number of threads from a command line.
///
/// # Errors
/// The text is no number from 1 to [`MOST_THREADS`].
pub fn parse_threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_THREADS).contains(number));
    number.ok_or_else(|| out_of_bounds(text))
}

/// A number of threads from a library's caller, where 0 stands for [`default_threads`].
///
/// # Errors
/// The number is above [`MOST_THREADS`].
pub fn checked_threads(number: usize) -> Result<usize, String> {
    match number {
        0 => Ok(default_threads()),
        1..=MOST_THREADS => Ok(number),
        _ => Err(out_of_bounds(&number.to_string())),
    }
}

fn out_of_bounds(text: &str) -> String {
    format!("a number of threads is from 1 to {MOST_THREADS}, not {text}")
}

/// The physical cores that Linux lets the process use; `None` on other systems. `read` returns the text of a file.
fn physical_cores(read: &dyn Fn(&str) -> Option<String>) -> Option<usize> {
    let status = read("/proc/self/status")?;
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let processors = processors(allowed)?;
    let fact = |processor: usize, name: &str| {
        let text = read(&format!("/sys/devices/system/cpu/cpu{processor}/{name}"))?;
        Some(text.trim().to_owned())
    };
    let capacity = |processor| fact(processor, "cpu_capacity").and_then(|text| text.parse::<u64>().ok());
    let largest = processors.iter().filter_map(|processor| capacity(*processor)).max().unwrap_or(0);
    let fast = processors.into_iter().filter(|processor| capacity(*processor).is_none_or(|own| own * 2 >= largest));
    let core = |processor: usize| {
        let siblings = fact(processor, "topology/thread_siblings_list");
        siblings.unwrap_or_else(|| processor.to_string())
    };
    let mut cores: Vec<String> = fast.map(core).collect();
    cores.sort_unstable();
    cores.dedup();
    Some(cores.len())
}

/// The numbers of a list such as `0-3,8`.
fn processors(list: &str) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        // A kernel numbers fewer processors than this; a longer range is damaged.
        found.extend((first..=last).take(1 << 16));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The physical cores of a machine whose processors have siblings and, where listed, capacities.
    fn cores(allowed: &str, siblings: &[&str], capacities: &[u64]) -> Option<usize> {
        let mut files =
            BTreeMap::from([("/proc/self/status".to_owned(), format!("Name:\tx\nCpus_allowed_list:\t{allowed}\n"))]);
        for (processor, siblings) in siblings.iter().enumerate() {
            let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
            files.insert(path, format!("{siblings}\n"));
        }
        for (processor, capacity) in capacities.iter().enumerate() {
            files.insert(format!("/sys/devices/system/cpu/cpu{processor}/cpu_capacity"), format!("{capacity}\n"));
        }
        physical_cores(&|path| files.get(path).cloned())
    }

    #[test]
    fn hardware_threads_of_a_core_count_once() {
        let siblings = ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"];
        assert_eq!(cores("0-7", &siblings, &[]), Some(4));
        assert_eq!(cores("0,4", &siblings, &[]), Some(1));
        assert_eq!(cores("0-1,6", &siblings, &[]), Some(3));
    }

    #[test]
    fn slow_cores_of_a_phone_do_not_count() {
        let siblings = ["0", "1", "2", "3", "4", "5", "6", "7"];
        assert_eq!(cores("0-7", &siblings, &[250, 250, 250, 250, 700, 700, 700, 1024]), Some(4));
        assert_eq!(cores("0-3", &siblings, &[250, 250, 250, 250, 700, 700, 700, 1024]), Some(4));
    }

    #[test]
    fn a_machine_without_topology_counts_its_processors() {
        assert_eq!(cores("0-1", &[], &[]), Some(2));
        assert_eq!(physical_cores(&|_| None), None);
    }

    #[test]
    fn the_default_is_within_the_bounds() {
        let granted = available_parallelism().map_or(1, usize::from);
        assert!((1..=granted.min(MOST_BY_DEFAULT)).contains(&default_threads()));
    }

    #[test]
    fn an_explicit_number_is_bounded() {
        assert_eq!(parse_threads("256"), Ok(256));
        for text in ["0", "257", "99999", "-1", "two"] {
            assert_eq!(parse_threads(text), Err(format!("a number of threads is from 1 to 256, not {text}")));
        }
        assert_eq!((checked_threads(0), checked_threads(3)), (Ok(default_threads()), Ok(3)));
        assert!(checked_threads(257).is_err());
    }
}
