//! `etbuild explain`: cache misses, kernels, partitions, the loss of quantization, or a diagnostic code.

use etbuild_diagnostic::{Code, CodeInfo, Diagnostic, Explanation};
use etbuild_engine::{Mode, Stage, plan};
use etbuild_inspect::{AllowedLoss, operators, partitions, propose_layers, quantization};
use etbuild_yaml::{quote, suggest};

use super::{Outcome, simulation};
use crate::arguments::{self, RecipeOptions, Recipes};
use crate::render::{operators_text, partitions_text, plan_table, proposals_text, quantization_text};
use crate::session::Session;

pub fn run(session: &Session, arguments: &arguments::Explain) -> Outcome {
    if let Some(info) = code(arguments) {
        explain_code(session, info);
        return Ok(Vec::new());
    }
    if let Some(diagnostic) = unknown_code(arguments) {
        return Err(vec![diagnostic]);
    }
    let partition = arguments.partition.clone().flatten();
    let recipes = Recipes {
        recipes: vec![arguments.subject.clone()],
        only: Vec::new(),
        options: RecipeOptions { partition, ..RecipeOptions::default() },
    };
    if arguments.partition.is_some() {
        return explain_partition(session, &recipes);
    }
    if arguments.operators {
        return explain_operators(session, &recipes);
    }
    if let Some(backend) = &arguments.simulate {
        return simulation::explain(session, recipes, backend, arguments);
    }
    if let Some(loss) = &arguments.search {
        return propose(session, &recipes, loss);
    }
    if arguments.quantization {
        return explain_quantization(session, &recipes);
    }
    let stage = arguments.stage.as_deref();
    if let Some(name) = stage.filter(|name| !Stage::ALL.iter().any(|stage| stage.name() == *name)) {
        return Err(vec![unknown_stage(name)]);
    }
    let plans = plan(&session.world(Mode::Plan)?, &session.request(&recipes)?)?;
    let value = serde_json::json!({ "units": plans });
    session.terminal.succeed("plan", value, &plan_table(&plans, stage));
    Ok(Vec::new())
}

fn code(arguments: &arguments::Explain) -> Option<&'static CodeInfo> {
    let subject = arguments.subject.to_str()?;
    Code::TABLE.iter().find(|info| info.id.eq_ignore_ascii_case(subject))
}

/// The error for a word that is written as codes are, and that is no code.
fn unknown_code(arguments: &arguments::Explain) -> Option<Diagnostic> {
    let subject = arguments.subject.to_str()?.to_ascii_uppercase();
    let digits = subject.strip_prefix("ETB").filter(|digits| !digits.is_empty())?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let ids: Vec<&str> = Code::TABLE.iter().map(|info| info.id).collect();
    let padded = format!("ETB{digits:0>4}");
    let near = ids.iter().find(|id| **id == padded).or_else(|| ids.iter().rev().find(|id| ***id < *padded));
    let message = format!("no diagnostic has the code {}", quote(&subject));
    let help = near.map(|near| match *near == padded {
        true => format!("did you mean `{near}`?"),
        false => format!("codes are such as `{near}`: write `etbuild explain {near}`"),
    });
    Some(Diagnostic::error(Code::Usage, message).help(help.unwrap_or_default()))
}

fn explain_code(session: &Session, info: &CodeInfo) {
    let status = info.failure.exit_code();
    let Explanation { cause, example, fix } = info.code.explanation();
    let value = serde_json::json!({
        "code": info.id, "title": info.title, "explanation": info.summary, "exit_code": status,
        "cause": cause, "example": example.text, "fix": fix,
    });
    let lines: Vec<String> = example.text.lines().map(|line| format!("    {line}")).collect();
    let text = format!(
        "{}: {}\n\n{}\n\nCause: {cause}\n\nExample:\n\n{}\n\nFix: {fix}\n\nExit status: {status}",
        info.id,
        info.title,
        info.summary,
        lines.join("\n")
    );
    session.terminal.present(&value, &text);
}

/// Missing kernels decide the exit code, as in a build of the program.
fn explain_operators(session: &Session, recipes: &Recipes) -> Outcome {
    let programs = operators(&session.world(Mode::Build)?, &session.request(recipes)?)?;
    let diagnostics: Vec<Diagnostic> = programs.iter().flat_map(|program| program.diagnostics.clone()).collect();
    let value = serde_json::json!({
        "schema": "etbuild.operators/1", "ok": diagnostics.is_empty(), "programs": programs,
    });
    session.terminal.present(&value, &operators_text(&programs));
    session.terminal.explain(&diagnostics);
    Ok(diagnostics)
}

/// The backend of every node, and the reasons for rejections.
fn explain_partition(session: &Session, recipes: &Recipes) -> Outcome {
    let units = partitions(&session.world(Mode::Build)?, &session.request(recipes)?)?;
    let value = serde_json::json!({ "units": units });
    session.terminal.succeed("partition", value, &partitions_text(&units));
    Ok(Vec::new())
}

/// The loss of quantization, layer by layer.
fn explain_quantization(session: &Session, recipes: &Recipes) -> Outcome {
    let programs = quantization(&session.world(Mode::Build)?, &session.request(recipes)?)?;
    let diagnostics: Vec<Diagnostic> = programs.iter().flat_map(|program| program.diagnostics.clone()).collect();
    let value = serde_json::json!({
        "schema": "etbuild.quantization/1", "ok": diagnostics.is_empty(), "programs": programs,
    });
    session.terminal.present(&value, &quantization_text(&programs));
    session.terminal.explain(&diagnostics);
    Ok(diagnostics)
}

/// The layers to keep in float for a limit of the loss.
fn propose(session: &Session, recipes: &Recipes, loss: &str) -> Outcome {
    let allowed = allowed_loss(loss).ok_or_else(|| vec![unknown_loss(loss)])?;
    let proposals = propose_layers(&session.world(Mode::Build)?, &session.request(recipes)?, allowed)?;
    let value = serde_json::json!({ "proposals": proposals });
    session.terminal.succeed("proposal", value, &proposals_text(&proposals));
    Ok(Vec::new())
}

/// `40dB`, `40 dB`, `0.5pt`, `0.5 points`.
fn allowed_loss(text: &str) -> Option<AllowedLoss> {
    let end = text.find(|character: char| character.is_alphabetic())?;
    let (number, unit) = text.split_at(end);
    let number: f64 = number.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)?;
    match unit {
        "dB" | "db" => Some(AllowedLoss::Decibels(number)),
        "pt" | "points" | "point" => Some(AllowedLoss::Points(number)),
        _ => None,
    }
}

fn unknown_loss(text: &str) -> Diagnostic {
    let message = format!("invalid loss `{text}`");
    Diagnostic::error(Code::Usage, message).help("write decibels such as `40dB`, or points of accuracy such as `0.5pt`")
}

fn unknown_stage(name: &str) -> Diagnostic {
    let names: Vec<&str> = Stage::ALL.iter().map(|stage| stage.name()).collect();
    let list = format!("the stages are {}", names.join(", "));
    let diagnostic = Diagnostic::error(Code::Usage, format!("unknown stage {}", quote(name)));
    match suggest(name, names.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).note(list),
        None => diagnostic.help(list),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_have_a_unit() {
        assert_eq!(allowed_loss("40dB"), Some(AllowedLoss::Decibels(40.0)));
        assert_eq!(allowed_loss("0.5 points"), Some(AllowedLoss::Points(0.5)));
        for text in ["40", "-1dB", "dB", "1e999dB", "0.5%", ""] {
            assert_eq!(allowed_loss(text), None, "{text}");
        }
    }
}
