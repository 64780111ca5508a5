//! Chat templates: Hugging Face's dialect of Jinja, including methods of Python's types.

use std::collections::BTreeMap;
use std::io::{self, Write};

use et_llm::{Conversation, Error, Message, Part};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{Environment, ErrorKind, Value, context};
use time::OffsetDateTime;

use crate::json::Style;

/// A template with its variables.
pub struct Template {
    environment: Environment<'static>,
    texts: BTreeMap<String, String>,
    source: String,
    /// Whether the content of a message is a list of parts, and not a text.
    gets_parts: bool,
}

const NAME: &str = "chat";

/// The most steps of filling in a template. A conversation of a thousand messages takes fewer than a million; a template that loops for
/// ever, or nearly so, ends with an error.
const FUEL: u64 = 20_000_000;

/// The most bytes of a conversation as one text: no context holds the tokens of a longer text.
const LONGEST: usize = 16 << 20;

/// A text that refuses bytes beyond [`LONGEST`].
#[derive(Default)]
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > LONGEST - self.0.len() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Template {
    /// Parses a JSON object with the `template`; the other entries are variables such as `bos_token`.
    pub fn read(json: &[u8]) -> Result<Self, Error> {
        let mut texts: BTreeMap<String, String> = serde_json::from_slice(json).map_err(|error| malformed(&error))?;
        let template = texts.remove("template").ok_or_else(|| malformed(&"there is none"))?;
        let gets_parts = texts.remove("parts").is_some();
        let mut environment = environment().map_err(|error| malformed(&error))?;
        environment.add_template_owned(NAME, without_generation_tags(&template)).map_err(|error| malformed(&error))?;
        Ok(Self { environment, texts, source: template, gets_parts })
    }

    /// The template as the checkpoint has it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Renders the conversation, up to the start of the answer. Templates take the arguments of calls as objects, or else as their texts.
    pub fn fill_in(&self, conversation: &Conversation<'_>) -> Result<String, Error> {
        let filled = self.filled_in(conversation, Arguments::Objects);
        let has_calls = conversation.messages.iter().any(|message| message.more.is_some());
        match filled {
            Err(error) if has_calls => self.filled_in(conversation, Arguments::Texts).map_err(|_| error),
            filled => filled,
        }
    }

    fn filled_in(&self, conversation: &Conversation<'_>, arguments: Arguments) -> Result<String, Error> {
        let refused = |error: minijinja::Error| match error.kind() {
            ErrorKind::WriteFailure => {
                Error::Text(format!("the chat template makes a text of more than {LONGEST} bytes"))
            }
            _ => Error::Text(format!("the chat template: {error}")),
        };
        let messages = conversation.messages.iter().map(|message| self.message(message, arguments));
        let messages = messages.collect::<Result<Vec<Value>, Error>>()?;
        let tools = conversation.tools.map_or(Ok(Value::from(())), json)?;
        let own = conversation.variables.map_or(Ok(Value::from(())), json)?;
        let texts = Value::from_pairs(self.texts.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        let none = Value::from(());
        let variables = context! {
            messages, add_generation_prompt => true, tools, documents => none, ..context! { ..own, ..texts }
        };
        let mut text = Bounded::default();
        let template = self.environment.get_template(NAME).map_err(refused)?;
        template.render_captured_to(variables, &mut text).map_err(refused)?;
        String::from_utf8(text.0).map_err(|error| malformed(&error))
    }
}

/// How a template gets the arguments of calls.
#[derive(Clone, Copy)]
enum Arguments {
    Objects,
    Texts,
}

/// The further keys of a message with the arguments of calls as texts.
fn with_texts(more: &str) -> Result<String, Error> {
    let mut keys: serde_json::Value = serde_json::from_str(more).map_err(|error| malformed(&error))?;
    let calls = keys.get_mut("tool_calls").and_then(|calls| calls.as_array_mut()).into_iter().flatten();
    for arguments in calls.filter_map(|call| call.pointer_mut("/function/arguments")) {
        if arguments.is_object() {
            *arguments = arguments.to_string().into();
        }
    }
    Ok(keys.to_string())
}

fn malformed(error: &dyn std::fmt::Display) -> Error {
    Error::Text(format!("the chat template: {error}"))
}

impl Template {
    /// The variables of a message.
    fn message(&self, message: &Message, arguments: Arguments) -> Result<Value, Error> {
        let content = match message.parts.as_slice() {
            [] if self.gets_parts => [text_part(&message.content)].into_iter().collect(),
            [] => Value::from(message.content.as_str()),
            parts => parts.iter().map(part).collect(),
        };
        let usual = context! { role => message.role, content };
        let more = match (&message.more, arguments) {
            (None, _) => None,
            (Some(more), Arguments::Objects) => Some(json(more)?),
            (Some(more), Arguments::Texts) => Some(json(&with_texts(more)?)?),
        };
        Ok(more.map_or(usual.clone(), |more| context! { ..more, ..usual }))
    }
}

fn text_part(text: &str) -> Value {
    context! { type => "text", text }
}

/// The variables of a part of a message.
fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => text_part(text),
        Part::Picture(picture) => context! { type => if picture.is_sound { "audio" } else { "image" } },
    }
}

