//! Graphs in the file format: a flatbuffer whose numbers [`fields`] has.

use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, WIPOffset};

use super::fields::{self, slot};
use super::operation::Value;
use super::{Code, Graph, Kind, Operation, Operator, Tensor, TensorId};

type Offset = WIPOffset<UnionWIPOffset>;

/// The alignment of constants.
const ALIGNMENT: usize = 8;

/// The name of the region and of the block.
const MAIN: &str = "main";

/// The file of a graph; equal graphs give equal bytes.
pub fn write(graph: &Graph) -> Vec<u8> {
    let mut writer = Writer { builder: FlatBufferBuilder::new() };
    // Constants are aligned from the end of the file, whose length this makes a multiple.
    writer.builder.push(0_u64);
    let root = writer.graph(graph);
    writer.builder.finish(root, Some(fields::IDENTIFIER));
    writer.builder.finished_data().to_vec()
}

struct Writer {
    builder: FlatBufferBuilder<'static>,
}

/// The place of a slot in a table.
const fn at(slot: u16) -> u16 {
    4 + 2 * slot
}

impl Writer {
    fn graph(&mut self, graph: &Graph) -> Offset {
        let version = self.version();
        let region = self.region(graph);
        let regions = self.builder.create_vector(&[region]);
        let table = self.builder.start_table();
        self.builder.push_slot_always(at(slot::GRAPH_VERSION), version);
        self.builder.push_slot_always(at(slot::GRAPH_REGIONS), regions);
        self.finished(table)
    }

    fn finished(&mut self, table: WIPOffset<flatbuffers::TableUnfinishedWIPOffset>) -> Offset {
        WIPOffset::new(self.builder.end_table(table).value())
    }

    fn version(&mut self) -> Offset {
        let table = self.builder.start_table();
        let [numbers @ .., draft] = slot::VERSION;
        for (slot, number) in numbers.into_iter().zip(fields::VERSION) {
            self.builder.push_slot_always(at(slot), number);
        }
        self.builder.push_slot_always(at(draft), false);
        self.finished(table)
    }

    fn region(&mut self, graph: &Graph) -> Offset {
        let block = self.block(graph);
        let blocks = self.builder.create_vector(&[block]);
        let name = self.builder.create_string(MAIN);
        let table = self.builder.start_table();
        self.builder.push_slot_always(at(slot::REGION_NAME), name);
        self.builder.push_slot_always(at(slot::REGION_BLOCKS), blocks);
        self.finished(table)
    }

    fn block(&mut self, graph: &Graph) -> Offset {
        let (shapes, tensors): (Vec<&Tensor>, Vec<&Tensor>) =
            graph.tensors.iter().partition(|tensor| tensor.kind == Kind::Shape);
        let tensors: Vec<Offset> = tensors.into_iter().map(|tensor| self.tensor(tensor)).collect();
        let shapes: Vec<Offset> = shapes.into_iter().map(|shape| self.shape(shape)).collect();
        let mut operators = self.constants(graph);
        operators.extend(graph.operators.iter().map(|operator| self.operator(graph, operator)).collect::<Vec<_>>());
        let [tensors, shapes, operators] =
            [tensors, shapes, operators].map(|tables| self.builder.create_vector(&tables));
        let [inputs, outputs] = [&graph.inputs, &graph.outputs].map(|ids| self.names(graph, ids));
        let name = self.builder.create_string(MAIN);
        let table = self.builder.start_table();
        self.builder.push_slot_always(at(slot::BLOCK_NAME), name);
        self.builder.push_slot_always(at(slot::BLOCK_OPERATORS), operators);
        self.builder.push_slot_always(at(slot::BLOCK_TENSORS), tensors);
        self.builder.push_slot_always(at(slot::BLOCK_INPUTS), inputs);
        self.builder.push_slot_always(at(slot::BLOCK_OUTPUTS), outputs);
        self.builder.push_slot_always(at(slot::BLOCK_SHAPES), shapes);
        self.finished(table)
    }

    fn names(&mut self, graph: &Graph, ids: &[TensorId]) -> Offset {
        let names: Vec<_> = ids.iter().map(|id| self.builder.create_string(&graph.get(*id).name)).collect();
        self.builder.create_vector(&names).as_union_value()
    }

