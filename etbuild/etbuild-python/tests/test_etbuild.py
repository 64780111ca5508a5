"""Uses the installed package `etbuild`; `wheel.rs` runs this file in an environment with the wheel."""

import array
import ast
import gc
import os
import signal
import subprocess
import threading
import time
import unittest
from pathlib import Path

import numpy
import torch

import etbuild
from etbuild import _native
from etbuild.runtime import Runtime, Verification

REPOSITORY = Path(os.environ["ETBUILD_REPOSITORY"])
ADD = REPOSITORY / "runtime/et-format/tests/data/add.pte"
DIGITS = REPOSITORY / "examples/digits/digits.pt2"


def layer(inputs, outputs, **options):
    """A convolution with batch normalization and activation."""
    convolution = torch.nn.Conv2d(inputs, outputs, 3, padding=1, bias=False, **options)
    return torch.nn.Sequential(convolution, torch.nn.BatchNorm2d(outputs), torch.nn.ReLU())


class Small(torch.nn.Module):
    """A vision model in the manner of torchvision's: depthwise and pointwise convolutions, pooling, a classifier."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(layer(3, 16, stride=2), layer(16, 16, groups=16), layer(16, 32, stride=2))
        self.classifier = torch.nn.Linear(32, 10)

    def forward(self, image):
        return self.classifier(self.layers(image).mean((2, 3)))


class TwoOutputs(torch.nn.Module):
    def forward(self, x, y):
        return x + y, (x * 2).to(torch.int32)


class Parts(torch.nn.Module):
    def forward(self, z):
        return torch.view_as_real(z) * 1


class Write(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x):
        self.total.add_(x)
        return torch.relu(self.total) * 2


class Read(Write):
    def forward(self, x):
        return torch.relu(x) + self.total


class Reset(Write):
    def forward(self):
        self.total.zero_()
        return self.total.clone()


class Dynamic(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2


def compiled(name, model, args, **options):
    """The loaded method of a model."""
    archive = etbuild.export(model.eval(), args, f"{name}.pt2", **options)
    return Runtime.load(etbuild.compile(archive, f"{name}.pte")).method("forward")


class Journey(unittest.TestCase):
    def test_ten_lines_lead_from_a_module_to_an_int8_answer(self):
        torch.manual_seed(0)
        start = time.monotonic()
        model = Small().eval()
        images = torch.rand(8, 3, 32, 32)
        archive = etbuild.export(model, (images[:1],), "small.pt2")
        program = etbuild.compile(archive, quantize="int8", calibrate={"image": images})
        answer = Runtime.load(program).method("forward")(images[:1])
        seconds = time.monotonic() - start
        self.assertEqual(program, Path("small.pte"))
        error = (answer - model(images[:1])).abs().max().item()
        scale = model(images).abs().max().item()
        self.assertTrue(0 < error < 0.1 * scale, (error, scale))
        print(f"from the module to the int8 answer: {seconds:.1f} s", end=" ", flush=True)

    def test_the_command_returns_typed_results(self):
        result = etbuild.build(REPOSITORY / "recipes/digits.yaml", target="linux-x86_64", options={"library": False})
        unit = result["linux-x86_64"]
        self.assertEqual((unit.recipe, unit.binary.name, unit.program.name), ("digits", "digits", "digits.pte"))
        self.assertEqual(result.table()[0]["binary"], Path("out/digits/linux-x86_64/digits"))
        images = numpy.random.default_rng(0).random((1, 64), dtype=numpy.float32)
        metadata = Runtime.load(unit.program).metadata("forward")
        images = images.reshape(metadata.input_tensor_meta(0).sizes())
        outputs = etbuild.run(unit.program, {metadata.input_names()[0]: images})
        numpy.testing.assert_array_equal(outputs["output_0"], Runtime.load(unit.program).method()(images))

    def test_a_faulty_recipe_raises_its_diagnostics(self):
        Path("faulty.yaml").write_text("etbuild: 1\nname: x\nmodel: { pt2: nothing.pt2 }\ntarget: [linux-x86_64]\n")
        with self.assertRaises(etbuild.CommandError) as caught:
            etbuild.deploy("faulty.yaml")
        self.assertEqual((caught.exception.status, caught.exception.code), (3, "ETB0107"))
        self.assertTrue(caught.exception.diagnostics[0].place.endswith("faulty.yaml:4:1"), str(caught.exception))

    def test_bounded_sizes_are_passed_through(self):
        size = torch.export.Dim("size", min=2, max=16)
        method = compiled("dynamic", Dynamic(), (torch.rand(8, 3),), dynamic_shapes={"x": {0: size}})
        for count in (2, 5, 16):
            x = torch.rand(count, 3) - 0.5
            torch.testing.assert_close(method(x), torch.relu(x) * 2)
        with self.assertRaisesRegex(etbuild.InputError, r"float32\[17, 3\] was given"):
            method(torch.rand(17, 3))


    def test_a_single_argument_and_paths_are_taken(self):
        archive = etbuild.export(Dynamic().eval(), torch.rand(2, 3), Path("single.pt2"))
        method = Runtime.load(etbuild.compile(archive)).method()
        self.assertEqual(method.metadata.input_tensor_meta(0).sizes(), (2, 3))
        with self.assertRaisesRegex(etbuild.CommandError, "file `no.yaml` not found"):
            etbuild.build(archive, target=Path("no.yaml"))


class Calls(unittest.TestCase):
    def setUp(self):
        self.method = Runtime.load(ADD).method("forward")
        self.x, self.y = numpy.random.default_rng(1).random((2, 2, 3), dtype=numpy.float32)

    def test_outputs_come_from_the_library_of_the_inputs(self):
        wanted = self.x + self.y
        given = self.method(self.x, self.y)
        self.assertIs(type(given), numpy.ndarray)
        numpy.testing.assert_array_equal(given, wanted)
        given = self.method(torch.from_numpy(self.x), torch.from_numpy(self.y))
        self.assertIs(type(given), torch.Tensor)
        numpy.testing.assert_array_equal(given.numpy(), wanted)

    def test_names_sequences_and_strides_are_taken(self):
        wanted = self.x + self.y
        numpy.testing.assert_array_equal(self.method.execute([self.x, self.y])[0], wanted)
        numpy.testing.assert_array_equal(self.method(self.x, input_1=self.y), wanted)
        numpy.testing.assert_array_equal(self.method(numpy.asfortranarray(self.x), self.y[::-1][::-1]), wanted)
        numpy.testing.assert_array_equal(self.method(self.x, torch.from_numpy(self.y.T.copy()).T), wanted)
        image = memoryview(array.array("f", self.x.ravel())).cast("B").cast("f", [2, 3])
        numpy.testing.assert_array_equal(self.method(image, self.y), wanted)

    def test_lazily_negated_and_conjugated_tensors_have_their_elements(self):
        lazy = torch.complex(torch.zeros(2, 3), torch.from_numpy(self.x)).conj().imag
        self.assertTrue(lazy.is_neg())
        given = self.method(lazy, torch.from_numpy(self.y))
        numpy.testing.assert_array_equal(given.numpy(), -self.x + self.y)
        parts = compiled("parts", Parts(), (torch.zeros(2, dtype=torch.complex64),))
        lazy = torch.complex(torch.ones(2), torch.ones(2)).conj()
        self.assertEqual(parts(lazy).tolist(), [[1, -1], [1, -1]])

    def test_a_tensor_without_elements_is_refused(self):
        with torch._subclasses.fake_tensor.FakeTensorMode():
            fake = torch.ones(2, 3)
        with self.assertRaisesRegex(etbuild.InputError, "no elements in memory"):
            self.method(fake, torch.from_numpy(self.y))
        with self.assertRaisesRegex(etbuild.InputError, "does not lend the elements"):
            self.method(torch.ones(2, 3).to_sparse(), torch.from_numpy(self.y))

    def test_arrays_of_another_byte_order_have_their_numbers_in_the_command(self):
        inputs = {"input_0": self.x.astype(">f4"), "input_1": self.y}
        numpy.testing.assert_array_equal(etbuild.run(ADD, inputs)["output_0"], self.x + self.y)

    def test_outputs_outlive_the_next_call(self):
        first = self.method(self.x, self.y)
        kept = self.method(torch.from_numpy(self.x), torch.from_numpy(self.y))
        self.method(self.y, self.y)
        del self.method
        gc.collect()
        numpy.testing.assert_array_equal(first, self.x + self.y)
        numpy.testing.assert_array_equal(kept.numpy(), self.x + self.y)

    def test_wrong_inputs_raise_with_code_and_sentence(self):
        wrong = {
            "float64": (self.x.astype(numpy.float64), self.y),
            r"float32\[1, 3\] was given, float32\[2, 3\] is wanted": (self.x[:1], self.y),
            "input_1: not given": (self.x,),
            "more than 2 inputs": (self.x, self.y, self.x),
            "not list": ([1.0], self.y),
            "1.5 was given, a tensor is wanted": (1.5, self.y),
            "an input is on device meta: move the tensor to the CPU": (torch.from_numpy(self.x).to("meta"), self.y),
        }
        for sentence, inputs in wrong.items():
            with self.assertRaisesRegex(etbuild.InputError, sentence) as caught:
                self.method(*inputs)
            self.assertEqual(caught.exception.code, "ETB0706")
        with self.assertRaisesRegex(etbuild.InputError, "named inputs x were given, the method has input_0, input_1"):
            self.method(x=self.x)
        with self.assertRaisesRegex(etbuild.InputError, "input_0: given by position and by name"):
            self.method(self.x, self.y, input_0=self.x)
        with self.assertRaisesRegex(etbuild.Error, "ETB0707: the program file is malformed"):
            Runtime.load(b"nothing")
        with self.assertRaisesRegex(etbuild.Error, "no method backward; there are: forward"):
            Runtime.load(ADD).method("backward")
        with self.assertRaises(TypeError):
            self.method(numpy.array(["a"]), self.y)
        with self.assertRaisesRegex(ValueError, "from 1 to 256"):
            Runtime.load(ADD, threads=1000)

    def test_several_outputs_are_a_tuple(self):
        method = compiled("two", TwoOutputs(), (torch.zeros(2, 3), torch.zeros(2, 3)))
        total, double = method(self.x, self.y)
        numpy.testing.assert_array_equal(total, self.x + self.y)
        numpy.testing.assert_array_equal(double, (self.x * 2).astype(numpy.int32))
        self.assertEqual(double.dtype, numpy.int32)

    def test_a_tensor_of_ours_shares_its_memory(self):
        class Foreign:
            def __init__(self, tensor):
                self.tensor = tensor

            def __dlpack__(self, **options):
                return self.tensor.__dlpack__(**options)

        x, y = Foreign(torch.from_numpy(self.x)), Foreign(torch.from_numpy(self.y))
        tensor = self.method(x, y)
        self.assertIs(type(tensor), etbuild.Tensor)
        self.assertEqual((tensor.shape, tensor.dtype, tensor.nbytes), ((2, 3), "float32", 24))
        shared, also = tensor.numpy(), tensor.torch()
        shared[0, 0] = 7
        self.assertEqual((also[0, 0].item(), numpy.from_dlpack(tensor)[0, 0]), (7, 7))
        del tensor, x, y
        gc.collect()
        self.assertEqual(also[0, 0].item(), 7)

    def test_half_precision_keeps_its_type(self):
        for dtype in (torch.float16, torch.bfloat16):
            x = torch.rand(4, 4).to(dtype)
            method = compiled(f"half_{x.element_size()}{dtype}".replace(".", "_"), Dynamic(), (x,))
            self.assertEqual(method(x).dtype, dtype)
            torch.testing.assert_close(method(x), torch.relu(x) * 2)

    def test_code_of_executorch_runs(self):
        runtime = Runtime.get()
        self.assertIs(runtime, Runtime.get())
        with open(ADD, "rb") as file:
            program = runtime.load_program(file, verification=Verification.Minimal)
        self.assertEqual(program.method_names, {"forward"})
        x = torch.ones(2, 3)
        self.assertTrue(torch.equal(program.load_method("forward").execute((x, x))[0], x + x))
        self.assertIn("aten::add.out", runtime.operator_registry.operator_names)
        names = runtime.backend_registry.registered_backend_names
        self.assertTrue(all(runtime.backend_registry.is_available(name) for name in names) and names)
        self.assertFalse(runtime.backend_registry.is_available("NoBackend"))

    def test_executions_are_written_as_etdump(self):
        x = torch.rand(2, 3)
        program = Runtime.get().load_program(ADD, enable_etdump=True, debug_buffer_size=64)
        method = program.load_method("forward")
        total = method.execute((x, x))[0]
        program.write_etdump_result_to_file("add.etdp", "add.debug")
        dump = Path("add.etdp").read_bytes()
        self.assertEqual(dump[8:12], b"ED00")
        self.assertIn(b"native_call_add.out", dump)
        self.assertIn(total.numpy().tobytes(), Path("add.debug").read_bytes())
        with self.assertRaisesRegex(etbuild.Error, "debug buffer is too small"):
            for _ in range(3):
                method.execute((x, x))
        with self.assertRaisesRegex(etbuild.Error, "enable_etdump"):
            Runtime.load(ADD).write_etdump_result_to_file("none.etdp")
        self.assertFalse(Path("none.etdp").exists())


class States(unittest.TestCase):
    def test_methods_share_state_beside_methods_without_state(self):
        torch.manual_seed(0)
        for module, args in ((Write(), (torch.ones(2),)), (Read(), (torch.ones(2),)), (Reset(), ())):
            etbuild.export(module, args)
        Path("rows.yaml").write_text(
            "etbuild: 1\nname: rows\nmodel: { methods: { write: write.pt2, read: read.pt2, reset: reset.pt2 } }\n"
            "export: { constants: { get_eos_ids: [1, 2], first: true } }\ntargets: [linux-x86_64]\n"
        )
        program = Runtime.load(etbuild.compile("rows.yaml"))
        self.assertEqual(program.method("first")(), True)
        write, read, reset = (program.method(name) for name in ("write", "read", "reset"))
        write(torch.tensor([1.0, 2.0]))
        write(torch.tensor([1.0, 2.0]))
        self.assertEqual(read(torch.tensor([1.0, 10.0])).tolist(), [3.0, 14.0])
        self.assertEqual(reset().tolist(), [0.0, 0.0])
        self.assertEqual(read(torch.tensor([1.0, 10.0])).tolist(), [1.0, 10.0])


class Threads(unittest.TestCase):
    """The interpreter's lock and signals."""

    class Slow(torch.nn.Module):
        """A recurrent loop: many instructions."""

        def forward(self, x):
            for _ in range(60):
                x = torch.cumsum(torch.sin(x), 1) * 0.01
            return x

    @classmethod
    def setUpClass(cls):
        cls.x = torch.rand(64, 1024)
        cls.program = etbuild.compile(etbuild.export(cls.Slow().eval(), (cls.x,), "slow.pt2"), partition="portable")

    def test_other_threads_run_meanwhile(self):
        method = Runtime.load(self.program).method()
        method(self.x)
        counted, done = [0], threading.Event()

        def count():
            while not done.is_set():
                counted[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        start = time.monotonic()
        while time.monotonic() - start < 0.3:
            method(self.x)
        ran = counted[0]
        done.set()
        thread.join()
        self.assertGreater(ran, 20)

    def test_threads_take_turns_on_a_method(self):
        method = Runtime.load(ADD).method()
        failures = []

        def work(number):
            x = numpy.full((2, 3), number, numpy.float32)
            for _ in range(500):
                if not (method(x, x) == 2 * number).all():
                    failures.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_signals_are_handled_during_an_execution(self):
        rows = torch.export.Dim("rows", min=2, max=1 << 14)
        archive = etbuild.export(self.Slow().eval(), (self.x,), "long.pt2", dynamic_shapes={"x": {0: rows}})
        method = Runtime.load(etbuild.compile(archive, "long.pte", partition="portable")).method()
        start = time.monotonic()
        method(self.x)
        # An execution of about a second, on any machine.
        x = self.x.repeat(min(max(int(1 / (time.monotonic() - start)), 1), 256), 1)
        handled = []
        before = signal.signal(signal.SIGALRM, lambda *_: handled.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        try:
            method(x)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        # Signals before and behind the execution are one call of the handler each.
        self.assertGreater(len(handled), 2)

    def test_ctrl_c_ends_an_execution(self):
        def interrupt(*_):
            raise KeyboardInterrupt

        method = Runtime.load(self.program).method()
        wanted = method(self.x)
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with self.assertRaises(KeyboardInterrupt):
                while True:
                    method(self.x)
        finally:
            signal.signal(signal.SIGALRM, before)
        torch.testing.assert_close(method(self.x), wanted)

    def test_a_handler_must_not_call_the_running_method(self):
        class Input:
            def __dlpack__(self, **options):
                return method(numpy.zeros((2, 3), numpy.float32), numpy.zeros((2, 3), numpy.float32))

        method = Runtime.load(ADD).method()
        with self.assertRaisesRegex(RuntimeError, "must not be called from within"):
            method(Input(), Input())


class Language(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = REPOSITORY / "examples/tiny-llama/model"
        cls.program = etbuild.compile(folder, "tiny.pte", options={"export.context": 128})
        cls.model = etbuild.LanguageModel.load(cls.program)

    def test_text_streams_as_the_command_prints_it(self):
        pieces = list(self.model.generate("Once there was a fox", max_new_tokens=24, temperature=0))
        self.assertGreater(len(pieces), 3)
        command = [etbuild.command.find(), "run", self.program, "--prompt", "Once there was a fox"]
        command += ["--max-new-tokens", "24", "--temperature", "0"]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertIn("".join(pieces).strip(), printed)

    def test_tokens_stream_and_samples_repeat(self):
        tokens = self.model.encode("Once")
        answer = self.model.generate(tokens, max_new_tokens=8, temperature=1.0, seed=3)
        first = list(answer)
        self.assertEqual((len(first), answer.tokens, answer.ended), (8, first, "length"))
        self.assertEqual(list(self.model.generate(tokens, max_new_tokens=8, temperature=1.0, seed=3)), first)
        self.assertNotEqual(list(self.model.generate(tokens, max_new_tokens=8, temperature=1.0, seed=4)), first)
        self.assertIsInstance(self.model.decode(first), str)

    def test_another_text_ends_the_first(self):
        first = self.model.generate("Once", max_new_tokens=8)
        next(first)
        self.model.generate("There", max_new_tokens=8).text()
        with self.assertRaisesRegex(etbuild.Error, "another text"):
            next(first)

    def test_a_conversation_is_answered(self):
        said = [{"role": "user", "content": "Tell me a story."}]
        answer = self.model.chat(said, max_new_tokens=12, temperature=0).text()
        self.assertEqual(answer, self.model.chat("Tell me a story.", max_new_tokens=12, temperature=0).text())
        with self.assertRaisesRegex(ValueError, "a role is one of"):
            self.model.chat([{"role": "nobody", "content": ""}])

    def test_what_does_not_fit_is_refused(self):
        for prompt, sentence in [([1] * 500, "500"), ([10**6], "token"), ([], "no token")]:
            with self.assertRaisesRegex(etbuild.InputError, sentence):
                self.model.generate(prompt).text()
        with self.assertRaisesRegex(etbuild.Error, "temperature"):
            self.model.generate("Once", temperature=-1.0)
        with self.assertRaisesRegex(etbuild.Error, "ETB0801"):
            etbuild.LanguageModel.load(ADD)


class Stubs(unittest.TestCase):
    def test_the_stubs_describe_the_extension_module(self):
        tree = ast.parse((Path(etbuild.__file__).parent / "_native.pyi").read_text())
        described = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        present = {name for name in dir(_native) if not name.startswith("_")}
        self.assertEqual(set(described), present)
        for name, node in described.items():
            members = {member.name for member in getattr(node, "body", []) if isinstance(member, ast.FunctionDef)}
            own = {member for member in vars(getattr(_native, name)) if not member.startswith("_")} if members else set()
            self.assertEqual({member for member in members if not member.startswith("_")}, own, name)
        self.assertTrue((Path(etbuild.__file__).parent / "py.typed").exists())


if __name__ == "__main__":
    unittest.main()
