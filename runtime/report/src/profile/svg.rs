//! A flame graph as one SVG file: searched, zoomed into and printed without anything else.
//!
//! ```text
//!            ┌ number ┐
//!   ┌ parse ─┴────────┴┐ ┌ print ┐      width: instructions, with those of callees
//! ┌─┴─ main ───────────┴─┴───────┴┐     above a frame: whom it calls
//! ```
//!
//! Invariants: well-formed XML whatever functions are called; colours are of the name, so that equal runs give equal bytes; frames too
//! narrow to be seen are left out, and the file says how many.

use super::CallTree;
use crate::html::escape;
use crate::pretty::grouped;
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 10.0;
const ROW: usize = 17;
const HEAD: usize = 44;
/// Frames that are narrower are not drawn: a thousandth of the drawing.
const SHARE_MIN: f64 = 0.001;
/// Width of a character of the labels, rounded up, and what stays free beside them.
const CHARACTER: f64 = 7.3;
const PADDING: f64 = 5.0;
/// Deepest row that is drawn: more than any screen, and no more than a browser bears.
const ROWS_MAX: usize = 400;

/// Calls of one function by one path of names.
#[derive(Default)]
struct Frame<'t> {
    instructions: u64,
    callees: BTreeMap<&'t str, usize>,
}

/// What is drawn.
struct FlameGraph<'t> {
    frames: Vec<Frame<'t>>,
    total: u64,
    body: String,
    rows: usize,
    left_out: u64,
    unit: &'static str,
}

pub(super) fn write(tree: &CallTree) -> Vec<u8> {
    let inclusive = tree.inclusive();
    let mut frames = vec![Frame::default()];
    let mut places: Vec<usize> = Vec::with_capacity(tree.nodes.len());
    for (position, node) in tree.nodes.iter().enumerate() {
        let parent = node.parent.map_or(0, |parent| places[parent]);
        let next = frames.len();
        let place = *frames[parent].callees.entry(tree.name(position)).or_insert(next);
        if place == next {
            frames.push(Frame::default());
        }
        frames[place].instructions += inclusive[position].instructions;
        places.push(place);
    }
    let total = tree.total().instructions;
    frames[0].instructions = total;
    let mut drawing = FlameGraph { frames, total, body: String::new(), rows: 1, left_out: 0, unit: tree.unit.name() };
    drawing.measure();
    drawing.draw();
    drawing.finish(&tree.run).into_bytes()
}

impl FlameGraph<'_> {
    /// How many rows there are.
    fn measure(&mut self) {
        let mut open = vec![(0, 1)];
        while let Some((frame, row)) = open.pop() {
            self.rows = self.rows.max(row);
            let wide = self.frames[frame].callees.values().filter(|callee| self.is_drawn(**callee, row + 1));
            open.extend(wide.map(|callee| (*callee, row + 1)));
        }
    }

    fn is_drawn(&self, frame: usize, row: usize) -> bool {
        row <= ROWS_MAX && self.frames[frame].instructions as f64 >= self.total as f64 * SHARE_MIN
    }

    fn draw(&mut self) {
        let mut open = vec![(0, "all", 0, 1)];
        while let Some((frame, name, start, row)) = open.pop() {
            self.frame(frame, name, start, row);
            let mut at = start;
            for (callee_name, callee) in self.frames[frame].callees.clone() {
                let instructions = self.frames[callee].instructions;
                match self.is_drawn(callee, row + 1) {
                    true => open.push((callee, callee_name, at, row + 1)),
                    false => self.left_out += u64::from(instructions > 0),
                }
                at += instructions;
            }
        }
    }

    fn frame(&mut self, frame: usize, name: &str, start: u64, row: usize) {
        let scale = (WIDTH - 2.0 * MARGIN) / self.total.max(1) as f64;
        let instructions = self.frames[frame].instructions;
        let (x, width) = (MARGIN + start as f64 * scale, instructions as f64 * scale);
        let y = HEAD + (self.rows - row) * ROW;
        let share = 100.0 * instructions as f64 / self.total.max(1) as f64;
        let room = ((width - PADDING).max(0.0) / CHARACTER) as usize;
        let label: String = match name.chars().count() {
            _ if room < 3 => String::new(),
            length if length <= room => name.to_owned(),
            _ => name.chars().take(room - 1).chain(['…']).collect(),
        };
        let _ = writeln!(
            self.body,
            "<g class=\"f\" data-s=\"{start}\" data-n=\"{instructions}\"><title>{} ({} {}, {share:.2} %)</title>\
             <rect x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{}\" fill=\"{}\"/><text x=\"{:.2}\" y=\"{}\">{}</text></g>",
            escape(name),
            grouped(instructions),
            self.unit,
            ROW - 1,
            colour(name),
            x + 3.0,
            y + 12,
            escape(&label)
        );
    }

    fn finish(self, run: &str) -> String {
        let height = HEAD + self.rows * ROW + 30;
        let left_out = match self.left_out {
            0 => String::new(),
            many => format!("; {} frames of less than {} % are not drawn", grouped(many), 100.0 * SHARE_MIN),
        };
        let foot = format!("{} {} of the program{left_out}", grouped(self.total), self.unit);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             data-total=\"{}\">\n<title>{}</title>\n<style>text{{font:12px monospace;fill:#111}}.f{{cursor:pointer}}.f text{{pointer-events:none}}\
             .f:hover rect{{stroke:#000}}.b{{cursor:pointer;fill:#15539e}}.m rect{{fill:#c061cb}}.a rect{{opacity:.5}}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <text x=\"{MARGIN}\" y=\"22\">{}</text><text id=\"found\" x=\"{:.0}\" y=\"38\" text-anchor=\"end\"></text>\
             <text id=\"reset\" class=\"b\" x=\"{MARGIN}\" y=\"38\" visibility=\"hidden\">show all</text>\
             <text id=\"search\" class=\"b\" x=\"{:.0}\" y=\"22\" text-anchor=\"end\">search (/)</text>\n{}\
             <text x=\"{MARGIN}\" y=\"{}\">{}</text>\n<script>{SCRIPT}</script>\n</svg>\n",
            self.total,
            escape(run),
            escape(run),
            WIDTH - MARGIN,
            WIDTH - MARGIN,
            self.body,
            height - 10,
            escape(&foot)
        )
    }
}

