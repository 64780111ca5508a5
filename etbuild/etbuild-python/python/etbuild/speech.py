"""Transcripts of recordings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

__all__ = ["Segment", "Transcript", "Word"]


@dataclass(frozen=True)
class Word:
    """A word of a transcript, with spaces and punctuation around."""

    #: Seconds from the beginning of the recording.
    start: float
    end: float
    text: str


@dataclass(frozen=True)
class Segment:
    """A part of a transcript."""

    #: Seconds from the beginning of the recording.
    start: float
    end: float
    text: str
    #: The tokens, with timestamps.
    tokens: list[int]
    #: The words, where ``word_timestamps`` asks for them.
    words: list[Word] = field(default_factory=list)


@dataclass(frozen=True)
class Transcript:
    """The text of a recording."""

    #: The code of the language, such as ``en``; ``None`` for a model of one language.
    language: Optional[str]
    #: The length of the recording in seconds.
    duration: float
    segments: list[Segment]

    @property
    def text(self) -> str:
        """The text of all segments."""
        return "".join(segment.text for segment in self.segments)
