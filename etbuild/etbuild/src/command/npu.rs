//! The compilers of NPUs on this machine, for `etbuild doctor`.

use serde_json::{Value, json};

/// The vendors' kits, as JSON and as text; for a missing kit, the reason.
pub fn describe() -> (Value, String) {
    let qnn = et_qnn::build::kit().map(str::to_owned).map_err(|problem| problem.sentence);
    let vela = etbuild_ethos_u::vela::version();
    let kits = [("QNN", qnn), ("Vela", vela)];
    let values: Vec<Value> = kits.iter().map(|(kit, found)| value(kit, found)).collect();
    let texts = kits.iter().map(|(kit, found)| match found {
        Ok(version) => format!("compiler of {kit} {version}"),
        Err(problem) => format!("no compiler of {kit}: {problem}"),
    });
    (Value::Array(values), texts.collect::<Vec<_>>().join("; "))
}

fn value(kit: &str, found: &Result<String, String>) -> Value {
    match found {
        Ok(version) => json!({ "kit": kit, "version": version }),
        Err(problem) => json!({ "kit": kit, "problem": problem }),
    }
}
