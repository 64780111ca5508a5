//! Every portable kernel computes what PyTorch computes on every case of its operator.

#[test]
fn portable_kernels_pass_all_cases() {
    let (ran, failures) = et_conformance::run(|operator| Some(operator.kernel));
    assert!(ran >= et_ops::OPERATORS.len());
    assert_eq!(failures, []);
}
