//! Grammars of tool calls, in Lark's syntax.

use std::fmt::Write;

use et_llm::Text;
use serde_json::{Value, json};

use super::format::{Body, Format};
use super::notation::QUOTE;
use super::schema::{Properties, alternatives, json_rule, with_definitions};
use super::sections::Section;
use super::tagged::{Tags, is_text};
use super::tool::Tool;

/// The grammar of an answer that is one call of one of the tools, or several.
pub fn grammar(format: &Format, tools: &[&Tool], is_several: bool, text: &dyn Text) -> String {
    let words = Words { text, format };
    let none = String::new;
    let (before, between, behind) = match format.body {
        Body::Tagged | Body::Arguments(_) => (none(), quoted("\n"), none()),
        Body::Named | Body::Notation => (none(), none(), none()),
        Body::Sections(_) => (words.open(), none(), words.close()),
        Body::List(..) => (words.open() + &quoted(" ["), quoted(", "), quoted("]") + &words.close()),
        Body::Parameters => (none(), quoted("; "), none()),
        Body::Pythonic => (words.open() + &quoted("["), quoted(", "), quoted("]") + &words.close()),
        Body::Lines => (words.open() + &quoted("\n"), quoted("\n"), quoted("\n") + &words.close()),
    };
    let more = if is_several { format!("({between} call)*") } else { none() };
    let names: Vec<String> = (0..tools.len()).map(|index| format!("call_{index}")).collect();
    let mut rules = Rules(format!("start: {before} call {more} {behind}\ncall: {}\n", names.join(" | ")));
    for (tool, name) in tools.iter().zip(names) {
        let call = words.call(tool, &name, &mut rules);
        rules.add(&name, &call);
    }
    rules.0
}

/// The rules of a grammar.
struct Rules(String);

impl Rules {
    fn add(&mut self, name: &str, rule: &str) {
        // Writing to a text does not fail.
        let _written = writeln!(self.0, "{name}: {rule}");
    }

    /// Items with a comma between two, the needed ones first; `name` begins the names of rules for the others.
    fn items(&mut self, name: &str, needed: &[String], others: &[String], comma: &str) -> String {
        // Each rule has the other items from an index on, behind items.
        for (index, item) in others.iter().enumerate() {
            self.add(&format!("{name}_{index}"), &format!("({comma} {item})? {name}_{}", index + 1));
        }
        self.add(&format!("{name}_{}", others.len()), "\"\"");
        if !needed.is_empty() {
            return format!("{} {name}_0", needed.join(&format!(" {comma} ")));
        }
        let first = |(index, item): (usize, &String)| format!("{item} {name}_{}", index + 1);
        let firsts: Vec<String> = others.iter().enumerate().map(first).chain(["\"\"".to_owned()]).collect();
        format!("({})", firsts.join(" | "))
    }
}

/// The texts of a format as parts of a grammar.
struct Words<'f> {
    text: &'f dyn Text,
    format: &'f Format,
}

impl Words<'_> {
    /// The text before calls, except for calls that are the whole answer.
    fn open(&self) -> String {
        let open = self.format.opens.first().filter(|_| !self.format.is_whole);
        open.map(|open| self.word(open)).unwrap_or_default()
    }

    fn close(&self) -> String {
        self.format.close.map(|close| format!(" {}", self.word(close))).unwrap_or_default()
    }

    fn word(&self, word: &str) -> String {
        token_or_text(self.text, word)
    }

    /// A text in which texts of the format may be special tokens.
    fn spelled(&self, text: &str) -> String {
        let found = self.format.inner.iter().filter_map(|name| Some((text.find(name)?, *name)));
        match found.min() {
            Some((start, name)) => {
                let (before, behind) = (&text[..start], &text[start + name.len()..]);
                [self.spelled(before), self.word(name), self.spelled(behind)].join(" ")
            }
            None if text.is_empty() => String::new(),
            None => quoted(text),
        }
    }

    /// Whether a text of the format has special tokens.
    fn has_token(&self, text: &str) -> bool {
        self.format.inner.iter().any(|name| text.contains(name) && self.text.special(name).is_some())
    }

    /// The rule of a call; rules with further names begin with `rule`.
    fn call(&self, tool: &Tool, rule: &str, rules: &mut Rules) -> String {
        match self.format.body {
            Body::Tagged => {
                let call = object(tool, "name", "arguments");
                format!("{} {} {call} {} {}", self.open(), quoted("\n"), quoted("\n"), self.close())
            }
            Body::Named => {
                let arguments = json_rule(&tool.parameters);
                format!("{} {} {} {arguments}", self.open(), quoted(&tool.name), self.word("[ARGS]"))
            }
            Body::List(name, arguments) => object(tool, name, arguments),
            Body::Parameters => object(tool, "name", "parameters"),
            Body::Pythonic | Body::Lines => pythonic(tool, rule, rules),
            Body::Arguments(tags) => self.tagged(tool, tags),
            Body::Sections(section) => self.section(tool, section),
            Body::Notation => {
                let arguments = self.notation(&tool.parameters, &tool.parameters, rule, rules);
                format!("{} {} {arguments} {}", self.open(), quoted(&format!("call:{}", tool.name)), self.close())
            }
        }
    }

    fn section(&self, tool: &Tool, section: &Section) -> String {
        let name = quoted(&format!("{}{}{}", section.prefix, tool.name, section.suffix));
        let (begin, between, end) = (self.word(section.begin), self.word(section.between), self.word(section.end));
        format!("{begin} {name} {between} {} {end}", json_rule(&tool.parameters))
    }

    /// A call whose arguments are texts in tags, the required arguments first.
    fn tagged(&self, tool: &Tool, tags: &Tags) -> String {
        let argument = |(name, schema): (&String, &Value)| {
            let schema = with_definitions(schema, &tool.parameters);
            let before = self.spelled(&format!("{}{name}{}", tags.key, tags.value));
            let end = self.spelled(tags.valued);
            match () {
                () if !is_text(Some(&schema)) => format!("{before} {} {end}", json_rule(&schema)),
                () if alternatives(&schema).is_some() || self.has_token(tags.valued) => {
                    format!("{before} {} {end}", text_rule(&schema, TAGGED))
                }
                // The text and its end are one regular expression: a text alone would take the letters of its end, too.
                () => format!("{before} /{}{}/", letters(&schema, TAGGED), escaped(tags.valued)),
            }
        };
        let Properties { needed, others } = Properties::of(&tool.parameters);
        let needed: Vec<String> = needed.into_iter().map(argument).collect();
        let others: Vec<String> = others.into_iter().map(|other| format!("({})?", argument(other))).collect();
        // A name in no tags follows the opening text directly, and the closing text follows the last argument.
        let line = |tag: &str| if tag.is_empty() { String::new() } else { quoted("\n") };
        let name = self.spelled(&format!("{}{}{}", tags.name, tool.name, tags.named));
        let arguments = [needed, others].concat().join(" ");
        let (open, end) = (self.open() + " " + &line(tags.name), self.spelled(tags.end) + " " + &line(tags.end));
        format!("{open} {name} {arguments} {end} {}", self.close())
    }

    /// A value in Gemma's notation.
    fn notation(&self, schema: &Value, whole: &Value, rule: &str, rules: &mut Rules) -> String {
        let quote = self.word(QUOTE);
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => {
                let text = text_rule(schema, "[^<]");
                format!("{quote} {text} {quote}")
            }
            Some("array") => {
                let none = json!({});
                let item = self.notation(schema.get("items").unwrap_or(&none), whole, &format!("{rule}_item"), rules);
                format!("\"[\" {} \"]\"", listed(schema, &item))
            }
            Some("object") => {
                let Properties { needed, others } = Properties::of(schema);
                let mut fields = |(name, schema): (&String, &Value)| {
                    let name_of_rule = format!("{rule}_{}", rules.0.lines().count());
                    let value = self.notation(schema, whole, &name_of_rule, rules);
                    let is_plain =
                        name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'));
                    let name = if is_plain { quoted(name) } else { format!("{quote} {} {quote}", quoted(name)) };
                    format!("{name} \":\" {value}")
                };
                let needed: Vec<String> = needed.into_iter().map(&mut fields).collect();
                let others: Vec<String> = others.into_iter().map(&mut fields).collect();
                format!("\"{{\" {} \"}}\"", rules.items(rule, &needed, &others, "\",\""))
            }
            _ => json_rule(&with_definitions(schema, whole)),
        }
    }
}

