"""Pictures, recordings and text encoders in the installed package `etbuild`, against what transformers computed; `wheel.rs` runs this file."""

import base64
import json
import os
import subprocess
import sys
import unittest
import wave
from pathlib import Path

import numpy
import torch
from PIL import Image
from safetensors.numpy import load_file

import etbuild

SCRIPTS = Path(os.environ["ETBUILD_REPOSITORY"]) / "etbuild/etbuild/tests"
STEPS, END = 50, 2
GREEDY = dict(max_new_tokens=STEPS, temperature=0)


def written(script, name, **options):
    """The folder of a model that a script of the command's tests writes, its cases, and the model."""
    subprocess.run([sys.executable, SCRIPTS / script, script.removesuffix(".py"), str(STEPS), name], check=True)
    folder = Path(script.removesuffix(".py")) / name
    program = etbuild.compile(folder / "model", f"{name}.pte", options=options)
    return folder, json.loads((folder / "cases.json").read_text()), etbuild.LanguageModel.load(program)


def wanted(folder, index):
    """The greedy tokens of transformers up to the end of the text."""
    tokens = load_file(folder / f"{index}.safetensors")["tokens"].ravel().tolist()
    return tokens[: tokens.index(END)] if END in tokens else tokens


def samples(path):
    with wave.open(str(path)) as file:
        return numpy.frombuffer(file.readframes(file.getnframes()), "<i2"), file.getframerate()


