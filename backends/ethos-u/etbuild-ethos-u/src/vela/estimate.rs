//! Vela's estimate, from its tables of comma-separated values.

use std::collections::BTreeMap;

use etbuild_backend::{NpuEstimate, NpuOperator};

/// The estimate of the tables of the whole graph and of its operators; a table that is not there, or has another form, adds nothing.
pub fn read(summary: &str, operators: &str) -> NpuEstimate {
    let whole = rows(summary).next().unwrap_or_default();
    NpuEstimate {
        cycles: number(&whole, "cycles_total"),
        clock: number(&whole, "core_clock"),
        operators: rows(operators).filter(|row| row.get("Target") == Some(&"NPU")).map(|row| operator(&row)).collect(),
    }
}

fn operator(row: &BTreeMap<&str, &str>) -> NpuOperator {
    let text = |name: &str| (*row.get(name).unwrap_or(&"")).to_owned();
    NpuOperator {
        value: text("Name"),
        name: text("NNG Operator"),
        cycles: number(row, "Op Cycles"),
        arithmetic: number(row, "NPU"),
        sram: number(row, "SRAM AC"),
        beyond: ["DRAM AC", "OnFlash AC", "OffFlash AC"].map(|name| number(row, name)).iter().sum(),
        multiplications: number(row, "MAC Count"),
    }
}

/// The rows of a table, the columns by name.
fn rows(table: &str) -> impl Iterator<Item = BTreeMap<&str, &str>> {
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    lines.map(move |line| names.iter().copied().zip(line.split(',').map(str::trim)).collect())
}

fn number(row: &BTreeMap<&str, &str>, name: &str) -> u64 {
    row.get(name).and_then(|text| text.parse::<f64>().ok()).map_or(0, |number| number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let summary = "network,core_clock,cycles_npu,cycles_total\nx,500000000.0,41404,281504.0\n";
        let operators = "Original Operator,NNG Operator,Target,Op Cycles,NPU,SRAM AC,DRAM AC,OnFlash AC,OffFlash AC,MAC Count,Name\n\
                         Conv2D,Conv2D,NPU,1504,1504,160,1,2,432,9216,conv_1\nSoftmax,Softmax,CPU,0,0,0,0,0,0,0,soft_2\n";
        let NpuEstimate { cycles, clock, operators } = read(summary, operators);
        assert_eq!((cycles, clock, operators.len()), (281_504, 500_000_000, 1));
        let NpuOperator { value, name, cycles, sram, beyond, .. } = &operators[0];
        assert_eq!((value.as_str(), name.as_str(), *cycles, *sram, *beyond), ("conv_1", "Conv2D", 1504, 160, 435));
        assert_eq!(read("network\nx\n", ""), NpuEstimate::default());
    }
}
