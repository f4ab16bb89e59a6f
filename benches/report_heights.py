"""Prints how high reports are at two widths, and what they weigh; fails where one is over its limit.

    python3 benches/report_heights.py REPORT.html ...

A report of 276 sessions is at most 8,000 pixels high at 1440, and at most 400 kB. Needs `chromium`, or another browser of its kind in
the variable CHROMIUM.
"""

import os
import re
import subprocess
import sys
import tempfile

WIDTHS = (1440, 400)
MOST_PIXELS, MOST_BYTES = 8_000, 400_000


def height(text: str, width: int) -> int:
    """Measures a page as a browser lays it out; its own policy would not let the measuring script run."""
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    measure = "<script>document.title = 'height ' + document.documentElement.scrollHeight</script></body>"
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8") as page:
        page.write(free.replace("</body>", measure))
        page.flush()
        command = [
            os.environ.get("CHROMIUM", "chromium"),
            "--headless",
            "--no-sandbox",
            f"--window-size={width},900",
            "--dump-dom",
            f"file://{page.name}",
        ]
        dom = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return int(re.search(r"<title>height (\d+)</title>", dom).group(1))


def main() -> int:
    is_over = False
    print(f"{'report':<28} {'kB':>6}" + "".join(f" {f'px at {width}':>11}" for width in WIDTHS))
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        heights = [height(text, width) for width in WIDTHS]
        size = len(text.encode())
        is_over |= heights[0] > MOST_PIXELS or size > MOST_BYTES
        print(f"{os.path.basename(path):<28} {size / 1000:>6.0f}" + "".join(f" {it:>11,}" for it in heights))
    return int(is_over)


if __name__ == "__main__":
    sys.exit(main())
