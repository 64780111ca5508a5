//! Constraints to matchers.

use std::panic::AssertUnwindSafe;
use std::{io, thread};

use et_llm::{Compiler, Constraint, Error, Matcher, Token};
use llguidance::api::TopLevelGrammar;
use llguidance::earley::SlicedBiasComputer;
use llguidance::toktrie::InferenceCapabilities;
use llguidance::{ParserFactory, panic_utils};
use serde_json::{Map, Value, json};

use crate::matcher::Masks;
use crate::tokens::environment;

/// A compiler for the tokens of a model.
pub struct Grammars(ParserFactory);

impl Grammars {
    /// A compiler for these tokens; `stops` end a text.
    pub fn new(vocabulary: &[Token], stops: &[u32]) -> Result<Self, Error> {
        let (tokens, slices) = (environment(vocabulary, stops), SlicedBiasComputer::general_slices());
        let factory = ParserFactory::new(&tokens, InferenceCapabilities::default(), &slices);
        let mut factory = factory.map_err(|error| failed("tokenizer", &error))?;
        factory.quiet().limits_mut().verbose_errors = false;
        Ok(Self(factory))
    }
}

impl Compiler for Grammars {
    fn compile(&self, constraint: &Constraint) -> Result<Box<dyn Matcher>, Error> {
        let (kind, grammar) = (constraint.kind(), grammar(constraint)?);
        // The library turns its own panics within a matcher into errors, and leaves those of the compilation to callers.
        let compile = || panic_utils::catch_unwind(AssertUnwindSafe(|| self.0.create_parser(grammar)));
        let matcher = on_a_large_stack(|| llguidance::Matcher::new(compile())).map_err(|error| failed(kind, &error))?;
        match matcher.get_error() {
            Some(problem) => Err(failed(kind, &problem)),
            None if matcher.is_stopped() => Err(failed(kind, &"only the empty text matches")),
            None => Ok(Box::new(Masks::new(matcher, kind))),
        }
    }
}

/// A problem in the words of the library, without the trace of a panic.
fn failed(kind: &'static str, problem: &dyn std::fmt::Display) -> Error {
    let text = problem.to_string();
    Error::Constraint { kind, problem: text.split("\n<backtrace>").next().unwrap_or_default().to_owned() }
}

/// The most bytes of a constraint: the library copies parts of a schema into others.
const LONGEST: usize = 64 << 10;

/// The most patterns of property names in a schema: the library compares each pattern with each other.
const MOST_PATTERNS: usize = 64;

/// The key of these patterns.
const PATTERNS: &str = "patternProperties";

/// The stack of a compilation, which calls itself for each rule and each reference within another.
const STACK: usize = 64 << 20;

/// Runs a function on a thread of its own; WebAssembly has no threads.
fn on_a_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    if cfg!(target_family = "wasm") {
        return Ok(work());
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        thread.join().map_err(|_| io::Error::other("the compilation failed"))
    })
}

/// Refuses a text that may take much time or memory.
fn check_size(kind: &'static str, text: &str) -> Result<(), Error> {
    if text.len() <= LONGEST { Ok(()) } else { Err(failed(kind, &format!("is longer than {LONGEST} bytes"))) }
}

/// The number of patterns of property names.
fn patterns(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(patterns).sum(),
        Value::Object(keys) => {
            let own = keys.get(PATTERNS).and_then(Value::as_object).map_or(0, Map::len);
            own + keys.values().map(patterns).sum::<usize>()
        }
        _ => 0,
    }
}

fn grammar(constraint: &Constraint) -> Result<TopLevelGrammar, Error> {
    Ok(match constraint {
        Constraint::JsonObject => TopLevelGrammar::from_json_schema(with_options(json!({ "type": "object" }))),
        Constraint::JsonSchema(text) => {
            check_size(constraint.kind(), text)?;
            let schema = serde_json::from_str(text);
            let schema = schema.map_err(|error| failed(constraint.kind(), &format!("is not JSON: {error}")))?;
            if patterns(&schema) > MOST_PATTERNS {
                return Err(failed(constraint.kind(), &format!("has more than {MOST_PATTERNS} `{PATTERNS}`")));
            }
            TopLevelGrammar::from_json_schema(with_options(schema))
        }
        Constraint::Regex(pattern) => {
            check_size(constraint.kind(), pattern)?;
            TopLevelGrammar::from_regex(pattern)
        }
        Constraint::Grammar(text) => {
            check_size(constraint.kind(), text)?;
            if text.contains(PATTERNS) {
                return Err(failed(constraint.kind(), &format!("has a JSON schema with `{PATTERNS}`")));
            }
            TopLevelGrammar::from_lark(text.clone())
        }
    })
}

