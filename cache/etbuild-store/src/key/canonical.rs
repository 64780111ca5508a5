//! The bytes that are hashed for an action key.
//!
//! Every field is tagged or has a fixed length, and a length precedes every field of variable length, so that the
//! bytes can be read back in only one way: two different lists of components never share an encoding. The bytes are a
//! contract with every cache in the field; to change them, change [`PREFIX`].

use super::{Class, Component, Value};

/// The prefix of every encoding.
const PREFIX: &[u8] = b"etbuild action key 1\0";

/// The encoding of a list of components.
pub(super) fn encode(components: &[Component]) -> Vec<u8> {
    let mut bytes = PREFIX.to_vec();
    put_length(&mut bytes, components.len());
    components.iter().for_each(|component| put_component(&mut bytes, component));
    bytes
}

fn put_component(bytes: &mut Vec<u8>, component: &Component) {
    bytes.push(class_tag(component.class));
    put_bytes(bytes, component.name.as_bytes());
    put_value(bytes, &component.value);
}

fn class_tag(class: Class) -> u8 {
    match class {
        Class::Stage => b'S',
        Class::Option => b'O',
        Class::Input => b'I',
        Class::Fact => b'F',
        Class::Tool => b'T',
    }
}

fn put_value(bytes: &mut Vec<u8>, value: &Value) {
    bytes.push(value_tag(value));
    match value {
        Value::Absent => {}
        Value::Boolean(value) => bytes.push(u8::from(*value)),
        Value::Integer(value) => bytes.extend(value.to_le_bytes()),
        Value::Float(bits) => bytes.extend(bits.to_le_bytes()),
        Value::Text(text) => put_bytes(bytes, text.as_bytes()),
        Value::Bytes(value) => put_bytes(bytes, value),
        Value::Digest(digest) => bytes.extend(digest.0),
        Value::List(values) => {
            put_length(bytes, values.len());
            values.iter().for_each(|value| put_value(bytes, value));
        }
        Value::Map(values) => {
            put_length(bytes, values.len());
            values.iter().for_each(|(name, value)| {
                put_bytes(bytes, name.as_bytes());
                put_value(bytes, value);
            });
        }
    }
}

fn value_tag(value: &Value) -> u8 {
    match value {
        Value::Absent => b'n',
        Value::Boolean(_) => b'b',
        Value::Integer(_) => b'i',
        Value::Float(_) => b'f',
        Value::Text(_) => b't',
        Value::Bytes(_) => b'y',
        Value::Digest(_) => b'd',
        Value::List(_) => b'l',
        Value::Map(_) => b'm',
    }
}

fn put_bytes(bytes: &mut Vec<u8>, value: &[u8]) {
    put_length(bytes, value.len());
    bytes.extend(value);
}

