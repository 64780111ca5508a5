"""Language models in this process: text, pictures, sounds or tokens in, an iterator over the answer out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Union

from etbuild import _native
from etbuild.media import message_parts, prompt_parts, sound
from etbuild.runtime import PathLike
from etbuild.speech import Segment, Transcript, Word

__all__ = ["Alternative", "Call", "Generation", "LanguageModel", "Likelihood"]


@dataclass(frozen=True)
class Call:
    """A call of a tool. ``id`` is the ``tool_call_id`` of a message with its result; ``arguments`` is the text of a JSON object."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Alternative:
    """A token that may come next, its text alone (empty after a prompt of token ids), and the natural logarithm of its probability at temperature 1."""

    token: int
    text: str
    logprob: float


@dataclass(frozen=True)
class Likelihood(Alternative):
    """How probable a new token is; ``top`` are the most probable tokens, the most probable first."""

    top: list[Alternative]


class Generation(Iterator[Any]):
    """An answer that comes piece by piece: pieces of text for a prompt of text, token ids for a prompt of token ids.

    The iterator ends with the answer, and with the next text of the model. Ctrl-C works between tokens, and between the pieces
    of a long prompt.
    """

    def __init__(self, native: _native.Generation) -> None:
        self._native = native

    def __iter__(self) -> "Generation":
        return self

    def __next__(self) -> Union[str, int]:
        return next(self._native)

    @property
    def tokens(self) -> list[int]:
        """The new tokens so far."""
        return self._native.tokens

    @property
    def ended(self) -> Optional[str]:
        """Why the answer ended: ``stop``, ``length`` or ``context``; ``None`` before."""
        return self._native.ended

    @property
    def thoughts(self) -> str:
        """What the model has thought so far, with ``split_thoughts``."""
        return self._native.thoughts

    @property
    def calls(self) -> list[Call]:
        """The calls of tools so far."""
        return [Call(*call) for call in self._native.calls]

    @property
    def logprobs(self) -> list[Likelihood]:
        """How probable the new tokens so far are, with ``top_logprobs``."""
        return [Likelihood(*picked, [Alternative(*other) for other in top]) for picked, top in self._native.logprobs]

    def text(self) -> str:
        """The rest of the answer as one text."""
        return self.message()["content"] or ""

    def message(self) -> dict[str, Any]:
        """The rest of the answer, to its end, as a message of a conversation, with its calls as OpenAI's clients send them."""
        content: Optional[str] = "".join(str(piece) for piece in self)
        if not self.calls:
            return {"role": "assistant", "content": content}
        calls = [{"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}} for call in self.calls]
        return {"role": "assistant", "content": content or None, "tool_calls": calls}


class LanguageModel:
    """A language model: a program file that ``etbuild`` made of a checkpoint."""

    def __init__(self, native: _native.LanguageModel) -> None:
        self._native = native

    @classmethod
    def load(
        cls, program: PathLike, *, data: Iterable[PathLike] = (), threads: int = 0, lookup: bool = False
    ) -> "LanguageModel":
        """Loads a program file.

        ``data`` are files with weights (``.ptd``) or an adapter; ``threads`` is as for ``Runtime.load``; ``lookup`` decodes
        speculatively with drafts from the text itself.
        """
        files = [Path(path) for path in data]
        return cls(_native.LanguageModel.open(Path(program), files, threads, lookup))

    def generate(
        self,
        prompt: Union[str, Sequence[int]],
        *,
        images: Sequence[Any] = (),
        audio: Sequence[Any] = (),
        max_new_tokens: Optional[int] = None,
        temperature: Optional[float] = None,
        top_k: Optional[int] = None,
        top_p: Optional[float] = None,
        min_p: Optional[float] = None,
        typical_p: Optional[float] = None,
        repetition_penalty: Optional[float] = None,
        frequency_penalty: Optional[float] = None,
        presence_penalty: Optional[float] = None,
        no_repeat_ngram_size: Optional[int] = None,
        logit_bias: Optional[Mapping[int, float]] = None,
        seed: Optional[int] = None,
        json_schema: Union[None, str, Mapping[str, Any]] = None,
        regex: Optional[str] = None,
        grammar: Optional[str] = None,
        stop: Union[str, Sequence[str]] = (),
        top_logprobs: Optional[int] = None,
    ) -> Generation:
        """Continues a text or token ids; options that are left out are those of the model, and an answer ends with the context.

        ``images`` are pictures, for a model that reads them: paths, bytes of PNG or JPEG files, ``PIL.Image`` or arrays of ``uint8``
        ``[height, width, 3]``. ``audio`` are sounds, for a model that hears: paths, bytes of WAV files, or pairs of samples and their
        rate. They stand at the marks of the text (``mark``), or ahead of a text without marks. ``json_schema`` (a JSON text or a
        dictionary), ``regex`` or ``grammar`` (Lark's syntax) is the form of the answer. The answer ends ahead of a text of ``stop``.
        With ``top_logprobs``, the answer's ``logprobs`` are the log-probabilities of its tokens, each with those of so many most probable
        tokens. What a prompt has in common with the one before it is not read again: several answers to one prompt, with a ``seed`` each,
        read the prompt once.
        """
        options = _options(locals())
        if isinstance(prompt, str):
            parts = prompt_parts(prompt, self.mark, images, audio)
            return Generation(self._native.continue_parts(parts, options))
        if len(images) + len(audio) > 0:
            raise ValueError("`images` and `audio` go with a prompt of text")
        return Generation(self._native.continue_tokens(list(prompt), options))

    def chat(
        self,
        messages: Union[str, Sequence[Mapping[str, Any]]],
        *,
        images: Sequence[Any] = (),
        audio: Sequence[Any] = (),
        max_new_tokens: Optional[int] = None,
        temperature: Optional[float] = None,
        top_k: Optional[int] = None,
        top_p: Optional[float] = None,
        min_p: Optional[float] = None,
        typical_p: Optional[float] = None,
        repetition_penalty: Optional[float] = None,
        frequency_penalty: Optional[float] = None,
        presence_penalty: Optional[float] = None,
        no_repeat_ngram_size: Optional[int] = None,
        logit_bias: Optional[Mapping[int, float]] = None,
        seed: Optional[int] = None,
        json_schema: Union[None, str, Mapping[str, Any]] = None,
        regex: Optional[str] = None,
        grammar: Optional[str] = None,
        stop: Union[str, Sequence[str]] = (),
        tools: Union[None, str, Sequence[Mapping[str, Any]]] = None,
        tool_choice: Optional[str] = None,
        template_variables: Union[None, str, Mapping[str, Any]] = None,
        split_thoughts: bool = False,
        top_logprobs: Optional[int] = None,
    ) -> Generation:
        """Answers the last of ``messages``, each ``{"role": ..., "content": ...}``, or a single message of the user.

        A content is a text or a list of parts, as OpenAI's clients send parts, or as chat templates of ``transformers`` read them:
        ``{"type": "text", "text": ...}``, ``{"type": "image", "image": ...}``, ``{"type": "image_url", "image_url": {"url": ...}}`` with
        a ``data:`` URL, ``{"type": "audio", "audio": ...}``, ``{"type": "input_audio", "input_audio": {"data": ...}}``. A part of type
        ``image`` or ``audio`` alone stands for the next one of ``images`` or ``audio``, which are as for ``generate``.

        ``tools`` are functions that the model may call, as OpenAI's clients send tools (a list or its JSON text): the answer's ``calls``
        are the calls, and its ``message()`` belongs ahead of the results, each ``{"role": "tool", "tool_call_id": ..., "content": ...}``.
        ``tool_choice`` is ``auto``, ``required`` or the name of a tool. ``template_variables`` are variables of the chat template, such as
        ``{"enable_thinking": False}``. With ``split_thoughts``, what the model thinks before the answer is no part of the text, but the
        answer's ``thoughts``. ``top_logprobs`` is as for ``generate``.
        """
        options = _options(locals())
        return Generation(self._native.answer(message_parts(messages, images, audio), options))

    def encode_messages(
        self,
        messages: Union[str, Sequence[Mapping[str, Any]]],
        *,
        images: Sequence[Any] = (),
        audio: Sequence[Any] = (),
        tools: Union[None, str, Sequence[Mapping[str, Any]]] = None,
        template_variables: Union[None, str, Mapping[str, Any]] = None,
    ) -> list[int]:
        """The tokens of a conversation, up to the start of the answer: what the conversation takes of ``context``."""
        options = _options(locals())
        return self._native.encode_messages(message_parts(messages, images, audio), options)

    def transcribe(
        self,
        recording: Any,
        *,
        language: Optional[str] = None,
        task: str = "transcribe",
        timestamps: bool = False,
        word_timestamps: bool = False,
        prompt: Optional[str] = None,
        max_new_tokens: Optional[int] = None,
        temperature: Optional[float] = None,
        seed: Optional[int] = None,
        on_segment: Optional[Callable[[Segment], Any]] = None,
    ) -> Transcript:
        """The transcript of a recording, by a model for transcripts.

        The recording is a path, the bytes of a WAV file, a pair of samples and their rate in hertz, or a dictionary with ``array`` and
        ``sampling_rate``. ``language`` is a code such as ``en``; without it, the model hears which. ``task`` is ``transcribe``, or
        ``translate`` for English text. With ``timestamps`` the model ends segments; of a recording longer than 30 seconds it does in any
        case. With ``word_timestamps`` the words have times, too: the program needs the option ``export.word_timestamps``. ``prompt`` is
        taken as the text before. ``max_new_tokens`` is of each 30 seconds. ``on_segment`` is told each segment as it is found. Ctrl-C
        works between tokens.
        """
        told = on_segment and (lambda *made: on_segment(_segment(*made)))
        speech = dict(language=language, task=task, timestamps=timestamps, word_timestamps=word_timestamps, prompt=prompt)
        speech["on_segment"] = told
        options = _options(dict(max_new_tokens=max_new_tokens, temperature=temperature, seed=seed))
        code, seconds, segments = self._native.transcribe(sound(recording), speech, options)
        return Transcript(code, seconds, [_segment(*segment) for segment in segments])

    def encode(self, text: str, *, begins: bool = True) -> list[int]:
        """The tokens of a text; ``begins`` adds the tokens that begin every text."""
        return self._native.encode(text, begins)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        return self._native.decode(list(tokens))

    def use_adapter(self, path: PathLike) -> None:
        """Puts an adapter in the place of the one before: a file ``<name>.adapter.ptd`` over the same layers with the same ranks.

        Nothing is loaded again, and the next text is read from its beginning.
        """
        self._native.use_adapter(Path(path))

    def save(self, path: PathLike) -> None:
        """Writes the text that the model has read, with its KV cache, to a file: another process goes on with ``restore``, and so does a binary
        with ``--session``. Messages are the caller's to keep; pictures, sounds and what follows them are left out.
        """
        self._native.save(Path(path))

    def restore(self, path: PathLike) -> None:
        """Goes on behind the text in a file of ``save``: the next text or conversation that begins alike reads the rest alone.

        A file of another model, of other weights, or of another adapter than the one in use is refused.
        """
        self._native.restore(Path(path))

    @property
    def mark(self) -> Optional[str]:
        """The text that stands for a picture or a sound in a prompt; ``None`` for a model of texts and for one of transcripts."""
        return self._native.mark

    @property
    def context(self) -> Optional[int]:
        """The most tokens of a text, where that is known."""
        return self._native.context

    @property
    def vocabulary(self) -> int:
        """The number of tokens that the model knows."""
        return self._native.vocabulary


_OPTIONS = (
    "max_new_tokens",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "typical_p",
    "repetition_penalty",
    "frequency_penalty",
    "presence_penalty",
    "no_repeat_ngram_size",
    "logit_bias",
    "seed",
    "json_schema",
    "regex",
    "grammar",
    "tools",
    "tool_choice",
    "template_variables",
    "top_logprobs",
)
#: The options that are JSON texts, or values of which ``json`` makes texts.
_JSON = ("json_schema", "tools", "template_variables")


def _segment(start: float, end: float, text: str, tokens: list[int], words: list[tuple[float, float, str]]) -> Segment:
    return Segment(start, end, text, tokens, [Word(*word) for word in words])


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    options = {name: given.get(name) for name in _OPTIONS}
    for name in _JSON:
        if options[name] is not None and not isinstance(options[name], str):
            options[name] = json.dumps(options[name])
    stop = given.get("stop", ())
    return options | {"stop": [stop] if isinstance(stop, str) else list(stop), "split_thoughts": given.get("split_thoughts", False)}
