#!/usr/bin/env python3
"""Draws what a command printed as a moving picture of a terminal: an SVG that types the command and shows its lines, with their colours.

    mkdir /tmp/cast && cd /tmp/cast && mkdir sessions
    cp -r "$CTXSIM_REFERENCE"/recorded/claude-code "$CTXSIM_REFERENCE"/recorded/claude-code-2 sessions
    ctxsim sessions --color always | python3 CHECKOUT/benches/terminal.py 'ctxsim sessions' > CHECKOUT/docs/pictures/terminal.svg

Colours are those of the bytes (bold, dim, the sixteen of ANSI); a pipe without `--color always` has none. The plain text stands in `<desc>`, for readers
who do not see the picture, and for the test that compares it with what is printed today. Nothing but CSS moves, so it plays inside an `<img>`.
"""

import html
import re
import sys

WIDTH, HEIGHT, PAD, TOP = 7.8, 18, 16, 40
COLOURS = {
    30: "#6e7681", 31: "#ff7b72", 32: "#56d364", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#56d4dd", 37: "#c9d1d9",
    90: "#8b949e", 91: "#ffa198", 92: "#7ee787", 93: "#f2cc60", 94: "#a5d6ff", 95: "#e2c5ff", 96: "#b3f0ff", 97: "#f0f6fc",
}
ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")
OTHER = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-ln-z]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


def styled(line, style):
    """Yields each run of characters with its column and its style; returns the style behind the line."""
    column = 0
    for nth, part in enumerate(ESCAPE.split(line)):
        if nth % 2:
            style = after(style, [int(it or 0) for it in part.split(";")])
            continue
        for run in re.finditer(r"\S+(?: \S+)*", part):
            yield column + run.start(), run[0], style
        column += len(part)
    return style


def after(style, codes):
    """Returns a style after some codes: a colour, bold, dim."""
    colour, bold, dim = style
    for code in codes:
        if code == 0:
            colour, bold, dim = None, False, False
        elif code == 1:
            bold = True
        elif code == 2:
            dim = True
        elif code == 22:
            bold = dim = False
        elif code == 39:
            colour = None
        elif code in COLOURS:
            colour = COLOURS[code]
    return colour, bold, dim


def text(column, row, run, style):
    colour, bold, dim = style
    look = (f' fill="{colour}"' if colour else "") + (' font-weight="700"' if bold else "") + (' opacity=".6"' if dim else "")
    x, y = PAD + column * WIDTH, TOP + row * HEIGHT + 13
    return f'<text x="{x:.4g}" y="{y}" textLength="{len(run) * WIDTH:.4g}"{look}>{html.escape(run, quote=False)}</text>'


def picture(command, printed):
    lines = OTHER.sub("", printed).replace("\r", "").rstrip("\n").split("\n")
    plain = [ESCAPE.sub("", it) for it in lines]
    columns = max(max(map(len, plain)), len(command) + 2, 80)
    width, height = columns * WIDTH + 2 * PAD, TOP + (len(lines) + 1) * HEIGHT + PAD
    marks, style = [], (None, False, False)
    for row, line in enumerate(lines):
        runs = styled(line, style)
        while True:
            try:
                column, run, look = next(runs)
            except StopIteration as end:
                style = end.value
                break
            marks.append(text(column, row + 1, run, look))
    typed = len(command)
    down, right = len(lines) * HEIGHT, typed * WIDTH
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.4g} {height}" width="{width:.4g}" height="{height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="13" fill="#c9d1d9" role="img">',
        f"<title>{html.escape(command)}</title>",
        f"<desc>{html.escape(chr(10).join(plain), quote=False)}</desc>",
        f"<style>text{{white-space:pre}}.t{{transform:translateX({right:.4g}px);animation:t 18s infinite}}.d{{transform:translateY({down}px);animation:d 18s infinite}}"
        f"@keyframes t{{0%,3%{{transform:none;animation-timing-function:steps({typed})}}13%,100%{{transform:translateX({right:.4g}px)}}}}"
        f"@keyframes d{{0%,18%{{transform:none;animation-timing-function:steps({len(lines)})}}45%,100%{{transform:translateY({down}px)}}}}"
        "@media (prefers-reduced-motion:reduce){.t,.d{display:none}}</style>",
        f'<clipPath id="w"><rect width="{width:.4g}" height="{height}" rx="9"/></clipPath><g clip-path="url(#w)">',
        f'<rect width="100%" height="100%" fill="#0d1117"/><circle cx="20" cy="18" r="6" fill="#ff5f56"/><circle cx="40" cy="18" r="6" fill="#ffbd2e"/><circle cx="60" cy="18" r="6" fill="#27c93f"/>',
        text(0, 0, "$", (COLOURS[32], True, False)) + text(2, 0, command, (None, True, False)),
        f'<rect class="t" x="{PAD + 2 * WIDTH:.4g}" y="{TOP}" width="{right:.4g}" height="{HEIGHT}" fill="#0d1117"/>',
        *marks,
        f'<rect class="d" y="{TOP + HEIGHT}" width="100%" height="{height}" fill="#0d1117"/>',
        "</g></svg>",
    ]) + "\n"


sys.stdout.reconfigure(encoding="utf-8", newline="\n")
sys.stdout.write(picture(sys.argv[1], sys.stdin.buffer.read().decode("utf-8")))
