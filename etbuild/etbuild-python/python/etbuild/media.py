"""Pictures and recordings for language models: files, bytes, arrays and ``PIL.Image``, and the parts of messages."""

from __future__ import annotations

import array
import base64
import json
import os
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence, Union

__all__ = ["Part", "message_parts", "picture", "prompt_parts", "sound"]


@dataclass(frozen=True)
class Part:
    """A part of a prompt or of a message, as the extension module reads it."""

    kind: str
    text: str = ""
    data: bytes = b""
    width: int = 0
    height: int = 0
    rate: int = 0


def picture(value: Any) -> Part:
    """A picture: a path, a ``data:`` URL, the bytes of a PNG or JPEG file, a ``PIL.Image``, or an array of ``uint8`` with the shape
    ``[height, width]``, ``[height, width, 3]`` (red, green, blue) or ``[height, width, 4]`` (and opacity). Transparent pixels lie on white.
    """
    if _is_file(value):
        return Part("picture", data=_bytes(value))
    if hasattr(value, "convert") and hasattr(value, "tobytes"):
        pixels = _opaque(value)
        return Part("pixels", data=pixels.tobytes(), width=pixels.width, height=pixels.height)
    view = _view(value, "a picture is a path, the bytes of a file, a PIL.Image or an array")
    shape = view.shape or ()
    if view.format not in ("B", "<B") or len(shape) not in (2, 3) or shape[2:] not in ((), (3,), (4,)):
        raise ValueError(f"an array of a picture is uint8 [height, width, 3], not {view.format}{list(shape)}")
    data, channels = view.tobytes(), (shape[2:] or (1,))[0]
    if channels != 3:
        planes = [data[min(channel, channels - 1) :: channels] for channel in range(3)]
        opacity = data[3::4] if channels == 4 else b""
        pixels = bytearray(3 * len(planes[0]))
        for channel, plane in enumerate(planes):
            pixels[channel::3] = _on_white(plane, opacity)
        data = bytes(pixels)
    return Part("pixels", data=data, width=shape[1], height=shape[0])


def _opaque(image: Any) -> Any:
    """A ``PIL.Image`` in red, green and blue, whose transparent pixels lie on white."""
    if image.mode not in ("RGBA", "LA", "PA", "RGBa", "La") and "transparency" not in image.info:
        return image.convert("RGB")
    from PIL import Image

    colors = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", colors.size, (255, 255, 255, 255)), colors).convert("RGB")


