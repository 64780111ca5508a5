//! Which kernels ExecuTorch's own runtime has.

/// A registered name per line, sorted. `generate_upstream_operators.py` in this folder generates the file from
/// ExecuTorch's wheel.
const UPSTREAM_OPERATORS: &str = include_str!("upstream_operators.txt");

/// Whether ExecuTorch's portable library, its quantized library or its primitives have a kernel of this registered
/// name, such as `aten::add.out`.
pub fn has_upstream(name: &str) -> bool {
    UPSTREAM_OPERATORS.lines().any(|line| line == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_in_one_piece_are_ours_alone() {
        assert!(has_upstream("aten::native_layer_norm.out"));
        assert!(has_upstream("aten::addmm.out"));
        for name in ["aten::layer_norm.out", "aten::lstm.input_out", "aten::linear.out"] {
            assert!(!has_upstream(name), "{name}");
            assert!(crate::find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(UPSTREAM_OPERATORS.lines().is_sorted());
    }
}
