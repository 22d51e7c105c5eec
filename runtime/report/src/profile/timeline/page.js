"use strict";
const run = JSON.parse(document.getElementById("data").textContent);
const by = id => document.getElementById(id);
const canvas = by("view"), paint = canvas.getContext("2d"), tip = by("tip");
const LABEL = 130, HEAD = 30, LANE = 54, PATH = 34, FONT = "12px system-ui, sans-serif";
const KINDS = { timer: "#8f9bb3", input: "#b48ead", network: "#4f8fd9", room: "#d08770", pipe: "#3aa99f", process: "#c7a23c", answer: "#7d6fd1", travels: "#e0785a", runs: "#4c9f63", nothing: "#999" };
let from = 0, span = Math.max(run.end, 1), wide = 0, hot = [], drag = null;

function words(ns) {
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const [size, unit] = units.find(([size]) => Math.abs(ns) >= size) || [1, "ns"];
  return +(ns / size).toFixed(3) + " " + unit;
}
const lanes = () => HEAD + (by("path").checked ? PATH : 0);
const x = ns => LABEL + (ns - from) / span * (wide - LABEL);
// Resolves light-dark(): a canvas knows no such colours.
function tone(name) { const probe = document.createElement("i"); probe.style.color = "var(" + name + ")"; document.body.append(probe); const found = getComputedStyle(probe).color; probe.remove(); return found; }