def _on_white(plane: bytes, opacity: bytes) -> bytes:
    """A channel of pixels of this opacity on white; all of an empty opacity are opaque."""
    if not opacity or opacity.count(255) == len(opacity):
        return plane
    return bytes((value * share + 255 * (255 - share) + 127) // 255 for value, share in zip(plane, opacity))


def sound(value: Any) -> Part:
    """A recording: a path, a ``data:`` URL, the bytes of a WAV file, a pair of samples and their rate in hertz, or a dictionary with
    ``array`` and ``sampling_rate``. Samples are one channel: ``float32`` or ``float64`` from -1 to 1, or ``int16``.
    """
    if _is_file(value):
        return Part("sound", data=_bytes(value))
    if isinstance(value, Mapping):
        value = (value["array"], value["sampling_rate"])
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError("a recording is a path, the bytes of a WAV file, or a pair of samples and their rate")
    samples, rate = value
    view = _view(samples, "samples are an array")
    if len(view.shape or ()) != 1:
        raise ValueError(f"samples are of one channel, and have the shape [count], not {list(view.shape or ())}")
    return Part("samples", data=_floats(view), rate=int(rate))


def prompt_parts(prompt: str, mark: Optional[str], pictures: Sequence[Any], sounds: Sequence[Any]) -> list[Part]:
    """The parts of a prompt: pictures and sounds at the marks of the text, or ahead of a text without marks."""
    media = [picture(one) for one in pictures] + [sound(one) for one in sounds]
    if not media or mark is None:
        return [*media, Part("text", prompt)]
    texts = prompt.split(mark)
    if len(texts) == 1:
        return [*media, Part("text", prompt)]
    if len(texts) - 1 != len(media):
        raise ValueError(f"the text has `{mark}` {len(texts) - 1} times, for {len(media)} pictures or sounds")
    parts = [Part("text", texts[0])]
    for one, text in zip(media, texts[1:]):
        parts += [one, Part("text", text)]
    return parts


def message_parts(
    messages: Union[str, Sequence[Mapping[str, Any]]], pictures: Sequence[Any], sounds: Sequence[Any]
) -> list[tuple[str, list[Part], list[tuple[str, str, str]]]]:
    """Roles, parts and calls of messages. ``pictures`` and ``sounds`` stand for the parts without one, in order; ahead of the text of a single
    message that is a text.
    """
    if isinstance(messages, str):
        return [("user", prompt_parts(messages, None, pictures, sounds), [])]
    left = {"picture": iter(pictures), "sound": iter(sounds)}
    said = [(message["role"], list(_said(message, left)), _calls(message)) for message in messages]
    for kind, rest in left.items():
        if next(rest, None) is not None:
            raise ValueError(f"there are more of `{_ARGUMENTS[kind]}` than parts of messages without a {kind}")
    return said


#: The argument with the pictures and sounds that parts of messages stand for.
_ARGUMENTS = {"picture": "images", "sound": "audio"}
#: The keys of a part, in the parts of OpenAI's clients and of the chat templates of ``transformers``.
_PICTURES = ("image", "image_url", "url", "path", "base64")
_SOUNDS = ("audio", "input_audio", "audio_url", "url", "path", "base64")


def _calls(message: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The calls that a message makes, or the call that a message of a tool answers: id, name and arguments of each."""
    if message["role"] == "tool" and "tool_call_id" in message:
        return [(message["tool_call_id"], message.get("name") or "", "{}")]
    return [_call(call.get("id") or "", call["function"]) for call in message.get("tool_calls") or ()]


def _call(name: str, function: Mapping[str, Any]) -> tuple[str, str, str]:
    arguments = function["arguments"]
    return name, function["name"], arguments if isinstance(arguments, str) else json.dumps(arguments)


def _said(message: Mapping[str, Any], left: Mapping[str, Iterator[Any]]) -> Iterable[Part]:
    """The parts of a message; a message of calls may have none."""
    if message.get("tool_calls") and message.get("content") is None:
        return []
    return _content(message["content"], left)


def _content(content: Any, left: Mapping[str, Iterator[Any]]) -> Iterable[Part]:
    if isinstance(content, str):
        return [Part("text", content)]
    return [_part(part, left) for part in content]


def _part(part: Any, left: Mapping[str, Iterator[Any]]) -> Part:
    if isinstance(part, str):
        return Part("text", part)
    kind = part.get("type")
    if kind == "text":
        return Part("text", part["text"])
    if kind in ("image", "image_url", "input_image"):
        return picture(_value(part, _PICTURES, "picture", left))
    if kind in ("audio", "audio_url", "input_audio"):
        return sound(_value(part, _SOUNDS, "sound", left))
    raise ValueError(f"there are no parts of type {kind!r}: a part is text, image, image_url, audio or input_audio")


def _value(part: Mapping[str, Any], keys: Sequence[str], kind: str, left: Mapping[str, Iterator[Any]]) -> Any:
    """The picture or the sound of a part; the next one of the arguments for a part without one."""
    key = next((key for key in keys if part.get(key) is not None), None)
    if key is None:
        value = next(left[kind], None)
        if value is None:
            raise ValueError(f"a part has no {kind}: give one in the part, or in `{_ARGUMENTS[kind]}`")
        return value
    value = part[key]
    if key == "base64":
        return base64.b64decode(value)
    if key in ("image_url", "audio_url") and isinstance(value, Mapping):
        return value["url"]
    if key == "input_audio":
        if value.get("format", "wav") != "wav":
            raise ValueError(f"a sound is a WAV file, not {value['format']}")
        return base64.b64decode(value["data"])
    return value


def _is_file(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike, bytes, bytearray))


def _bytes(value: Any) -> bytes:
    """The bytes of a file."""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, str) and value.startswith("data:"):
        kind, _, data = value.partition(",")
        if not kind.endswith(";base64"):
            raise ValueError("the data of a `data:` URL are base64")
        return base64.b64decode(data)
    if isinstance(value, str) and value.startswith(("http://", "https://")):
        raise ValueError("no other URLs than `data:` URLs are loaded: give the bytes of the file")
    with open(str(value).removeprefix("file://"), "rb") as file:
        return file.read()


def _view(value: Any, wanted: str) -> memoryview:
    """The elements of an array; of a PyTorch tensor by way of NumPy."""
    if not hasattr(value, "__array_interface__") and hasattr(value, "numpy"):
        value = value.numpy()
    try:
        return memoryview(value)
    except TypeError:
        raise TypeError(f"{wanted}, not {type(value).__name__}") from None


def _floats(view: memoryview) -> bytes:
    """Samples as ``float32``."""
    kind = (view.format or "").lstrip("<=@")
    if kind == "f":
        return view.tobytes()
    if kind not in ("d", "h"):
        raise ValueError(f"samples are float32, float64 or int16, not {view.format}")
    return array.array("f", view if kind == "d" else [sample / 32768 for sample in view]).tobytes()
