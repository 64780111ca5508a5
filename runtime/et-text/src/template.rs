//! Chat templates: Jinja as Hugging Face's models use it, methods of Python's types included.

use std::collections::BTreeMap;

use et_llm::{Error, Message};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, ErrorKind, Value, context};
use serde_json::Value as Json;

/// A template with the texts that it may name.
pub struct Template {
    environment: Environment<'static>,
    texts: BTreeMap<String, String>,
}

const NAME: &str = "chat";

impl Template {
    /// Reads a JSON object with the `template`; its other entries are texts such as `bos_token`.
    pub fn read(json: &[u8]) -> Result<Self, Error> {
        let malformed = |error: &dyn std::fmt::Display| Error::Text(format!("the chat template: {error}"));
        let mut texts: BTreeMap<String, String> = serde_json::from_slice(json).map_err(|error| malformed(&error))?;
        let template = texts.remove("template").ok_or_else(|| malformed(&"there is none"))?;
        let mut environment = environment().map_err(|error| malformed(&error))?;
        environment.add_template_owned(NAME, template).map_err(|error| malformed(&error))?;
        Ok(Self { environment, texts })
    }

    /// The conversation as one text, up to where the answer begins.
    pub fn fill_in(&self, messages: &[Message]) -> Result<String, Error> {
        let refused = |error: minijinja::Error| Error::Text(format!("the chat template: {error}"));
        let message = |message: &Message| context! { role => message.role, content => message.content.as_str() };
        let messages: Vec<Value> = messages.iter().map(message).collect();
        let texts = Value::from_pairs(self.texts.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        let variables = context! { messages, add_generation_prompt => true, ..texts };
        self.environment.get_template(NAME).and_then(|template| template.render(variables)).map_err(refused)
    }
}

/// What `transformers` fills templates in with.
fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<Value, minijinja::Error> {
        Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_filter("tojson", |value: Value| -> Result<Value, minijinja::Error> {
        let json = serde_json::to_value(&value);
        let json = json.map_err(|error| minijinja::Error::new(ErrorKind::BadSerialization, error.to_string()))?;
        Ok(Value::from_safe_string(spaced(&json)))
    });
    Ok(environment)
}

/// JSON as Python writes it: a blank behind commas and colons.
fn spaced(json: &Json) -> String {
    match json {
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(spaced).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(entries) => {
            let entry = |(key, value): (&String, &Json)| format!("{}: {}", Json::from(key.as_str()), spaced(value));
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled_in(template: &str, messages: &[Message]) -> Result<String, Error> {
        let json = serde_json::json!({ "template": template, "bos_token": "<s>" });
        Template::read(json.to_string().as_bytes())?.fill_in(messages)
    }

    #[test]
    fn a_template_names_messages_tokens_and_methods_of_texts() {
        let template = "{{ bos_token }}{% for message in messages %}[{{ message['role'].upper() }}] \
            {{ message.content.strip() }}{% if loop.last and add_generation_prompt %} [ASSISTANT]{% endif %}{% endfor %}";
        let messages = [Message::new("user", " Hello ")];
        assert_eq!(filled_in(template, &messages).unwrap(), "<s>[USER] Hello [ASSISTANT]");
    }

    #[test]
    fn blocks_take_their_lines_along_as_in_python() {
        let template = "{%- for message in messages %}\n    {% if true %}\n{{ message.content }}\n    {% endif %}\n{%- endfor %}\n";
        let messages = [Message::new("user", "a"), Message::new("user", "b")];
        assert_eq!(filled_in(template, &messages).unwrap(), "a\nb\n");
    }

    #[test]
    fn what_a_template_refuses_is_an_error_with_its_words() {
        let error = filled_in("{{ raise_exception('no system message') }}", &[]).unwrap_err().to_string();
        assert!(error.contains("no system message"), "{error}");
        assert!(filled_in("{% for %}", &[]).is_err());
    }

    #[test]
    fn json_is_written_as_python_does() {
        assert_eq!(filled_in("{{ {'a': [1, 'x']} | tojson }}", &[]).unwrap(), r#"{"a": [1, "x"]}"#);
    }
}
