//! Vela's estimates, from its tables of comma-separated values.

/// The estimate of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The tensor that the layer computes.
    pub name: String,
    /// The cycles of the NPU.
    pub cycles: u64,
}

/// The cycles of a run, from the table of the whole graph.
pub fn total(text: &str) -> Option<u32> {
    let mut lines = text.lines();
    let position = lines.next()?.split(',').position(|name| name.trim() == "cycles_total")?;
    let number: f64 = lines.next()?.split(',').nth(position)?.trim().parse().ok()?;
    Some(number as u32)
}

/// The layers of the table of layers.
pub fn layers(text: &str) -> Vec<Layer> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let position = |wanted: &str| names.iter().position(|name| *name == wanted);
    let (Some(name), Some(cycles)) = (position("Name"), position("Op Cycles")) else {
        return Vec::new();
    };
    let layer = |line: &str| {
        let fields: Vec<&str> = line.split(',').map(|field| field.trim().trim_matches('"')).collect();
        let cycles: f64 = fields.get(cycles)?.parse().ok()?;
        Some(Layer { name: (*fields.get(name)?).to_owned(), cycles: cycles as u64 })
    };
    lines.filter_map(layer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let summary = "network,cycles_npu,cycles_total\nx,41404,281504.0\n";
        assert_eq!(total(summary), Some(281_504));
        let table = "Original Operator,Op Cycles,NPU,Name\nConv2D,1040,238,tosa_rescale_default\n";
        assert_eq!(layers(table), [Layer { name: "tosa_rescale_default".to_owned(), cycles: 1040 }]);
        assert_eq!((total("network\nx\n"), layers("Name\nx\n")), (None, Vec::new()));
    }
}
