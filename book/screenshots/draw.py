"""Draws the text of a terminal, from standard input, as an SVG: draw.py TITLE <text >picture.svg"""
import sys
from xml.sax.saxutils import escape

LINE, CHARACTER, MARGIN, BAR = 18, 8.43, 14, 26


def drawn(line):
    """A line with its prompt, and what was typed behind it, in colours of their own."""
    for prompt, style in (("(fozzy) ", "p"), ("$ ", "p")):
        if line.startswith(prompt):
            return f'<tspan class="{style}">{escape(prompt)}</tspan><tspan class="t">{escape(line[len(prompt):])}</tspan>'
    return escape(line)


def main():
    lines = sys.stdin.read().rstrip().split("\n")
    columns = max(84, max(len(line) for line in lines))
    width, height = round(2 * MARGIN + columns * CHARACTER), 2 * MARGIN + BAR + LINE * len(lines)
    title = escape(sys.argv[1])
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">')
    print(f"<title>{title}</title>")
    print("<style>text{font:14px monospace;fill:#d4d4d4;white-space:pre}.p{fill:#7aa2f7}.t{fill:#fff;font-weight:bold}.h{fill:#888}</style>")
    print(f'<rect width="{width}" height="{height}" rx="8" fill="#1e1e2e"/>')
    print(f'<text class="h" x="{width / 2}" y="20" text-anchor="middle">{title}</text>')
    for row, line in enumerate(lines):
        if line:
            length = f' textLength="{len(line) * CHARACTER:.1f}" lengthAdjust="spacingAndGlyphs"'
            print(f'<text x="{MARGIN}" y="{MARGIN + BAR + 12 + row * LINE}" xml:space="preserve"{length}>{drawn(line)}</text>')
    print("</svg>")


main()
