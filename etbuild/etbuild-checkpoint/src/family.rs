//! The families of models, a file each.

mod arcee;
mod bamba;
mod bloom;
mod cohere;
mod cohere2;
mod conventions;
mod deepseek_v2;
mod deepseek_v3;
mod dots1;
mod ernie4_5;
mod ernie4_5_moe;
mod exaone4;
mod falcon;
mod falcon_h1;
mod gemma;
mod gemma2;
mod gemma3;
mod gemma3_vision;
mod gemma3n;
mod gemma4;
mod gemma4_vision;
mod glm;
mod glm4;
mod glm4_moe;
mod glm4_moe_lite;
mod gpt2;
mod gpt_bigcode;
mod gpt_neo;
mod gpt_neox;
mod gpt_oss;
mod gptj;
mod granite;
mod granitemoe;
mod granitemoehybrid;
mod hearing;
mod helium;
mod hunyuan;
mod hunyuan_moe;
mod idefics3;
mod lfm2;
mod llama;
mod llava;
mod mamba;
mod mamba2;
mod minicpm3;
mod minimax_m2;
mod ministral;
mod ministral3;
mod mistral;
mod mistral3;
mod mixtral;
mod mpt;
mod nemotron;
mod nemotron_h;
mod olmo;
mod olmo2;
mod olmo3;
mod olmoe;
mod opt;
mod phi;
mod phi3;
mod phimoe;
mod qwen2;
mod qwen2_5_vl;
mod qwen2_moe;
mod qwen2_vl;
mod qwen3;
mod qwen3_5;
mod qwen3_5_vision;
mod qwen3_moe;
mod qwen3_next;
mod qwen3_vl;
mod seed_oss;
mod smollm3;
mod stablelm;
mod starcoder2;
mod t5;
mod texts;
mod vision;
mod voxtral;
mod whisper;

pub use conventions::activation;
pub use t5::shape as t5_shape;

use crate::config::{Config, Keys};
use crate::{CheckpointError, Decoder};

/// Models with the same description function.
pub struct Family {
    /// The model classes of `transformers`, as configurations name the classes.
    pub architectures: &'static [&'static str],
    /// The keys that the family names otherwise.
    pub keys: Keys,
    /// The description of a model from the configuration.
    pub describe: fn(&Config) -> Result<Decoder, CheckpointError>,
}

/// Every family.
pub const FAMILIES: &[&Family] = &[
    &arcee::FAMILY,
    &bamba::FAMILY,
    &bloom::FAMILY,
    &cohere2::FAMILY,
    &cohere::FAMILY,
    &deepseek_v2::FAMILY,
    &deepseek_v3::FAMILY,
    &dots1::FAMILY,
    &ernie4_5::FAMILY,
    &ernie4_5_moe::FAMILY,
    &exaone4::FAMILY,
    &falcon::FAMILY,
    &falcon_h1::FAMILY,
    &gemma2::FAMILY,
    &gemma3::FAMILY,
    &gemma3_vision::FAMILY,
    &gemma3n::FAMILY,
    &gemma4::FAMILY,
    &gemma4_vision::FAMILY,
    &gemma::FAMILY,
    &glm4::FAMILY,
    &glm4_moe::FAMILY,
    &glm4_moe_lite::FAMILY,
    &glm::FAMILY,
    &gpt2::FAMILY,
    &gpt_bigcode::FAMILY,
    &gpt_neo::FAMILY,
    &gpt_neox::FAMILY,
    &gpt_oss::FAMILY,
    &gptj::FAMILY,
    &granite::FAMILY,
    &granitemoe::FAMILY,
    &granitemoehybrid::FAMILY,
    &helium::FAMILY,
    &hunyuan::FAMILY,
    &hunyuan_moe::FAMILY,
    &idefics3::FAMILY,
    &lfm2::FAMILY,
    &lfm2::MIXTURE,
    &llama::FAMILY,
    &llava::FAMILY,
    &mamba2::FAMILY,
    &mamba::FALCON,
    &mamba::FAMILY,
    &minicpm3::FAMILY,
    &minimax_m2::FAMILY,
    &ministral3::FAMILY,
    &ministral::FAMILY,
    &mistral3::FAMILY,
    &mistral::FAMILY,
    &mixtral::FAMILY,
    &mpt::FAMILY,
    &nemotron::FAMILY,
    &nemotron_h::FAMILY,
    &olmo2::FAMILY,
    &olmo3::FAMILY,
    &olmo::FAMILY,
    &olmoe::FAMILY,
    &opt::FAMILY,
    &phi3::FAMILY,
    &phi::FAMILY,
    &phimoe::FAMILY,
    &qwen2::FAMILY,
    &qwen2_5_vl::FAMILY,
    &qwen2_moe::FAMILY,
    &qwen2_vl::FAMILY,
    &qwen3::FAMILY,
    &qwen3_5::FAMILY,
    &qwen3_5::MIXTURE,
    &qwen3_5_vision::FAMILY,
    &qwen3_moe::FAMILY,
    &qwen3_next::FAMILY,
    &qwen3_vl::FAMILY,
    &seed_oss::FAMILY,
    &smollm3::FAMILY,
    &stablelm::FAMILY,
    &starcoder2::FAMILY,
    &t5::MT5,
    &t5::T5,
    &texts::FAMILY,
    &voxtral::FAMILY,
    &whisper::FAMILY,
];

/// The family of an architecture.
pub fn find(architecture: &str) -> Option<&'static Family> {
    FAMILIES.iter().copied().find(|family| family.architectures.contains(&architecture))
}
