//! Writes WGSL that evaluates expressions.

mod fold;

use std::collections::HashMap;
use std::fmt::Write as _;

use et_core::ScalarType;
use et_gpu::Needs;

use self::fold::Loop;
use crate::coordinate::{Value, element_index};
use crate::expr::{Expr, ExprId, Exprs, TensorId, operands};
use crate::profile::Profile;
use crate::sharing::{Sharing, varying_of};
use crate::tensor::{Layout, Storage, TEXEL, Tensor, Texels};
use crate::types::{Literal, Type};

/// The expressions and the tensors that kernels are written of.
#[derive(Clone, Copy)]
pub struct Scope<'p> {
    /// The expressions.
    pub exprs: &'p Exprs,
    /// The stored tensors.
    pub tensors: &'p [Tensor],
    /// The GPU.
    pub profile: Profile,
}

impl<'p> Scope<'p> {
    /// The tensor.
    pub fn tensor(self, id: TensorId) -> &'p Tensor {
        &self.tensors[id.0 as usize]
    }
}

/// Coordinates that expressions are evaluated at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(usize);

/// Writes the statements of a kernel. The value of an expression is a variable of the block, which the blocks inside use.
pub struct Emitter<'p> {
    scope: Scope<'p>,
    names: usize,
    places: Vec<Vec<Value>>,
    known_places: HashMap<Vec<Value>, Place>,
    /// What is known in each open block, outermost first.
    blocks: Vec<HashMap<Key, Value>>,
    /// The lanes that share folds.
    sharing: Option<Sharing>,
    body: Body,
}

/// The statements of a kernel.
#[derive(Default)]
pub struct Body {
    /// The lines.
    pub text: String,
    /// The declarations of variables in workgroup memory.
    pub workgroup: String,
    /// The tensors that the lines read by binding `b0`, `b1` and so on.
    pub reads: Vec<TensorId>,
    /// The optional features of a device that the lines use.
    pub needs: Needs,
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Expr(ExprId, Place),
    Texel(TensorId, [Value; 3]),
    Text(String),
}

/// A coordinate that no statement may read.
fn unknown() -> Value {
    Value::Text("unknown".to_owned())
}

/// Longer coordinates are variables.
const LONGEST_TEXT: usize = 60;

impl<'p> Emitter<'p> {
    /// No statements yet.
    pub fn new(scope: Scope<'p>) -> Self {
        Self {
            scope,
            names: 0,
            places: Vec::new(),
            known_places: HashMap::new(),
            blocks: vec![HashMap::new()],
            sharing: None,
            body: Body::default(),
        }
    }

    /// No statements yet; lanes share folds, in invocations that all take the same branches.
    pub fn sharing(scope: Scope<'p>, sharing: Option<Sharing>) -> Self {
        Self { sharing, ..Self::new(scope) }
    }

