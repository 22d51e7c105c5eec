"use strict";
const root = document.documentElement;
const tip = document.getElementById("tip");
const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const charts = [];
document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  charts.forEach((chart) => chart.draw());
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((chart) => chart.draw()));

const LANE = 26, BAR = 18, AXIS = 22, GAP = 26, OVERVIEW = 44, LANES_BY_PROCESS = 24, PLOT_HEIGHT = 340;
const OUTCOMES = ["ok", "fail", "info"];
const WORDS = { ok: "it happened", fail: "it did not happen", info: "unknown: it may take effect at any later time" };

// One history: its calls on lanes, an overview of all of them, and a tip for the call under the pointer.
class Chart {
  constructor(section, data) {
    Object.assign(this, { section, data, part: -1, byTime: false, gap: GAP, selected: null });
    this.view = section.querySelector(".view");
    this.room = section.querySelector(".room");
    this.canvas = this.view.querySelector("canvas");
    this.overview = section.querySelector(".overview");
    this.calls = data.calls.map(([part, from, to, outcome, process, name, asked, answered, index, line, begun, ended], number) =>
      ({ number, part, from, to, outcome: OUTCOMES[outcome], process, name: data.functions[name], asked, answered, index, line, begun, ended }));
    data.parts.forEach((part, number) => {
      part.number = number;
      part.minimal.forEach((call) => { this.calls[call].kept = true; });
      part.order.forEach((call) => { this.calls[call].placed = true; });
      if (part.stuck !== null) this.calls[part.stuck].stuck = true;
    });
    this.hasMarks = this.calls.some((call) => call.kept || call.stuck);
    this.tools();
    this.choose(data.first);
  }

