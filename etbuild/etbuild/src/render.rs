//! Values in the form for users or programs: results on stdout, messages on stderr.

mod inspection;
mod junit;
mod operators;
mod partitions;
mod progress;
mod proposal;
mod quantization;
mod table;
mod terminal;
mod trace;
mod units;

pub use inspection::{description_text, difference_text};
pub use junit::junit;
pub use operators::operators_text;
pub use partitions::partitions_text;
pub use progress::ProgressView;
pub use proposal::proposals_text;
pub use quantization::{perplexity_text, quantization_text, simulation_text, worst_text};
pub use table::Table;
pub use terminal::Terminal;
pub use trace::{drift_text, profile_text};
pub use units::{deployment_table, plan_table};

/// A size for people: `13.1 KiB`.
pub fn bytes(size: u64) -> String {
    const UNITS: [&str; 4] = ["B", "KiB", "MiB", "GiB"];
    let power = (0..3).take_while(|power| size >> (10 * (power + 1)) > 0).count();
    match power {
        0 => format!("{size} B"),
        _ => format!("{:.1} {}", size as f64 / (1_u64 << (10 * power)) as f64, UNITS[power]),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_have_one_decimal_and_the_largest_unit() {
        assert_eq!(super::bytes(1023), "1023 B");
        assert_eq!(super::bytes(13_414), "13.1 KiB");
        assert_eq!(super::bytes(5 << 40), "5120.0 GiB");
    }
}
