//! The loss of quantization: as an artifact, and judged by the recipe's limits.

use etbuild_diagnostic::{Code, Diagnostic};
use etbuild_quantize::Loss;
use etbuild_recipe::Quantize;
use serde::{Deserialize, Serialize};

/// The losses of a method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// The loss up to each node, the largest first. Nodes without loss are left out.
    pub layers: Vec<LayerLoss>,
    /// Right answers on labelled data, where the recipe names some.
    pub answers: Option<Answers>,
}

/// The loss up to a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerLoss {
    /// The method.
    pub method: String,
    /// The value that the node computes.
    pub value: String,
    /// The operator of the node.
    pub operator: String,
    /// The module of the model's source; `None` where the archive does not say.
    pub module: Option<String>,
    /// Whether the node itself is quantized.
    pub quantized: bool,
    /// The signal-to-noise ratio against the program that is not quantized, in decibels.
    pub sqnr: f64,
    /// The largest absolute error of an element.
    pub max_error: f64,
}

/// How many answers are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// Of how many.
    pub cases: usize,
    /// Of the program that is not quantized.
    pub before: usize,
    /// Of the quantized program.
    pub after: usize,
}

impl Answers {
    /// The share of right answers before and after, in percent.
    pub fn shares(&self) -> [f64; 2] {
        [self.before, self.after].map(|right| right as f64 / self.cases.max(1) as f64 * 100.0)
    }

    /// The points that are lost; negative where the quantized program is better.
    pub fn lost(&self) -> f64 {
        (self.before as f64 - self.after as f64) / self.cases.max(1) as f64 * 100.0
    }
}

impl From<Loss> for LayerLoss {
    fn from(loss: Loss) -> Self {
        let Loss { value, operator, module, quantized, sqnr, max_error } = loss;
        let module = (!module.is_empty()).then_some(module);
        Self { method: String::new(), value, operator, module, quantized, sqnr, max_error }
    }
}

/// Every limit of a recipe that the losses of a method break, the worst layers first.
pub fn exceeded(losses: &Losses, quantize: &Quantize) -> Vec<Diagnostic> {
    beyond_accuracy(losses, quantize).into_iter().chain(beyond_layers(losses, quantize)).collect()
}

fn beyond_layers(losses: &Losses, quantize: &Quantize) -> Vec<Diagnostic> {
    let Some(limit) = &quantize.min_sqnr else { return Vec::new() };
    let least = limit.value.value();
    let worse = losses.layers.iter().filter(|loss| loss.quantized && loss.sqnr < least);
    let mistake = |loss: &LayerLoss| {
        let LayerLoss { value, operator, module, sqnr, .. } = loss;
        let place = module.as_ref().map(|module| format!(" of `{module}`")).unwrap_or_default();
        let message = format!("`{value}`{place} has a signal-to-noise ratio of {sqnr:.1} dB, the least is {least} dB");
        Diagnostic::error(Code::QuantizationLoss, message)
            .at((*limit.span).clone())
            .help(format!("keep the layer real in `quantize.layers`; it is a call of `{operator}`"))
    };
    worse.take(10).map(mistake).collect()
}

fn beyond_accuracy(losses: &Losses, quantize: &Quantize) -> Option<Diagnostic> {
    let limit = quantize.accuracy.as_ref()?.max_loss.as_ref()?;
    let (answers, most) = (losses.answers?, limit.value.value());
    let [before, after] = answers.shares();
    let message = format!(
        "quantization takes {:.2} points of accuracy ({before:.2} % to {after:.2} %), {most} are allowed",
        answers.lost()
    );
    let help = format!("`etbuild explain --quantization --search {most}pt` proposes layers to keep real");
    let mistake = || Diagnostic::error(Code::AccuracyLost, message).at((*limit.span).clone()).help(help);
    (answers.lost() > most).then(mistake)
}
