//! The page of a report in a browser: headless Chromium, of the package `chromium`.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::programs::has;
use crate::support::{Place, RECIPE};

/// Writes its findings into the page's title as JSON, with all folds open. On a phone no content except scrollable
/// elements may be wider than the screen; the contrast of text must satisfy WCAG 2; scrollable elements must be
/// reachable by keyboard.
const PROBE: &str = r#"<script>
document.querySelectorAll("details").forEach(fold => fold.open = true);
document.body.style.width = "340px";
const all = [...document.querySelectorAll("body *")], scrolls = ".scroll, .map";
const left = document.body.getBoundingClientRect().left;
const inside = element => { const own = element.closest(scrolls); return own && own !== element; };
const right = Math.max(...all.filter(element => !inside(element)).map(element => element.getBoundingClientRect().right - left));
const numbers = color => color.match(/[\d.]+/g).map(Number);
const light = color => {
  const [r, g, b] = numbers(color).slice(0, 3).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = element => {
  for (let each = element; each; each = each.parentElement) {
    const color = getComputedStyle(each).backgroundColor;
    if (numbers(color)[3] !== 0) return color;
  }
  return "rgb(255, 255, 255)";
};
const contrast = element => {
  const [high, low] = [light(getComputedStyle(element).color), light(behind(element))].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
};
const says = element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
const texts = all.filter(element => says(element) && !element.closest("svg, script, .skip"));
const reachable = element => { element.focus(); return document.activeElement === element; };
const stops = all.filter(element => element.matches("a, summary, .scroll"));
document.title = "probe" + JSON.stringify({
  right: Math.ceil(right), contrast: Math.min(...texts.map(contrast)), texts: texts.length,
  dark: matchMedia("(prefers-color-scheme: dark)").matches, requests: performance.getEntriesByType("resource").length,
  stops: stops.length, unreachable: stops.filter(element => !reachable(element)).length,
}) + "end";
</script></body>"#;

/// The page of a deploy with an inserted probe, without the policy that would block the probe.
fn probed(place: &Place) -> std::path::PathBuf {
    place.run(&format!("report {RECIPE} --target linux-x86_64 --latency")).expect(0);
    let html = std::fs::read_to_string(place.out().join("digits/linux-x86_64/report.html")).unwrap();
    let policy = html.lines().find(|line| line.contains("Content-Security-Policy")).unwrap();
    place.file("probe.html", html.replace(policy, "").replace("</body>", PROBE))
}

/// The findings of the probe for a dark or light system theme. Without Chromium the test is skipped with a message,
/// except where emulators are required.
fn shown(page: &Path, is_dark: bool) -> Option<Value> {
    if !has("chromium", &["--version"]) {
        return None;
    }
    let mut browser = Command::new("chromium");
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
    browser.arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!is_dark)));
    let output = browser.arg(format!("file://{}", page.display())).stderr(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = text.split("<title>probe").nth(1).and_then(|text| text.split("end</title>").next());
    Some(serde_json::from_str(said.unwrap_or_else(|| panic!("{text}"))).unwrap())
}

#[test]
fn a_page_fits_a_phone_works_by_keyboard_and_makes_no_requests() {
    let place = Place::warm();
    let Some(said) = shown(&probed(&place), false) else { return };
    assert!(said["right"].as_u64().unwrap() <= 340, "{said}");
    assert!(said["stops"].as_u64().unwrap() > 10 && said["unreachable"] == 0, "{said}");
    assert_eq!(said["requests"], 0);
}

#[test]
fn text_stands_out_in_light_and_in_dark() {
    let place = Place::warm();
    let page = probed(&place);
    for is_dark in [false, true] {
        let Some(said) = shown(&page, is_dark) else { return };
        assert_eq!(said["dark"], is_dark);
        assert!(said["texts"].as_u64().unwrap() > 100 && said["contrast"].as_f64().unwrap() >= 4.5, "{said}");
    }
}
