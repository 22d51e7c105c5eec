// The pages of a fleet. Texts of programs become text nodes, never markup.
"use strict";
(() => {
  const embedded = document.getElementById("data");
  const fixed = embedded ? JSON.parse(embedded.textContent) : null;
  const PAGES = [["", "Overview"], ["failures", "Failures"], ["workers", "Workers"], ["collection", "Collection"], ["runs", "Runs"]];
  const main = document.getElementById("content");
  let fleet = fixed ? fixed.fleet : null;
  let runs = fixed ? fixed.runs : null;
  let detail = null;
  let sort = ["failures", -1];
  let filter = "";
  let plots = [];
  let chartBy = "atS", isLog = false, byWorker = false;

  // Elements: h("td", {class: "n"}, "text", child …).
  const h = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined).map((child) => child instanceof Node ? child : visible(String(child))));
    return element;
  };
  // Signs that turn a text around or vanish are shown as one that is seen.
  const visible = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
  const number = (value) => value >= 1e6 ? new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value) : Math.round(value).toLocaleString("en");
  const seconds = (s) => s < 90 ? `${s.toFixed(s < 10 ? 1 : 0)} s` : s < 5400 ? `${Math.round(s / 60)} min` : s < 172800 ? `${(s / 3600).toFixed(1)} h` : `${Math.round(s / 86400)} d`;
  const now = () => fixed ? Math.max(0, ...fleet.workers.map((worker) => Date.parse(worker.seenAt) || 0)) : Date.now();
  const since = (at) => at ? `${seconds(Math.max(0, (now() - Date.parse(at)) / 1000))} ago` : "-";
  const percent = (part) => part === undefined || part === null ? "-" : part > 0 && part < 0.01 ? "< 1 %" : `${Math.round(part * 100)} %`;
  const stands = (failure) => failure.state !== "fixed" && failure.status !== "stale";
  const isAtWork = (worker) => !worker.hasEnded && (now() - Date.parse(worker.seenAt)) < 30000;

  const stateOf = (target) => {
    if (target.failures > 0) return ["bad", "failing"];
    if (target.trouble) return ["fair", "no result"];
    if (target.slices === 0) return ["", "not begun"];
    return ["good", "no failure"];
  };

  const word = (kind, text) => h("span", { class: `word ${kind}` }, text);
  const card = (value, label, kind) => h("div", { class: `card ${kind || ""}` }, h("strong", {}, value), h("span", {}, label));
  const bar = (part, total) => {
    const inner = h("i", {});
    inner.style.width = `${total ? Math.min(100, 100 * part / total) : 0}%`;
    return h("div", { class: "bar", role: "img", "aria-label": total ? `${part} of ${total}` : "not known" }, inner);
  };
  const table = (heads, rows) => h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows)));
  const copy = (text) => h("div", { class: "command" }, h("code", {}, text),
    navigator.clipboard ? h("button", { type: "button", onclick: (event) => { navigator.clipboard.writeText(text); event.target.textContent = "copied"; } }, "copy") : null);

  // The columns of the overview: key, head, what it is sorted by, the cell, whether it is a number.
  const COLUMNS = [
    ["name", "target", (t) => t.name, (t) => h("a", { href: `#/target/${t.id}`, class: "row" }, t.name), "name"],
    ["kind", "by", (t) => t.kind, (t) => t.kind, "wide"],
    ["state", "state", (t) => stateOf(t)[1], (t) => word(...stateOf(t)), ""],
    ["failures", "failures", (t) => t.failures, (t) => t.failures ? number(t.failures) : "-", "n"],
    ["executions", "executions", (t) => t.executions, (t) => number(t.executions), "n"],
    ["rate", "per CPU s", (t) => t.cpuS ? t.executions / t.cpuS : 0, (t) => t.cpuS ? number(t.executions / t.cpuS) : "-", "n"],
    ["cpu", "CPU time", (t) => t.cpuS, (t) => seconds(t.cpuS), "n"],
    ["edges", "edges", (t) => t.edgesTotal ? t.edges / t.edgesTotal : 0, (t) => [t.edgesTotal ? `${number(t.edges)} / ${number(t.edgesTotal)}` : "-", bar(t.edges, t.edgesTotal)], "n"],
    ["corpus", "corpus", (t) => t.corpus, (t) => number(t.corpus), "n wide"],
    ["new", "new", (t) => Date.parse(t.newsAt) || 0, (t) => since(t.newsAt), "n"],
    ["left", "more if doubled", (t) => t.chanceIfDoubled ?? -1, (t) => percent(t.chanceIfDoubled), "n"],
  ];

  const search = (label) => h("input", {
    type: "search", placeholder: "search (/)", "aria-label": label, value: filter,
    oninput: (event) => { filter = event.target.value; draw(true); },
  });
  const fits = (text) => text.toLowerCase().includes(filter.toLowerCase());

  const listed = () => {
    const column = COLUMNS.find(([key]) => key === sort[0]);
    return fleet.targets.filter((target) => fits(target.name)).sort((left, right) => {
      const [a, b] = [column[2](left), column[2](right)];
      return sort[1] * (typeof a === "string" ? a.localeCompare(b) : a - b) || left.name.localeCompare(right.name);
    });
  };
  const row = (target) => h("tr", {}, COLUMNS.map(([, , , cell, kind]) => h("td", { class: kind }, cell(target))));
  // What a row is made of: one that shows the same stays.
  const rowKey = (target) => `${JSON.stringify(target)} ${since(target.newsAt)}`;
  // The rows that are seen, in their order: id, key, element.
  let shown = [], warned = "";

  const cards = () => {
    const standing = fleet.failures.filter(stands).length;
    const sum = (of) => fleet.targets.reduce((total, target) => total + of(target), 0);
    const news = fleet.targets.map((target) => target.newsAt).filter(Boolean).sort((a, b) => Date.parse(a) - Date.parse(b)).pop();
    return h("div", { class: "cards" },
        card(number(fleet.targets.length), "targets"),
        card(number(standing), standing === 1 ? "failure stands" : "failures stand", standing ? "bad" : "good"),
        card(number(sum((target) => target.executions)), "executions"),
        card(seconds(sum((target) => target.cpuS)), "CPU time"),
        card(news ? since(news) : "-", "last new behaviour"),
        card(number(fleet.workers.filter(isAtWork).length), "fleets at work"));
  };

  // Only what has changed, where the same rows stand in the same order: hundreds of targets change several times a second.
  const renew = () => {
    const targets = listed();
    const table = main.querySelector("tbody");
    if (!table || warned !== JSON.stringify(fleet.warnings) || targets.length !== shown.length || targets.some((target, place) => target.id !== shown[place].id)) return false;
    main.querySelector(".cards").replaceWith(cards());
    targets.forEach((target, place) => {
      const key = rowKey(target);
      if (key === shown[place].key) return;
      const [before, after] = [shown[place].element, row(target)];
      const isFocused = before.contains(document.activeElement);
      before.replaceWith(after);
      if (isFocused) after.querySelector("a").focus({ preventScroll: true });
      shown[place] = { id: target.id, key, element: after };
    });
    return true;
  };

  const overview = () => {
    const targets = listed();
    warned = JSON.stringify(fleet.warnings);
    shown = targets.map((target) => ({ id: target.id, key: rowKey(target), element: row(target) }));
    return [
      h("h1", {}, "All targets"),
      cards(),
      fleet.warnings && fleet.warnings.length ? h("ul", { class: "notes" }, fleet.warnings.map((note) => h("li", {}, note))) : null,
      h("div", { class: "tools" }, search("Search targets"), h("span", { class: "faint" }, `${targets.length} of ${fleet.targets.length}, in ${fleet.store}`)),
      targets.length ? table(
        COLUMNS.map(([key, head, , , kind]) => h("th", { class: kind.replace("name", ""), "aria-sort": sort[0] === key ? (sort[1] > 0 ? "ascending" : "descending") : null },
          h("button", { type: "button", onclick: () => { sort = [key, sort[0] === key ? -sort[1] : key === "name" || key === "kind" ? 1 : -1]; draw(true); } }, head))),
        shown.map((one) => one.element))
        : h("p", { class: "empty" }, fleet.targets.length ? "No target has this in its name." : "No target was collected; the page Collection says why."),
    ];
  };

  const failureCard = (failure, showsTarget) => {
    const target = fleet.targets.find((one) => one.name === failure.target);
    const kind = failure.state === "fixed" ? "good" : failure.status === "stale" ? "fair" : "bad";
    return h("article", { class: `failure ${failure.state === "fixed" ? "fixed" : failure.status === "stale" ? "stale" : ""}` },
      h("h3", {}, failure.signature),
      h("p", {}, word(kind, failure.status), h("span", {}, failure.state),
        showsTarget && target ? h("a", { href: `#/target/${target.id}` }, failure.target) : showsTarget ? h("span", {}, failure.target) : null,
        h("span", { class: "faint" }, `seen ${number(failure.times)} ${failure.times === 1 ? "time" : "times"}, first ${since(failure.foundAt)}`)),
      h("p", {}, fixed ? null : h("a", { class: "row", href: `failures/${failure.trace}.html`, target: "_blank", rel: "noopener" }, "story, stack and profile"),
        h("a", { href: `failures/${failure.trace}.fozzy`, download: true }, "trace"),
        h("a", { href: `failures/${failure.trace}.patch`, download: true }, "regression test as a patch")),
      failure.command ? copy(failure.command) : null);
  };

  const failuresPage = () => {
    const rows = fleet.failures.filter((failure) => fits(failure.signature) || fits(failure.target));
    return [
      h("h1", {}, "Failures"),
      h("div", { class: "tools" }, search("Search failures"), h("span", { class: "faint" }, `${rows.length} of ${fleet.failures.length}`)),
      rows.length ? rows.map((failure) => failureCard(failure, true)) : h("p", { class: "empty" }, fleet.failures.length ? "No failure has this in its words." : "Nothing has failed."),
    ];
  };

  const workersPage = () => {
    const all = fleet.workers.flatMap((worker) => worker.recent.map((slice) => [slice.endedAtS - slice.tookS, slice.endedAtS])).flat();
    const from = Math.min(...all), until = Math.max(...all, fleet.workers.some(isAtWork) ? now() / 1000 : 0);
    return [
      h("h1", {}, "Workers"),
      fleet.workers.length ? null : h("p", { class: "empty" }, "No fleet has worked on this store."),
      h("div", { class: "lanes" }, fleet.workers.map((worker) => {
        const track = h("div", { class: "track", role: "img", "aria-label": `${worker.recent.length} slices` });
        for (const slice of worker.recent) {
          const span = h("i", { class: slice.news ? "new" : "", title: visible(`${slice.target}: ${seconds(slice.tookS)}, ${slice.news} new`) });
          span.style.left = `${100 * (slice.endedAtS - slice.tookS - from) / (until - from || 1)}%`;
          span.style.width = `${100 * slice.tookS / (until - from || 1)}%`;
          track.append(span);
        }
        return h("section", { class: "lane" },
          h("div", { class: "tools" }, h("strong", { class: "mono" }, worker.name), isAtWork(worker) ? word("good", "at work") : worker.hasEnded ? word("", "ended") : word("fair", "not heard of"),
            h("span", { class: "faint" }, `fozzy ${worker.version}, process ${worker.pid}, began ${since(worker.startedAt)}, seen ${since(worker.seenAt)}`)),
          track,
          h("div", { class: "scale" }, h("span", {}, all.length ? new Date(from * 1000).toLocaleTimeString() : ""), h("span", {}, `${number(worker.slices)} slices, ${seconds(worker.cpuS)} of CPU time; those with something new are green`), h("span", {}, all.length ? new Date(until * 1000).toLocaleTimeString() : "")));
      })),
    ];
  };

  const collectionPage = () => [
    h("h1", {}, "Collection"),
    h("h2", {}, `Not collected (${fleet.notCollected.length})`),
    fleet.notCollected.length ? table([h("th", {}, "path"), h("th", {}, "reason"), h("th", {}, "why")],
      fleet.notCollected.map((row) => h("tr", {}, h("td", { class: "name" }, row.name), h("td", {}, word("fair", row.reason)), h("td", { class: "why" }, row.why))))
      : h("p", { class: "empty" }, "Everything that was found is searched."),
    h("h2", {}, `Collected (${fleet.targets.length})`),
    fleet.targets.length ? table([h("th", {}, "target"), h("th", {}, "searched by"), h("th", {}, "last trouble")],
      fleet.targets.map((target) => h("tr", {}, h("td", { class: "name" }, h("a", { class: "row", href: `#/target/${target.id}` }, target.name)), h("td", {}, target.kind), h("td", { class: "why" }, target.trouble || "-"))))
      : h("p", { class: "empty" }, "No target was found."),
  ];

  const runsPage = () => {
    if (!runs) return [h("h1", {}, "Runs"), h("p", { class: "empty" }, "Reading …")];
    const rows = runs.filter((run) => fits(`${run.mode} ${run.status} ${run.runId}`));
    return [
      h("h1", {}, "Runs of the project"),
      h("div", { class: "tools" }, search("Search runs"), h("span", { class: "faint" }, `${rows.length} of ${runs.length}, the latest first`)),
      rows.length ? table([h("th", {}, "run"), h("th", {}, "by"), h("th", {}, "verdict"), h("th", { class: "n" }, "findings"), h("th", { class: "n" }, "took"), h("th", { class: "n" }, "ended"), h("th", { class: "wide" }, "replay")],
        rows.map((run) => h("tr", {},
          h("td", { class: "mono" }, fixed ? run.runId.slice(0, 12) : h("a", { class: "row", href: `runs/${run.runId}.html`, target: "_blank", rel: "noopener" }, run.runId.slice(0, 12))),
          h("td", {}, run.mode), h("td", {}, word(run.status === "pass" ? "good" : "bad", run.status)), h("td", { class: "n" }, number(run.findingsCount)),
          h("td", { class: "n" }, seconds(run.durationNs / 1e9)), h("td", { class: "n" }, since(run.finishedAt)), h("td", { class: "mono wide" }, `fozzy replay ${run.runId.slice(0, 12)}`))))
        : h("p", { class: "empty" }, runs.length ? "No run has this in its words." : "No run is kept."),
    ];
  };

  // Steps of an axis of counts.
  const WHOLE = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
  const CHARTS = [["behaviours seen", (moment) => moment.features], ["edges reached", (moment) => moment.edges], ["testcases or kept places", (moment) => moment.corpus], ["failures that stand", (moment) => moment.failures]];
  const colours = ["#3b82c4", "#d9793a", "#2f9e6b", "#b05cc6", "#c2a01f", "#d0506b", "#5f6fd1", "#3aa7a7"];
  const resolved = (name) => { const probe = h("i", {}); probe.style.color = `var(${name})`; document.body.append(probe); const colour = getComputedStyle(probe).color; probe.remove(); return colour; };

  const chart = (box, title, history, of, key) => {
    const names = byWorker ? [...new Set(history.map((moment) => moment.worker))].slice(0, colours.length) : [null];
    const x = history.map((moment) => key === "atS" ? moment.atS : key === "cpuS" ? moment.cpuS : moment.executions);
    const order = x.map((_, place) => place).sort((a, b) => x[a] - x[b]);
    const ys = names.map((name) => order.map((place) => name === null || history[place].worker === name ? of(history[place]) : null));
    const [line, faint] = [resolved("--rule"), resolved("--faint")];
    const axis = { stroke: faint, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui, sans-serif" };
    const values = (_, ticks) => ticks.map((tick) => tick === null ? "" : key === "cpuS" ? seconds(tick) : number(tick));
    plots.push(new uPlot({
      width: Math.max(240, box.clientWidth - 24), height: 220, legend: { show: byWorker },
      scales: { x: { time: key === "atS", distr: isLog && key !== "atS" ? 3 : 1 }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 1) * 1.05 || 1] } },
      axes: [key === "atS" ? axis : { ...axis, values }, { ...axis, values: (_, ticks) => ticks.map(number), size: 64, incrs: WHOLE }],
      series: [{}, ...names.map((name, place) => ({ label: visible(name || title), stroke: colours[place], width: 2, spanGaps: true, paths: uPlot.paths.stepped({ align: 1 }), points: { show: history.length < 60, size: 5 } }))],
    }, [order.map((place) => isLog && key !== "atS" ? Math.max(x[place], 1e-3) : x[place]), ...ys], box));
  };

  const targetPage = (id) => {
    if (!detail || detail.target.id !== id) return [h("p", { class: "empty" }, detail === false ? "There is no such target." : "Reading …")];
    const { target, failures, history, testcases, corpusPath } = detail;
    const charts = h("div", { class: "charts" });
    const choice = (label, isOn, act) => h("button", { type: "button", "aria-pressed": String(isOn), onclick: () => { act(); draw(true); } }, label);
    queueMicrotask(() => {
      if (!charts.isConnected || !history.length) return;
      // All boxes first: how wide one is depends on the others.
      const boxes = CHARTS.map(([title]) => h("div", { class: "chart" }, h("h3", {}, title)));
      charts.append(...boxes);
      CHARTS.forEach(([title, of], place) => chart(boxes[place], title, history, of, chartBy));
    });
    return [
      h("p", {}, h("a", { href: "#/" }, "← all targets")),
      h("h1", {}, target.name, " ", word(...stateOf(target))),
      h("div", { class: "cards" },
        card(number(target.executions), "executions"), card(target.cpuS ? number(target.executions / target.cpuS) : "-", "per CPU second"),
        card(seconds(target.cpuS), `CPU time in ${number(target.slices)} slices`),
        card(target.edgesTotal ? `${number(target.edges)} / ${number(target.edgesTotal)}` : "-", "edges"),
        card(since(target.newsAt), "last new behaviour"), card(percent(target.chanceIfDoubled), "chance of more if doubled")),
      target.trouble ? h("ul", { class: "notes" }, h("li", {}, `the last slice had no result: ${target.trouble}`)) : null,
      h("h2", {}, "How it went"),
      h("div", { class: "tools" }, choice("time", chartBy === "atS", () => { chartBy = "atS"; }), choice("CPU time", chartBy === "cpuS", () => { chartBy = "cpuS"; }),
        choice("executions", chartBy === "executions", () => { chartBy = "executions"; }), choice("logarithmic", isLog, () => { isLog = !isLog; }), choice("by worker", byWorker, () => { byWorker = !byWorker; })),
      history.length ? charts : h("p", { class: "empty" }, "No slice has ended yet."),
      h("h2", {}, `Failures (${failures.length})`),
      failures.length ? failures.map((failure) => failureCard(failure, false)) : h("p", { class: "empty" }, "None so far."),
      corpusPath ? [h("h2", {}, "Corpus"), h("p", { class: "faint" }, `${corpusPath}; the latest ${testcases.length} testcases. What they reach, line by line:`),
        copy(`fozzy coverage ${target.name.split(" ")[0]} --corpus ${corpusPath} --format html`),
        table([h("th", {}, "testcase"), h("th", { class: "n" }, "bytes"), h("th", {}, "begins with")],
          testcases.map((row) => h("tr", {}, h("td", { class: "mono" }, row.name.slice(0, 16)), h("td", { class: "n" }, number(row.size)), h("td", { class: "mono why" }, row.begins))))] : null,
    ];
  };

  const place = () => location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);

  // Draws the page anew. Where the reader is stays: scrolling, the search field, the focused row.
  const draw = (keeps) => {
    const [page, id] = place();
    document.getElementById("nav").replaceChildren(...PAGES.map(([key, label]) => h("a", { href: `#/${key}`, "aria-current": page === key || (key === "" && page === "target") ? "page" : null }, label)));
    if (!fleet) { main.replaceChildren(h("p", { class: "empty" }, "Reading …")); return; }
    const active = document.activeElement;
    const kept = keeps && main.contains(active) ? { href: active.getAttribute("href"), isSearch: active.type === "search", at: active.type === "search" ? active.selectionStart : 0, label: active.tagName === "BUTTON" ? active.textContent : null } : null;
    const scroll = [scrollX, scrollY, ...[...main.querySelectorAll(".scroll")].map((box) => box.scrollLeft)];
    plots.forEach((plot) => plot.destroy());
    plots = [];
    const make = { "": overview, failures: failuresPage, workers: workersPage, collection: collectionPage, runs: runsPage, target: () => targetPage(id) }[page];
    const parts = make ? make() : [h("p", { class: "empty" }, "There is no such page.")];
    main.replaceChildren(...parts.flat(2).filter((part) => part !== null && part !== undefined));
    document.title = `Fozzy: ${page === "target" && detail ? visible(detail.target.name) : (PAGES.find(([key]) => key === page) || ["", "a fleet"])[1]}`;
    if (keeps) {
      scrollTo(scroll[0], scroll[1]);
      [...main.querySelectorAll(".scroll")].forEach((box, place) => { box.scrollLeft = scroll[2 + place] || 0; });
    }
    if (kept) {
      const again = kept.isSearch ? main.querySelector("input[type=search]")
        : kept.label ? [...main.querySelectorAll("button")].find((button) => button.textContent === kept.label)
        : [...main.querySelectorAll("a")].find((link) => link.getAttribute("href") === kept.href);
      if (again) { again.focus({ preventScroll: true }); if (kept.isSearch) again.setSelectionRange(kept.at, kept.at); }
    }
  };

  const ask = async (path) => {
    const response = await fetch(path);
    if (!response.ok) throw new Error(`${response.status}`);
    return response.json();
  };
  let asking = 0;
  const refresh = async (keeps) => {
    const [page, id] = place();
    if (keeps && page === "" && renew()) return;
    const turn = ++asking;
    try {
      if (page === "target") {
        const found = fixed ? fixed.targets[id] || false : await ask(`api/targets/${encodeURIComponent(id)}`);
        if (turn !== asking) return;
        detail = found;
      }
      if (page === "runs" && !fixed) { const found = await ask("api/runs"); if (turn !== asking) return; runs = found; }
    } catch (error) {
      if (page === "target" && error.message === "404") detail = false;
    }
    draw(keeps);
  };

  addEventListener("hashchange", () => { filter = ""; detail = null; scrollTo(0, 0); draw(false); refresh(false).then(() => main.focus({ preventScroll: true })); });
  addEventListener("resize", () => { if (plots.length) draw(true); });

  const theme = () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    draw(true);
  };
  document.getElementById("theme").addEventListener("click", theme);
  const help = document.getElementById("help");
  document.getElementById("keys").addEventListener("click", () => help.showModal());

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const isTyping = event.target.matches("input, textarea");
    if (isTyping) { if (event.key === "Escape") event.target.blur(); return; }
    const rows = [...main.querySelectorAll("a.row")];
    const at = rows.indexOf(document.activeElement);
    if (event.key >= "1" && event.key <= String(PAGES.length)) location.hash = `#/${PAGES[event.key - 1][0]}`;
    else if (event.key === "/") { const field = main.querySelector("input[type=search]"); if (field) { event.preventDefault(); field.focus(); } }
    else if (event.key === "j" && rows.length) rows[Math.min(at + 1, rows.length - 1)].focus();
    else if (event.key === "k" && rows.length) rows[Math.max(at - 1, 0)].focus();
    else if (event.key === "t") theme();
    else if (event.key === "?") help.showModal();
  });

  const live = document.getElementById("live");
  const say = (kind, text) => { live.className = `live ${kind}`; live.textContent = text; };
  if (fixed) {
    say("", "exported");
    refresh(false);
  } else {
    draw(false);
    const events = new EventSource("api/events");
    let isDrawn = false;
    // Drawn once per frame, whatever comes in between; a page in the background draws when it is seen again.
    const later = () => requestAnimationFrame(() => { isDrawn = false; refresh(true); });
    events.addEventListener("fleet", (event) => {
      fleet = JSON.parse(event.data);
      say("on", "live");
      if (!isDrawn) { isDrawn = true; later(); }
    });
    events.addEventListener("error", () => say("off", "the fleet's process does not answer"));
  }
})();