    /// The expressions and the tensors.
    pub fn scope(&self) -> Scope<'p> {
        self.scope
    }

    /// The statements.
    pub fn finish(self) -> Body {
        self.body
    }

    /// Writes a line.
    pub fn line(&mut self, line: &str) {
        for _ in 0..self.blocks.len() {
            self.body.text.push_str("    ");
        }
        self.body.text.push_str(line);
        self.body.text.push('\n');
    }

    /// Writes a line that stores a result: of lanes that share, one stores.
    pub fn store(&mut self, line: &str) {
        match self.sharing {
            None => self.line(line),
            Some(_) => self.line(&format!("if (stores) {{ {line} }}")),
        }
    }

    /// Opens a block: `for (...)`, `if (...)`.
    pub fn open(&mut self, head: &str) {
        self.line(&format!("{head} {{"));
        self.blocks.push(HashMap::new());
    }

    /// Closes a block; `tail` follows the brace.
    pub fn close(&mut self, tail: &str) {
        self.blocks.pop();
        self.line(&format!("}}{tail}"));
    }

    /// Writes a reduction over the lanes of a workgroup, `lane`, down to `least` of them: in each step, the first `half` of the lanes write the
    /// lines, which read what the other half have.
    pub fn halve(&mut self, lanes: usize, least: usize, lines: impl Fn(usize) -> Vec<String>) {
        let mut half = lanes / 2;
        while half >= least {
            self.line("workgroupBarrier();");
            self.open(&format!("if (lane < {half}i)"));
            lines(half).iter().for_each(|line| self.line(line));
            self.close("");
            half /= 2;
        }
    }

    /// Opens the `else` of a block.
    fn open_else(&mut self) {
        self.blocks.pop();
        self.line("} else {");
        self.blocks.push(HashMap::new());
    }

    /// A new variable in workgroup memory.
    pub fn workgroup_variable(&mut self, prefix: &str, ty: &str) -> String {
        let name = self.name(prefix);
        _ = writeln!(self.body.workgroup, "var<workgroup> {name}: {ty};");
        name
    }

    /// A new name.
    pub fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// A variable with this value, which never changes: equal texts are one variable.
    pub fn variable(&mut self, text: &str) -> String {
        let key = Key::Text(text.to_owned());
        if let Some(known) = self.recall(&key) {
            return known.text();
        }
        let name = self.name("v");
        self.line(&format!("let {name} = {text};"));
        self.remember(key, Value::Text(name.clone()));
        name
    }

    /// A computed coordinate as a variable.
    pub fn named(&mut self, value: Value) -> Value {
        match value {
            Value::Text(text) if text.contains(' ') => Value::Text(self.variable(&text)),
            short => short,
        }
    }

    /// The coordinates of a place.
    pub fn coordinates(&self, place: Place) -> &[Value] {
        &self.places[place.0]
    }

    /// The coordinates as a place.
    pub fn place(&mut self, coordinates: Vec<Value>) -> Place {
        if let Some(place) = self.known_places.get(&coordinates) {
            return *place;
        }
        let place = Place(self.places.len());
        self.places.push(coordinates.clone());
        self.known_places.insert(coordinates, place);
        place
    }

    /// States the value of an expression at a place.
    pub fn define(&mut self, id: ExprId, place: Place, value: &str) {
        self.remember(Key::Expr(id, place), Value::Text(value.to_owned()));
    }

    fn remember(&mut self, key: Key, value: Value) {
        if let Some(block) = self.blocks.last_mut() {
            block.insert(key, value);
        }
    }

    fn recall(&self, key: &Key) -> Option<Value> {
        self.blocks.iter().rev().find_map(|block| block.get(key)).cloned()
    }

    /// WGSL of the expression at a place.
    pub fn text(&mut self, id: ExprId, place: Place) -> String {
        self.value(id, place).text()
    }

    /// The expression at a place.
    pub fn value(&mut self, id: ExprId, place: Place) -> Value {
        self.values(id, &[place]).swap_remove(0)
    }

    /// The expression at several places, in a loop or branch for all where the extents or conditions are equal.
    pub fn values(&mut self, id: ExprId, places: &[Place]) -> Vec<Value> {
        let mut missing: Vec<Place> = Vec::new();
        for place in places {
            if self.recall(&Key::Expr(id, *place)).is_none() && !missing.contains(place) {
                missing.push(*place);
            }
        }
        if !missing.is_empty() {
            let values = self.evaluate(id, &missing);
            for (place, value) in missing.into_iter().zip(values) {
                self.remember(Key::Expr(id, place), value);
            }
        }
        places.iter().map(|place| self.recall(&Key::Expr(id, *place)).unwrap_or(Value::Known(0))).collect()
    }

    /// Evaluates the folds within a fold's element ahead of the fold's loop, whose coordinates they do not depend on.
    pub fn fold_ahead_of_loop(&mut self, body: ExprId, place: Place, rank: usize, further: usize) {
        let mut at = self.coordinates(place).to_vec();
        at.resize(rank, Value::Known(0));
        at.extend((0..further).map(|_| unknown()));
        let inner = self.place(at);
        self.fold_ahead(body, inner, &(rank..rank + further).collect::<Vec<_>>());
    }

    /// Evaluates the folds of an expression ahead of a loop over a row, at a place whose varying coordinates are not known yet and no
    /// fold depends on.
    pub fn fold_ahead(&mut self, id: ExprId, place: Place, varying: &[usize]) {
        let exprs = self.scope.exprs;
        if !exprs.folds(id) {
            return;
        }
        match exprs.get(id) {
            Expr::Fold { .. } => _ = self.value(id, place),
            Expr::At(source, coordinates) => {
                let varying = varying_of(exprs, coordinates, varying);
                let known = |(dim, id): (usize, &ExprId)| match varying.contains(&dim) {
                    true => unknown(),
                    false => self.value(*id, place),
                };
                let at = coordinates.iter().enumerate().map(known).collect();
                let inner = self.place(at);
                self.fold_ahead(*source, inner, &varying);
            }
            other => operands(other).into_iter().for_each(|operand| self.fold_ahead(operand, place, varying)),
        }
    }

    fn evaluate(&mut self, id: ExprId, places: &[Place]) -> Vec<Value> {
        let exprs = self.scope.exprs;
        self.body.needs.int64 |= exprs.ty(id) == Type::Long;
        self.body.needs.float64 |= exprs.ty(id) == Type::Double;
        match exprs.get(id) {
            Expr::Literal(Literal::Int(index)) if *index >= 0 => vec![Value::Known(*index as usize); places.len()],
            Expr::Literal(literal) => vec![Value::Text(literal.wgsl()); places.len()],
            Expr::Coordinate(dim) => places.iter().map(|place| self.coordinate(*place, *dim)).collect(),
            Expr::Load(tensor) => places.iter().map(|place| Value::Text(self.load(*tensor, *place))).collect(),
            // The kernel that computes a product defines its elements.
            Expr::Product(product) | Expr::Score(product) => {
                vec![Value::Text(format!("missing_product_{}", product.0)); places.len()]
            }
            Expr::Apply(template, operands) => {
                let operands: Vec<Vec<Value>> = operands.iter().map(|operand| self.values(*operand, places)).collect();
                let at = |position: usize| operands.iter().map(|values| values[position].text()).collect::<Vec<_>>();
                (0..places.len()).map(|position| Value::Text(self.variable(&filled(template, &at(position))))).collect()
            }
            Expr::Index(op, left, right) => {
                let (left, right) = (self.values(*left, places), self.values(*right, places));
                let pairs = left.iter().zip(&right);
                let values: Vec<Value> = pairs.map(|(left, right)| Value::arithmetic(*op, left, right)).collect();
                values.into_iter().map(|value| self.shortened(value)).collect()
            }
            Expr::At(source, coordinates) => {
                let by_dim: Vec<Vec<Value>> =
                    coordinates.iter().map(|coordinate| self.values(*coordinate, places)).collect();
                let at = |position: usize| by_dim.iter().map(|values| values[position].clone()).collect::<Vec<_>>();
                let inner: Vec<Place> = (0..places.len()).map(|position| self.place(at(position))).collect();
                self.values(*source, &inner)
            }
            Expr::If { condition, then, otherwise } => {
                let conditions = self.values(*condition, places);
                if self.chooses(*then) && self.chooses(*otherwise) {
                    return self.chosen(&conditions, *then, *otherwise, places);
                }
                if conditions.windows(2).any(|pair| pair[0] != pair[1]) {
                    return places.iter().flat_map(|place| self.evaluate(id, &[*place])).collect();
                }
                self.branch(&conditions[0].text(), *then, *otherwise, places)
            }
            Expr::Fold { fold, rank, extents, body } => {
                let by_extent: Vec<Vec<Value>> = extents.iter().map(|extent| self.values(*extent, places)).collect();
                if by_extent.iter().any(|values| values.windows(2).any(|pair| pair[0] != pair[1])) {
                    return places.iter().flat_map(|place| self.evaluate(id, &[*place])).collect();
                }
                let extents: Vec<Value> = by_extent.into_iter().map(|mut values| values.swap_remove(0)).collect();
                Loop { fold: *fold, rank: *rank, body: *body, ty: exprs.ty(*body) }.write(self, &extents, places)
            }
        }
    }

    /// A coordinate of a place.
    fn coordinate(&self, place: Place, dim: usize) -> Value {
        self.places[place.0].get(dim).cloned().unwrap_or(Value::Known(0))
    }

    /// Whether an expression is computed beside the one that is chosen instead of it: in a page, where a read outside of a buffer gives
    /// some number, and the browser's renderer on the CPU compiles branches slowly.
    fn chooses(&self, id: ExprId) -> bool {
        let is_costly = |expr: &Expr| matches!(expr, Expr::Fold { .. } | Expr::Product(_) | Expr::If { .. });
        self.scope.profile.is_web() && !self.scope.exprs.has(id, is_costly)
    }

    /// The chosen ones of two expressions, of which both are computed.
    fn chosen(&mut self, conditions: &[Value], then: ExprId, otherwise: ExprId, places: &[Place]) -> Vec<Value> {
        let (then, otherwise) = (self.values(then, places), self.values(otherwise, places));
        let both = then.iter().zip(&otherwise).zip(conditions);
        let texts: Vec<String> = both
            .map(|((then, otherwise), condition)| {
                format!("select({}, {}, {})", otherwise.text(), then.text(), condition.text())
            })
            .collect();
        texts.into_iter().map(|text| Value::Text(self.variable(&text))).collect()
    }

    /// Writes an `if` statement that evaluates only the chosen expression.
    fn branch(&mut self, condition: &str, then: ExprId, otherwise: ExprId, places: &[Place]) -> Vec<Value> {
        let ty = self.scope.exprs.ty(then).wgsl();
        let names: Vec<String> = places.iter().map(|_| self.name("v")).collect();
        for name in &names {
            self.line(&format!("var {name}: {ty};"));
        }
        self.open(&format!("if ({condition})"));
        self.assign(&names, then, places);
        self.open_else();
        self.assign(&names, otherwise, places);
        self.close("");
        names.into_iter().map(Value::Text).collect()
    }

    fn assign(&mut self, names: &[String], id: ExprId, places: &[Place]) {
        for (name, value) in names.iter().zip(self.values(id, places)) {
            self.line(&format!("{name} = {};", value.text()));
        }
    }

    /// A short text of the same value.
    fn shortened(&mut self, value: Value) -> Value {
        match value {
            Value::Text(text) if text.len() > LONGEST_TEXT => Value::Text(self.variable(&text)),
            Value::Channel { slice, lane } if slice.len() > LONGEST_TEXT => {
                Value::Channel { slice: self.variable(&slice), lane }
            }
            short => short,
        }
    }

    /// The element of a stored tensor.
    fn load(&mut self, id: TensorId, place: Place) -> String {
        let tensor = &self.scope.tensors[id.0 as usize];
        let coordinates = self.places[place.0].clone();
        match &tensor.layout {
            Layout::Texels(texels) => self.texel_lane(id, texels, &coordinates),
            Layout::Elements(strides) => {
                let index = element_index(&coordinates, strides);
                let index = self.shortened(index);
                let element = self.element(id, tensor.scalar_type, &index);
                self.variable(&element)
            }
        }
    }

    /// A channel of a texel.
    fn texel_lane(&mut self, id: TensorId, texels: &Texels, coordinates: &[Value]) -> String {
        let mut coordinates = coordinates.to_vec();
        let Some(channel) = coordinates.get_mut(texels.channel) else { return "0.0f".to_owned() };
        let (slice, lane) = channel.slice_and_lane();
        *channel = slice;
        let at = texels.place(&coordinates);
        let key = Key::Texel(id, at.clone());
        let texel = self.recall(&key).unwrap_or_else(|| {
            let text = self.texel(id, texels, &at);
            let texel = Value::Text(self.variable(&text));
            self.remember(key, texel.clone());
            texel
        });
        format!("{}{lane}", texel.text())
    }

    /// The texel at x, y and layer.
    fn texel(&mut self, id: TensorId, texels: &Texels, at: &[Value; 3]) -> String {
        let binding = self.binding(id);
        match texels.storage {
            Storage::Image => {
                let [x, y, layer] = at.each_ref().map(Value::text);
                let layer = if texels.extent[2] > 1 { format!(", {layer}") } else { String::new() };
                format!("textureLoad({binding}, vec2<i32>({x}, {y}){layer}, 0i)")
            }
            Storage::Buffer => {
                let index = texels.index(at).text();
                match self.scope.tensors[id.0 as usize].scalar_type {
                    ScalarType::Half => {
                        format!(
                            "vec4<f32>(unpack2x16float({binding}[{index}].x), unpack2x16float({binding}[{index}].y))"
                        )
                    }
                    _ => format!("{binding}[{index}]"),
                }
            }
        }
    }

    /// The element of a buffer at an index.
    fn element(&mut self, id: TensorId, scalar_type: ScalarType, index: &Value) -> String {
        let binding = self.binding(id);
        if self.scope.profile.is_web() && scalar_type == ScalarType::Long {
            return format!("nearest_i32({binding}[{}])", index.text());
        }
        let per_word = 4 / scalar_type.size().max(1);
        if per_word <= 1 {
            return format!("{binding}[{}]", index.text());
        }
        // The word, and the element in the word: known for a channel.
        let (word, lane) = match index {
            Value::Channel { slice, lane } if per_word == TEXEL => (slice.clone(), format!("{lane}i")),
            Value::Channel { slice, lane } => (format!("({slice} * 2i + {}i)", lane / 2), format!("{}i", lane % 2)),
            _ => {
                let text = index.text();
                let shift = per_word.trailing_zeros();
                (format!("({text} >> {shift}u)"), format!("({text} & {}i)", per_word - 1))
            }
        };
        let word = self.variable(&format!("{binding}[{word}]"));
        match scalar_type {
            ScalarType::Half => format!("unpack2x16float({word})[{lane}]"),
            ScalarType::BFloat16 => format!("bitcast<f32>(({word} >> (16u * u32({lane}))) << 16u)"),
            ScalarType::Short => format!("(bitcast<i32>({word} << (16u * (1u - u32({lane})))) >> 16u)"),
            ScalarType::Char => format!("(bitcast<i32>({word} << (8u * (3u - u32({lane})))) >> 24u)"),
            ScalarType::Bool => format!("(((({word}) >> (8u * u32({lane}))) & 255u) != 0u)"),
            _ => format!("i32(({word} >> (8u * u32({lane}))) & 255u)"),
        }
    }

    /// The name of a tensor's binding.
    fn binding(&mut self, id: TensorId) -> String {
        self.body.needs.zero_clamp |= self.scope.tensor(id).is_image();
        let reads = &mut self.body.reads;
        let position = reads.iter().position(|read| *read == id).unwrap_or_else(|| {
            reads.push(id);
            reads.len() - 1
        });
        format!("b{position}")
    }
}

/// The template with operands for `{0}`, `{1}` and so on.
fn filled(template: &str, operands: &[String]) -> String {
    let mut text = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let (number, after) = after.split_once('}').unwrap_or((after, ""));
        let operand = number.parse().ok().and_then(|number: usize| operands.get(number));
        _ = write!(text, "{}", operand.map_or("0", String::as_str));
        rest = after;
    }
    text.push_str(rest);
    text
}