class TextEncoders(unittest.TestCase):
    def test_a_text_encoder_reads_the_prompt(self):
        subprocess.run([sys.executable, SCRIPTS / "seq2seq.py", "seq2seq", str(STEPS)], check=True)
        folder = Path("seq2seq/t5")
        model = etbuild.LanguageModel.load(etbuild.compile(folder / "model", "t5.pte"))
        for case in json.loads((folder / "cases.json").read_text()):
            for prompt in (case["tokens"], case["text"]):
                answer = model.generate(prompt, **GREEDY)
                answer.text()
                self.assertEqual(answer.tokens, case["new"], prompt)


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder, cls.cases, cls.model = written("vision.py", "smolvlm", **{"export.context": 480})

    def forms(self, name):
        """A picture as each of the values that stand for one."""
        path = self.folder / name
        image = Image.open(path)
        pixels = numpy.asarray(image)
        url = "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
        opaque = numpy.concatenate([pixels, numpy.full((*pixels.shape[:2], 1), 255, numpy.uint8)], 2)
        return [path, str(path), path.read_bytes(), url, image, pixels, opaque, torch.from_numpy(pixels.copy())]

    def answered(self, messages, **more):
        answer = self.model.chat(messages, **GREEDY, **more)
        answer.text()
        return answer.tokens

    def messages(self, case, part):
        """The messages of a case; `part` makes the part of a picture."""
        def parts(message):
            return [part(one["picture"]) if "picture" in one else dict(type="text", text=one["text"]) for one in message["parts"]]

        return [dict(role=message["role"], content=parts(message)) for message in case["messages"]]

    def test_conversations_with_pictures_are_answered_as_by_transformers(self):
        for index, case in enumerate(self.cases):
            messages = self.messages(case, lambda name: dict(type="image", image=Image.open(self.folder / name)))
            self.assertEqual(self.answered(messages), wanted(self.folder, index), index)

    def test_a_picture_is_a_file_an_array_or_an_image(self):
        for image in self.forms("wide.png"):
            self.assertEqual(self.answered("What is this?", images=[image]), wanted(self.folder, 1), type(image))

    def test_transparent_pixels_lie_on_white(self):
        image = Image.open(self.folder / "glass.png")
        self.assertEqual(image.mode, "RGBA")
        [square, part] = [dict(type="image", image=Image.open(self.folder / "square.png")), dict(type="image")]
        messages = [dict(role="system", content="Be brief.")]
        for glass in [image, numpy.asarray(image), torch.from_numpy(numpy.asarray(image).copy())]:
            talk = [*messages, dict(role="user", content=[square, part | dict(image=glass)])]
            self.assertEqual(self.answered(talk), wanted(self.folder, 4), type(glass))

    def test_parts_are_those_of_clients_and_of_chat_templates(self):
        path = self.folder / "wide.png"
        url = "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
        for part in [
            dict(type="image_url", image_url=dict(url=url, detail="low")),
            dict(type="input_image", image_url=url),
            dict(type="image", url=url),
            dict(type="image", path=str(path)),
            dict(type="image", base64=url.partition(",")[2]),
        ]:
            said = [dict(role="user", content=[part, "What is this?"])]
            self.assertEqual(self.answered(said), wanted(self.folder, 1), part["type"])
        names = [one["picture"] for message in self.cases[2]["messages"] for one in message["parts"] if "picture" in one]
        messages = self.messages(self.cases[2], lambda _: dict(type="image"))
        self.assertEqual(self.answered(messages, images=[self.folder / name for name in names]), wanted(self.folder, 2))

    def test_a_prompt_has_pictures_at_its_marks(self):
        self.assertEqual(self.model.mark, "<image>")
        text = "<s>user: Is <image> like <image><image>?assistant:"
        pictures = [self.folder / name for name in ("high.png", "square.png", "thin.png")]
        def continued(text):
            answer = self.model.generate(text, images=pictures, **GREEDY)
            answer.text()
            return answer.tokens

        self.assertEqual(continued(text), wanted(self.folder, 2))
        self.assertEqual(continued("A fox"), continued("<image><image><image>A fox"))

    def test_wrong_pictures_are_named(self):
        ask = lambda *images: self.model.chat("a", images=images, max_new_tokens=1).text()
        with self.assertRaisesRegex(etbuild.InputError, "neither PNG nor JPEG") as caught:
            ask(b"nothing")
        self.assertEqual(caught.exception.code, "ETB0706")
        for image, error, sentence in [
            (numpy.zeros((4, 4, 3), numpy.float32), ValueError, "uint8"),
            (numpy.zeros((4, 4, 2), numpy.uint8), ValueError, r"\[4, 4, 2\]"),
            (7, TypeError, "not int"),
            ("https://example.com/cat.png", ValueError, "data:"),
            ("nothing.png", FileNotFoundError, "nothing.png"),
        ]:
            with self.assertRaisesRegex(error, sentence):
                ask(image)
        with self.assertRaisesRegex(ValueError, "2 times, for 1"):
            self.model.generate("<image><image>", images=[self.folder / "wide.png"])
        for part, images, sentence in [(dict(type="image"), [], "images"), (dict(type="text", text="a"), ["a"], "more of"),
                                       (dict(type="video"), [], "video")]:
            with self.assertRaisesRegex(ValueError, sentence):
                self.model.chat([dict(role="user", content=[part])], images=images)
        with self.assertRaisesRegex(etbuild.Error, "does not hear"):
            self.model.chat("a", audio=[(numpy.zeros(4, numpy.float32), 16000)])
        with self.assertRaisesRegex(etbuild.Error, "makes no transcripts"):
            self.model.transcribe((numpy.zeros(4, numpy.float32), 16000))
        with self.assertRaisesRegex(ValueError, "prompt of text"):
            self.model.generate([1, 2], images=["a"])


