"""Conversations with tools, thoughts and stop texts; `wheel.rs` runs this file in an environment with the wheel."""

import json
import math
import os
import shutil
import tempfile
import unittest
from pathlib import Path

import etbuild

REPOSITORY = Path(os.environ["ETBUILD_REPOSITORY"])
DATA = REPOSITORY / "etbuild/etbuild/tests/data/tools"
TOOLS = json.loads((DATA / "tools.json").read_text())
QUESTION = {"role": "user", "content": "Tell me a tale."}
GREEDY = dict(max_new_tokens=200, temperature=0)
WRITTEN = r'Ho <tool_call>\n\{"name": "tell", "arguments": \{"words": "fox", "count": 3\}\}\n</tool_call>'


class Chat(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, folder)
        model = shutil.copytree(REPOSITORY / "examples/tiny-llama/model", folder / "model")
        shutil.copy(DATA / "chat_template.jinja", model)
        cls.model = etbuild.LanguageModel.load(etbuild.compile(model, folder / "model.pte"), threads=1)

    def test_a_call_in_an_answer_is_apart_from_its_text(self):
        for tools in (TOOLS, json.dumps(TOOLS)):
            answer = self.model.chat([QUESTION], **GREEDY, tools=tools, regex=WRITTEN)
            self.assertEqual(answer.text(), "Ho ")
            [call] = answer.calls
            self.assertEqual((call.name, json.loads(call.arguments), len(call.id)), ("tell", {"words": "fox", "count": 3}, 9))
        plain = self.model.chat([QUESTION], **GREEDY, regex=WRITTEN)
        self.assertTrue(plain.text().startswith("Ho <tool_call>") and plain.calls == [])

    def test_the_result_of_a_demanded_call_is_a_message(self):
        demanded = self.model.chat([QUESTION], tools=TOOLS, tool_choice="tell", max_new_tokens=200, temperature=1, seed=3)
        message = demanded.message()
        self.assertEqual((message["content"], [call["function"]["name"] for call in message["tool_calls"]]), (None, ["tell"]))
        result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "a fox"}
        conversation = [QUESTION, message, result]
        answer = self.model.chat(conversation, tools=TOOLS, max_new_tokens=8, temperature=0)
        self.assertTrue(answer.text() and answer.ended in ("stop", "length"))
        tokens = self.model.encode_messages(conversation, tools=TOOLS)
        self.assertGreater(len(tokens), len(self.model.encode_messages([QUESTION], tools=TOOLS)))
        self.assertLess(len(self.model.encode_messages("Tell me a tale.")), len(tokens))

    def test_thoughts_are_split_off_where_they_should(self):
        thinking = dict(max_new_tokens=9, temperature=0, template_variables={"enable_thinking": True})
        apart = self.model.chat([QUESTION], **thinking, split_thoughts=True)
        self.assertEqual(apart.text(), "")
        thoughts = apart.thoughts
        self.assertTrue(thoughts)
        self.assertEqual(thoughts, self.model.chat([QUESTION], **thinking).text())

    def test_a_stop_text_ends_an_answer(self):
        whole = self.model.generate("Once", **GREEDY).text()
        self.assertIn(" a", whole)
        for stop in (" a", ["no such text", " a"]):
            answer = self.model.generate("Once", **GREEDY, stop=stop)
            self.assertEqual((answer.text(), answer.ended), (whole.split(" a")[0], "stop"))

    def test_probabilities_come_with_the_tokens(self):
        short = dict(max_new_tokens=4, temperature=0, top_logprobs=2)
        for begin, prompt, texts in (
            (self.model.generate, "Once", True),
            (self.model.chat, [QUESTION], True),
            (self.model.generate, self.model.encode("Once"), False),
        ):
            answer = begin(prompt, **short)
            list(answer)
            self.assertEqual([one.token for one in answer.logprobs], answer.tokens)
            for one in answer.logprobs:
                self.assertEqual(len(one.top), 2)
                self.assertEqual((one.top[0].token, one.top[0].logprob), (one.token, one.logprob))
                self.assertGreaterEqual(one.top[0].logprob, one.top[1].logprob)
                self.assertEqual(one.text, self.model.decode([one.token]) if texts else "")
                self.assertLess(math.exp(one.top[0].logprob) + math.exp(one.top[1].logprob), 1)
        self.assertEqual(self.model.generate("Once", max_new_tokens=2).logprobs, [])

    def test_a_session_goes_on(self):
        long = "fox and " * 40
        short = dict(max_new_tokens=3, temperature=0)
        said = self.model.generate(long, **short).text()
        files = [Path(tempfile.mkdtemp()) / name for name in ("first.session", "again.session")]
        self.model.save(files[0])
        begun = self.model.generate("Once", **short)
        next(begun)
        self.model.restore(files[0])
        with self.assertRaises(etbuild.Error):
            next(begun)
        self.model.save(files[1])
        self.assertEqual(files[0].read_bytes(), files[1].read_bytes())
        self.assertEqual(self.model.generate(long, **short).text(), said)
        files[0].write_bytes(files[0].read_bytes()[:1000])
        with self.assertRaises(etbuild.Error):
            self.model.restore(files[0])

    def test_what_a_conversation_cannot_have_is_refused(self):
        calls = [{"id": "a", "function": {"name": "b", "arguments": {}}}]
        for said, options, words in (
            ([QUESTION], dict(tools=[{"type": "function"}]), "`tools[0]`: `function.name` is missing"),
            ([QUESTION], dict(tools=TOOLS, tool_choice="dance"), "there is no tool `dance`"),
            ([QUESTION], dict(tool_choice="required"), "tool_choice needs tools"),
            ([QUESTION | {"tool_calls": calls}], {}, "calls belong to messages of the model"),
        ):
            with self.assertRaises((etbuild.Error, ValueError)) as refused:
                self.model.chat(said, **options)
            self.assertIn(words, str(refused.exception))
        with self.assertRaises(etbuild.Error) as refused:
            self.model.generate([1], stop="a")
        self.assertIn("stop texts are for prompts of text", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
