//! Vela's estimate, from its table of comma-separated values.

/// The cycles of a run, from the table of the whole graph.
pub fn total(text: &str) -> Option<u32> {
    let mut lines = text.lines();
    let position = lines.next()?.split(',').position(|name| name.trim() == "cycles_total")?;
    let number: f64 = lines.next()?.split(',').nth(position)?.trim().parse().ok()?;
    Some(number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let summary = "network,cycles_npu,cycles_total\nx,41404,281504.0\n";
        assert_eq!(total(summary), Some(281_504));
        assert_eq!(total("network\nx\n"), None);
    }
}