class Sounds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder, cls.cases, cls.model = written("hearing.py", "voxtral", **{"export.context": 400})

    def test_conversations_with_sounds_are_answered_as_by_transformers(self):
        def part(one):
            return dict(type="audio", audio=self.folder / one["sound"]) if "sound" in one else one["text"]

        for index, case in enumerate(self.cases):
            messages = [dict(role=said["role"], content=[part(one) for one in said["parts"]]) for said in case["messages"]]
            answer = self.model.chat(messages, **GREEDY)
            answer.text()
            self.assertEqual(answer.tokens, wanted(self.folder, index), index)

    def test_a_sound_is_a_file_or_samples(self):
        path = self.folder / "short.wav"
        whole, rate = samples(path)
        data = dict(data=base64.b64encode(path.read_bytes()).decode(), format="wav")
        floats = (whole / 32768).astype(numpy.float32)
        for sound in [path, path.read_bytes(), (whole, rate), (floats, rate), dict(array=floats.astype(float), sampling_rate=rate),
                      (torch.from_numpy(floats), rate)]:
            answer = self.model.chat("What is this?", audio=[sound], **GREEDY)
            answer.text()
            self.assertEqual(answer.tokens, wanted(self.folder, 1), type(sound))
        said = [dict(role="user", content=[dict(type="input_audio", input_audio=data), "What is this?"])]
        answer = self.model.chat(said, **GREEDY)
        answer.text()
        self.assertEqual(answer.tokens, wanted(self.folder, 1))

    def test_wrong_sounds_are_named(self):
        for sound, error, sentence in [
            (b"nothing", etbuild.InputError, "not a WAV file"),
            ((numpy.zeros(4, numpy.float32), 0), etbuild.InputError, "rate is 0"),
            ((numpy.full(4, numpy.nan, numpy.float32), 16000), etbuild.InputError, "NaN"),
            (numpy.zeros(4), TypeError, "samples and their rate"),
            ((numpy.zeros((2, 4)), 16000), ValueError, "one channel"),
            ((numpy.zeros(4, numpy.int64), 16000), ValueError, "float32, float64 or int16"),
        ]:
            with self.assertRaisesRegex(error, sentence):
                self.model.chat("a", audio=[sound], max_new_tokens=1).text()


class Transcripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder, cls.cases, cls.model = written("hearing.py", "whisper", **{"export.word_timestamps": True})

    def made(self, case, **more):
        options = {key: case[key] for key in ("language", "task", "timestamps", "prompt") if key in case}
        return self.model.transcribe(self.folder / f"{case['sound']}.wav", max_new_tokens=STEPS, temperature=0, **options, **more)

    def test_transcripts_are_those_of_transformers(self):
        for case in self.cases:
            told = []
            transcript = self.made(case, on_segment=told.append)
            self.assertEqual([one.tokens for one in transcript.segments], [one["tokens"] for one in case["segments"]])
            self.assertEqual((transcript.language, told), (case["heard"], transcript.segments))
            if case.get("timestamps"):
                for one, other in zip(transcript.segments, case["segments"]):
                    self.assertAlmostEqual(one.start, other["start"])
                    self.assertAlmostEqual(one.end, other["end"])
            self.assertEqual(transcript.text, "".join(one.text for one in transcript.segments))

    def test_words_have_the_times_of_transformers(self):
        for case, wanted in json.loads((self.folder / "words.json").read_text()).items():
            name, language = case.split()
            options = dict(language=language, word_timestamps=True, max_new_tokens=STEPS, temperature=0)
            made = self.model.transcribe(self.folder / f"{name}.wav", **options)
            found = [word for segment in made.segments for word in segment.words][: len(wanted)]
            self.assertEqual([word.text for word in found], [word["text"] for word in wanted])
            for word, other in zip(found, wanted):
                self.assertAlmostEqual(word.start, other["start"], places=4)
                self.assertAlmostEqual(word.end, other["end"], places=4)

    def test_samples_of_another_rate_are_resampled(self):
        whole, rate = samples(self.folder / "short.wav")
        transcript = self.model.transcribe((whole.repeat(2), 2 * rate), language="de", max_new_tokens=4)
        self.assertAlmostEqual(transcript.duration, len(whole) / rate, places=3)

    def test_a_listener_may_end_a_transcript(self):
        def stop(segment):
            raise KeyError(segment.text)

        with self.assertRaises(KeyError):
            self.made(self.cases[2], on_segment=stop)
        self.assertTrue(self.made(self.cases[2]).segments)

    def test_wrong_requests_are_named(self):
        short = self.folder / "short.wav"
        for options, sentence in [(dict(language="tlh"), "tlh"), (dict(temperature=-1.0), "temperature")]:
            with self.assertRaisesRegex(etbuild.Error, sentence):
                self.model.transcribe(short, **options)
        with self.assertRaisesRegex(ValueError, "transcribe or translate"):
            self.model.transcribe(short, task="sing")
        with self.assertRaisesRegex(etbuild.Error, "there is no sound"):
            self.model.generate("a")


if __name__ == "__main__":
    unittest.main()
