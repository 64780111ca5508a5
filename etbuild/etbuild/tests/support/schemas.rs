//! Random JSON schemas, whose values fit in the context of the tiny language model.

use et_llm::Random;
use serde_json::{Map, Value, json};

/// The schema of a seed.
pub fn random(seed: u64) -> Value {
    let mut schemas = Schemas { random: Random::new(seed) };
    let mut schema = if schemas.one_in(4) { schemas.any(3) } else { schemas.object(3) };
    if let (true, Value::Object(keys)) = (schemas.one_in(4), &mut schema) {
        let definition = schemas.any(1);
        keys.insert("$defs".to_owned(), json!({ "part": definition }));
        if let Some(Value::Object(properties)) = keys.get_mut("properties") {
            properties.insert("part".to_owned(), json!({ "$ref": "#/$defs/part" }));
        }
    }
    schema
}

struct Schemas {
    random: Random,
}

/// Keys of objects, among them some that need escapes.
const KEYS: &[&str] = &["a", "name", "age", "is it", "é", "x\"y", "back\\slash", "id", "tags", "z"];

impl Schemas {
    fn below(&mut self, count: u64) -> u64 {
        self.random.bits() % count
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn any(&mut self, depth: u32) -> Value {
        let kinds = if depth == 0 { 6 } else { 9 };
        match self.below(kinds) {
            0 => self.text(),
            1 => self.integer(),
            2 => self.number(),
            3 => json!({ "type": ["boolean", "null"] }),
            4 => json!({ "enum": [1, "two", null, [3], { "four": 5 }, "é\n"] }),
            5 => json!({ "const": format!("constant {}", self.below(9)) }),
            6 => self.list(depth),
            7 => json!({ "anyOf": [self.any(depth - 1), self.any(depth - 1)] }),
            _ => self.object(depth),
        }
    }

    fn text(&mut self) -> Value {
        let (least, more) = (self.below(3), self.below(8));
        match self.below(5) {
            0 => json!({ "type": "string", "pattern": "^[a-c]{2}-(fox|hen)[0-9]?$" }),
            1 => json!({ "type": "string", "format": "uuid" }),
            2 => json!({ "type": "string", "format": "ipv4" }),
            _ => json!({ "type": "string", "minLength": least, "maxLength": least + more }),
        }
    }

    fn integer(&mut self) -> Value {
        let (least, more) = (self.below(2000) as i64 - 1000, self.below(500) as i64);
        match self.below(3) {
            0 => json!({ "type": "integer", "minimum": least, "maximum": least + more }),
            1 => json!({ "type": "integer", "exclusiveMinimum": least, "exclusiveMaximum": least + more + 2 }),
            _ => json!({ "type": "integer", "minimum": 0, "maximum": 1000, "multipleOf": 1 + self.below(9) }),
        }
    }

    fn number(&mut self) -> Value {
        let least = self.below(100) as f64 / 4.0 - 10.0;
        json!({ "type": "number", "minimum": least, "maximum": least + 7.5, "multipleOf": 0.25 })
    }

    fn list(&mut self, depth: u32) -> Value {
        let (least, more) = (self.below(2), self.below(3));
        let item = self.any(depth - 1);
        if self.one_in(4) {
            let first = self.any(0);
            return json!({ "type": "array", "prefixItems": [first, item], "items": false, "minItems": 2 });
        }
        json!({ "type": "array", "items": item, "minItems": least, "maxItems": least + more })
    }

    fn object(&mut self, depth: u32) -> Value {
        let mut properties = Map::new();
        for _ in 0..1 + self.below(4) {
            let key = KEYS[self.below(KEYS.len() as u64) as usize];
            properties.insert(key.to_owned(), self.any(depth - 1));
        }
        let required: Vec<String> = properties.keys().filter(|_| self.below(3) > 0).cloned().collect();
        // Further keys, and digits of numbers, would go on for as long as the model likes.
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }
}