function ticks() {
  const raw = span / Math.max(2, (wide - LABEL) / 110), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= raw), out = [];
  for (let at = Math.ceil(from / step) * step; at <= from + span; at += step) out.push(at);
  return out;
}
function bar(left, right, top, height, fill) {
  const a = Math.max(left, LABEL), b = Math.min(right, wide);
  if (b < a) return null;
  paint.fillStyle = fill;
  paint.fillRect(a, top, Math.max(b - a, 1.5), height);
  return [a, Math.max(b, a + 1.5)];
}
function text(words, left, top, room, fill, font) {
  paint.font = font || FONT; paint.fillStyle = fill;
  let shown = words;
  while (shown.length > 1 && paint.measureText(shown).width > room) shown = shown.slice(0, -2) + "…";
  if (paint.measureText(shown).width <= room) paint.fillText(shown, left, top);
}
function draw() {
  const scale = devicePixelRatio || 1, high = lanes() + run.machines.length * LANE + 8;
  wide = canvas.clientWidth; canvas.style.height = high + "px";
  canvas.width = wide * scale; canvas.height = high * scale; paint.setTransform(scale, 0, 0, scale, 0, 0);
  const ink = tone("--text"), faint = tone("--faint"), rule = tone("--rule"), well = tone("--well");
  paint.clearRect(0, 0, wide, high); hot = [];
  for (const at of ticks()) {
    paint.fillStyle = rule; paint.fillRect(x(at), HEAD - 6, 1, high);
    text(words(at), x(at) + 4, 18, 100, faint);
  }
  const top = lanes(), middle = place => top + place * LANE + LANE / 2;
  run.machines.forEach((name, place) => {
    if (place % 2) { paint.fillStyle = well; paint.globalAlpha = .6; paint.fillRect(LABEL, top + place * LANE, wide, LANE); paint.globalAlpha = 1; }
    text(name, 14, middle(place) + 4, LABEL - 24, ink, "600 13px system-ui, sans-serif");
  });
  if (by("path").checked) {
    text("critical path", 14, HEAD + 18, LABEL - 24, faint);
    for (const [place, since, until, doing, what] of run.path) {
      const drawn = bar(x(since), x(until), HEAD + 4, 18, KINDS[doing] || "#888");
      if (!drawn) continue;
      text(run.machines[place], drawn[0] + 5, HEAD + 17, drawn[1] - drawn[0] - 10, "#fff", "11px system-ui, sans-serif");
      const says = doing == "runs" ? "runs" : doing == "travels" ? "bytes on the way from " + what : "waits for " + what;
      hot.push([...drawn, HEAD + 4, HEAD + 22, "critical path: " + run.machines[place], says + " · " + words(until - since)]);
    }
  }
  for (const [place, since, until, kind, what] of run.waits) {
    const drawn = bar(x(since), x(until), middle(place) - 3, 14, KINDS[kind] || "#888");
    if (drawn) hot.push([...drawn, middle(place) - 3, middle(place) + 11, run.machines[place] + " waits", what + " · " + words(until - since) + " from " + words(since)]);
  }
  for (const [place, since, until, call, detail, number] of run.calls) {
    const drawn = bar(x(until) - 1, x(until) + 1, middle(place) - 20, 14, ink);
    if (drawn) hot.push([drawn[0] - 2, drawn[1] + 2, middle(place) - 20, middle(place) - 6, "call " + number + " " + call, detail + " · at " + words(until) + (until > since ? " after " + words(until - since) : "")]);
  }
  if (by("messages").checked) {
    paint.save(); paint.beginPath(); paint.rect(LABEL, 0, wide, high); paint.clip();
    paint.strokeStyle = KINDS.travels; paint.fillStyle = KINDS.travels; paint.lineWidth = 1.2; paint.globalAlpha = .8;
    for (const [a, sent, b, read] of run.flows) {
      if (x(read) < LABEL || x(sent) > wide) continue;
      paint.beginPath(); paint.moveTo(x(sent), middle(a)); paint.lineTo(x(read), middle(b)); paint.stroke();
      paint.beginPath(); paint.arc(x(read), middle(b), 2.5, 0, 7); paint.fill();
    }
    paint.restore();
  }
}
function zoom(factor, at) {
  const next = Math.min(Math.max(span * factor, 10), Math.max(run.end, 1) * 1.05);
  const share = Math.min(Math.max((at - LABEL) / (wide - LABEL), 0), 1);
  from = Math.max(0, from + (span - next) * share); span = next; draw();
}
function show(all) { from = 0; span = Math.max(run.end, 1) * 1.05; if (all !== false) draw(); }
canvas.addEventListener("wheel", event => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, event.offsetX); }, { passive: false });
canvas.addEventListener("pointerdown", event => { drag = [event.offsetX, from]; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointerup", () => { drag = null; });
canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
canvas.addEventListener("pointermove", event => {
  if (drag) { from = Math.max(0, drag[1] - (event.offsetX - drag[0]) / (wide - LABEL) * span); draw(); return; }
  const { offsetX: a, offsetY: b } = event;
  const found = hot.findLast(([left, right, top, bottom]) => a >= left && a <= right && b >= top && b <= bottom);
  tip.hidden = !found;
  if (!found) return;
  tip.replaceChildren(Object.assign(document.createElement("b"), { textContent: found[4] }), document.createElement("br"), found[5]);
  tip.style.left = Math.min(a + 14, Math.max(wide - 470, 0)) + "px"; tip.style.top = Math.min(b + 14, canvas.clientHeight - 40) + "px";
});
canvas.addEventListener("keydown", event => {
  const step = { ArrowLeft: -.2, ArrowRight: .2 }[event.key];
  if (step) { from = Math.max(0, from + step * span); draw(); }
  if (event.key == "+") zoom(1 / 1.4, wide / 2);
  if (event.key == "-") zoom(1.4, wide / 2);
  if (event.key == "0") show();
});
by("all").addEventListener("click", show);
by("in").addEventListener("click", () => zoom(1 / 1.6, wide / 2));
by("out").addEventListener("click", () => zoom(1.6, wide / 2));
["messages", "path"].forEach(id => by(id).addEventListener("change", draw));
const used = new Set([...run.waits.map(wait => wait[3]), ...run.path.map(part => part[3])]);
by("legend").append(...Object.keys(KINDS).filter(kind => used.has(kind)).map(kind => {
  const entry = document.createElement("span"), box = document.createElement("i");
  box.style.background = KINDS[kind]; entry.append(box, kind); return entry;
}));
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
show(false); draw();
