//! The names of a decoder's modules.

/// The names of modules, as tensors have them. Names of layers, attention and networks are within the module above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// The embedding.
    pub embedding: &'static str,
    /// The normalization of the embedding.
    pub embedding_norm: &'static str,
    /// The learned position embeddings.
    pub positions: &'static str,
    /// The list of layers.
    pub layers: &'static str,
    /// The attention of a layer.
    pub attention: &'static str,
    /// The projections of attention to queries, keys and values.
    pub inputs: [&'static str; 3],
    /// The projection to queries, keys and values, where the three are one matrix.
    pub fused_inputs: &'static str,
    /// The projection of attention to the output.
    pub output: &'static str,
    /// The normalizations of the heads of queries and of keys.
    pub head_norms: [&'static str; 2],
    /// The feed-forward network of a layer; empty where the layer itself has the projections.
    pub network: &'static str,
    /// The gate of a network.
    pub gate: &'static str,
    /// The projection of a network to the elements between.
    pub up: &'static str,
    /// The gate and the projection `up`, where both are one matrix.
    pub gate_and_up: &'static str,
    /// The projection of a network to the output.
    pub down: &'static str,
    /// The normalization ahead of the head.
    pub norm: &'static str,
    /// The output head.
    pub head: &'static str,
}

impl Names {
    /// The names of Llama, which most families share.
    pub const LLAMA: Self = Self {
        embedding: "model.embed_tokens",
        embedding_norm: "",
        positions: "",
        layers: "model.layers",
        attention: "self_attn",
        inputs: ["q_proj", "k_proj", "v_proj"],
        fused_inputs: "qkv_proj",
        output: "o_proj",
        head_norms: ["q_norm", "k_norm"],
        network: "mlp",
        gate: "gate_proj",
        up: "up_proj",
        gate_and_up: "gate_up_proj",
        down: "down_proj",
        norm: "model.norm",
        head: "lm_head",
    };

    /// The module of a layer.
    pub fn layer(&self, index: usize) -> String {
        format!("{}.{index}", self.layers)
    }

    /// The table of the embedding.
    pub fn table(&self) -> String {
        format!("{}.weight", self.embedding)
    }

    /// The matrix of the head.
    pub fn head_matrix(&self) -> String {
        format!("{}.weight", self.head)
    }
}

/// The names of the modules of a mixture of experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpertNames {
    /// The mixture, in a layer.
    pub module: &'static str,
    /// The router, in the mixture.
    pub router: &'static str,
    /// The list of experts, in the mixture.
    pub list: &'static str,
    /// The gate of an expert.
    pub gate: &'static str,
    /// The projection to the elements between.
    pub up: &'static str,
    /// The projection to the output.
    pub down: &'static str,
    /// The network that every token passes, in the mixture.
    pub shared: &'static str,
    /// The gate of that network, in the mixture; empty where the network has none.
    pub shared_gate: &'static str,
}

impl ExpertNames {
    /// The names of Qwen, which most families share.
    pub const QWEN: Self = Self {
        module: "mlp",
        router: "gate",
        list: "experts",
        gate: "gate_proj",
        up: "up_proj",
        down: "down_proj",
        shared: "shared_expert",
        shared_gate: "shared_expert_gate",
    };

    /// The same with one tensor for gate and up of all experts.
    pub const STACKED: Self = Self { gate: "gate_up_proj", up: "gate_up_proj", ..Self::QWEN };

    /// The names of DeepSeek.
    pub const DEEPSEEK: Self = Self { shared: "shared_experts", shared_gate: "", ..Self::QWEN };
}

/// The module of a layer's normalization, if any.
pub fn norm_within(layer: &str, name: Option<&str>) -> Option<String> {
    name.map(|name| format!("{layer}.{name}"))
}

/// The name of a module in another one.
pub fn within(module: &str, name: &str) -> String {
    if name.is_empty() { module.to_owned() } else { format!("{module}.{name}") }
}
