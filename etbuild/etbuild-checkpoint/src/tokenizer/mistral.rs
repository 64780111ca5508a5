//! The chat template of Mistral's models, whose checkpoints with `tekken.json` alone have none.
//!
//! `mistral_common` writes conversations in code (`InstructTokenizerV3` to `InstructTokenizerV13`), by the version that the tokenizer states.

/// What differs between versions.
struct Form {
    /// A system prompt at its place in the conversation.
    system: &'static str,
    /// The choice of the user's message that the tools precede.
    tools: &'static str,
    /// The calls of an assistant's message.
    calls: &'static str,
    /// The result of a tool.
    result: &'static str,
}

/// The text of a message, with a mark for each sound and each picture, and places in the conversation.
const HEAD: &str = "\
{%- macro text(message) -%}
  {%- if message.content is string -%}{{ message.content }}
  {%- elif message.content -%}
    {%- for part in message.content -%}
      {%- if part.type == 'text' -%}{{ part.text }}
      {%- elif part.type == 'audio' -%}[BEGIN_AUDIO][AUDIO]
      {%- else -%}[IMG]
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro -%}
{%- macro arguments(call) -%}
  {{ call.function.arguments if call.function.arguments is string else call.function.arguments | tojson }}
{%- endmacro -%}
{%- macro available() -%}
  [AVAILABLE_TOOLS][
  {%- for tool in tools -%}
    {\"type\": \"function\", \"function\": {\"name\": {{ tool.function.name | tojson }}, \
    {{- ' ' }}\"description\": {{ (tool.function.description or '') | tojson }}, \
    {{- ' ' }}\"parameters\": {{ (tool.function.parameters or {}) | tojson }}{{ '}}' }}{{ ', ' if not loop.last }}
  {%- endfor -%} ][/AVAILABLE_TOOLS]
{%- endmacro -%}
{%- set place = namespace(first=-1, last=-1, tools=-1, system='') -%}
{%- for message in messages -%}
  {%- if message.role == 'user' and (loop.first or loop.previtem.role != 'user') -%}
    {%- if place.first < 0 -%}{%- set place.first = loop.index0 -%}{%- endif -%}
    {%- set place.last = loop.index0 -%}
  {%- endif -%}
{%- endfor -%}";

const BEGIN: &str = "{{ bos_token }}
{%- for message in messages -%}
  {%- if message.role == 'system' -%}";

/// Users' messages in a row are one.
const USER: &str = "\
  {%- elif message.role == 'user' -%}
    {%- if not loop.first and loop.previtem.role == 'user' -%}{{ '\\n\\n' }}
    {%- else -%}
      {%- if tools and loop.index0 == place.tools -%}{{ available() }}{%- endif -%}
      [INST]
    {%- endif -%}
    {%- if loop.index0 == place.last -%}{{ place.system }}{%- endif -%}
    {{ text(message) }}
    {%- if loop.last or loop.nextitem.role != 'user' -%}[/INST]{%- endif -%}
  {%- elif message.role == 'assistant' -%}
    {{ text(message).rstrip(' ') if loop.last or loop.nextitem.role != 'assistant' else text(message) }}
    {%- if message.tool_calls -%}";

const TOOL: &str = "{%- endif -%}
    {{ eos_token if loop.last or loop.nextitem.role != 'assistant' else '\\n\\n' }}
  {%- elif message.role == 'tool' -%}";

const END: &str = "
  {%- endif -%}
{%- endfor -%}";

const IN_A_MESSAGE: &str = "[SYSTEM_PROMPT]{{ text(message) }}[/SYSTEM_PROMPT]";

const BEFORE_LAST: &str = "{%- set place.tools = place.last -%}";

const LIST_OF_CALLS: &str = "[TOOL_CALLS][
  {%- for call in message.tool_calls -%}
    {\"name\": {{ call.function.name | tojson }}, \"arguments\": {{ arguments(call) }}
    {%- if call.id -%}{{ ', ' }}\"id\": {{ call.id | tojson }}{%- endif -%} }{{ ', ' if not loop.last }}
  {%- endfor -%} ]";

const RESULT_WITH_ID: &str = "[TOOL_RESULTS]{{ message.tool_call_id }}[TOOL_CONTENT]{{ text(message) }}[/TOOL_RESULTS]";

/// The forms, each with its first version.
const FORMS: [(u32, Form); 4] = [
    (
        3,
        Form {
            system: "",
            tools: "{%- set place.tools = place.last -%}
                {%- for message in messages if message.role == 'system' -%}
                  {%- set place.system = place.system ~ text(message) ~ '\\n\\n' -%}
                {%- endfor -%}",
            calls: LIST_OF_CALLS,
            result: "[TOOL_RESULTS]{\"content\": {{ text(message) if text(message)[:1] in ['{', '['] else text(message) | tojson }}, \"call_id\": {{ message.tool_call_id | tojson }}}[/TOOL_RESULTS]",
        },
    ),
    (7, Form { system: IN_A_MESSAGE, tools: BEFORE_LAST, calls: LIST_OF_CALLS, result: RESULT_WITH_ID }),
    (
        11,
        Form {
            system: IN_A_MESSAGE,
            tools: BEFORE_LAST,
            calls: "{%- for call in message.tool_calls -%}[TOOL_CALLS]{{ call.function.name }}
                {%- if call.id -%}[CALL_ID]{{ call.id }}{%- endif -%} [ARGS]{{ arguments(call) }}{%- endfor -%}",
            result: RESULT_WITH_ID,
        },
    ),
    (
        13,
        Form {
            system: IN_A_MESSAGE,
            tools: "{%- set place.tools = place.first -%}",
            calls: "{%- for call in message.tool_calls -%}[TOOL_CALLS]{{ call.function.name }}[ARGS]{{ arguments(call) }}{%- endfor -%}",
            result: "[TOOL_RESULTS]{{ text(message) }}[/TOOL_RESULTS]",
        },
    ),
];

/// The chat template of a version such as `v7`; `None` for a version whose conversations are not known here.
pub fn template(version: &str) -> Option<String> {
    let version: u32 = version.strip_prefix('v')?.parse().ok()?;
    // From version 15 on, a conversation has settings, whose values the model states.
    let (_, form) = FORMS.iter().rev().find(|(first, _)| *first <= version).filter(|_| version < 15)?;
    Some([HEAD, form.tools, BEGIN, form.system, USER, form.calls, TOOL, form.result, END].concat())
}