/// A value of Jinja from JSON, with the keys in their order.
fn json(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(|error| malformed(&error))
}

/// The template environment of `transformers`.
fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<Value, minijinja::Error> {
        Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", now);
    environment.add_filter("indent", indent);
    environment.add_filter("tojson", |value: Value, options: Kwargs| -> Result<Value, minijinja::Error> {
        Ok(Value::from_safe_string(Style::read(&options)?.write(&value)?))
    });
    Ok(environment)
}

/// The blanks where a template names no number, and the most.
const INDENT: usize = 4;
const MOST_INDENT: usize = 1000;

/// The lines of a text, all but the first behind blanks or a text, as Python's Jinja makes them: a line break at the end stays.
fn indent(
    text: &str,
    width: Option<Value>,
    first: Option<bool>,
    blank: Option<bool>,
    options: Kwargs,
) -> Result<String, minijinja::Error> {
    let width = options.get::<Option<Value>>("width")?.or(width);
    let first = options.get::<Option<bool>>("first")?.or(first).unwrap_or(false);
    let blank = options.get::<Option<bool>>("blank")?.or(blank).unwrap_or(false);
    options.assert_all_used()?;
    let blanks = match width {
        None => " ".repeat(INDENT),
        Some(width) if width.as_str().is_some() => width.to_string(),
        Some(width) => " ".repeat(usize::try_from(width)?.min(MOST_INDENT)),
    };
    let line = |(index, line): (usize, &str)| {
        let is_indented = if index == 0 { first } else { blank || !line.is_empty() };
        if is_indented { format!("{blanks}{line}") } else { line.to_owned() }
    };
    Ok(text.split('\n').enumerate().map(line).collect::<Vec<_>>().join("\n"))
}

/// The time in UTC by a format of C's `strftime`.
fn now(format: &str) -> Result<String, minijinja::Error> {
    let failed = |error: &dyn std::fmt::Display| minijinja::Error::new(ErrorKind::InvalidOperation, error.to_string());
    let format = time::format_description::parse_strftime_borrowed(format).map_err(|error| failed(&error))?;
    OffsetDateTime::now_utc().format(&format).map_err(|error| failed(&error))
}

