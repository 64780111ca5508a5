//! DeepSeek V2: latent attention, and a mixture of experts behind the first layers.

use super::conventions::{Class, Mixture};
use super::{Family, conventions};
use crate::config::Config;
use crate::{Biases, CheckpointError, Decoder, Experts, Routing, Shares};

pub const FAMILY: Family = Family { architectures: &["DeepseekV2ForCausalLM"], keys: &[], describe };

/// `DeepseekV2Config`.
const CLASS: Class = Class { is_interleaved: true, ..Class::LLAMA };
/// The experts of the class, whose groups are as good as their best expert.
const MIXTURE: Mixture = Mixture {
    shares: Shares::Softmax,
    correction: None,
    judged: 1,
    dense: 0,
    scale: 1.0,
    groups: [1, 1],
    methods: &["greedy", GROUPED],
    ..Mixture::DEEPSEEK
};
/// The method of models whose tokens choose from the best groups.
const GROUPED: &str = "group_limited_greedy";

fn describe(config: &Config) -> Result<Decoder, CheckpointError> {
    let mut decoder = conventions::decoder(config, &CLASS)?;
    conventions::latent(&mut decoder, config, &CLASS)?;
    decoder.attention.biases = Biases::all(config.flag("attention_bias")?);
    decoder.feed_forward.biases = config.flag("mlp_bias")?;
    config.refuse("norm_topk_prob")?;
    let experts = conventions::deepseek_experts(&mut decoder, config, &MIXTURE)?;
    let is_grouped = config.optional_text("topk_method")?.as_deref() == Some(GROUPED);
    let groups = experts.routing.groups.filter(|_| is_grouped);
    let routing = Routing { groups, ..experts.routing };
    decoder.experts = Some(Experts { is_normalized: false, routing, ..experts });
    Ok(decoder)
}
