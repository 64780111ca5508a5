"""Small encoders of random weights, and what transformers computes with them.

    python encoders.py FOLDER     writes FOLDER/NAME/model and FOLDER/NAME/expected.json of each

Such a file is a list of readings: `text` and `pair`, each a text or null, `tokens`, `types`, and `output`, the embedding, the logits of
classes, or the logits of all tokens.
"""

import json
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = "in on the a cat dog mat sat zürich bern is city of and , . ! ? ##s ##ing ##ed run walk".split()
LETTERS = [letter for one in "abcdefghijklmnopqrstuvwxyzäöü" for letter in (one, "##" + one)]
SHAPE = dict(vocab_size=120, hidden_size=48, num_hidden_layers=2, num_attention_heads=6, intermediate_size=80)
DISTIL = dict(vocab_size=120, dim=48, n_layers=2, n_heads=6, hidden_dim=80, max_position_embeddings=24)
ROBERTA = SHAPE | dict(max_position_embeddings=26, type_vocab_size=1)
MPNET = SHAPE | dict(max_position_embeddings=26)
MODERN = SHAPE | dict(num_hidden_layers=4, max_position_embeddings=24, local_attention=8, pad_token_id=0)
BIASES = dict(norm_bias=True, attention_bias=True, mlp_bias=True, classifier_bias=True)
LABELS = dict(id2label={0: "O", 1: "PLACE", 2: "VERB"})
T5 = dict(vocab_size=120, d_model=48, d_kv=10, d_ff=80, num_layers=3, num_heads=4, relative_attention_num_buckets=16,
          relative_attention_max_distance=20, n_positions=40)