/// A warm colour, by the name alone.
fn colour(name: &str) -> String {
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("hsl({},{}%,{}%)", 15 + hash % 40, 70 + (hash >> 8) % 20, 62 + (hash >> 16) % 14)
}

/// Zooms into a frame that is clicked, and marks the frames whose names match what is searched for. Without characters that
/// XML wants escaped.
const SCRIPT: &str = r##"
const svg = document.documentElement, all = Array.from(svg.querySelectorAll(".f"));
const total = Number(svg.dataset.total), wide = 1180, left = 10;
const frames = all.map(g => ({ g, s: Number(g.dataset.s), n: Number(g.dataset.n), r: g.querySelector("rect"),
  t: g.querySelector("text"), y: Number(g.querySelector("rect").getAttribute("y")),
  title: g.querySelector("title").textContent }));
const name = f => f.title.slice(0, f.title.lastIndexOf(" ("));
const by = id => document.getElementById(id);
function show(from, count, y) {
  for (const f of frames) {
    const above = y >= f.y, scale = wide / Math.max(count, 1);
    const inside = f.s >= from ? from + count >= f.s + f.n : false;
    const holds = from >= f.s ? f.s + f.n >= from + count : false;
    const visible = above ? inside : holds;
    f.g.style.display = visible ? "" : "none";
    if (!visible) continue;
    const x = above ? left + (f.s - from) * scale : left, w = above ? f.n * scale : wide;
    f.r.setAttribute("x", x); f.r.setAttribute("width", w); f.t.setAttribute("x", x + 3);
    const room = Math.floor((w - 5) / 7.3), text = name(f);
    f.t.textContent = 3 > room ? "" : room >= text.length ? text : text.slice(0, room - 1) + "…";
    f.g.classList.toggle("a", !above);
  }
  by("reset").setAttribute("visibility", count == total ? "hidden" : "visible");
}
function search() {
  const word = prompt("Functions to mark (a regular expression)", "");
  if (word === null) return;
  let test = null;
  try { test = word ? new RegExp(word) : null; } catch (e) { by("found").textContent = String(e.message); return; }
  const marked = [];
  for (const f of frames) {
    const hit = test !== null ? test.test(name(f)) : false;
    f.g.classList.toggle("m", hit);
    if (hit) marked.push(f);
  }
  marked.sort((a, b) => a.s - b.s || b.n - a.n);
  let sum = 0, end = 0;
  for (const f of marked) if (f.s >= end) { sum += f.n; end = f.s + f.n; }
  by("found").textContent = word ? (100 * sum / Math.max(total, 1)).toFixed(2) + " % in " + word : "";
}
for (const f of frames) f.g.addEventListener("click", () => show(f.s, f.n, f.y));
by("reset").addEventListener("click", () => show(0, total, Infinity));
by("search").addEventListener("click", search);
addEventListener("keydown", e => { if (e.key == "/") { e.preventDefault(); search(); } if (e.key == "Escape") show(0, total, Infinity); });
"##;