/// The template without the tags `{% generation %}` and `{% endgeneration %}`, which mark a model's answers for
/// training. The tags become blocks around the same text, with the same white space control.
fn without_generation_tags(template: &str) -> String {
    let (mut rest, mut result) = (template, String::with_capacity(template.len()));
    while let Some((before, tag)) = rest.split_once("{%") {
        result.push_str(before);
        result.push_str("{%");
        let (inside, after) = tag.split_once("%}").unwrap_or((tag, ""));
        let replaced = match inside.trim_matches(['-', '+']).trim() {
            "generation" => inside.replace("generation", "if true"),
            "endgeneration" => inside.replace("endgeneration", "endif"),
            _ => {
                rest = tag;
                continue;
            }
        };
        result.push_str(&replaced);
        result.push_str("%}");
        rest = after;
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use et_llm::Picture;

    use super::*;

    fn filled_in(template: &str, messages: &[Message]) -> Result<String, Error> {
        let json = serde_json::json!({ "template": template, "bos_token": "<s>" });
        Template::read(json.to_string().as_bytes())?.fill_in(&Conversation { messages, ..Conversation::default() })
    }

    #[test]
    fn tools_calls_and_variables_come_in_their_order() {
        let template = "{% if brief %}brief {% endif %}{{ tools | tojson }}{% for message in messages %}[{{ message.role }}:\
            {{ message.content is none }}:{{ message.tool_calls | tojson if message.tool_calls }}]{% endfor %}";
        let json = serde_json::json!({ "template": template });
        let call = Message {
            more: Some(r#"{"content": null, "tool_calls": [{"b": 1, "a": 2}]}"#.to_owned()),
            ..Message::new("assistant", "")
        };
        let conversation = Conversation {
            messages: &[Message::new("user", "x"), call],
            tools: Some(r#"[{"z": 1, "y": {"b": 2, "a": 3}}]"#),
            variables: Some(r#"{"brief": true, "messages": 7}"#),
        };
        let text = Template::read(json.to_string().as_bytes()).unwrap().fill_in(&conversation).unwrap();
        let expected = r#"brief [{"z": 1, "y": {"b": 2, "a": 3}}][user:False:][assistant:True:[{"b": 1, "a": 2}]]"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn arguments_are_texts_for_templates_that_join_them_to_texts() {
        let call = |arguments| et_llm::NamedCall { id: "1", name: "f", arguments };
        let message = Message::new("assistant", "").calling(&[call(r#"{"b": 1, "a": "x"}"#)]);
        let joined = "{{ 'f' + messages[0].tool_calls[0].function.arguments }}";
        assert_eq!(filled_in(joined, std::slice::from_ref(&message)).unwrap(), r#"f{"b":1,"a":"x"}"#);
        let named = "{{ messages[0].tool_calls[0].function.arguments.b }}";
        assert_eq!(filled_in(named, &[message]).unwrap(), "1");
        assert!(filled_in("{{ 'f' + 1 }}", &[Message::new("assistant", "").calling(&[call("{}")])]).is_err());
    }

    #[test]
    fn a_template_names_messages_tokens_and_methods_of_texts() {
        let template = "{{ bos_token }}{% for message in messages %}[{{ message['role'].upper() }}] \
            {{ message.content.strip() }}{% if loop.last and add_generation_prompt %} [ASSISTANT]{% endif %}{% endfor %}";
        let messages = [Message::new("user", " Hello ")];
        assert_eq!(filled_in(template, &messages).unwrap(), "<s>[USER] Hello [ASSISTANT]");
    }

    #[test]
    fn parts_are_a_list_of_texts_and_images() {
        let template =
            "{% for part in messages[0].content %}{{ '<image>' if part.type == 'image' else part.text }}{% endfor %}";
        let picture = Picture { rows: 0, columns: 0, is_sound: false, tiles: Vec::new() };
        let parts = vec![Part::Picture(Arc::new(picture)), Part::Text("a".to_owned())];
        assert_eq!(filled_in(template, &[Message::of_parts("user", parts)]).unwrap(), "<image>a");
        let json = serde_json::json!({ "template": template, "parts": "true" });
        let messages = &[Message::new("user", "b")];
        let conversation = Conversation { messages, ..Conversation::default() };
        assert_eq!(Template::read(json.to_string().as_bytes()).unwrap().fill_in(&conversation).unwrap(), "b");
    }

    #[test]
    fn blocks_take_their_lines_along_as_in_python() {
        let template = "{%- for message in messages %}\n    {% if true %}\n{{ message.content }}\n    {% endif %}\n{%- endfor %}\n";
        let messages = [Message::new("user", "a"), Message::new("user", "b")];
        assert_eq!(filled_in(template, &messages).unwrap(), "a\nb\n");
    }

    #[test]
    fn an_exception_of_a_template_is_an_error_with_its_message() {
        let error = filled_in("{{ raise_exception('no system message') }}", &[]).unwrap_err().to_string();
        assert!(error.contains("no system message"), "{error}");
        assert!(filled_in("{% for %}", &[]).is_err());
    }

    #[test]
    fn a_template_that_makes_an_endless_text_is_an_error() {
        let template = "{% for turn in range(1000) %}{{ messages[0].content }}{% endfor %}";
        let fits = [Message::new("user", "a".repeat(LONGEST / 1000))];
        assert_eq!(filled_in(template, &fits).unwrap().len(), LONGEST / 1000 * 1000);
        let error = filled_in(template, &[Message::new("user", "a".repeat(LONGEST / 1000 + 100))]).unwrap_err();
        assert!(error.to_string().contains("more than 16777216 bytes"), "{error}");
    }

    #[test]
    fn json_is_written_as_python_does() {
        assert_eq!(filled_in("{{ {'a': [1, 'x']} | tojson }}", &[]).unwrap(), r#"{"a": [1, "x"]}"#);
    }

    #[test]
    fn lines_are_indented_as_in_python() {
        let indented = |filter: &str| filled_in(&format!("{{{{ 'a\\n\\nb\\n' | {filter} }}}}"), &[]).unwrap();
        assert_eq!(indented("indent"), "a\n\n    b\n");
        assert_eq!(indented("indent(2, first=True)"), "  a\n\n  b\n");
        assert_eq!(indented("indent(width=1, blank=true)"), "a\n \n b\n ");
        assert_eq!(indented("indent('> ')"), "a\n\n> b\n");
        assert_eq!(indented("indent(9223372036854775807)").len(), "a\n\nb\n".len() + MOST_INDENT);
        assert!(filled_in("{{ 'a' | indent(depth=1) }}", &[]).is_err());
    }

    #[test]
    fn json_keeps_the_order_of_keys_and_takes_an_indentation() {
        let template = r#"{{ {"b": [1, {}], "a": none} | tojson(indent=2) }}"#;
        assert_eq!(filled_in(template, &[]).unwrap(), "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": null\n}");
        let messages = [Message::new("user", "ä<\n")];
        assert_eq!(
            filled_in("{{ messages | tojson }}", &messages).unwrap(),
            r#"[{"role": "user", "content": "ä<\n"}]"#
        );
    }

    #[test]
    fn tools_and_documents_default_to_none() {
        let template = "{{ tools is none and documents is none }}{% if tools %}tools{% endif %}";
        assert_eq!(filled_in(template, &[]).unwrap(), "True");
    }

    #[test]
    fn the_date_is_todays() {
        let year = OffsetDateTime::now_utc().year();
        let date = filled_in("{{ strftime_now('%d %b %Y') }}", &[]).unwrap();
        assert!(date.ends_with(&year.to_string()) && date.len() == "26 Jul 2024".len(), "{date}");
    }

    #[test]
    fn tags_for_training_leave_their_text() {
        let template = "a {%- generation -%} {{ 'b' }} {%- endgeneration %} c{% generation %}d{% endgeneration %}";
        assert_eq!(filled_in(template, &[]).unwrap(), "ab cd");
    }

    #[test]
    fn a_template_that_does_not_end_is_an_error() {
        let template = "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}";
        assert!(filled_in(template, &[]).unwrap_err().to_string().contains("fuel"));
    }
}
