"""Language models in this process: text or tokens in, an iterator over the answer out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence, Union

from etbuild import _native
from etbuild.runtime import PathLike

__all__ = ["Generation", "LanguageModel"]


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

    def text(self) -> str:
        """The rest of the answer as one text."""
        return "".join(str(piece) for piece in self)


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
    ) -> Generation:
        """Continues a text or token ids; options that are left out are those of the model, and an answer ends with the context.

        ``json_schema`` (a JSON text or a dictionary), ``regex`` or ``grammar`` (Lark's syntax) is the form of the answer.
        """
        options = _options(locals())
        if isinstance(prompt, str):
            return Generation(self._native.continue_text(prompt, options))
        return Generation(self._native.continue_tokens(list(prompt), options))

    def chat(
        self,
        messages: Union[str, Sequence[Mapping[str, str]]],
        *,
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
    ) -> Generation:
        """Answers the last of ``messages``, each ``{"role": ..., "content": ...}``, or a single message of the user."""
        options = _options(locals())
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        said = [(message["role"], message["content"]) for message in messages]
        return Generation(self._native.answer(said, options))

    def encode(self, text: str, *, begins: bool = True) -> list[int]:
        """The tokens of a text; ``begins`` adds the tokens that begin every text."""
        return self._native.encode(text, begins)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        return self._native.decode(list(tokens))

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
)


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    options = {name: given[name] for name in _OPTIONS}
    if isinstance(options["json_schema"], Mapping):
        options["json_schema"] = json.dumps(options["json_schema"])
    return options
