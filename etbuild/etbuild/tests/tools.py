"""Calls tools with OpenAI's client, and prints what came as one JSON object.

Usage: tools.py BASE_URL TOOLS
"""

import json
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="unused", max_retries=0, timeout=120)
tools = json.loads(sys.argv[2])
model = client.models.list().data[0].id
question = {"role": "user", "content": "Tell me a tale."}


def chat(messages, **more):
    return client.chat.completions.create(**{"model": model, "messages": messages, "temperature": 1, "seed": 7, **more})


def plain(call):
    """A call without the name, which differs from answer to answer."""
    return {"type": call.type, "has_id": call.id.isalnum(), "name": call.function.name, "arguments": call.function.arguments}


demanded = {"tools": tools, "tool_choice": "required", "parallel_tool_calls": False}
message = chat([question], **demanded).choices[0].message
streamed = []
for chunk in chat([question], stream=True, **demanded):
    for choice in chunk.choices:
        for call in choice.delta.tool_calls or []:
            assert call.index == len(streamed)
            streamed.append(plain(call))

# The text of an answer is forced, and read as calls.
call = r'Ho <tool_call>\n\{"name": "tell", "arguments": \{"words": "fox", "count": 3\}\}\n</tool_call>'
written = chat([question], tools=tools, extra_body={"guided_regex": call}).choices[0]
without = chat([question], tools=tools, tool_choice="none", max_tokens=20).choices[0].message.tool_calls
results = [{"role": "tool", "tool_call_id": call.id, "content": "a fox"} for call in message.tool_calls]
answer = chat([question, message, *results], tools=tools, max_tokens=20, temperature=0).choices[0].message.content
schema = {
    "type": "object",
    "properties": {"fox": {"type": "boolean"}, "hens": {"type": "array", "items": {"type": "integer", "maximum": 9, "minimum": 0}, "maxItems": 2}},
    "required": ["fox", "hens"],
    "additionalProperties": False,
}
formatted = {"type": "json_schema", "json_schema": {"name": "farm", "strict": True, "schema": schema}}

json.dump(
    {
        "whole": [plain(call) for call in message.tool_calls],
        "streamed": streamed,
        "written": [[call.function.name, json.loads(call.function.arguments)] for call in written.message.tool_calls],
        "text": written.message.content,
        "reason": written.finish_reason,
        "without": without,
        "answer": answer,
        "parsed": json.loads(chat([question], response_format=formatted).choices[0].message.content),
    },
    sys.stdout,
)
