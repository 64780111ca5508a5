//! Calls in sections: a name and a JSON object for each, between special tokens.

use et_llm::Call;
use serde_json::Value;

/// The texts around the parts of a call.
#[derive(Debug)]
pub struct Section {
    /// Before a call.
    pub begin: &'static str,
    /// Before the name.
    pub prefix: &'static str,
    /// Behind the name, before `between`.
    pub suffix: &'static str,
    /// Between the name and the arguments.
    pub between: &'static str,
    /// Behind the arguments.
    pub end: &'static str,
}

/// DeepSeek V3.1; V3 and R1 write the name behind `function` and the arguments in a fence.
pub static DEEPSEEK: Section = Section {
    begin: "<｜tool▁call▁begin｜>",
    prefix: "",
    suffix: "",
    between: "<｜tool▁sep｜>",
    end: "<｜tool▁call▁end｜>",
};

/// Kimi K2: the name is `functions.f:0`, with the number of the call.
pub static KIMI: Section = Section {
    begin: "<|tool_call_begin|>",
    prefix: "functions.",
    suffix: ":0",
    between: "<|tool_call_argument_begin|>",
    end: "<|tool_call_end|>",
};

/// Reads one or several calls.
pub fn section_calls(text: &str, section: &Section) -> Option<Vec<Call>> {
    let (mut calls, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        let (call, behind) = rest.strip_prefix(section.begin)?.split_once(section.end)?;
        let (name, arguments) = call.split_once(section.between)?;
        calls.push(read(name.trim(), arguments.trim(), section)?);
        rest = behind.trim_start();
    }
    (!calls.is_empty()).then_some(calls)
}

fn read(name: &str, arguments: &str, section: &Section) -> Option<Call> {
    let (name, arguments) = match arguments.starts_with('{') {
        true => (name, arguments),
        // The kind of the tool ahead of the name, and the arguments in a fence.
        false => fenced(arguments)?,
    };
    let name = name.strip_prefix(section.prefix).unwrap_or(name);
    let name = if section.suffix.is_empty() { name } else { name.rsplit_once(':').map_or(name, |(name, _)| name) };
    let arguments: Value = serde_json::from_str(arguments).ok().filter(Value::is_object)?;
    Some(Call { name: name.to_owned(), arguments: arguments.to_string() })
}

/// A name, and the JSON text in the fence behind.
fn fenced(text: &str) -> Option<(&str, &str)> {
    let (name, fence) = text.split_once("```json")?;
    Some((name.trim(), fence.trim().strip_suffix("```")?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, section: &Section) -> Option<Vec<String>> {
        Some(section_calls(text, section)?.into_iter().map(|call| call.name + &call.arguments).collect())
    }

    #[test]
    fn names_and_objects_are_read_from_sections() {
        let both = Some(vec![r#"f{"a":1}"#.to_owned(), "g{}".to_owned()]);
        let new = "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": 1}<｜tool▁call▁end｜><｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜>";
        assert_eq!(read(new, &DEEPSEEK), both);
        let old = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{\"a\": 1}\n```<｜tool▁call▁end｜>\n\
            <｜tool▁call▁begin｜>function<｜tool▁sep｜>g\n```json\n{}\n```<｜tool▁call▁end｜>";
        assert_eq!(read(old, &DEEPSEEK), both);
        let kimi = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\": 1}<|tool_call_end|>\
            <|tool_call_begin|>functions.g:1<|tool_call_argument_begin|>{}<|tool_call_end|>";
        assert_eq!(read(kimi, &KIMI), both);
        for text in [
            "",
            "f{}",
            "<｜tool▁call▁begin｜>f{}<｜tool▁call▁end｜>",
            "<｜tool▁call▁begin｜>f<｜tool▁sep｜>[]<｜tool▁call▁end｜>",
        ] {
            assert_eq!(read(text, &DEEPSEEK), None, "{text}");
        }
    }
}