  tools() {
    const { section, data } = this;
    const select = section.querySelector("select");
    if (data.parts.length > 1) {
      const add = (value, text) => select.append(Object.assign(document.createElement("option"), { value, textContent: text }));
      data.parts.forEach((part, number) => add(number, `${part.key === null ? "all calls" : `key ${part.key}`} · ${part.validity} · ${part.calls} calls`));
      add(-1, "all keys together");
      select.hidden = false;
      select.addEventListener("change", () => this.choose(Number(select.value)));
    }
    const time = section.querySelector("[data-do=time]");
    time.hidden = !this.calls.length || this.calls.some((call) => call.begun === null);
    const actions = {
      out: () => this.zoom(1 / 1.5), in: () => this.zoom(1.5), fit: () => this.fit(), show: () => this.showMarks(),
      time: () => {
        this.byTime = !this.byTime;
        time.setAttribute("aria-pressed", this.byTime);
        this.lay();
        this.byTime ? this.fit() : this.showMarks();
      },
    };
    section.querySelectorAll("[data-do]").forEach((button) => button.addEventListener("click", actions[button.dataset.do]));
    section.querySelector("[data-do=show]").hidden = !this.hasMarks;
    this.view.addEventListener("scroll", () => this.draw());
    this.view.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.clientX - this.view.getBoundingClientRect().left);
    }, { passive: false });
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerdown", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") this.select(null); });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    const jump = (event) => {
      const box = this.overview.getBoundingClientRect();
      this.view.scrollLeft = (event.clientX - box.left) / box.width * this.width - this.view.clientWidth / 2;
    };
    this.overview.addEventListener("pointerdown", (event) => { this.overview.setPointerCapture(event.pointerId); jump(event); });
    this.overview.addEventListener("pointermove", (event) => { if (event.buttons) jump(event); });
    new ResizeObserver(() => this.lay()).observe(this.view);
    section.querySelectorAll("tr[data-call]").forEach((row) => row.addEventListener("click", () => this.reveal(Number(row.dataset.call))));
  }

  // Shows the calls of a part; of all, if the part is -1.
  choose(part) {
    this.part = part;
    this.section.querySelector("select").value = part;
    this.shown = this.calls.filter((call) => part < 0 || call.part === part);
    this.parts = this.data.parts.filter((one) => part < 0 || one.number === part);
    const ends = this.shown.flatMap((call) => call.to < 0 ? [call.from] : [call.from, call.to]);
    this.positions = [...new Set(ends)].sort((a, b) => a - b);
    this.assign();
    this.lay();
    this.showMarks();
  }

  // A lane for each process; if there are many, a process takes the lane of one that has ended.
  assign() {
    const lives = new Map();
    for (const call of this.shown) {
      const life = lives.get(call.process) ?? { process: call.process, from: call.from, to: call.from, calls: [] };
      life.to = Math.max(life.to, call.to, call.from);
      life.calls.push(call);
      lives.set(call.process, life);
    }
    const order = [...lives.values()];
    this.lanes = [];
    if (order.length <= LANES_BY_PROCESS) {
      order.sort((a, b) => a.process - b.process);
      this.lanes = order.map((life) => ({ name: this.data.processes[life.process], calls: life.calls }));
    } else {
      order.sort((a, b) => a.from - b.from);
      for (const life of order) {
        let lane = this.lanes.find((one) => one.to < life.from);
        if (!lane) this.lanes.push(lane = { name: "", calls: [] });
        lane.to = life.to;
        lane.calls.push(...life.calls);
      }
    }
    this.lanes.forEach((lane, number) => {
      lane.calls.sort((a, b) => a.from - b.from);
      lane.calls.forEach((call, at) => Object.assign(call, { lane: number, next: lane.calls[at + 1] ?? null }));
    });
  }

  // Where a position of the history lies among those that are shown.
  rank(position) {
    let [low, high] = [0, this.positions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.positions[middle] < position) low = middle + 1; else high = middle;
    }
    return low;
  }

  lay() {
    this.gutter = this.lanes.some((lane) => lane.name) ? 44 : 10;
    let last = this.positions.length;
    if (this.byTime) {
      const times = this.shown.flatMap((call) => call.ended === null ? [call.begun] : [call.begun, call.ended]);
      this.start = times.reduce((a, b) => Math.min(a, b), Infinity);
      this.span = Math.max(1, times.reduce((a, b) => Math.max(a, b), -Infinity) - this.start);
      this.scale = last / this.span;
      this.placeCalls((call) => (call.begun - this.start) * this.scale, (call) => (call.ended - this.start) * this.scale);
    } else {
      this.placeCalls((call) => this.rank(call.from), (call) => this.rank(call.to));
    }
    for (const call of this.shown) {
      call.open = call.to < 0 || call.outcome === "info";
      if (call.to < 0) call.x2 = call.next ? Math.max(call.x1 + 0.5, Math.min(call.next.x1, last)) : last;
    }
    for (const part of this.parts) {
      let at = 0;
      part.points = part.order.map((number) => {
        const call = this.calls[number];
        at = Math.max(at + 0.12, call.x1 + 0.12);
        const x = call.open ? at : Math.min(at, Math.max(call.x1, call.x2 - 0.05));
        at = Math.max(call.x1, x);
        return { x, call };
      });
    }
    this.width = this.gutter + (last + 1) * this.gap;
    this.height = this.lanes.length * LANE + AXIS + 6;
    this.room.style.width = `${this.width}px`;
    this.room.style.height = `${this.height}px`;
    this.view.style.height = `min(72vh, ${this.height + 16}px)`;
    this.draw();
  }

  placeCalls(from, to) {
    for (const call of this.shown) {
      call.x1 = from(call);
      call.x2 = call.to < 0 || (this.byTime && call.ended === null) ? call.x1 : Math.max(to(call), call.x1);
    }
  }

  // Bands of faults, in units of the view.
  bands() {
    return this.data.faults.map(([from, to, name, colour, begun, ended]) => {
      if (this.byTime) {
        const at = (time) => Math.max(0, (time - this.start) * this.scale);
        return { x1: begun === null ? 0 : at(begun), x2: ended === null ? this.positions.length : at(ended), name, colour };
      }
      return { x1: this.rank(from) - 0.5, x2: to < 0 ? this.positions.length : this.rank(to) - 0.5, name, colour };
    });
  }

  zoom(factor, at = this.view.clientWidth / 2) {
    const unit = (this.view.scrollLeft + at - this.gutter) / this.gap;
    const least = Math.min(GAP, (this.view.clientWidth - this.gutter) / (this.positions.length + 1));
    this.gap = Math.min(400, Math.max(least, this.gap * factor));
    this.lay();
    this.view.scrollLeft = unit * this.gap + this.gutter - at;
    this.draw();
  }

  fit() {
    this.gap = Math.max(0.001, (this.view.clientWidth - this.gutter) / (this.positions.length + 1));
    this.lay();
  }

  showMarks() {
    const marked = this.shown.filter((call) => call.kept || call.stuck);
    // A short history fills the room that there is.
    const wide = Math.min(3 * GAP, (this.view.clientWidth - this.gutter) / (this.positions.length + 1));
    this.gap = Math.max(GAP, wide, this.gap);
    this.lay();
    if (!marked.length) return;
    const [from, to] = [Math.min(...marked.map((call) => call.x1)), Math.max(...marked.map((call) => call.x2))];
    const middle = to - from > this.view.clientWidth / this.gap ? to - this.view.clientWidth / this.gap / 3 : (from + to) / 2;
    this.view.scrollLeft = this.gutter + middle * this.gap - this.view.clientWidth / 2;
    this.view.scrollTop = Math.max(0, Math.min(...marked.map((call) => call.lane)) * LANE - this.view.clientHeight / 3);
    this.draw();
  }

  reveal(index) {
    const call = this.calls.find((one) => one.index === index);
    if (!call) return;
    if (this.part >= 0 && this.part !== call.part) this.choose(call.part);
    this.view.scrollLeft = this.gutter + call.x1 * this.gap - this.view.clientWidth / 3;
    this.view.scrollTop = call.lane * LANE - this.view.clientHeight / 2;
    this.view.scrollIntoView({ block: "nearest" });
    this.select(call);
  }

  draw() {
    const ratio = devicePixelRatio || 1;
    const [width, height] = [this.view.clientWidth, this.view.clientHeight];
    const pen = fitted(this.canvas, width, height, ratio);
    const style = getComputedStyle(root);
    const colours = {};
    for (const name of ["text", "faint", "rule", "grid", "bad", "ok", "info", "fail", "on", "card", "link"]) colours[name] = resolved(style.getPropertyValue(`--${name}`));
    const [left, top] = [this.view.scrollLeft, this.view.scrollTop];
    const x = (unit) => this.gutter + unit * this.gap - left;
    const y = (lane) => AXIS + lane * LANE - top;
    pen.clearRect(0, 0, width, height);
    this.drawBands(pen, colours, x, height);
    pen.fillStyle = colours.grid;
    this.lanes.forEach((_, lane) => { if (lane % 2) return; pen.globalAlpha = 0.5; pen.fillRect(0, y(lane), width, LANE); pen.globalAlpha = 1; });
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    for (const call of this.shown) {
      const [from, to] = [x(call.x1), Math.max(x(call.x2), x(call.x1) + 5)];
      const middle = y(call.lane) + LANE / 2;
      if (to < this.gutter - 20 || from > width || middle < -LANE || middle > height + LANE) continue;
      this.drawCall(pen, colours, call, from, to, middle, x);
    }
    for (const part of this.parts) this.drawOrder(pen, colours, part, x, y, width);
    this.drawEdges(pen, colours, y, width, height);
    this.drawOverview(colours, ratio);
    if (this.plotted !== `${this.part} ${width} ${dark()}`) {
      this.plotted = `${this.part} ${width} ${dark()}`;
      this.drawPlots(colours, ratio);
    }
  }

  drawCall(pen, colours, call, from, to, middle, x) {
    const isFaded = this.hasMarks && !call.kept && !call.stuck;
    pen.globalAlpha = isFaded ? 0.55 : 1;
    pen.beginPath();
    const [upper, round] = [middle - BAR / 2, Math.min(4, (to - from) / 2)];
    pen.roundRect(from, upper, to - from, BAR, call.open ? [round, 0, 0, round] : round);
    pen.fillStyle = call.stuck ? colours.bad : colours[call.outcome];
    pen.fill();
    if (call.open) {
      // It has no end: an arrow shows that it goes on.
      pen.beginPath();
      pen.moveTo(to, upper);
      pen.lineTo(to + 7, middle);
      pen.lineTo(to, upper + BAR);
      pen.fill();
    }
    pen.globalAlpha = 1;
    if (call.kept || call === this.selected) {
      pen.beginPath();
      pen.roundRect(from - 1, upper - 1, to - from + 2, BAR + 2, round + 1);
      pen.lineWidth = 2.5;
      pen.strokeStyle = call === this.selected ? colours.link : colours.bad;
      pen.stroke();
    }
    const free = (call.next ? x(call.next.x1) - 4 : to + 400) - from - 6;
    const words = call.stuck ? `✗ ${short(call)}` : short(call);
    if (free < 14) return;
    pen.save();
    pen.beginPath();
    pen.rect(from, upper, free + 6, BAR);
    pen.clip();
    const inside = pen.measureText(words).width <= to - from - 10;
    const start = Math.max(from + 5, Math.min(this.gutter + 4, to - 10));
    pen.fillStyle = inside || call.open ? call.stuck && !dark() ? "#fff" : colours.on : colours.text;
    pen.globalAlpha = isFaded ? 0.8 : 1;
    pen.fillText(words, start, middle + 0.5);
    pen.restore();
  }

  // The longest legal order: where each call can have taken effect, one after the other.
  drawOrder(pen, colours, part, x, y, width) {
    pen.strokeStyle = colours.text;
    pen.fillStyle = colours.text;
    pen.lineWidth = 1;
    pen.globalAlpha = 0.55;
    pen.beginPath();
    let before = null;
    for (const point of part.points) {
      const [at, lane] = [x(point.x), y(point.call.lane) + LANE / 2 + BAR / 2 - 1];
      if (before && at >= 0 && before[0] <= width) { pen.moveTo(...before); pen.lineTo(at, lane); }
      before = [at, lane];
    }
    pen.stroke();
    pen.globalAlpha = 1;
    for (const point of part.points) {
      const at = x(point.x);
      if (at < 0 || at > width) continue;
      pen.beginPath();
      pen.arc(at, y(point.call.lane) + LANE / 2 + BAR / 2 - 1, 2.6, 0, 7);
      pen.fill();
    }
  }

  drawBands(pen, colours, x, height) {
    for (const band of this.bands()) {
      const [from, to] = [Math.max(x(band.x1), this.gutter), x(band.x2)];
      if (to < from) continue;
      pen.globalAlpha = dark() ? 0.22 : 0.4;
      pen.fillStyle = `#${band.colour}`;
      pen.fillRect(from, 0, Math.max(2, to - from), height);
      pen.globalAlpha = 1;
    }
  }

  // What stays while the rest is scrolled: the axis with names of faults, and the names of processes.
  drawEdges(pen, colours, y, width, height) {
    pen.fillStyle = colours.card;
    pen.globalAlpha = 0.92;
    pen.fillRect(0, 0, width, AXIS - 2);
    pen.fillRect(0, 0, this.gutter - 4, height);
    pen.globalAlpha = 1;
    pen.fillStyle = colours.faint;
    pen.font = "11.5px system-ui, sans-serif";
    this.lanes.forEach((lane, number) => {
      if (y(number) + LANE / 2 > AXIS) pen.fillText(lane.name, 6, y(number) + LANE / 2, this.gutter - 12);
    });
    const left = this.view.scrollLeft;
    for (const band of this.bands()) {
      const [from, to] = [this.gutter + band.x1 * this.gap - left, this.gutter + band.x2 * this.gap - left];
      if (to < this.gutter || from > width) continue;
      pen.fillStyle = `#${band.colour}`;
      pen.fillRect(Math.max(from, this.gutter), AXIS - 5, Math.max(2, to - Math.max(from, this.gutter)), 3);
      const room = to - Math.max(from, this.gutter) - 4;
      if (room < 30) continue;
      pen.fillStyle = colours.text;
      pen.fillText(band.name, Math.max(from, this.gutter) + 4, AXIS / 2 - 2, room);
    }
    if (!this.byTime || this.data.faults.length) return;
    pen.fillStyle = colours.faint;
    const unit = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 5, 10, 60, 300, 3600].find((one) => one * 1e9 * this.scale * this.gap > 80) ?? 86400;
    for (let at = Math.ceil((left / this.gap / this.scale) / 1e9 / unit) * unit; ; at += unit) {
      const place = this.gutter + at * 1e9 * this.scale * this.gap - left;
      if (place > width) break;
      pen.fillText(seconds(at * 1e9), place + 3, AXIS / 2 - 2);
      pen.fillRect(place, 0, 1, AXIS - 4);
    }
  }

  drawOverview(colours, ratio) {
    const width = this.overview.clientWidth;
    const pen = fitted(this.overview, width, OVERVIEW, ratio);
    pen.clearRect(0, 0, width, OVERVIEW);
    const scale = (width / this.width);
    const x = (unit) => (this.gutter + unit * this.gap) * scale;
    for (const band of this.bands()) {
      pen.globalAlpha = dark() ? 0.3 : 0.5;
      pen.fillStyle = `#${band.colour}`;
      pen.fillRect(x(band.x1), 0, Math.max(1, x(band.x2) - x(band.x1)), OVERVIEW);
    }
    pen.globalAlpha = 0.75;
    const lane = Math.min(4, (OVERVIEW - 8) / Math.max(1, this.lanes.length));
    for (const call of this.shown) {
      pen.fillStyle = colours[call.outcome];
      pen.fillRect(x(call.x1), 4 + call.lane * lane, Math.max(0.6, x(call.x2) - x(call.x1)), Math.max(0.5, lane - 0.5));
    }
    pen.globalAlpha = 1;
    pen.fillStyle = colours.bad;
    for (const call of this.shown) {
      if (call.kept || call.stuck) pen.fillRect(x(call.x1), 0, Math.max(2, x(call.x2) - x(call.x1)), OVERVIEW);
    }
    const [from, wide] = [this.view.scrollLeft * scale, this.view.clientWidth * scale];
    if (wide >= width - 1) return;
    pen.strokeStyle = colours.link;
    pen.lineWidth = 2;
    pen.strokeRect(from + 1, 1, Math.max(6, wide - 2), OVERVIEW - 2);
  }

  // Latencies of calls over time on a logarithmic scale, with quantiles of stretches of time; below, calls a second.
  drawPlots(colours, ratio) {
    const canvas = this.section.querySelector(".plots");
    const calls = this.shown.filter((call) => call.begun !== null && call.ended !== null);
    canvas.hidden = calls.length < 2;
    this.section.querySelectorAll(".plots-words").forEach((one) => { one.hidden = canvas.hidden; });
    if (canvas.hidden) return;
    const [width, left] = [canvas.clientWidth, 62];
    const pen = fitted(canvas, width, PLOT_HEIGHT, ratio);
    pen.clearRect(0, 0, width, PLOT_HEIGHT);
    pen.font = "11.5px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const start = calls.reduce((least, call) => Math.min(least, call.begun), Infinity);
    const span = Math.max(1, calls.reduce((most, call) => Math.max(most, call.ended), -Infinity) - start);
    const x = (time) => left + (time - start) / span * (width - left - 12);
    for (const [, , , colour, begun, ended] of this.data.faults) {
      if (begun === null) continue;
      const from = Math.max(left, x(begun));
      pen.globalAlpha = dark() ? 0.22 : 0.4;
      pen.fillStyle = `#${colour}`;
      pen.fillRect(from, 8, Math.max(1, (ended === null ? width - 12 : x(ended)) - from), PLOT_HEIGHT - 30);
    }
    pen.globalAlpha = 1;
    const lines = (ticks, y, words) => {
      for (const tick of ticks) {
        pen.fillStyle = colours.rule;
        pen.fillRect(left, Math.round(y(tick)), width - left - 12, 1);
        pen.fillStyle = colours.faint;
        pen.textAlign = "right";
        pen.fillText(words(tick), left - 8, y(tick));
        pen.textAlign = "left";
      }
    };
    const latency = (call) => Math.max(1, call.ended - call.begun);
    const [least, most] = [Math.floor(Math.log10(calls.reduce((a, call) => Math.min(a, latency(call)), Infinity))), Math.ceil(Math.log10(calls.reduce((a, call) => Math.max(a, latency(call)), 1)) + 0.01)];
    const [top, middle, bottom] = [14, PLOT_HEIGHT * 0.58, PLOT_HEIGHT - 26];
    const y = (value) => middle - (Math.log10(value) - least) / Math.max(1, most - least) * (middle - top);
    lines(Array.from({ length: most - least + 1 }, (_, at) => 10 ** (least + at)), y, seconds);
    pen.globalAlpha = 0.65;
    for (const call of calls) {
      pen.fillStyle = colours[call.outcome];
      pen.fillRect(x(call.begun) - 1.5, y(latency(call)) - 1.5, 3, 3);
    }
    pen.globalAlpha = 1;
    const count = Math.max(4, Math.min(60, Math.floor(calls.length / 12)));
    const windows = Array.from({ length: count }, () => []);
    for (const call of calls) windows[Math.min(count - 1, Math.floor((call.ended - start) / span * count))].push(call);
    const at = (window) => x(start + (window + 0.5) / count * span);
    for (const [share, colour] of [[0.5, colours.faint], [0.95, colours.text], [0.99, colours.bad]]) {
      pen.beginPath();
      pen.strokeStyle = colour;
      pen.lineWidth = 1.5;
      windows.forEach((window, number) => {
        if (!window.length) return;
        const sorted = window.map(latency).sort((a, b) => a - b);
        pen.lineTo(at(number), y(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]));
      });
      pen.stroke();
    }
    const rate = (window, outcome) => window.filter((call) => call.outcome === outcome).length / (span / count / 1e9);
    const highest = Math.max(...windows.flatMap((window) => OUTCOMES.map((outcome) => rate(window, outcome))));
    const unit = 10 ** Math.floor(Math.log10(Math.max(highest, 1e-9)));
    const step = highest / unit > 5 ? 2 * unit : highest / unit > 2 ? unit : unit / 2;
    const rateY = (value) => bottom - value / Math.max(highest, 1e-9) * (bottom - middle - 24);
    lines(Array.from({ length: Math.floor(highest / step + 0.001) + 1 }, (_, at) => at * step), rateY, (value) => `${Number(value.toPrecision(3))}/s`);
    for (const outcome of OUTCOMES) {
      if (!calls.some((call) => call.outcome === outcome)) continue;
      pen.beginPath();
      pen.strokeStyle = colours[outcome];
      pen.lineWidth = 2;
      windows.forEach((window, number) => pen.lineTo(at(number), rateY(rate(window, outcome))));
      pen.stroke();
    }
    pen.fillStyle = colours.faint;
    const places = Math.max(1, Math.floor((width - left) / 110));
    for (let place = 0; place <= places; place++) {
      const time = start + place / places * span;
      pen.textAlign = place === places ? "right" : "left";
      pen.fillText(seconds(Number((time - start).toPrecision(3))), x(time), PLOT_HEIGHT - 10);
    }
    pen.textAlign = "left";
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const unit = (event.clientX - box.left + this.view.scrollLeft - this.gutter) / this.gap;
    const lane = this.lanes[Math.floor((event.clientY - box.top + this.view.scrollTop - AXIS) / LANE)];
    const found = lane?.calls.findLast((call) => call.x1 - 3 / this.gap <= unit && unit <= Math.max(call.x2, call.x1 + 5 / this.gap) + 3 / this.gap);
    this.select(found ?? null, event.clientX, event.clientY);
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") this.select(null);
    if (!step) return;
    event.preventDefault();
    const at = this.selected ? this.shown.indexOf(this.selected) + step : 0;
    const call = this.shown[Math.min(this.shown.length - 1, Math.max(0, at))];
    if (call) this.reveal(call.index);
  }

  select(call, x, y) {
    if (this.selected !== call) {
      this.selected = call;
      this.draw();
    }
    tip.hidden = !call;
    if (!call) return;
    tip.replaceChildren(...this.describe(call));
    const box = this.canvas.getBoundingClientRect();
    const at = [x ?? box.left + this.gutter + call.x1 * this.gap - this.view.scrollLeft, y ?? box.top + AXIS + (call.lane + 1) * LANE - this.view.scrollTop];
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    tip.style.left = `${Math.max(8, Math.min(at[0] + 14, innerWidth - width - 12))}px`;
    tip.style.top = `${at[1] + 18 + height > innerHeight ? Math.max(8, at[1] - height - 14) : at[1] + 18}px`;
  }

  describe(call) {
    const row = (name, text) => Object.assign(document.createElement(name), { textContent: text });
    const rows = [row("b", words(call)), row("span", `process ${this.data.processes[call.process]} · ${call.outcome}: ${WORDS[call.outcome]}`)];
    const key = this.data.parts[call.part].key;
    if (key !== null) rows.push(row("span", `key ${key}`));
    rows.push(row("span", call.line ? `line ${call.line}, index ${call.index}` : `index ${call.index}`));
    if (call.begun !== null) rows.push(row("span", call.ended === null ? `from ${seconds(call.begun)}` : `${seconds(call.begun)} to ${seconds(call.ended)}`));
    const marks = [];
    if (call.kept) marks.push("is part of what is wrong");
    if (call.stuck) marks.push("cannot take effect after the longest legal order");
    rows.push(...marks.map((mark) => Object.assign(row("span", mark), { className: "mark" })));
    if (!call.stuck && call.placed) rows.push(row("span", "has a place in the longest legal order"));
    return rows;
  }
}

