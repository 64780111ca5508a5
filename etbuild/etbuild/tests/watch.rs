//! The loop while editing.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;

use crate::support::{self, MODEL, Place, RECIPE, archive, files, not_cached, repository};

struct Watch {
    child: Child,
    results: Lines<BufReader<ChildStdout>>,
}

impl Watch {
    fn start(place: &Place, words: &str) -> Self {
        let mut command = place.command(words.split_whitespace());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let results = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, results }
    }

    /// Waits for the next deploy and returns its JSON result.
    fn next(&mut self) -> Value {
        serde_json::from_str(&self.results.next().unwrap().unwrap()).unwrap()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn only_a_changed_recipe_or_model_deploys_again() {
    let mut place = Place::warm();
    for part in ["recipes", "examples"] {
        files::copy(&repository().join(part), &place.path().join("checkout").join(part));
    }
    place.root = place.path().join("checkout");
    let on = "linux-x86_64";
    let words = format!("watch {RECIPE} --target {on} --deploys 4 --output json --set verify.tolerance=1000");
    let mut watch = Watch::start(&place, &words);
    assert_eq!(not_cached(&watch.next(), on), [""; 0]);
    fs::write(place.root.join("recipes/other.yaml"), "nobody reads this").unwrap();
    files::change(&place.root.join(RECIPE), |text| text.extend_from_slice(b"memory: { planner: naive }\n"));
    let ran = watch.next();
    assert_eq!(not_cached(&ran, on), ["plan", "emit", "verify"]);
    let error = |value: &Value| support::unit(value, on)["verification"]["max_error"].as_f64().unwrap();
    let before = error(&ran);
    // Like an editor: writes a new file and renames the file over the old file.
    let staged = place.root.join("staged.pt2");
    archive::retrain(&repository().join(MODEL), &staged);
    fs::rename(staged, place.root.join(MODEL)).unwrap();
    let ran = watch.next();
    assert!(not_cached(&ran, on).contains(&"import".to_owned()) && error(&ran) > before);
    // A recipe with a mistake is waited for.
    let good = fs::read(place.root.join(RECIPE)).unwrap();
    let good_length = good.len();
    fs::write(place.root.join(RECIPE), [&good[..], b"memory: { planner: greedy }\n"].concat()).unwrap();
    let status = watch.child.wait().unwrap();
    assert_eq!(status.code(), Some(3), "the fourth deploy met a duplicate key after {good_length} bytes");
}

/// F40: neither memory nor files are lost with each deploy.
#[cfg(target_os = "linux")]
#[test]
fn many_deploys_leave_no_file_open() {
    let mut place = Place::warm();
    for part in ["recipes", "examples"] {
        files::copy(&repository().join(part), &place.path().join("checkout").join(part));
    }
    place.root = place.path().join("checkout");
    let mut watch = Watch::start(&place, &format!("watch {RECIPE} --target linux-x86_64 --output json"));
    let recipe = place.root.join(RECIPE);
    let process = format!("/proc/{}", watch.child.id());
    let open = || fs::read_dir(format!("{process}/fd")).unwrap().count();
    let resident = || -> usize {
        let text = fs::read_to_string(format!("{process}/statm")).unwrap();
        text.split(' ').nth(1).unwrap().parse().unwrap()
    };
    let mut edit = |count: usize| {
        for _ in 0..count {
            files::change(&recipe, |text| text.extend_from_slice(b"# again\n"));
            assert_eq!(not_cached(&watch.next(), "linux-x86_64"), [""; 0]);
        }
    };
    edit(6);
    let (files_before, pages_before) = (open(), resident());
    edit(30);
    assert!(open() <= files_before + 1, "{files_before} open files became {}", open());
    assert!(resident() < pages_before * 3 / 2, "{pages_before} pages became {}", resident());
}
