"use strict";
// A run, played: lanes of clients, machines and services; a step is one event. The moment stands in the address, so that it can be linked.
(() => {
  const LANE = 34, HEAD = 26, GUTTER = 110, GAP = 26;
  const make = (tag, attributes = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(...children);
    return element;
  };
  const seconds = (ns) => ns >= 1e9 ? `${(ns / 1e9).toFixed(6).replace(/\.?0+$/, "")} s` : ns >= 1e6 ? `${(ns / 1e6).toFixed(3).replace(/\.?0+$/, "")} ms` : `${(ns / 1e3).toFixed(1).replace(/\.0$/, "")} µs`;

  class Player {
    constructor(section, data) {
      Object.assign(this, { section, data, at: 0, gap: GAP, byTime: false, playing: null, hidden: new Set(), search: "" });
      this.kinds = { messages: true, operations: true, logs: true, faults: true };
      this.collect();
      this.build();
      this.filter();
      const linked = /[#&]step=(\d+)/.exec(location.hash);
      this.go(linked ? this.nearest(Number(linked[1])) : 0);
    }

    // All events in their order; each knows its lanes and what it is about.
    collect() {
      const { messages, operations, marks, faults, states } = this.data;
      const all = [];
      const add = (moment, kind, lanes, what, words) => all.push({ at: moment[0], order: moment[1], kind, lanes, what, words });
      messages.forEach((message, number) => {
        message.number = number;
        const peers = `${this.name(message.from)} → ${this.name(message.to)}`;
        const id = message.id === null ? "" : ` #${message.id}`;
        add(message.sent, "messages", [message.from], { message, is: "sent" }, `${peers} ${message.label}${id} is sent${message.received ? "" : ", and does not arrive"}`);
        if (message.received) add(message.received, "messages", [message.to], { message, is: "received" }, `${peers} ${message.label}${id} is received`);
      });
      operations.forEach((operation, number) => {
        operation.number = number;
        const words = `${operation.name} ${operation.asked}`;
        add(operation.begun, "operations", [operation.lane], { operation }, `process ${operation.process} begins ${words}`);
        if (operation.ended) add(operation.ended, "operations", [operation.lane], { operation }, `process ${operation.process} ends ${words}: ${operation.outcome} ${operation.answered}`);
      });
      marks.forEach((mark) => add(mark.at, mark.kind === "fault" || mark.kind === "finding" ? "faults" : "logs", [mark.lane], { mark }, `${this.name(mark.lane)} ${mark.kind}: ${mark.text}`));
      faults.forEach((fault) => {
        add(fault.begun, "faults", [], { fault }, `${fault.name} begins: ${fault.text}`);
        if (fault.ended && fault.ended[0] > fault.begun[0]) add(fault.ended, "faults", [], { fault }, `${fault.name} ends`);
      });
      states.forEach((state) => add(state.at, "faults", [state.lane], { state }, `${this.name(state.lane)} is ${state.state}`));
      all.sort((a, b) => a.at - b.at || a.order - b.order);
      all.forEach((event, number) => { event.number = number; });
      this.all = all;
      // Where each thing is drawn: the places of its events.
      for (const event of all) {
        const { message, operation, fault, is } = event.what;
        if (message) message[is].event = event;
        if (operation) { operation.begunEvent ??= event; if (operation.begunEvent !== event) operation.endedEvent = event; }
        if (fault) { fault.begunEvent ??= event; if (fault.begunEvent !== event) fault.endedEvent = event; }
      }
    }

    name(lane) { return this.data.lanes[lane]?.name ?? ""; }

    build() {
      const button = (text, title, action) => make("button", { type: "button", textContent: text, title, onclick: action });
      const stage = this.section.querySelector(".stage");
      this.playButton = button("▶", "play or pause (space)", () => this.toggle());
      this.slider = make("input", { type: "range", min: 0, value: 0, title: "the moment" });
      this.slider.setAttribute("aria-label", "step");
      this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
      this.now = make("span", { className: "now" });
      const speeds = [1, 4, 16, 64];
      this.speed = 4;
      const speed = button("4×", "how fast it is played", () => {
        this.speed = speeds[(speeds.indexOf(this.speed) + 1) % speeds.length];
        speed.textContent = `${this.speed}×`;
      });
      const time = button("by time", "place events by their time (t)", () => this.toggleTime());
      this.timeButton = time;
      const search = make("input", { type: "search", placeholder: "filter: n0, gossip, …" });
      search.setAttribute("aria-label", "show only events with these words");
      search.addEventListener("input", () => { this.search = search.value.toLowerCase(); this.refilter(); });
      this.searchBox = search;
      const kinds = Object.keys(this.kinds).map((kind) => {
        const box = make("input", { type: "checkbox", checked: true });
        box.addEventListener("change", () => { this.kinds[kind] = box.checked; this.refilter(); });
        return make("label", {}, box, kind);
      });
      const link = button("link", "copy a link to this moment (l)", () => this.link());
      this.linkButton = link;
      const tools = make("div", { className: "tools" },
        button("|◀", "to the start (Home)", () => this.go(0)), button("◂", "a step back (left)", () => this.go(this.at - 1)), this.playButton,
        button("▸", "a step on (right)", () => this.go(this.at + 1)), button("▶|", "to the end (End)", () => this.go(Infinity)),
        this.slider, this.now, speed);
      const more = make("div", { className: "tools" }, search, ...kinds, time, button("−", "smaller (-)", () => this.zoom(1 / 1.4)), button("+", "larger (+)", () => this.zoom(1.4)), button("fit", "all of it (f)", () => this.fit()), link);
      this.canvas = make("canvas", {});
      this.room = make("div", {}, this.canvas);
      this.view = make("div", { className: "view", tabIndex: 0 }, this.room);
      this.view.setAttribute("role", "application");
      this.view.setAttribute("aria-label", "lanes over time; left and right go from event to event, space plays");
      this.event = make("div", { className: "event" });
      this.event.setAttribute("aria-live", "polite");
      this.nodes = make("div", { className: "nodes" });
      stage.append(tools, more, this.view, this.event, this.nodes);
      this.view.addEventListener("scroll", () => this.draw());
      this.view.addEventListener("wheel", (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2);
      }, { passive: false });
      this.canvas.addEventListener("pointerdown", (event) => this.point(event));
      this.section.addEventListener("keydown", (event) => this.key(event));
      new ResizeObserver(() => this.draw()).observe(this.view);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
      new MutationObserver(() => this.draw()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
      addEventListener("hashchange", () => {
        const linked = /[#&]step=(\d+)/.exec(location.hash);
        if (linked) this.go(this.nearest(Number(linked[1])));
      });
    }

    filter() {
      const fits = (event) => this.kinds[event.kind] && (!this.search || event.words.toLowerCase().includes(this.search) || this.text(event).toLowerCase().includes(this.search));
      this.events = this.all.filter(fits);
      this.events.forEach((event, place) => { event.place = place; });
      const shown = new Set(this.events);
      this.all.forEach((event) => { event.shown = shown.has(event); });
      // Those that are not shown have the place of the next one that is.
      let next = this.events.length;
      for (let at = this.all.length - 1; at >= 0; at--) this.all[at].shown ? (next = this.all[at].place) : (this.all[at].place = next);
      this.slider.max = Math.max(0, this.events.length - 1);
      this.layout();
    }

    refilter() {
      const number = this.events[this.at]?.number ?? 0;
      this.filter();
      this.go(this.nearest(number));
    }

    nearest(number) {
      const place = this.events.findIndex((event) => event.number >= number);
      return place < 0 ? this.events.length - 1 : place;
    }

    text(event) { return event.what.message?.text ?? ""; }

    layout() {
      const last = Math.max(1, this.events.length);
      const start = this.all[0]?.at ?? 0;
      const span = Math.max(1, this.data.end - start);
      this.unit = (event) => this.byTime ? (event.at - start) / span * last : event.place;
      this.width = GUTTER + (last + 2) * this.gap;
      this.height = HEAD + this.data.lanes.length * LANE + 8;
      this.room.style.width = `${this.width}px`;
      this.room.style.height = `${this.height}px`;
    }

    x(event) { return GUTTER + (this.unit(event) + 0.5) * this.gap - this.view.scrollLeft; }
    y(lane) { return HEAD + lane * LANE + LANE / 2 - this.view.scrollTop; }

    go(at) {
      this.at = Math.max(0, Math.min(this.events.length - 1, at));
      const event = this.events[this.at];
      if (!event) { this.now.textContent = "no events"; this.event.replaceChildren(); this.draw(); return; }
      this.slider.value = this.at;
      this.now.textContent = `step ${event.number + 1} of ${this.all.length} · ${seconds(event.at)}`;
      const x = this.x(event);
      if (x < GUTTER + 40 || x > this.view.clientWidth - 60) this.view.scrollLeft += x - this.view.clientWidth / 2;
      if (event.lanes.length) {
        const y = this.y(event.lanes[0]);
        if (y < HEAD || y > this.view.clientHeight - LANE) this.view.scrollTop += y - this.view.clientHeight / 2;
      }
      this.describe(event);
      this.showNodes(event);
      this.draw();
    }

    describe(event) {
      const { message, operation } = event.what;
      const parts = [make("b", { textContent: event.words })];
      if (message?.text) parts.push(make("code", { textContent: message.text }));
      if (message?.received && message.sent[0] !== message.received[0]) parts.push(make("div", { textContent: `sent ${seconds(message.sent[0])}, received ${seconds(message.received[0])}, ${seconds(message.received[0] - message.sent[0])} later` }));
      if (operation) parts.push(make("div", { textContent: `process ${operation.process}: ${operation.name} ${operation.asked}: ${operation.outcome} ${operation.answered}` }));
      const links = make("div");
      const to = (words, target) => target && links.append(make("a", { textContent: words, onclick: () => this.jump(target) }));
      if (message) {
        to("sent", message.sent.event);
        to("received", message.received?.event);
        for (const one of this.data.operations) if (one.request === message.number || one.reply === message.number) to(`operation ${one.name} ${one.asked}`, one.begunEvent);
      }
      if (operation) {
        to("begins", operation.begunEvent);
        to("request", this.data.messages[operation.request]?.sent.event);
        to("reply", this.data.messages[operation.reply]?.sent.event);
        to("ends", operation.endedEvent);
      }
      if (event.what.fault) { to("begins", event.what.fault.begunEvent); to("ends", event.what.fault.endedEvent); }
      if (links.children.length) parts.push(links);
      this.event.replaceChildren(...parts);
    }

    jump(event) {
      if (!event.shown) {
        this.search = this.searchBox.value = "";
        this.kinds[event.kind] = true;
        this.filter();
      }
      this.go(event.place);
    }

    // What each machine is at that moment: what it waits for, what it sent, received and logged last.
    showNodes(event) {
      const until = event.number;
      const cards = this.data.lanes.map((lane, number) => ({ lane, number })).filter(({ lane }) => lane.kind === "machine").slice(0, 60);
      const last = new Map(cards.map(({ number }) => [number, {}]));
      for (let at = 0; at <= until; at++) {
        const { what, lanes } = this.all[at];
        const card = last.get(lanes[0]);
        if (!card) continue;
        if (what.state) card.state = what.state.state;
        if (what.message) card[what.is] = what.message;
        if (what.mark) card.mark = what.mark;
      }
      this.nodes.replaceChildren(...cards.map(({ lane, number }) => {
        const card = last.get(number);
        const state = card.state ?? "up";
        const wait = this.data.waits.find((one) => one.lane === number && one.from <= event.at && event.at < one.to);
        const row = (text) => make("span", { textContent: text, title: text });
        const rows = [row(state === "up" && wait ? `waits for ${wait.what}` : state)];
        if (card.received) rows.push(row(`read ${this.name(card.received.from)}: ${card.received.label}`));
        if (card.sent) rows.push(row(`sent ${this.name(card.sent.to)}: ${card.sent.label}`));
        if (card.mark) rows.push(row(`${card.mark.kind} ${card.mark.text}`));
        const down = state === "killed" || state === "without power" || state === "ended";
        const touched = event.lanes.includes(number) ? " touched" : "";
        return make("div", { className: `node${down ? " down" : state === "paused" ? " paused" : ""}${touched}` }, make("b", { textContent: lane.name }), ...rows);
      }));
    }

    draw() {
      const ratio = devicePixelRatio || 1;
      const width = this.view.clientWidth, height = Math.min(this.height, this.view.clientHeight || this.height);
      if (!width || !height) return;
      this.canvas.width = width * ratio;
      this.canvas.height = height * ratio;
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
      const pen = this.canvas.getContext("2d");
      pen.scale(ratio, ratio);
      const colours = this.colours();
      const current = this.events[this.at];
      pen.font = "12px system-ui, sans-serif";
      pen.textBaseline = "middle";
      pen.fillStyle = colours.back;
      pen.fillRect(0, 0, width, height);
      this.data.lanes.forEach((lane, number) => {
        if (number % 2 === 0) { pen.fillStyle = colours.grid; pen.fillRect(0, this.y(number) - LANE / 2, width, LANE); }
        pen.strokeStyle = colours.rule;
        pen.lineWidth = 1;
        this.line(pen, GUTTER, this.y(number), width, this.y(number));
      });
      for (const fault of this.data.faults) {
        const from = this.x(fault.begunEvent), to = fault.ended ? this.x(fault.endedEvent ?? fault.begunEvent) : width;
        if (to < GUTTER || from > width || !this.kinds.faults) continue;
        pen.globalAlpha = 0.28;
        pen.fillStyle = `#${fault.colour}`;
        pen.fillRect(Math.max(from, GUTTER), HEAD - 10, Math.max(3, to - Math.max(from, GUTTER)), height);
        pen.globalAlpha = 1;
        pen.fillStyle = colours.fair;
        pen.fillText(`${fault.name} ${fault.text}`.slice(0, Math.max(8, (to - from) / 6)), Math.max(from, GUTTER) + 3, HEAD - 4);
      }
      if (this.kinds.faults) this.drawStates(pen, colours, width);
      if (this.kinds.operations) for (const operation of this.data.operations) this.drawOperation(pen, colours, operation, width, current);
      if (this.kinds.messages) for (const message of this.data.messages) this.drawMessage(pen, colours, message, width, current);
      for (const event of this.events) {
        const { mark } = event.what;
        const x = this.x(event);
        if (!mark || x < GUTTER || x > width) continue;
        pen.fillStyle = mark.kind === "finding" ? colours.bad : mark.kind === "fault" ? colours.fair : colours.faint;
        pen.fillRect(x - 3, this.y(mark.lane) + 6, 6, 6);
      }
      if (current) {
        const x = this.x(current);
        pen.strokeStyle = colours.link;
        pen.lineWidth = 2;
        this.line(pen, x, HEAD - 12, x, height);
      }
      pen.fillStyle = colours.back;
      pen.fillRect(0, 0, width, HEAD - 11);
      pen.fillRect(0, 0, GUTTER, height);
      this.data.lanes.forEach((lane, number) => {
        pen.fillStyle = lane.kind === "machine" ? colours.text : colours.faint;
        pen.font = `${lane.kind === "machine" ? 600 : 400} 12px system-ui, sans-serif`;
        pen.fillText(lane.name.slice(0, 15), 10, this.y(number));
      });
      pen.fillStyle = colours.faint;
      pen.font = "11px system-ui, sans-serif";
      let free = GUTTER;
      for (const event of this.events) {
        const x = this.x(event);
        if (x < free || x > width - 40) continue;
        pen.fillText(seconds(event.at), x, 8);
        free = x + 90;
      }
    }

    drawStates(pen, colours, width) {
      const open = new Map();
      const close = (lane, x) => {
        const from = open.get(lane);
        if (!from) return;
        open.delete(lane);
        if (x < GUTTER || from.x > width) return;
        pen.globalAlpha = 0.5;
        pen.fillStyle = from.state === "paused" ? colours.fair : colours.bad;
        pen.fillRect(Math.max(GUTTER, from.x), this.y(lane) - 4, Math.max(2, x - Math.max(GUTTER, from.x)), 8);
        pen.globalAlpha = 1;
      };
      for (const event of this.all) {
        const { state } = event.what;
        if (!state) continue;
        close(state.lane, this.x(event));
        if (state.state !== "up") open.set(state.lane, { x: this.x(event), state: state.state });
      }
      [...open.keys()].forEach((lane) => close(lane, width));
    }

    drawOperation(pen, colours, operation, width, current) {
      const from = this.x(operation.begunEvent), to = operation.endedEvent ? this.x(operation.endedEvent) : width + 8;
      if (to < GUTTER || from > width) return;
      const y = this.y(operation.lane);
      pen.fillStyle = colours[operation.outcome] ?? colours.info;
      pen.fillRect(from, y - 11, Math.max(4, to - from), 9);
      if (current?.what.operation === operation) { pen.strokeStyle = colours.link; pen.lineWidth = 2; pen.strokeRect(from - 1, y - 12, Math.max(6, to - from + 2), 11); }
      if (this.gap < 7) return;
      pen.save();
      pen.beginPath();
      pen.rect(from, y - LANE / 2, Math.max(to - from, this.gap * 3), LANE);
      pen.clip();
      pen.fillStyle = colours.text;
      pen.font = "10.5px system-ui, sans-serif";
      pen.fillText(`${operation.name} ${operation.asked}${operation.outcome === "ok" && operation.answered && operation.answered !== operation.asked ? ` → ${operation.answered}` : operation.outcome === "ok" ? "" : ` ${operation.outcome}`}`.slice(0, 90), from + 2, y - 6.5);
      pen.restore();
    }

    drawMessage(pen, colours, message, width, current) {
      const sent = message.sent.event, received = message.received?.event;
      if (!sent.shown && !received?.shown) return;
      const [x1, y1] = [this.x(sent), this.y(message.from)];
      const [x2, y2] = received ? [this.x(received), this.y(message.to)] : [x1 + this.gap, y1 + (this.y(message.to) - y1) * 0.5];
      if (Math.max(x1, x2) < GUTTER || Math.min(x1, x2) > width) return;
      const isCurrent = current?.what.message === message;
      const ofClient = [message.from, message.to].some((lane) => this.data.lanes[lane]?.kind === "client");
      pen.strokeStyle = pen.fillStyle = isCurrent ? colours.link : !received ? colours.bad : ofClient ? colours.client : colours.peer;
      // What comes after the moment is faint.
      pen.globalAlpha = isCurrent || !current || sent.number <= current.number ? 1 : 0.35;
      pen.lineWidth = isCurrent ? 2.5 : 1.2;
      this.line(pen, x1, y1, x2, y2);
      if (received) {
        const turn = Math.atan2(y2 - y1, x2 - x1);
        pen.beginPath();
        pen.moveTo(x2, y2);
        pen.lineTo(x2 - 8 * Math.cos(turn - 0.4), y2 - 8 * Math.sin(turn - 0.4));
        pen.lineTo(x2 - 8 * Math.cos(turn + 0.4), y2 - 8 * Math.sin(turn + 0.4));
        pen.fill();
      } else {
        this.line(pen, x2 - 4, y2 - 4, x2 + 4, y2 + 4);
        this.line(pen, x2 - 4, y2 + 4, x2 + 4, y2 - 4);
      }
      if (isCurrent || this.gap >= 14) {
        pen.font = `${isCurrent ? 600 : 400} 10.5px system-ui, sans-serif`;
        pen.fillText(message.label, x1 + 4, y1 + (y2 > y1 ? 8 : -8));
      }
      pen.globalAlpha = 1;
    }

    line(pen, x1, y1, x2, y2) {
      pen.beginPath();
      pen.moveTo(x1, y1);
      pen.lineTo(x2, y2);
      pen.stroke();
    }

    colours() {
      const probe = this.probe ??= this.section.appendChild(make("i", { hidden: true }));
      const found = {};
      for (const name of ["back", "text", "faint", "rule", "grid", "link", "bad", "fair", "ok", "info", "fail", "client", "peer"]) {
        probe.style.color = `var(--p-${name})`;
        found[name] = getComputedStyle(probe).color;
      }
      return found;
    }

    zoom(factor) {
      const event = this.events[this.at];
      const before = event ? this.x(event) : 0;
      this.gap = Math.min(200, Math.max(0.02, this.gap * factor));
      this.layout();
      if (event) this.view.scrollLeft += this.x(event) - before;
      this.draw();
    }

    fit() {
      this.gap = Math.max(0.02, (this.view.clientWidth - GUTTER) / (this.events.length + 2));
      this.layout();
      this.draw();
    }

    toggleTime() {
      this.byTime = !this.byTime;
      this.timeButton.setAttribute("aria-pressed", this.byTime);
      this.layout();
      this.go(this.at);
    }

    toggle() {
      if (this.playing) clearInterval(this.playing);
      this.playing = this.playing ? null : setInterval(() => {
        if (this.at >= this.events.length - 1) return this.toggle();
        this.go(this.at + 1);
      }, 1000 / this.speed);
      this.playButton.textContent = this.playing ? "❚❚" : "▶";
    }

    link() {
      const event = this.events[this.at];
      if (!event) return;
      history.replaceState(null, "", `#step=${event.number}`);
      navigator.clipboard?.writeText(location.href).catch(() => {});
      this.linkButton.textContent = "linked";
      setTimeout(() => { this.linkButton.textContent = "link"; }, 1200);
    }

    // The event that is nearest to the pointer: on its lane if it has one.
    point(pointer) {
      const box = this.canvas.getBoundingClientRect();
      const [x, y] = [pointer.clientX - box.left, pointer.clientY - box.top];
      const distance = (event) => Math.abs(this.x(event) - x) + (event.lanes.length && Math.abs(this.y(event.lanes[0]) - y) > LANE / 2 ? 60 : 0);
      let best = null;
      for (const event of this.events) if (!best || distance(event) < distance(best)) best = event;
      this.view.focus();
      if (best) this.go(best.place);
    }

    key(event) {
      if (event.target === this.searchBox) return;
      const actions = {
        ArrowLeft: () => this.go(this.at - (event.shiftKey ? 10 : 1)), ArrowRight: () => this.go(this.at + (event.shiftKey ? 10 : 1)),
        Home: () => this.go(0), End: () => this.go(Infinity), " ": () => this.toggle(), "+": () => this.zoom(1.4), "-": () => this.zoom(1 / 1.4),
        f: () => this.fit(), t: () => this.toggleTime(), l: () => this.link(), "/": () => this.searchBox.focus(),
      };
      const action = actions[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey || (event.key === " " && event.target.tagName === "BUTTON")) return;
      event.preventDefault();
      action();
    }
  }

  document.querySelectorAll("section[data-playback]").forEach((section) => {
    const data = section.querySelector("script[type='application/json']");
    if (data) new Player(section, JSON.parse(data.textContent));
  });
})();