fn put_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend((length as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::Digest;

    /// Reads an encoding back; an encoding that has an inverse cannot collide.
    struct Reader<'a>(&'a [u8]);

    impl Reader<'_> {
        fn take<const N: usize>(&mut self) -> [u8; N] {
            let (head, rest) = self.0.split_first_chunk().unwrap();
            self.0 = rest;
            *head
        }

        fn length(&mut self) -> usize {
            u64::from_le_bytes(self.take()) as usize
        }

        fn bytes(&mut self) -> Vec<u8> {
            let length = self.length();
            let (head, rest) = self.0.split_at(length);
            self.0 = rest;
            head.to_vec()
        }

        fn text(&mut self) -> String {
            String::from_utf8(self.bytes()).unwrap()
        }

        fn value(&mut self) -> Value {
            match self.take() {
                [b'n'] => Value::Absent,
                [b'b'] => Value::Boolean(self.take() == [1]),
                [b'i'] => Value::Integer(i128::from_le_bytes(self.take())),
                [b'f'] => Value::Float(u64::from_le_bytes(self.take())),
                [b't'] => Value::Text(self.text()),
                [b'y'] => Value::Bytes(self.bytes()),
                [b'd'] => Value::Digest(Digest(self.take())),
                [b'l'] => Value::List((0..self.length()).map(|_| self.value()).collect()),
                [b'm'] => Value::Map((0..self.length()).map(|_| (self.text(), self.value())).collect()),
                tag => panic!("no value has tag {tag:?}"),
            }
        }

        fn component(&mut self) -> Component {
            let tag = self.take::<1>();
            let class = CLASSES.into_iter().find(|class| [class_tag(*class)] == tag).unwrap();
            Component { class, name: self.text(), value: self.value() }
        }
    }

    const CLASSES: [Class; 5] = [Class::Stage, Class::Option, Class::Input, Class::Fact, Class::Tool];

    fn decode(bytes: &[u8]) -> Vec<Component> {
        let mut reader = Reader(bytes.strip_prefix(PREFIX).unwrap());
        let components = (0..reader.length()).map(|_| reader.component()).collect();
        assert!(reader.0.is_empty());
        components
    }

    /// Few letters, so that different lists are often nearly the same.
    fn text() -> impl Strategy<Value = String> {
        "[ab\0]{0,3}"
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Absent),
            any::<bool>().prop_map(Value::Boolean),
            (-2i128..3).prop_map(Value::Integer),
            any::<u64>().prop_map(Value::Float),
            text().prop_map(Value::Text),
            text().prop_map(|text| Value::Bytes(text.into_bytes())),
            any::<u8>().prop_map(|byte| Value::Digest(Digest::of(&[byte]))),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            let map = prop::collection::btree_map(text(), inner.clone(), 0..3);
            prop_oneof![prop::collection::vec(inner, 0..3).prop_map(Value::List), map.prop_map(Value::Map)]
        })
    }

    fn components() -> impl Strategy<Value = Vec<Component>> {
        let component = (prop::sample::select(&CLASSES[..]), text(), value());
        let component = component.prop_map(|(class, name, value)| Component { class, name, value });
        prop::collection::vec(component, 0..4)
    }

    proptest! {
        #[test]
        fn an_encoding_reads_back_as_what_was_encoded(components in components()) {
            prop_assert_eq!(decode(&encode(&components)), components);
        }

        #[test]
        fn encodings_are_equal_exactly_when_the_components_are(one in components(), other in components()) {
            prop_assert_eq!(encode(&one) == encode(&other), one == other);
        }
    }

    #[test]
    fn the_encoding_of_one_of_each_is_pinned() {
        let map = BTreeMap::from([("k".to_owned(), Value::Absent)]);
        let list = Value::List(vec![Value::Boolean(true), Value::Integer(-2), Value::Float(0), Value::Map(map)]);
        let components = [
            Component { class: Class::Stage, name: "emit".to_owned(), value: Value::Integer(3) },
            Component { class: Class::Fact, name: "isa".to_owned(), value: list },
            Component { class: Class::Tool, name: "ld".to_owned(), value: Value::Text("18.1".to_owned()) },
            Component { class: Class::Option, name: "o".to_owned(), value: Value::Bytes(vec![9]) },
            Component { class: Class::Input, name: String::new(), value: Value::Digest(Digest([7; 32])) },
        ];
        let mut expected = b"etbuild action key 1\0\x05\0\0\0\0\0\0\0".to_vec();
        expected.extend(b"S\x04\0\0\0\0\0\0\0emiti\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        expected.extend(b"F\x03\0\0\0\0\0\0\0isal\x04\0\0\0\0\0\0\0b\x01i\xfe");
        expected.extend([0xff; 15]);
        expected.extend(b"f\0\0\0\0\0\0\0\0m\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0kn");
        expected.extend(b"T\x02\0\0\0\0\0\0\0ldt\x04\0\0\0\0\0\0\x0018.1");
        expected.extend(b"O\x01\0\0\0\0\0\0\0oy\x01\0\0\0\0\0\0\0\x09");
        expected.extend(b"I\0\0\0\0\0\0\0\0d");
        expected.extend([7; 32]);
        assert_eq!(encode(&components), expected);
    }
}
