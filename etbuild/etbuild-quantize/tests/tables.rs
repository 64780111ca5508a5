//! Accuracy of quantized embedding tables, and the keys under which quantized weights are kept.

use std::cell::RefCell;

use et_core::ScalarType;
use et_ops::call::OwnedTensor;
use etbuild_ir::text::parse;
use etbuild_ir::{ConstantData, Graph, LoweredProgram, Program};
use etbuild_quantize::{Data, Embedding, InMemory, Keeper, Kept, Options, Scheme, Tensors, Work, compare, quantize};

/// An 8 x 64 matrix of `bfloat16`, of both signs.
fn matrix(seed: usize) -> ConstantData {
    let bits = |index: usize| (0x3d00 + (index * seed % 509)) as u16 | ((index % 2) << 15) as u16;
    ConstantData::new((0..8 * 64).flat_map(|index| bits(index).to_le_bytes()).collect::<Vec<u8>>())
}

/// An embedding and a head that reads the embedding table where `tied`.
fn model(tied: bool) -> Program {
    let constants = [matrix(7919), matrix(104_729)];
    let [table, head] = [0, 1].map(|index: usize| constants[index].digest());
    let head_weight = if tied { "table" } else { "head" };
    let text = format!(
        "etbuild-ir 1 lowered
method forward
  input %tokens: int64[1, 2]
  constant %stored_table: bfloat16[8, 64] = \"table\" b3:{table}
  constant %stored_head: bfloat16[8, 64] = \"head\" b3:{head}
  %table: float32[8, 64] = dim_order_ops._to_dim_order_copy.default(%stored_table, false, [0, 1])
  %head: float32[8, 64] = dim_order_ops._to_dim_order_copy.default(%stored_head, false, [0, 1])
  %rows: float32[1, 2, 64] = aten.embedding.default(%table, %tokens, -1, false, false)
  %logits: float32[1, 2, 8] = aten.linear.default(%rows, %{head_weight}, none)
  return %logits
"
    );
    parse(&text, &mut |digest| constants.iter().find(|data| data.digest() == digest).cloned()).unwrap().1
}

fn quantized(tied: bool, options: &Options, keeper: &dyn Keeper) -> Graph {
    let program = quantize(LoweredProgram::verify(model(tied)).unwrap(), options, Data::samples(None), keeper).unwrap();
    program.into_program().methods.remove("forward").unwrap()
}

/// The worst signal-to-noise ratio of a layer, in decibels.
fn worst_sqnr(tied: bool, options: &Options) -> f64 {
    let bytes = [3_i64, 6].into_iter().flat_map(i64::to_le_bytes).collect();
    let tokens = OwnedTensor { scalar_type: ScalarType::Long, sizes: vec![1, 2], bytes };
    let float = model(tied).methods.remove("forward").unwrap();
    let samples = Tensors::from([("tokens".to_owned(), tokens)]);
    compare(&float, &quantized(tied, options, &InMemory), &samples).unwrap()[0].sqnr
}

#[test]
fn int4_tables_keep_15_db_and_int8_tables_35_db() {
    let int4 = Some(Embedding::Weight4);
    for (tied, scheme, embedding, group_size, least) in [
        (true, Scheme::Dynamic8Weight4, None, None, 15.0),
        (true, Scheme::Dynamic8Weight4, int4, None, 15.0),
        (false, Scheme::Dynamic8Weight4, int4, Some(16), 15.0),
        (true, Scheme::Int8Weights, None, None, 35.0),
        (true, Scheme::DynamicInt8, None, None, 35.0),
        (true, Scheme::Int8Weights, Some(Embedding::Weight8), None, 35.0),
    ] {
        let options = Options { embedding, group_size, ..Options::new(scheme) };
        let found = worst_sqnr(tied, &options);
        assert!(found > least, "{options:?}: {found} dB");
    }
}

/// Records the names and identities of the weights that it is asked to keep.
#[derive(Default)]
struct Recorder(RefCell<Vec<(String, String)>>);

impl Keeper for Recorder {
    fn keep(&self, name: &str, work: &Work) -> Kept {
        self.0.borrow_mut().push((name.to_owned(), work.identity()));
        InMemory.keep(name, work)
    }
}

#[test]
fn a_tied_table_is_quantized_once_under_a_key_of_its_weight_options() {
    let kept = |options: &Options| {
        let recorder = Recorder::default();
        quantized(true, options, &recorder);
        recorder.0.into_inner()
    };
    let options = Options::new(Scheme::Dynamic8Weight4);
    let first = kept(&options);
    assert_eq!((first.len(), first[0].0.as_str()), (1, "table"));
    assert_eq!(kept(&options), first);
    assert_ne!(kept(&Options { group_size: Some(64), ..options.clone() }), first);
    assert_eq!(
        kept(&Options::new(Scheme::Int4Weights)),
        first,
        "the scheme of activations is not in the key of weights"
    );
    assert_ne!(kept(&Options::new(Scheme::Int8Weights)), first);
}
