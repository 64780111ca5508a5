//! Layers to keep real, as lines for a recipe.

use etbuild_inspect::{AllowedLoss, KeptLayer, LayerProposal, Reached};

/// Every proposal: the reached accuracy, and the lines to add.
pub fn proposals_text(proposals: &[LayerProposal]) -> String {
    if proposals.is_empty() {
        return "the program is not quantized".to_owned();
    }
    proposals.iter().map(text).collect::<Vec<_>>().join("\n\n")
}

fn text(proposal: &LayerProposal) -> String {
    let LayerProposal { recipe, method, candidates, runs, .. } = proposal;
    let allowed = match proposal.allowed {
        AllowedLoss::Decibels(least) => format!("at least {least} dB"),
        AllowedLoss::Points(most) => format!("at most {most} points lost"),
    };
    let head = format!("{recipe}, {method}: {} now; limit: {allowed}", reached(&proposal.before));
    if proposal.layers.is_empty() {
        return format!("{head}\nthe limit is met without exceptions");
    }
    let lines: Vec<String> = proposal.layers.iter().map(line).collect();
    let kept = lines.len();
    format!(
        "{head}\n{kept} of {candidates} layers in float give {}, measured in {runs} runs\nadd to `quantize`:\n\n  layers:\n{}",
        reached(&proposal.after),
        lines.join("\n")
    )
}

fn reached(reached: &Reached) -> String {
    let sqnr = reached.sqnr.map_or_else(|| "no loss".to_owned(), |sqnr| format!("{sqnr:.1} dB"));
    match reached.lost {
        Some(lost) => format!("{lost:.2} points lost, {sqnr}"),
        None => sqnr,
    }
}

/// A line of `quantize.layers`; names are quoted for YAML.
fn line(layer: &KeptLayer) -> String {
    let quoted = |text: &String| serde_json::Value::from(text.as_str()).to_string();
    let name = layer.name.as_ref().map(|name| format!("name: {}", quoted(name)));
    let operator = layer.operator.as_ref().map(|operator| format!("operator: {}", quoted(operator)));
    let subject: Vec<String> = name.into_iter().chain(operator).collect();
    let gain = layer.gain.map_or_else(|| "no loss".to_owned(), |gain| format!("{gain:+.1} dB"));
    format!("    - {{ {}, scheme: float }} # {gain} alone", subject.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_can_be_pasted() {
        let name = Some("features.0\"x".to_owned());
        let layer = KeptLayer { name, operator: None, gain: Some(2.25) };
        assert_eq!(line(&layer), r#"    - { name: "features.0\"x", scheme: float } # +2.2 dB alone"#);
    }
}
