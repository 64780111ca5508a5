"""Uses the installed wheel without further packages: compiles the digits model and runs the program file in this process.

    use_wheel.py PROGRAM
"""

import array
import sys

import etbuild

program = etbuild.compile("examples/digits/digits.pt2", sys.argv[1])
print(etbuild.version(), program)
try:
    from etbuild.runtime import Runtime
except ImportError as error:
    # The wheel for other C libraries has the command alone, and old Pythons get that wheel.
    print(f"without the extension module: {error}")
    sys.exit()
forward = Runtime.load(program).method("forward")
sizes = forward.metadata.input_tensor_meta(0).sizes()
image = memoryview(array.array("f", [0.5] * 64)).cast("B").cast("f", list(sizes))
scores = memoryview(forward(image))
print(scores.shape, scores.tolist())
