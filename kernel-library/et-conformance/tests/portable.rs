//! Every portable kernel matches PyTorch on every case of its operator.

#[test]
fn portable_kernels_pass_all_cases() {
    let (ran, failures) = et_conformance::run(|operator| Some(operator.kernel));
    assert!(ran >= et_ops::OPERATORS.len());
    assert_eq!(failures, []);
}

#[test]
fn portable_kernels_do_not_care_how_dimensions_lie_in_memory() {
    // `dim_order_ops` operators take the dim order of the output as an argument, which the reversed order would
    // contradict.
    let logical = |operator: &et_ops::Operator| !operator.name().starts_with("dim_order_ops::");
    let (ran, failures) = et_conformance::run_reversed(|operator| logical(operator).then_some(operator.kernel));
    assert!(ran >= et_ops::OPERATORS.iter().filter(|operator| logical(operator)).count());
    assert_eq!(failures, []);
}