/// The key of a schema with options of `llguidance`.
const OPTIONS: &str = "x-guidance";

/// White space between the parts of a JSON text: a blank, or a line break with an indentation, so that white space does not go on for ever.
const WHITE_SPACE: &str = r"\x20|\r?\n[\x20\t]{0,32}";

/// The schema with options of the library, unless the schema has options.
fn with_options(mut schema: Value) -> Value {
    if schema == Value::Bool(true) {
        schema = json!({});
    }
    if let Value::Object(keys) = &mut schema {
        keys.entry(OPTIONS).or_insert_with(|| json!({ "whitespace_pattern": WHITE_SPACE }));
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of a text.
    const END: u32 = 260;

    /// Tokens 0 to 255 are bytes, further ones are longer.
    fn grammars() -> Grammars {
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let longer = ["true", "\":", "é", "}}"].map(|text| text.as_bytes().to_vec());
        let mut vocabulary: Vec<Token> = bytes.chain(longer).map(Token::Bytes).collect();
        vocabulary.extend([Token::Bytes(b"</s>".to_vec()), Token::Unused, Token::Special("<|tool|>".to_owned())]);
        Grammars::new(&vocabulary, &[END]).unwrap()
    }

    fn may_follow(matcher: &mut dyn Matcher, token: u32) -> bool {
        matcher.allowed().unwrap().get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 == 1)
    }

    /// Whether a text, byte by byte, has the form.
    fn accepts(constraint: &Constraint, text: &str) -> bool {
        let mut matcher = grammars().compile(constraint).unwrap();
        for byte in text.bytes().map(u32::from) {
            if !may_follow(&mut *matcher, byte) {
                return false;
            }
            matcher.advance(byte).unwrap();
        }
        matcher.is_complete() || may_follow(&mut *matcher, END)
    }

    fn schema(text: &str) -> Constraint {
        Constraint::JsonSchema(text.to_owned())
    }

    #[test]
    fn texts_of_the_form_are_accepted_and_others_not() {
        let object = schema(
            r#"{"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}, "required": ["a"], "additionalProperties": false}"#,
        );
        let grammar = Constraint::Grammar("start: \"a\" start \"b\" | \"\"".to_owned());
        let regex = Constraint::Regex("[a-c]{2}/é+".to_owned());
        for (constraint, text, expected) in [
            (&object, r#"{"a": 30}"#, true),
            (&object, "{\n  \"a\": 3\n}", true),
            (&object, r#"{"a": 2}"#, false),
            (&object, r#"{"b": 3}"#, false),
            (&object, "{", false),
            (&Constraint::JsonObject, r#"{"x": [1, null, {"y": "z"}]}"#, true),
            (&Constraint::JsonObject, "[]", false),
            (&schema("true"), "[1.5e3]", true),
            (&grammar, "aabb", true),
            (&grammar, "aab", false),
            (&regex, "ab/éé", true),
            (&regex, "ab/", false),
            (&regex, "abc/é", false),
        ] {
            assert_eq!(accepts(constraint, text), expected, "{constraint:?} {text}");
        }
    }

    #[test]
    fn longer_tokens_follow_where_all_their_bytes_do() {
        let mut matcher = grammars().compile(&schema(r#"{"const": {"é": true}}"#)).unwrap();
        for byte in *b"{\"" {
            matcher.advance(byte.into()).unwrap();
        }
        assert!(may_follow(&mut *matcher, 258) && !may_follow(&mut *matcher, 256) && !may_follow(&mut *matcher, 257));
        [258, 257, 256].into_iter().for_each(|token| matcher.advance(token).unwrap());
        assert!(!may_follow(&mut *matcher, END) && !may_follow(&mut *matcher, 259));
        matcher.advance(u32::from(b'}')).unwrap();
        assert!(matcher.is_complete() && may_follow(&mut *matcher, END));
    }

    #[test]
    fn white_space_ends() {
        let mut matcher = grammars().compile(&Constraint::JsonObject).unwrap();
        matcher.advance(u32::from(b'{')).unwrap();
        let blanks = (0..100).take_while(|_| {
            let may = may_follow(&mut *matcher, u32::from(b' '));
            may && matcher.advance(u32::from(b' ')).is_ok()
        });
        assert_eq!(blanks.count(), 1);
    }

    #[test]
    fn special_tokens_follow_where_a_grammar_names_them() {
        let tool = 262;
        let mut matcher = grammars().compile(&Constraint::Grammar("start: <|tool|> \"a\"".to_owned())).unwrap();
        assert!(may_follow(&mut *matcher, tool) && !may_follow(&mut *matcher, u32::from(b'<')));
        matcher.advance(tool).unwrap();
        assert!(may_follow(&mut *matcher, u32::from(b'a')) && !may_follow(&mut *matcher, tool));
        let mut any = grammars().compile(&Constraint::Regex("(?s:.*)".to_owned())).unwrap();
        assert!(may_follow(&mut *any, u32::from(b'<')) && may_follow(&mut *any, END));
        assert!(!may_follow(&mut *any, tool) && !may_follow(&mut *any, 261));
    }

    /// Rules within rules, references within references, patterns beside patterns.
    #[test]
    fn large_constraints_take_neither_the_stack_nor_the_time() {
        let rules: String = (0..2000).map(|rule| format!("r{rule}: r{} \"a\"\n", rule + 1)).collect();
        let rules = format!("start: r0\n{rules}r2000: \"b\"\n");
        assert!(grammars().compile(&Constraint::Grammar(rules)).is_ok());
        let definition = |index: usize| format!(r##""d{index}":{{"items":{{"$ref":"#/$defs/d{}"}}}}"##, index + 1);
        let definitions: Vec<String> = (0..1000).map(definition).collect();
        let references = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d1000":{{}}}}}}"##, definitions.join(","));
        assert!(grammars().compile(&schema(&references)).is_ok());
        let names: Vec<String> = (0..100).map(|index| format!(r#""^x{index}[a-z]+$":{{}}"#)).collect();
        let patterns = format!(r#"{{"patternProperties":{{{}}}}}"#, names.join(","));
        let within = Constraint::Grammar(format!("start: %json {patterns}"));
        let long = Constraint::Regex("a".repeat(LONGEST + 1));
        for (constraint, word) in [(schema(&patterns), "more than 64"), (within, PATTERNS), (long, "longer")] {
            let message = grammars().compile(&constraint).map(|_| ()).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn malformed_constraints_are_errors_with_a_sentence() {
        let deep = format!("{}{}", r#"{"items":"#.repeat(5000), "}".repeat(5000));
        let grammars = grammars();
        for (constraint, word) in [
            (schema("{"), "not JSON"),
            (schema("7"), "object"),
            (schema(r#"{"type": "intger"}"#), "intger"),
            (schema(r##"{"$ref": "#/$defs/none"}"##), "none"),
            (schema(r#"{"type": "string", "pattern": "("}"#), "unclosed"),
            (schema(r#"{"enum": []}"#), ""),
            (schema(r#"{"not": {"type": "string"}}"#), "not"),
            (schema(&deep), ""),
            (Constraint::Regex("a(".to_owned()), ""),
            (Constraint::Regex("(?=a)b".to_owned()), ""),
            (Constraint::Grammar("start: other".to_owned()), "other"),
            (Constraint::Grammar("start: \"a".to_owned()), ""),
            (Constraint::Grammar(String::new()), ""),
            (Constraint::Grammar("start: <|none|>".to_owned()), "none"),
        ] {
            let Err(error) = grammars.compile(&constraint).map(|_| ()) else { panic!("{constraint:?} is accepted") };
            let message = error.to_string();
            assert!(
                matches!(error, Error::Constraint { .. }) && message.contains(word),
                "{constraint:.80?}: {message}"
            );
        }
    }
}
