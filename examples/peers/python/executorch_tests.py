"""Runs ExecuTorch's own tests of its Python runtime and of its Inspector against etbuild: the files of the installed wheel, with the imports redirected.

    python executorch_tests.py [--list]

Needs etbuild's wheel and executorch in one environment. `executorch.runtime` becomes `etbuild.runtime`, and the pybindings become
`etbuild.portable_lib`; the exporter stays ExecuTorch's. Tests that need what a portable runtime does not have are listed with the
reason and left out.
"""

import importlib
import sys
import unittest

import etbuild.portable_lib
import etbuild.runtime
import executorch.extension.pybindings

# The exporter asks for the out-variants of quantized operators, which ExecuTorch's pybindings load as a side effect.
import executorch.kernels.quantized

FILES = [
    "executorch.runtime.test.test_runtime",
    "executorch.runtime.test.test_runtime_etdump_gen",
    "executorch.runtime.test.test_runtime_xnnpack",
    "executorch.extension.pybindings.test.test_pybindings",
    "executorch.extension.pybindings.test.test_backend_pybinding",
    "executorch.devtools.etrecord.tests.etrecord_test",
    "executorch.devtools.inspector.tests.event_blocks_test",
    "executorch.devtools.inspector.tests.inspector_test",
    "executorch.devtools.inspector.tests.inspector_utils_test",
    "executorch.devtools.inspector.tests.intermediate_output_capturer_test",
    "executorch.devtools.inspector.tests.l1_comparator_test",
    "executorch.devtools.inspector.tests.mse_comparator_test",
    "executorch.devtools.inspector.tests.snr_comparator_test",
    "executorch.devtools.inspector.tests.vgf_neural_statistics_test",
]

# What does not apply: the test, or the file, and the reason.
LEFT_OUT = {
    "test_runtime_xnnpack": "programs of XNNPACK",
    "test_backend_pybinding": "asks for XNNPACK by name",
    "test_intermediate_tensor_comparison_with_torch_export": "programs of XNNPACK",
    "test_transformer_block_xnnpack_numeric_gap_within_tolerance": "programs of XNNPACK",
}


def redirect():
    """Sends the imports of the tests to etbuild."""
    package = importlib.import_module("executorch.runtime")
    for name in etbuild.runtime.__all__:
        setattr(package, name, getattr(etbuild.runtime, name))
    sys.modules["executorch.extension.pybindings.portable_lib"] = etbuild.portable_lib
    executorch.extension.pybindings.portable_lib = etbuild.portable_lib


def tests(suite):
    """The tests of a suite, one by one."""
    for entry in suite:
        if isinstance(entry, unittest.TestSuite):
            yield from tests(entry)
        else:
            yield entry


def reason(test):
    """Why a test does not apply; `None` for a test that does."""
    name = test.id()
    return next((reason for part, reason in LEFT_OUT.items() if part in name.split(".")), None)


def main():
    redirect()
    loader = unittest.TestLoader()
    # Some files import the tests of another: a test runs once.
    found = {test.id(): test for file in FILES for test in tests(loader.loadTestsFromName(file))}.values()
    left_out = [test for test in found if reason(test)]
    run = unittest.TestSuite(test for test in found if not reason(test))
    count = run.countTestCases()
    result = unittest.TextTestRunner(verbosity=2).run(run)
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    for test in left_out:
        print(f"left out: {test.id()}: {reason(test)}")
    for test, why in result.skipped:
        print(f"skipped by itself: {test.id()}: {why}")
    print(f"{count - failed - skipped} of {count - skipped} that apply pass; {len(left_out)} do not apply, {skipped} skip themselves")
    return 1 if failed else 0


sys.exit(main())
