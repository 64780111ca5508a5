"""Asks a server of an encoder with OpenAI's client, and prints what came as one JSON object.

Usage: embeddings.py BASE_URL TEXT TEXT
"""

import json
import sys

import openai

base_url, *texts = sys.argv[1:]
client = openai.OpenAI(base_url=base_url, api_key="unused", max_retries=0, timeout=120)
model = client.models.list().data[0].id


def embedded(texts, **more):
    return client.embeddings.create(model=model, input=texts, **more).model_dump()


def refused(call):
    """The status and the body of the error that a call ends in."""
    try:
        call()
    except openai.APIStatusError as error:
        return {"status": error.status_code, "message": error.body["message"]}
    return None


long = "the cat " * 40
print(json.dumps({
    # The client asks for base64 by itself.
    "several": embedded(texts),
    "float": embedded(texts[0], encoding_format="float"),
    "tokens": embedded([[1, 9, 30, 2], [1, 2]]),
    "cut": embedded(long, extra_body={"truncate_prompt_tokens": -1}),
    "refused": [refused(call) for call in (
        lambda: embedded(long),
        lambda: embedded(texts[0], dimensions=8),
        lambda: embedded([[9999]]),
        lambda: embedded([]),
        lambda: client.chat.completions.create(model=model, messages=[{"role": "user", "content": "a"}]),
        lambda: client.post("/rerank", body={"query": "a", "documents": ["b"]}, cast_to=object),
    )],
}))
