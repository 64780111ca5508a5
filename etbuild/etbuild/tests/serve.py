"""Asks a server with OpenAI's client, and prints what came as one JSON object.

Usage: serve.py BASE_URL PROMPT TOKENS CLIENTS
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import openai

base_url, prompt, tokens, clients = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
client = openai.OpenAI(base_url=base_url, api_key="unused", max_retries=0, timeout=120)
model = client.models.list().data[0].id
greedy = {"model": model, "temperature": 0}


def chat(words, **more):
    return client.chat.completions.create(messages=[{"role": "user", "content": words}], **{**greedy, **more})


def refused(call):
    """The status and the body of the error that a call ends in."""
    try:
        call()
    except openai.APIStatusError as error:
        return {"type": type(error).__name__, "status": error.status_code, "body": error.body}
    return None


def streamed(words, **more):
    """The text, reason and usage of a stream, and the number of pieces."""
    text, reason, usage, pieces = "", None, None, 0
    for chunk in chat(words, stream=True, stream_options={"include_usage": True}, **more):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            pieces += 1
            reason = choice.finish_reason or reason
    return {"text": text, "reason": reason, "usage": usage.model_dump(), "pieces": pieces}


whole = chat(prompt, max_tokens=tokens)
likely = chat(prompt, max_completion_tokens=4, logprobs=True, top_logprobs=3).choices[0].logprobs.content
plain = client.completions.create(prompt="Once", max_tokens=20, logprobs=2, **greedy)
plain_stream = client.completions.create(prompt="Once", max_tokens=20, stream=True, **greedy)
words = whole.choices[0].message.content.split()
stop = " " + words[5]
sampled = {"temperature": 1, "max_tokens": 30}


def streamed_answers(words, count, **more):
    """The texts of a stream with several answers."""
    texts = [""] * count
    for chunk in chat(words, stream=True, n=count, **more):
        for choice in chunk.choices:
            texts[choice.index] += choice.delta.content or ""
    return texts

PROMPTS = ["Once", "Twice upon a time", "Once"]


def completions(texts, **more):
    """The texts of the answers to prompts, with the usage."""
    made = client.completions.create(prompt=texts, max_tokens=20, **{**greedy, **more})
    return [choice.text for choice in sorted(made.choices, key=lambda choice: choice.index)], made.usage


def streamed_completions(texts, **more):
    """The same of a stream."""
    found = [""] * len(texts)
    for chunk in client.completions.create(prompt=texts, max_tokens=20, stream=True, **{**greedy, **more}):
        for choice in chunk.choices:
            found[choice.index] += choice.text
    return found


with ThreadPoolExecutor(clients) as pool:
    several = list(pool.map(lambda _: streamed(prompt, max_tokens=tokens), range(clients)))

json.dump(
    {
        "model": model,
        "retrieved": client.models.retrieve(model).id,
        "whole": whole.model_dump(),
        "stream": streamed(prompt, max_tokens=tokens),
        "several": several,
        "likely": [token.model_dump() for token in likely],
        "plain": plain.model_dump(),
        "plain_stream": "".join(choice.text for chunk in plain_stream for choice in chunk.choices),
        "stop": stop,
        "stopped": chat(prompt, max_tokens=tokens, stop=[stop, "no such text"]).model_dump(),
        "stopped_stream": streamed(prompt, max_tokens=tokens, stop=stop),
        "seeds": [chat(prompt, seed=seed, **sampled).choices[0].message.content for seed in (1, 1, 2)],
        "answers": [choice.message.content for choice in chat(prompt, n=3, seed=4, **sampled).choices],
        "answer": chat(prompt, seed=4, **sampled).choices[0].message.content,
        "answers_stream": streamed_answers(prompt, 3, seed=4, **sampled),
        "echo": client.completions.create(prompt="Once", max_tokens=20, echo=True, **greedy).choices[0].text,
        "prompts": completions(PROMPTS)[0],
        "prompts_alone": [completions(text)[0][0] for text in PROMPTS],
        "prompts_stream": streamed_completions(PROMPTS),
        "prompts_usage": [completions(texts, n=2, temperature=1, seed=3)[1].prompt_tokens for texts in (PROMPTS[:2], *PROMPTS[:2])],
        "prompts_sampled": completions(PROMPTS[:2], n=2, temperature=1, seed=3)[0],
        "prompts_sampled_alone": sum((completions(text, n=2, temperature=1, seed=3)[0] for text in PROMPTS[:2]), []),
        "biased": chat(prompt, max_tokens=60, logit_bias={"19": -100}).choices[0].message.content,
        "own_options": chat(prompt, max_tokens=9, extra_body={"top_k": 3, "min_p": 0.1}).choices[0].finish_reason,
        "refused": [
            refused(lambda: chat(prompt, model="other")),
            refused(lambda: chat(prompt, extra_body={"best_of": 2})),
            refused(lambda: chat(prompt, temperature=-1)),
            refused(lambda: chat("word " * 2000)),
            refused(lambda: client.embeddings.create(model=model, input="a")),
        ],
    },
    sys.stdout,
)