    /// Bytes at a multiple of [`ALIGNMENT`].
    fn bytes(&mut self, bytes: &[u8]) -> Offset {
        while !(self.builder.unfinished_data().len() + bytes.len()).is_multiple_of(ALIGNMENT) {
            self.builder.push(0_u8);
        }
        self.builder.create_vector(bytes).as_union_value()
    }

    fn tensor(&mut self, Tensor { name, kind, sizes, data }: &Tensor) -> Offset {
        let data = data.as_ref().map(|data| self.bytes(data));
        let sizes: Vec<i32> = sizes.iter().map(|size| *size as i32).collect();
        let shape = self.builder.create_vector(&sizes);
        let name = self.builder.create_string(name);
        let table = self.builder.start_table();
        self.builder.push_slot_always(at(slot::TENSOR_NAME), name);
        self.builder.push_slot_always(at(slot::TENSOR_SHAPE), shape);
        self.builder.push_slot_always(at(slot::TENSOR_TYPE), *kind as u32);
        data.into_iter().for_each(|data| self.builder.push_slot_always(at(slot::TENSOR_DATA), data));
        self.finished(table)
    }

    fn shape(&mut self, Tensor { name, data, sizes, .. }: &Tensor) -> Offset {
        let data = self.bytes(data.as_deref().unwrap_or_default());
        let name = self.builder.create_string(name);
        let rank: usize = sizes.iter().product();
        let table = self.builder.start_table();
        self.builder.push_slot_always(at(slot::SHAPE_NAME), name);
        self.builder.push_slot_always(at(slot::SHAPE_RANK), rank as u32);
        self.builder.push_slot_always(at(slot::SHAPE_DATA), data);
        self.finished(table)
    }

    /// An operator for each constant.
    fn constants(&mut self, graph: &Graph) -> Vec<Offset> {
        let mut operators = Vec::new();
        for (index, tensor) in graph.tensors.iter().enumerate().filter(|(_, tensor)| tensor.data.is_some()) {
            let code = if tensor.kind == Kind::Shape { fields::CONST_SHAPE } else { fields::CONST };
            let table = self.builder.start_table();
            let attribute = self.finished(table);
            operators.push(self.call(graph, (code, attribute), &[], TensorId(index)));
        }
        operators
    }

    fn operator(&mut self, graph: &Graph, Operator { operation, inputs, output }: &Operator) -> Offset {
        let attribute = self.attributes(&**operation);
        self.call(graph, (operation.code(), attribute), inputs, *output)
    }

    fn call(
        &mut self,
        graph: &Graph,
        (code, attribute): (Code, Offset),
        inputs: &[TensorId],
        output: TensorId,
    ) -> Offset {
        let [inputs, outputs] = [inputs, &[output]].map(|ids| self.names(graph, ids));
        let table = self.builder.start_table();
        self.builder.push_slot_always(at(slot::OPERATOR_CODE), u32::from(code.number));
        self.builder.push_slot_always(at(slot::OPERATOR_ATTRIBUTE), attribute);
        self.builder.push_slot_always(at(slot::OPERATOR_INPUTS), inputs);
        self.builder.push_slot_always(at(slot::OPERATOR_OUTPUTS), outputs);
        self.builder.push_slot_always(at(slot::OPERATOR_ATTRIBUTE_TYPE), code.number);
        self.finished(table)
    }

    fn attributes(&mut self, operation: &dyn Operation) -> Offset {
        let attributes = operation.attributes();
        // Vectors lie outside the table, and are written before it.
        let vectors: Vec<Option<Offset>> = attributes.iter().map(|(_, value)| self.vector(value)).collect();
        let table = self.builder.start_table();
        for ((field, value), vector) in attributes.iter().zip(vectors) {
            let place = at(field.slot);
            match (value, vector) {
                (_, Some(vector)) => self.builder.push_slot_always(place, vector),
                (Value::Integer(number), _) => self.builder.push_slot_always(place, *number),
                (Value::Number(number), _) => self.builder.push_slot_always(place, *number),
                (Value::Flag(flag), _) => self.builder.push_slot_always(place, *flag),
                (Value::Integers(_) | Value::Bytes(_), None) => {}
            }
        }
        self.finished(table)
    }

    fn vector(&mut self, value: &Value) -> Option<Offset> {
        match value {
            Value::Integers(numbers) => Some(self.builder.create_vector(numbers).as_union_value()),
            Value::Bytes(bytes) => Some(self.bytes(bytes)),
            _ => None,
        }
    }
}