const words = (call) => [call.name, call.asked, call.answered === null ? null : `→ ${call.answered}`].filter((word) => word !== null).join(" ");
// Transactions are all called the same, and their result says what was asked.
const short = (call) => call.name === "txn" ? call.answered ?? call.asked ?? "" : words({ ...call, name: call.name.length > 8 ? `${call.name.slice(0, 7)}…` : call.name });
const seconds = (ns) => Math.abs(ns) >= 1e9 ? `${(ns / 1e9).toFixed(3).replace(/\.?0+$/, "")} s` : Math.abs(ns) >= 1e6 ? `${(ns / 1e6).toFixed(2).replace(/\.?0+$/, "")} ms` : ns === 0 ? "0" : `${(ns / 1e3).toFixed(1).replace(/\.?0+$/, "")} µs`;

// A colour of the page as the canvas understands it: `light-dark` is resolved by an element.
const probe = document.createElement("i");
probe.hidden = true;
document.body.append(probe);
const resolved = (colour) => {
  probe.style.color = colour;
  return getComputedStyle(probe).color;
};

const fitted = (canvas, width, height, ratio) => {
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    if (canvas.parentElement.className === "room") {
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
};

document.querySelectorAll("section[data-history]").forEach((section) => {
  const data = section.querySelector("script[type='application/json']");
  if (data) charts.push(new Chart(section, JSON.parse(data.textContent)));
});
