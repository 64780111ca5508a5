//! Runs the listed benchmarks and compares with stored medians.
//!
//! A benchmark is an example that prints a row per shape: a name, a number with a unit, and the share of a peak in per
//! cent, which depends less on the clock of the processor than a time. A slow result is reported and never fails the
//! command.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::workspace::cargo;

/// How a benchmark is run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Benchmark {
    package: String,
    example: String,
    arguments: Vec<String>,
}

/// The stored medians with the processor of the measurement.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Stored {
    processor: String,
    /// The share of the peak in per cent, by benchmark and row.
    medians: BTreeMap<String, BTreeMap<String, f64>>,
}

/// Runs the benchmarks whose name contains `part`, each `rounds` times, and prints medians beside the stored medians. With
/// `record`, stores the new medians.
pub fn run(root: &Path, part: &str, rounds: usize, record: bool) -> Result<Vec<String>, Error> {
    let list: BTreeMap<String, Benchmark> = toml::from_str(&read(&folder(root).join("benchmarks.toml"))?)?;
    let mut stored: Stored = toml::from_str(&read(&folder(root).join("medians.toml"))?)?;
    let processor = processor();
    print(&format!("medians of {rounds} on {processor}; stored medians are of {}", stored.processor));
    for (name, benchmark) in list.iter().filter(|(name, _)| name.contains(part)) {
        let found = medians(root, benchmark, rounds)?;
        print(&format!("\n{name}"));
        let known = stored.medians.get(name);
        for (row, share) in &found {
            print(&line(row, *share, known.and_then(|known| known.get(row)).copied()));
        }
        if record && !found.is_empty() {
            stored.medians.insert(name.clone(), found);
        }
    }
    if record {
        let path = folder(root).join("medians.toml");
        let text = toml::to_string(&Stored { processor, ..stored }).map_err(Error::Medians)?;
        fs::write(&path, text).map_err(|error| Error::file(&path, error))?;
    }
    Ok(Vec::new())
}

fn folder(root: &Path) -> PathBuf {
    root.join("etbuild/etbuild-dev")
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| Error::file(path, error))
}

/// The median of each row over the rounds.
fn medians(root: &Path, benchmark: &Benchmark, rounds: usize) -> Result<BTreeMap<String, f64>, Error> {
    let mut shares: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for _ in 0..rounds {
        for (row, share) in output(root, benchmark)?.lines().filter_map(row) {
            shares.entry(row).or_default().push(share);
        }
    }
    Ok(shares.into_iter().filter_map(|(row, shares)| Some((row, median(shares)?))).collect())
}

fn output(root: &Path, benchmark: &Benchmark) -> Result<String, Error> {
    let mut command = cargo(root);
    command.args([
        "run",
        "--quiet",
        "--release",
        "--package",
        &benchmark.package,
        "--example",
        &benchmark.example,
        "--",
    ]);
    command.args(&benchmark.arguments).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| Error::file("cargo", error))?;
    if !output.status.success() {
        return Err(Error::Benchmark { example: benchmark.example.clone(), status: output.status });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The name and the share of a row; `None` for other lines.
fn row(line: &str) -> Option<(String, f64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let unit = words.iter().position(|word| ["us", "GB/s", "GFLOP/s"].contains(word))?;
    let percent = words.iter().position(|word| *word == "%")?;
    let share = words.get(percent.checked_sub(1)?)?.parse().ok()?;
    Some((words.get(..unit.checked_sub(1)?)?.join(" "), share))
}

fn median(mut shares: Vec<f64>) -> Option<f64> {
    shares.sort_unstable_by(f64::total_cmp);
    shares.get(shares.len() / 2).copied()
}

/// A row with the stored share and the change in per cent.
fn line(row: &str, share: f64, stored: Option<f64>) -> String {
    match stored {
        Some(stored) => {
            let change = 100.0 * (share / stored - 1.0);
            format!("  {row:48} {share:6.1} %   stored {stored:6.1} %   {change:+6.1} %")
        }
        None => format!("  {row:48} {share:6.1} %   new"),
    }
}

/// The name of the processor, as the system says.
fn processor() -> String {
    let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

#[expect(clippy::print_stdout, reason = "the edge of a command")]
fn print(line: &str) {
    println!("{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_a_name_and_a_share() {
        let gemm = "conv1 7x7 64                 103.2 us    120.1 G/s of    140.0  85.8 %";
        assert_eq!(row(gemm), Some(("conv1 7x7 64".to_owned(), 85.8)));
        let copy = "  relu 1x64x56x56                             41.0 GB/s       97 % of a copy's 42.1";
        assert_eq!(row(copy), Some(("relu 1x64x56x56".to_owned(), 97.0)));
        for other in ["    weights are read at 30.1 GB/s", "3 of 9 at 85 % or more; 80.1 % of peak", "", "GB/s 5 %"] {
            assert_eq!(row(other), None, "{other}");
        }
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!([median(vec![3.0, 1.0, 2.0]), median(Vec::new())], [Some(2.0), None]);
    }

    #[test]
    fn every_listed_benchmark_is_an_example_of_its_crate() {
        let root = crate::workspace::root();
        let list: BTreeMap<String, Benchmark> =
            toml::from_str(&read(&folder(&root).join("benchmarks.toml")).unwrap()).unwrap();
        for (name, Benchmark { package, example, .. }) in list {
            let folder = crate::workspace::packages(&root).unwrap().into_iter().find(|found| found.name == package);
            let examples = root.join(folder.unwrap().folder).join("examples");
            let found = examples.join(format!("{example}.rs")).exists() || examples.join(example).exists();
            assert!(found, "{name}");
        }
    }

    #[test]
    fn stored_medians_are_of_listed_benchmarks() {
        let folder = folder(&crate::workspace::root());
        let list: BTreeMap<String, Benchmark> =
            toml::from_str(&read(&folder.join("benchmarks.toml")).unwrap()).unwrap();
        let stored: Stored = toml::from_str(&read(&folder.join("medians.toml")).unwrap()).unwrap();
        let unlisted: Vec<_> = stored.medians.keys().filter(|name| !list.contains_key(*name)).collect();
        assert!(unlisted.is_empty() && !stored.medians.is_empty(), "{unlisted:?}");
    }
}
