//! The formats of tool calls, by texts of chat templates.

use super::call::{json_calls, named_calls};
use super::format::{Body, Format};
use super::pythonic::pythonic_calls;

/// The format of a chat template; `None` for a template of another format.
pub fn format_of(template: &str) -> Option<&'static Format> {
    let is_it = |(format, without): &&(Format, &[&str])| {
        template.contains(format.mark) && !without.iter().any(|other| template.contains(other))
    };
    FORMATS.iter().find(is_it).map(|(format, _)| format)
}

/// The formats, each with texts of templates that have the mark for another format.
static FORMATS: &[(Format, &[&str])] = &[
    // Hermes, Qwen 2.5 and 3, SmolLM3: an object in tags for each call.
    (
        Format {
            mark: "<tool_call>",
            opens: &["<tool_call>"],
            is_whole: false,
            close: Some("</tool_call>"),
            read: json_calls,
            body: Body::Tagged,
        },
        &["<function=", "<arg_key>"],
    ),
    // Mistral from 2025 on: a name and an object for each call.
    (
        Format {
            mark: "[ARGS]",
            opens: &["[TOOL_CALLS]"],
            is_whole: false,
            close: None,
            read: named_calls,
            body: Body::Named,
        },
        &[],
    ),
    // Mistral: a list of objects.
    (
        Format {
            mark: "[TOOL_CALLS]",
            opens: &["[TOOL_CALLS]"],
            is_whole: false,
            close: None,
            read: json_calls,
            body: Body::List,
        },
        &[],
    ),
    // Llama 3.2 and 4: calls as in Python.
    (
        Format {
            mark: "[func_name1(params_name1=params_value1",
            opens: &["["],
            is_whole: true,
            close: None,
            read: pythonic_calls,
            body: Body::Pythonic,
        },
        &[],
    ),
    // Llama 3: an object, or several.
    (
        Format {
            mark: "dictionary of argument name and its value",
            opens: &["<|python_tag|>", "{"],
            is_whole: true,
            close: None,
            read: json_calls,
            body: Body::Parameters,
        },
        &[],
    ),
];