/// A special token with this name, or else the text.
pub fn token_or_text(text: &dyn Text, word: &str) -> String {
    text.special(word).map_or_else(|| quoted(word), |token| format!("<[{token}]>"))
}

/// A text in quotes.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

/// A JSON object with a name and arguments.
fn object(tool: &Tool, name: &str, arguments: &str) -> String {
    let start = quoted(&format!("{{\"{name}\": {}, \"{arguments}\": ", json!(tool.name)));
    format!("{start} {} {}", json_rule(&tool.parameters), quoted("}"))
}

/// The letters of texts in tags, in which no tag ends.
const TAGGED: &str = r"([^<]|<[^\/<])";

/// A text of a schema, whose letters are those of a regular expression.
fn text_rule(schema: &Value, letter: &str) -> String {
    alternatives(schema).unwrap_or_else(|| format!("/{}/", letters(schema, letter)))
}

/// As many letters as a schema allows. Of a bounded number none is `<`, which may count as two.
fn letters(schema: &Value, letter: &str) -> String {
    let length = |key: &str| schema.get(key).and_then(Value::as_u64);
    match (length("minLength"), length("maxLength")) {
        (None, None) => format!("{letter}*"),
        (least, most) => {
            format!("[^<]{{{},{}}}", least.unwrap_or(0), most.map(|most| most.to_string()).unwrap_or_default())
        }
    }
}

/// A text as a part of a regular expression.
fn escaped(text: &str) -> String {
    let letter = |letter: char| match letter {
        '\n' => r"\n".to_owned(),
        letter if r"\.+*?()|[]{}^$/".contains(letter) => format!("\\{letter}"),
        letter => letter.to_string(),
    };
    text.chars().map(letter).collect()
}

/// The items of a list with commas between, as many as a schema allows.
fn listed(schema: &Value, item: &str) -> String {
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    let least = count("minItems").unwrap_or(0);
    let more = match count("maxItems") {
        Some(0) => return String::new(),
        Some(most) => format!("(\",\" {item})~{} .. {}", least.saturating_sub(1), most - 1),
        None => format!("(\",\" {item})~{} (\",\" {item})*", least.saturating_sub(1)),
    };
    if least == 0 { format!("({item} {more})?") } else { format!("{item} {more}") }
}

/// A call as in Python, the required arguments first, each in the order of the schema.
fn pythonic(tool: &Tool, rule: &str, rules: &mut Rules) -> String {
    let argument = |(name, schema): (&String, &Value)| {
        format!("{} {}", quoted(&format!("{name}=")), json_rule(&with_definitions(schema, &tool.parameters)))
    };
    let Properties { needed, others } = Properties::of(&tool.parameters);
    let needed: Vec<String> = needed.into_iter().map(argument).collect();
    let others: Vec<String> = others.into_iter().map(argument).collect();
    let arguments = rules.items(rule, &needed, &others, &quoted(", "));
    format!("{} {arguments} {}", quoted(&format!("{}(", tool.name)), quoted(")"))
}
