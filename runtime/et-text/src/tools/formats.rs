//! The formats of tool calls, by texts of chat templates.

use super::call::{json_calls, named_calls};
use super::format::{Body, Format};
use super::notation::notation_calls;
use super::pythonic::{calls_on_lines, pythonic_calls};
use super::sections::{DEEPSEEK, KIMI, section_calls};
use super::tagged::{FUNCTION, INVOKE, KEYS, tagged_calls};

/// The format of a chat template; `None` for a template of another format.
pub fn format_of(template: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.is_of(template))
}

/// The rows share what most formats have.
const USUAL: Format = Format {
    marks: &[],
    without: &[],
    opens: &["<tool_call>"],
    is_whole: false,
    close: Some("</tool_call>"),
    inner: &[],
    read: |text, _| json_calls(text),
    body: Body::Tagged,
};

/// LFM2: calls as in Python between special tokens.
const LFM2: Format = Format {
    opens: &["<|tool_call_start|>"],
    close: Some("<|tool_call_end|>"),
    read: |text, _| pythonic_calls(text),
    body: Body::Pythonic,
    ..USUAL
};

/// The formats; of a template with the marks of several, the first counts.
static FORMATS: &[Format] = &[
    // Hermes, Qwen 2.5 and 3, SmolLM3, Granite 4: an object in tags for each call.
    Format { marks: &["<tool_call>"], without: &["<function=", "<arg_key>"], ..USUAL },
    // Qwen3-Coder, Qwen 3.5, Nemotron 3: a name and arguments in tags.
    Format {
        marks: &["<tool_call>", "<function=", "<parameter="],
        read: |text, tools| tagged_calls(text, &FUNCTION, tools),
        body: Body::Arguments(&FUNCTION),
        ..USUAL
    },
    // GLM 4.5 and later: a name, keys and values.
    Format {
        marks: &["<tool_call>", "<arg_key>"],
        inner: &["<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"],
        read: |text, tools| tagged_calls(text, &KEYS, tools),
        body: Body::Arguments(&KEYS),
        ..USUAL
    },
    // MiniMax M2.
    Format {
        marks: &["<minimax:tool_call>", "<invoke name="],
        opens: &["<minimax:tool_call>"],
        close: Some("</minimax:tool_call>"),
        read: |text, tools| tagged_calls(text, &INVOKE, tools),
        body: Body::Arguments(&INVOKE),
        ..USUAL
    },
    Format { marks: &["<|tool_call_start|>"], ..LFM2 },
    Format { marks: &["<|tool_list_start|>"], ..LFM2 },
    // Mistral from 2025 on: a name and an object for each call.
    Format {
        marks: &["[ARGS]"],
        opens: &["[TOOL_CALLS]"],
        close: None,
        inner: &["[ARGS]"],
        read: |text, _| named_calls(text),
        body: Body::Named,
        ..USUAL
    },
    // Mistral: a list of objects.
    Format {
        marks: &["[TOOL_CALLS]"],
        opens: &["[TOOL_CALLS]"],
        close: None,
        body: Body::List("name", "arguments"),
        ..USUAL
    },
    // DeepSeek V3 and R1.
    Format {
        marks: &["<｜tool▁calls▁begin｜>"],
        opens: &["<｜tool▁calls▁begin｜>"],
        close: Some("<｜tool▁calls▁end｜>"),
        inner: &["<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"],
        read: |text, _| section_calls(text, &DEEPSEEK),
        body: Body::Sections(&DEEPSEEK),
        ..USUAL
    },
    // Kimi K2.
    Format {
        marks: &["<|tool_calls_section_begin|>"],
        opens: &["<|tool_calls_section_begin|>"],
        close: Some("<|tool_calls_section_end|>"),
        inner: &["<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"],
        read: |text, _| section_calls(text, &KIMI),
        body: Body::Sections(&KIMI),
        ..USUAL
    },
    // Command R7B, Command A: a list of objects.
    Format {
        marks: &["<|START_ACTION|>"],
        opens: &["<|START_ACTION|>"],
        close: Some("<|END_ACTION|>"),
        body: Body::List("tool_name", "parameters"),
        ..USUAL
    },
    // OLMo 3: calls as in Python, each on a line.
    Format {
        marks: &["<function_calls>"],
        opens: &["<function_calls>"],
        close: Some("</function_calls>"),
        read: |text, _| calls_on_lines(text),
        body: Body::Lines,
        ..USUAL
    },
    // Gemma 4: values in a notation of its own.
    Format {
        marks: &["<|tool_call>call:"],
        opens: &["<|tool_call>"],
        close: Some("<tool_call|>"),
        inner: &["<|\"|>"],
        read: |text, _| notation_calls(text),
        body: Body::Notation,
        ..USUAL
    },
    // Granite 3: a list of objects.
    Format {
        marks: &["<|tool_call|>"],
        opens: &["<|tool_call|>"],
        close: None,
        body: Body::List("name", "arguments"),
        ..USUAL
    },
    // Llama 3.2 and 4: calls as in Python.
    Format {
        marks: &["[func_name1(params_name1=params_value1"],
        opens: &["["],
        is_whole: true,
        close: None,
        read: |text, _| pythonic_calls(text),
        body: Body::Pythonic,
        ..USUAL
    },
    // Llama 3: an object, or several.
    Format {
        marks: &["dictionary of argument name and its value"],
        opens: &["<|python_tag|>", "{"],
        is_whole: true,
        close: None,
        body: Body::Parameters,
        ..USUAL
    },
];
