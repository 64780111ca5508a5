#!/usr/bin/env python3
"""Opens a report in headless Chromium: python3 screenshots.py PAGE FOLDER

Writes FOLDER/report.png, as a desk shows it in light, and FOLDER/report-phone.png, as a phone shows it in dark. Prints the size of the
page, how long it takes to open, in milliseconds until it is loaded and until its contents are painted, and what it asks of a network.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
VIEWS = {"report.png": (900, 1100, 1), "report-phone.png": (500, 1000, 0)}

# The page's policy forbids scripts: what is measured is a copy without it.
PROBE = """<script>
addEventListener("load", () => setTimeout(() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  const requests = performance.getEntriesByType("resource").length;
  document.title = "probe" + JSON.stringify({ loaded: performance.timing.loadEventEnd - performance.timing.navigationStart,
    painted: paint ? Math.round(paint.startTime) : null, requests }) + "end";
}, 500));
</script></body>"""


def picture(page, path, width, height, scheme):
    words = [f"--screenshot={path}", f"--window-size={width},{height}", f"--blink-settings=preferredColorScheme={scheme}"]
    subprocess.run([*CHROMIUM, *words, page.as_uri()], check=True, capture_output=True)
    print(f"{path}: {path.stat().st_size} bytes")


def measure(page):
    html = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", page.read_text())
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "page.html"
        copy.write_text(html.replace("</body>", PROBE))
        words = ["--dump-dom", "--virtual-time-budget=10000", copy.as_uri()]
        shown = subprocess.run([*CHROMIUM, *words], check=True, capture_output=True, text=True).stdout
    return json.loads(shown.split("<title>probe")[1].split("end</title>")[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("folder", type=lambda path: pathlib.Path(path).resolve())
    arguments = parser.parse_args()
    for name, (width, height, scheme) in VIEWS.items():
        picture(arguments.page, arguments.folder / name, width, height, scheme)
    print(f"{arguments.page.stat().st_size} bytes, {measure(arguments.page)}")


if __name__ == "__main__":
    main()