GROUPED = SHAPE | dict(num_hidden_layers=3, num_key_value_heads=2, head_dim=16, tie_word_embeddings=False)
MODELS = {
    "bert": ("Bert", "Model", SHAPE | dict(max_position_embeddings=24), {}),
    "bert-cls": ("Bert", "Model", SHAPE | dict(max_position_embeddings=24, hidden_act="gelu_new"), dict(pooling="cls")),
    "bert-max": ("Bert", "ForMaskedLM", SHAPE | dict(max_position_embeddings=24), dict(pooling="max", normalize=True)),
    "bert-wide": ("Bert", "Model", SHAPE | dict(max_position_embeddings=300, intermediate_size=1536), dict(normalize=True)),
    "bert-classes": ("Bert", "ForSequenceClassification", SHAPE | dict(max_position_embeddings=24) | LABELS, {}),
    "bert-words": ("Bert", "ForTokenClassification", SHAPE | dict(max_position_embeddings=24) | LABELS, {}),
    "distilbert": ("DistilBert", "Model", DISTIL, {}),
    "distilbert-classes": ("DistilBert", "ForSequenceClassification", DISTIL | LABELS, {}),
    "distilbert-words": ("DistilBert", "ForTokenClassification", DISTIL | LABELS, {}),
    "roberta": ("Roberta", "Model", ROBERTA, {}),
    "roberta-words": ("Roberta", "ForTokenClassification", ROBERTA | LABELS, {}),
    "xlm-roberta-score": ("XLMRoberta", "ForSequenceClassification", ROBERTA | dict(id2label={0: "score"}), {}),
    "camembert": ("Camembert", "Model", ROBERTA | dict(hidden_act="relu"), {}),
    "mpnet": ("MPNet", "Model", MPNET | dict(max_position_embeddings=302), dict(normalize=True)),
    "mpnet-masked": ("MPNet", "ForMaskedLM", MPNET, {}),
    "mpnet-classes": ("MPNet", "ForSequenceClassification", MPNET | LABELS, {}),
    "mpnet-words": ("MPNet", "ForTokenClassification", MPNET | LABELS, {}),
    "modernbert": ("ModernBert", "Model", MODERN | dict(max_position_embeddings=300, local_attention=64), dict(pooling="cls")),
    "modernbert-masked": ("ModernBert", "ForMaskedLM", MODERN | BIASES, {}),
    "modernbert-classes": ("ModernBert", "ForSequenceClassification", MODERN | LABELS | dict(classifier_pooling="mean"), {}),
    "modernbert-score": ("ModernBert", "ForSequenceClassification", MODERN | BIASES | dict(id2label={0: "score"}), {}),
    "modernbert-words": ("ModernBert", "ForTokenClassification", MODERN | LABELS | dict(
        layer_types=["sliding_attention", "full_attention"] * 2, classifier_activation="relu"), {}),
    "t5": ("T5", "EncoderModel", T5, {}),
    "t5-gated": ("T5", "EncoderModel", T5 | dict(feed_forward_proj="gated-gelu", d_kv=16),
                 dict(normalize=True, dense=dict(out_features=32, bias=False, activation_function="torch.nn.modules.linear.Identity"))),
    "t5-activation": ("T5", "EncoderModel", T5 | dict(dense_act_fn="silu"), {}),
    "mt5": ("MT5", "EncoderModel", T5 | dict(feed_forward_proj="gated-gelu", layer_norm_epsilon=1e-5),
            dict(pooling="max", dense=dict(out_features=64, bias=True, activation_function="torch.nn.modules.activation.Tanh"))),
    "qwen3-embedding": ("Qwen3", "Model", GROUPED | dict(max_position_embeddings=24), dict(pooling="last", normalize=True)),
    "qwen3-tied": ("Qwen3", "ForCausalLM", GROUPED | dict(max_position_embeddings=24, tie_word_embeddings=True), dict(pooling="last")),
    "mistral-embedding": ("Mistral", "ForCausalLM", GROUPED | dict(max_position_embeddings=300, sliding_window=None),
                          dict(pooling="last", normalize=True)),
    "bert-two-aims": ("Bert", "ForPreTraining", SHAPE | dict(max_position_embeddings=24), {}),
    "distilbert-masked": ("DistilBert", "ForMaskedLM", DISTIL, {}),
    "roberta-masked": ("Roberta", "ForMaskedLM", ROBERTA, {}),
    "roberta-classes": ("Roberta", "ForSequenceClassification", ROBERTA | LABELS, {}),
    "xlm-roberta": ("XLMRoberta", "Model", ROBERTA, {}),
    "xlm-roberta-masked": ("XLMRoberta", "ForMaskedLM", ROBERTA, {}),
    "xlm-roberta-words": ("XLMRoberta", "ForTokenClassification", ROBERTA | LABELS, {}),
    "camembert-masked": ("Camembert", "ForMaskedLM", ROBERTA | dict(hidden_act="relu2"), {}),
    "camembert-classes": ("Camembert", "ForSequenceClassification", ROBERTA | LABELS, {}),
    "camembert-words": ("Camembert", "ForTokenClassification", ROBERTA | LABELS, {}),
}
# Decoders, whose positions begin at 0 too.
DECODERS = ("Qwen3", "Mistral")
# Families with the special tokens of BERT, whose positions begin at 0.
BERTS = ("Bert", "DistilBert", "ModernBert")
TEXTS = ["the", "The cat sat on a mat.", "Running, walked: ZÜRICH is a city!", "a dog and a cat " * 9, "漢字 the", "x" * 90]
PAIRS = [("is zürich a city ?", "zürich is a city of cats and dogs ."), ("a", "the dog " * 20)]


def tokenizer(family):
    """A tokenizer of words, and of letters for other words."""
    is_bert = family in BERTS
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"] if is_bert else ["<s>", "<pad>", "</s>", "[UNK]"]
    first, last = ("[CLS]", "[SEP]") if is_bert else ("<s>", "</s>")
    vocabulary = {word: index for index, word in enumerate(special + WORDS + LETTERS)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(strip_accents=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    second = int(is_bert)
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first}:0 $A:0 {last}:0 $B:{second} {last}:{second}",
        special_tokens=[(first, vocabulary[first]), (last, vocabulary[last])])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token=special[0 if is_bert else 1], unk_token="[UNK]",
        model_input_names=["input_ids", "attention_mask", "token_type_ids"])


