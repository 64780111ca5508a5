//! Parser events to a tree, on an explicit stack and under a budget.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use etbuild_diagnostic::{Code, Diagnostic};
use granit_parser::ScalarStyle;

use crate::{Entry, Map, Node, Place, Source, Text, Value, limits, scalar};

/// A list or map that is still open.
struct Frame {
    content: Content,
    anchor: usize,
    place: Place,
    /// The number of nodes of the subtree.
    nodes: usize,
    /// The number of levels of the subtree.
    height: usize,
}

enum Content {
    List(Vec<Node>),
    Map { map: Map, keys: BTreeSet<String>, key: Option<Text> },
}

/// A finished node with the cost of an alias to the node.
#[derive(Clone)]
struct Finished {
    node: Node,
    nodes: usize,
    height: usize,
}

/// Builds a tree from events. The stack never exceeds [`limits::DEPTH`] frames.
pub struct Builder<'a> {
    source: &'a Arc<Source>,
    stack: Vec<Frame>,
    anchors: BTreeMap<usize, Finished>,
    root: Option<Node>,
    nodes: usize,
    aliases: usize,
    documents: usize,
}

impl<'a> Builder<'a> {
    pub fn new(source: &'a Arc<Source>) -> Self {
        let anchors = BTreeMap::new();
        Self { source, stack: Vec::new(), anchors, root: None, nodes: 0, aliases: 0, documents: 0 }
    }

    /// The tree; null for an empty text.
    pub fn finish(self) -> Node {
        self.root.unwrap_or_else(|| Node { value: Value::Null, place: Place::start_of(self.source) })
    }

    pub fn document(&mut self, place: Place) -> Result<(), Diagnostic> {
        self.documents += 1;
        if self.documents == 1 {
            return Ok(());
        }
        let message = "the file has several YAML documents";
        Err(Diagnostic::error(Code::YamlSyntax, message).at(place.span()).help("keep one document per file"))
    }

    pub fn scalar(&mut self, text: &str, style: ScalarStyle, anchor: usize, place: Place) -> Result<(), Diagnostic> {
        self.count(1, &place)?;
        let plain = style == ScalarStyle::Plain;
        let value = if plain { scalar::resolve(text) } else { Value::Text(text.to_owned()) };
        self.add(anchor, Finished { node: Node { value, place }, nodes: 1, height: 0 })
    }

    pub fn open_list(&mut self, anchor: usize, place: Place) -> Result<(), Diagnostic> {
        self.open(Content::List(Vec::new()), anchor, place)
    }

    pub fn open_map(&mut self, anchor: usize, place: Place) -> Result<(), Diagnostic> {
        self.open(Content::Map { map: Map::default(), keys: BTreeSet::new(), key: None }, anchor, place)
    }

    pub fn close(&mut self) -> Result<(), Diagnostic> {
        let Some(frame) = self.stack.pop() else { return Ok(()) };
        let value = match frame.content {
            Content::List(items) => Value::List(items),
            Content::Map { map, .. } => Value::Map(map),
        };
        let node = Node { value, place: frame.place };
        self.add(frame.anchor, Finished { node, nodes: frame.nodes, height: frame.height })
    }

    pub fn alias(&mut self, anchor: usize, place: Place) -> Result<(), Diagnostic> {
        self.aliases += 1;
        if self.aliases > limits::ALIASES {
            return Err(too_many_aliases(&place));
        }
        let Some(target) = self.anchors.get(&anchor) else { return Err(unfinished_anchor(&place)) };
        if self.stack.len() + target.height > limits::DEPTH {
            return Err(too_deep(&place));
        }
        let nodes = target.nodes;
        self.count(nodes, &place)?;
        let repeated = self.anchors.get(&anchor).cloned();
        repeated.map_or(Ok(()), |repeated| self.add(0, Finished { node: Node { place, ..repeated.node }, ..repeated }))
    }

    fn open(&mut self, content: Content, anchor: usize, place: Place) -> Result<(), Diagnostic> {
        if self.stack.len() >= limits::DEPTH {
            return Err(too_deep(&place));
        }
        self.count(1, &place)?;
        self.stack.push(Frame { content, anchor, place, nodes: 1, height: 1 });
        Ok(())
    }

    fn count(&mut self, nodes: usize, place: &Place) -> Result<(), Diagnostic> {
        self.nodes += nodes;
        if self.nodes <= limits::NODES { Ok(()) } else { Err(too_many_nodes(place)) }
    }

    /// Adds a finished node to its parent, and stores the node if it has an anchor.
    fn add(&mut self, anchor: usize, finished: Finished) -> Result<(), Diagnostic> {
        if anchor != 0 {
            self.count(finished.nodes, &finished.node.place)?;
            self.anchors.insert(anchor, finished.clone());
        }
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(finished.node);
            return Ok(());
        };
        frame.nodes += finished.nodes;
        frame.height = frame.height.max(finished.height + 1);
        frame.content.push(finished.node)
    }
}

impl Content {
    fn push(&mut self, node: Node) -> Result<(), Diagnostic> {
        match self {
            Self::List(items) => items.push(node),
            Self::Map { map, keys, key } => match key.take() {
                Some(key) => map.entries.push(Entry { key, value: node }),
                None => *key = Some(new_key(keys, node)?),
            },
        }
        Ok(())
    }
}

fn new_key(keys: &mut BTreeSet<String>, node: Node) -> Result<Text, Diagnostic> {
    let Value::Text(text) = node.value else {
        let message = format!("a key must be a text, found {}", node.value.kind());
        return Err(Diagnostic::error(Code::WrongType, message).at(node.place.span()).help("quote the key"));
    };
    if keys.insert(text.clone()) {
        return Ok(Text { text, place: node.place });
    }
    let message = format!("duplicate key `{text}`");
    Err(Diagnostic::error(Code::DuplicateKey, message).at(node.place.span()).help("remove one of the entries"))
}

fn too_many_aliases(place: &Place) -> Diagnostic {
    let message = format!("the file uses more than {} aliases", limits::ALIASES);
    Diagnostic::error(Code::TooManyAliases, message).at(place.span()).help("share values with `vars:` or `extends:`")
}

fn too_many_nodes(place: &Place) -> Diagnostic {
    let message = format!("the file has more than {} nodes after its aliases are expanded", limits::NODES);
    Diagnostic::error(Code::TooManyNodes, message).at(place.span()).help("check that this is the intended file")
}

fn unfinished_anchor(place: &Place) -> Diagnostic {
    let message = "an alias refers to a node that contains the alias";
    Diagnostic::error(Code::YamlSyntax, message).at(place.span()).help("remove the alias")
}

/// The error of a list or map that opens at `place` and exceeds the depth limit.
pub fn too_deep(place: &Place) -> Diagnostic {
    let message = format!("lists and maps are nested more than {} deep", limits::DEPTH);
    Diagnostic::error(Code::TooDeep, message).at(place.span()).help("write the file with fewer levels")
}