def pooled(states, how, layer):
    """The embedding of hidden states, `[n, width]`, by a linear layer or none."""
    pooling = how.get("pooling", "mean")
    vector = dict(mean=states.mean(0), cls=states[0], max=states.max(0).values, last=states[-1])[pooling]
    if layer:
        vector = layer(vector)
        vector = vector.tanh() if how["dense"]["activation_function"].endswith("Tanh") else vector
    return torch.nn.functional.normalize(vector, dim=0) if how.get("normalize") else vector


def write_dense(folder, dense):
    """The module `Dense` of sentence-transformers."""
    layer = torch.nn.Linear(48, dense["out_features"], bias=dense["bias"])
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(dense | dict(in_features=48)))
    save_file({f"linear.{name}": tensor for name, tensor in layer.state_dict().items()}, folder / "model.safetensors")
    return layer


def write(folder, family, head, keys, how):
    torch.manual_seed(len(folder.name))
    config = getattr(transformers, family + "Config")(**keys)
    model = getattr(transformers, family + head)(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, 1.0 if parameter.dim() == 1 else 0.0, 0.2)
    model.save_pretrained(folder / "model")
    words = tokenizer(family)
    most = keys.get("n_positions") or config.max_position_embeddings - (0 if family in BERTS + DECODERS else 2)
    words.model_max_length = most
    words.save_pretrained(folder / "model")
    layer = write_dense(folder / "model/2_Dense", how["dense"]) if "dense" in how else None
    if how:
        (folder / "model/1_Pooling").mkdir()
        modes = {f"pooling_mode_{name}": key == how.get("pooling", "mean") for name, key in
                 [("mean_tokens", "mean"), ("cls_token", "cls"), ("max_tokens", "max"), ("lasttoken", "last")]}
        (folder / "model/1_Pooling/config.json").write_text(json.dumps(modes | dict(word_embedding_dimension=48)))
        modules = [("", "Transformer"), ("1_Pooling", "Pooling")] + [("2_Dense", "Dense")] * bool(layer)
        modules += [("3_Normalize", "Normalize")] * bool(how.get("normalize"))
        (folder / "model/modules.json").write_text(json.dumps(
            [dict(path=path, type="sentence_transformers.models." + kind) for path, kind in modules]))
    readings = []
    pairs = PAIRS if head == "ForSequenceClassification" else []
    texts = [] if len(config.id2label) == 1 and pairs else TEXTS
    inputs = [(text, None) for text in texts] + pairs + [(None, length) for length in (1, 2, 7, most)]
    for text, pair in inputs:
        if text is None:
            read = dict(input_ids=torch.arange(3, 3 + pair)[None] % 100 + 3)
            read["token_type_ids"] = torch.zeros_like(read["input_ids"])
        else:
            read = words(text, pair, truncation=True, return_tensors="pt")
        types = read["token_type_ids"]
        given = dict(input_ids=read["input_ids"])
        if family == "Bert":
            given["token_type_ids"] = types
        with torch.no_grad():
            is_classifier = head.endswith("Classification")
            output = model(**given).logits[0] if is_classifier else pooled(model.base_model(**given).last_hidden_state[0], how, layer)
        readings.append(dict(text=text, pair=pair if text else None, tokens=read["input_ids"][0].tolist(),
                             types=types[0].tolist(), output=output.flatten().tolist()))
    (folder / "expected.json").write_text(json.dumps(readings))
    seven = [reading for reading in readings if reading["text"] is None and len(reading["tokens"]) == 7]
    save_file(dict(tokens=torch.tensor([seven[0]["tokens"]] * 2), output_0=torch.tensor([seven[0]["output"]] * 2)),
              folder / "case.safetensors")


for name, model in MODELS.items():
    folder = Path(sys.argv[1]) / name
    folder.mkdir(parents=True)
    write(folder, *model)
