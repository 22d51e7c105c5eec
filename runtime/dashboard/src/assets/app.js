// The pages of a fleet. Texts of programs become text nodes, never markup.
"use strict";
(() => {
  const embedded = document.getElementById("data");
  const fixed = embedded ? JSON.parse(embedded.textContent) : null;
  const PAGES = [["", "Overview"], ["failures", "Failures"], ["workers", "Workers"], ["collection", "Collection"], ["runs", "Runs"], ["patches", "Patches"]];
  const main = document.getElementById("content");
  let fleet = fixed ? fixed.fleet : null;
  // Why there is none.
  let away = null;
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
  const visible = (text) => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028-\u202e\u2060-\u2064\u2066-\u2069]/g, "\ufffd");
  // A path that is broken between its parts, if it has to be.
  const breakable = (path) => path.split(/(?<=[/_-])|(?=\.)/).flatMap((part, place) => place ? [h("wbr", {}), part] : [part]);
  const number = (value) => value >= 1e6 ? new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value) : Math.round(value).toLocaleString("en");
  const counted = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
  const seconds = (s) => s < 90 ? `${s.toFixed(s < 10 ? 1 : 0)} s` : s < 5400 ? `${Math.round(s / 60)} min` : s < 172800 ? `${(s / 3600).toFixed(1)} h` : `${Math.round(s / 86400)} d`;
  // Files may be read years later: they have dates.
  const since = (at) => !at ? "-" : fixed ? `${at.slice(0, 16).replace("T", " ")} UTC` : `${seconds(Math.max(0, (Date.now() - Date.parse(at)) / 1000))} ago`;
  // The same in a narrow column: the date, and below it the time.
  const moment = (at) => !at || !fixed ? since(at) : [h("div", {}, at.slice(0, 10)), h("div", { class: "faint" }, since(at).slice(11))];
  const percent = (part) => part === undefined || part === null ? "-" : part > 0 && part < 0.01 ? "< 1 %" : part < 1 && part >= 0.995 ? "> 99 %" : `${Math.round(part * 100)} %`;
  // An estimate is never sure that something comes.
  const estimate = (part) => part >= 0.995 ? "> 99 %" : percent(part);
  const stands = (failure) => failure.state !== "fixed" && failure.status !== "stale";
  // By the server's clock: that of a browser may be anything.
  const isAtWork = (worker) => !fixed && worker.isAtWork;

  const stateOf = (target) => {
    if (target.failures > 0) return ["bad", "failing"];
    if (target.unreadableFailures > 0) return ["fair", "unreadable"];
    if (target.trouble) return ["fair", "no result"];
    if (target.slices === 0) return ["", "not begun"];
    if (target.unsearched) return ["fair", "not searched"];
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

  const undiscovered = (target) => Math.round(target.estimatedUndiscoveredEdges || 0);
  const KEPT = "Edges that the search tells apart, in libraries too; the others follow from them.";
  // The columns of the overview: key, head, what it is sorted by, the cell, whether it is a number, and what it is in a sentence.
  const COLUMNS = [
    ["name", "target", (t) => t.name, (t) => h("a", { href: `#/target/${t.id}`, class: "row" }, breakable(t.name)), "name"],
    ["kind", "by", (t) => t.kind, (t) => t.kind, "wide one"],
    ["state", "state", (t) => stateOf(t)[1], (t) => word(...stateOf(t)), ""],
    ["failures", "failures", (t) => t.failures, (t) => t.failures ? number(t.failures) : "-", "n"],
    ["executions", "executions", (t) => t.executions, (t) => number(t.executions), "n"],
    ["rate", "per CPU s", (t) => t.cpuS ? t.executions / t.cpuS : 0, (t) => t.cpuS ? number(t.executions / t.cpuS) : "-", "n"],
    ["cpu", "CPU time", (t) => t.cpuS, (t) => seconds(t.cpuS), "n"],
    ["edges", "edges", (t) => t.edgesTotal ? t.edges / t.edgesTotal : 0, (t) => [t.edgesTotal ? `${number(t.edges)} / ${number(t.edgesTotal)}` : "-", bar(t.edges, t.edgesTotal)], "n", KEPT],
    ["corpus", "corpus", (t) => t.corpus, (t) => number(t.corpus), "n wide"],
    ["new", "new", (t) => Date.parse(t.newsAt) || 0, (t) => moment(t.newsAt), "n"],
    ["left", "more if doubled", (t) => t.chanceIfDoubled ?? -1, (t) => [estimate(t.chanceIfDoubled), undiscovered(t) ? h("div", { class: "faint" }, counted(undiscovered(t), "edge")) : null], "n",
      "The chance that as much again finds something new, and edges that can be reached and were not, at least (Chao's estimate)."],
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
        card(moment(news), "last new behaviour"),
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
        COLUMNS.map(([key, head, , , kind, title]) => h("th", { class: kind.replace("name", ""), "aria-sort": sort[0] === key ? (sort[1] > 0 ? "ascending" : "descending") : null },
          h("button", { type: "button", title, onclick: () => { sort = [key, sort[0] === key ? -sort[1] : key === "name" || key === "kind" ? 1 : -1]; draw(true); } }, head))),
        shown.map((one) => one.element))
        : h("p", { class: "empty" }, fleet.targets.length ? "No target has this in its name." : "No target was collected; the page Collection says why."),
    ];
  };

  // Whether the page of a failure or of sources is there: an export may have been made without.
  const hasPage = (address) => !fixed || (measured.has(address) && !measured.get(address).why);
  // Whether a file about a failure is there: an export names those that it has not.
  const absent = new Set(fixed ? fixed.absent : []);
  // Whether the trace of a failure is there: without it, nothing is.
  const hasTrace = (failure) => !failure.traceMissing && !absent.has(`failures/${failure.trace}.fozzy`);
  // What programs are executed for, by its address: a document, why there is none, or that it is being made.
  const measured = new Map(Object.entries(fixed ? fixed.measured : {}));
  const measure = async (address) => {
    measured.set(address, { isMade: true });
    draw(true);
    try {
      const response = await fetch(address);
      measured.set(address, response.ok ? { document: await response.json() } : { why: await response.text() });
    } catch (error) {
      measured.set(address, { why: error.message });
    }
    draw(true);
  };
  // A part of a page for which a program is executed: when somebody asks for it, since it takes time.
  const executed = (title, address, does, what, show) => {
    const known = measured.get(address);
    const ask = (label) => fixed ? null : h("button", { type: "button", class: "row", onclick: () => measure(address) }, label);
    return [h("h2", {}, title),
      !known ? h("p", { class: "tools" }, h("span", { class: "faint" }, fixed ? "Not executed: `fozzy dashboard --export DIR --execute` has it." : what), ask(does))
        : known.isMade ? h("p", { class: "empty", role: "status" }, "Executing …")
        : known.why ? [h("ul", { class: "notes" }, h("li", {}, known.why)), ask(does)]
        : show(known.document)];
  };
  const notes = (lines) => lines && lines.length ? h("ul", { class: "notes" }, lines.map((line) => h("li", {}, line))) : null;
  const exact = (part) => part < 0.0001 ? "< 0.0001" : part >= 0.995 ? "1" : part.toFixed(4);

  const causality = (found) => {
    const { turn, findability, points } = found;
    const box = h("div", { class: "chart" }, h("h3", {}, "chance of this failure after so many decisions of its run, with its interval of 95 %"));
    queueMicrotask(() => { if (box.isConnected) plot(box, [points.map((point) => point.decision), points.map((point) => point.high), points.map((point) => point.low), points.map((point) => point.chance)], { series: [
      {}, { label: "at most", stroke: "transparent", points: { show: false } }, { label: "at least", stroke: "transparent", points: { show: false } },
      { label: "chance", stroke: colours[0], width: 2, points: { show: true, size: 6 } }], bands: [{ series: [1, 2], fill: `${colours[0]}33` }], range: [0, 1], y: percent }); });
    const call = turn && turn.call;
    return [
      h("p", {}, !turn ? "No decision made it more likely." : turn.clear ? ["It became likely at ", h("strong", {}, `decision ${number(turn.decision)}`), `: from ${percent(turn.before.chance)} to ${percent(turn.after.chance)}.`]
        : `It grows little by little; most at decision ${number(turn.decision)}, from ${percent(turn.before.chance)} to ${percent(turn.after.chance)}, which may be chance.`),
      turn && (turn.position || turn.fault || call) ? h("ul", { class: "facts" }, turn.position ? h("li", {}, `in ${turn.position}`) : null, turn.fault ? h("li", {}, `the fault ${turn.fault} struck there`) : null,
        call ? h("li", { class: "mono" }, `${call.call}(${call.asked})${call.answer ? ` -> ${call.answer}` : ""}`) : null) : null,
      box,
      h("p", { class: "faint" }, `Fresh runs: ${number(findability.failed)} of ${number(findability.runs)} fail so (at most ${percent(findability.atMost)}).`,
        findability.cleanRuns ? ` A fix is believable after ${number(findability.cleanRuns)} clean runs; after ${number(findability.cleanRunsCautious)}, if the chance is as small as it can be.` : " Clean runs prove nothing yet."),
      call ? copy(`fozzy replay ${shellWord(found.trace)} --call ${call.index}`) : null,
    ];
  };

  const THINGS_SHOWN = 6;
  const suspects = (found) => {
    const shown = (thing) => `${thing.kind}${thing.file ? ` ${thing.file}${thing.line ? `:${thing.line}` : ""}` : ""}${thing.what ? ` ${thing.what}` : ""}`;
    const things = (suspect) => {
      const more = (suspect.more || 0) + Math.max(0, suspect.things.length - THINGS_SHOWN);
      return [...suspect.things.slice(0, THINGS_SHOWN).map((thing) => h("div", {}, suspect.absent ? `without ${shown(thing)}` : shown(thing))),
        more ? h("div", { class: "faint" }, `and ${number(more)} more in the same runs`) : null];
    };
    return [notes(found.warnings),
      h("p", { class: "faint" }, `${number(found.failing)} of ${number(found.failing + found.passing)} runs fail so. What goes with them need not be the cause.`),
      table([h("th", {}, "goes with it"), h("th", { class: "n" }, "score"), h("th", { class: "n" }, "failing"), h("th", { class: "n" }, "passing"), h("th", { class: "n" }, "by chance")],
        found.suspects.map((suspect) => h("tr", {}, h("td", { class: "mono why" }, things(suspect)), h("td", { class: "n" }, (Math.floor(suspect.score * 100) / 100).toFixed(2)),
          h("td", { class: "n" }, `${number(suspect.failingWith)} of ${number(found.failing)}`), h("td", { class: "n" }, `${number(suspect.passingWith)} of ${number(found.passing)}`), h("td", { class: "n" }, exact(suspect.byChance)))))];
  };

  // Lines without a hit, as `12-18, 40`; those between them without code do not part them.
  const RANGES_SHOWN = 24;
  const missed = (lines) => {
    const ranges = [];
    lines.forEach((line, place) => {
      if (line.hits) return;
      if (place && !lines[place - 1].hits) ranges[ranges.length - 1][1] = line.line;
      else ranges.push([line.line, line.line]);
    });
    const text = ranges.slice(0, RANGES_SHOWN).map(([from, to]) => from === to ? `${from}` : `${from}-${to}`).join(", ");
    return ranges.length > RANGES_SHOWN ? `${text} and ${ranges.length - RANGES_SHOWN} more` : text;
  };
  const coverage = (id) => (found) => {
    const all = found.components.flatMap((component) => component.files);
    const own = all.filter((file) => file.own);
    const page = `targets/${id}.html`;
    const ratio = ({ hit, total }) => h("td", { class: "n" }, total ? `${number(hit)} / ${number(total)}` : "-", bar(hit, total));
    return [notes(found.remarks),
      h("p", { class: "faint" }, `${own.length ? "Of the project's own files, with all of their edges. The search keeps some of these and of those in libraries" : "With all edges. The search keeps some of them"}; the others follow.`),
      table([h("th", {}, "file"), h("th", { class: "n" }, "lines"), h("th", { class: "n" }, "functions"), h("th", { class: "n" }, "edges"), h("th", {}, "lines not reached")],
        (own.length ? own : all).map((file, place) => h("tr", {}, h("td", { class: "name mono" }, h("a", { class: "row", href: `${page}#file-${place}`, target: "_blank", rel: "noopener" }, file.path)),
          ratio(file.totals.lines), ratio(file.totals.functions), ratio(file.totals.edges), h("td", { class: "mono why" }, missed(file.lines) || "-"))))];
  };

  // A table whose cells are the stronger the larger their numbers; zeros stand out, as what never was.
  const heat = (label, rows, columns, value) => {
    const most = Math.max(1, ...rows.flatMap((row) => columns.map((column) => value(row, column) ?? 0)));
    const cell = (row, column) => {
      const times = value(row, column);
      const element = h("td", { class: `n heat ${times === 0 ? "never" : ""}`, title: times === null ? null : visible(`${row} with ${column}: ${times}`) }, times === null ? "" : number(times));
      element.style.setProperty("--heat", `${Math.round(60 * (times || 0) / most)}%`);
      return element;
    };
    return h("div", { class: "scroll heats" }, h("table", { "aria-label": label }, h("thead", {}, h("tr", {}, h("th", {}), columns.map((column) => h("th", { scope: "col" }, h("span", {}, column))))),
      h("tbody", {}, rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row), columns.map((column) => cell(row, column)))))));
  };
  const faultMaps = (found) => {
    const name = (fault) => fault.target === "*" ? fault.kind : `${fault.kind} on ${fault.target}`;
    const struck = found.faults.filter((fault) => fault.strikes > 0), idle = found.faults.filter((fault) => fault.strikes === 0);
    const runsOf = new Map(struck.map((fault) => [name(fault), fault.runs]));
    const together = new Map(found.together.flatMap((pair) => [[`${pair.fault}\n${pair.other}`, pair.runs], [`${pair.other}\n${pair.fault}`, pair.runs]]));
    const names = [...runsOf.keys()];
    const times = new Map(found.overlaps.flatMap((cell) => [[`${cell.nemesis}\n${cell.with}`, cell.times], ...(cell.isOperation ? [] : [[`${cell.with}\n${cell.nemesis}`, cell.times]])]));
    const nemeses = [...new Set(found.overlaps.flatMap((cell) => cell.isOperation ? [cell.nemesis] : [cell.nemesis, cell.with]))];
    const operations = [...new Set(found.overlaps.filter((cell) => cell.isOperation).map((cell) => cell.with))];
    return [
      h("p", { class: "faint" }, `${number(found.runs)} runs, ${number(found.failed)} of them failed.${idle.length ? ` No strike: ${idle.map(name).join(", ")}.` : ""}`),
      names.length ? [h("h3", {}, "Runs in which both struck"), heat("Runs in which both faults struck", names, names, (row, column) => row === column ? runsOf.get(row) : together.get(`${row}\n${column}`) ?? 0)] : h("p", { class: "empty" }, "No fault has struck."),
      nemeses.length ? [h("h3", {}, "How often they were at work at the same time, and while an operation began or ended"),
        heat("Faults at work at the same time, and operations", nemeses, [...nemeses, ...operations], (row, column) => row === column ? null : times.get(`${row}\n${column}`) ?? 0)] : null,
    ];
  };

  const failureCard = (failure, showsTarget) => {
    const target = fleet.targets.find((one) => one.name === failure.target);
    const [page] = place();
    const kind = failure.state === "fixed" ? "good" : failure.status === "stale" ? "fair" : "bad";
    return h("article", { class: `failure ${failure.state === "fixed" ? "fixed" : failure.status === "stale" ? "stale" : ""}` },
      h("h3", {}, failure.signature),
      h("p", {}, word(kind, failure.status), h("span", {}, failure.state),
        showsTarget && target ? h("a", { href: `#/target/${target.id}` }, failure.target) : showsTarget ? h("span", {}, failure.target) : null,
        h("span", { class: "faint" }, `${failure.lastStatus ? `${failure.lastStatus} when it was seen last, ` : ""}seen ${counted(failure.times, "time")}, first ${since(failure.foundAt)}`),
        failure.build && target && target.build && failure.build !== target.build
          ? h("span", { class: "faint" }, `on the build ${failure.build.slice(0, 12)}; the target's counts are of ${target.build.slice(0, 12)}`) : null),
      h("p", {}, hasTrace(failure) && hasPage(`failures/${failure.trace}.html`) ? h("a", { class: "row", href: `failures/${failure.trace}.html`, target: "_blank", rel: "noopener" }, "story, stack and profile") : null,
        hasTrace(failure) && page !== "failure" && (failure.measures || []).length ? h("a", { class: "row", href: `#/failure/${failure.trace}` }, failure.measures.join(" and ")) : null,
        hasTrace(failure) ? h("a", { href: `failures/${failure.trace}.fozzy`, download: true }, "trace") : h("span", { class: "faint" }, "its trace is missing in the store; the next slice that meets the failure brings one"),
        patchesOf(failure).map(([address, label]) => h("a", { href: address, download: true }, label))),
      failure.command && hasTrace(failure) ? copy(failure.command) : null);
  };

  // What of a failure there is as a patch for git: where it is, what a link to it says, what it does, and how it is called when it was downloaded.
  const PATCHES = {
    regression: ["patch", "regression test as a patch", (failure) => `adds its trace to regressions/, where fozzy test tries it: ${failure.signature}`],
    seed: ["seed.patch", "input as a patch", (failure) => `adds its input to the corpus of ${failure.target}, with which each of its campaigns begins: ${failure.signature}`],
  };
  const patchesOf = (failure) => (hasTrace(failure) ? failure.patches || [] : []).filter((kind) => PATCHES[kind]).map((kind) => {
    const [ending, label, does] = PATCHES[kind];
    const address = `failures/${failure.trace}.${ending}`;
    return [address, label, does(failure), fixed ? address : `${failure.trace.slice(0, 12)}.${ending}`];
  }).filter(([address]) => !absent.has(address));

  const patchesPage = () => {
    const rows = fleet.failures.filter((failure) => fits(failure.signature) || fits(failure.target)).flatMap((failure) => patchesOf(failure).map((patch) => [failure, patch]));
    return [
      h("h1", {}, "Patches"),
      h("p", { class: "faint" }, `Download one, and apply it in the project's folder${fixed ? "; paths are from the folder of these pages" : ""}. Testcases have theirs in the corpus of their target. A failure's plan is in its trace; there is no file of it.`),
      h("div", { class: "tools" }, search("Search patches"), h("span", { class: "faint" }, `${number(rows.length)} ${rows.length === 1 ? "patch" : "patches"}`)),
      rows.length ? table([h("th", {}, "patch and target"), h("th", {}, "what it does")],
        rows.map(([failure, [address, label, does, file]]) => h("tr", {},
          h("td", { class: "name" }, h("a", { class: "row", href: address, download: true }, label), h("div", { class: "faint" }, breakable(failure.target))),
          h("td", { class: "why" }, h("div", {}, does), h("div", { class: "mono" }, `git apply ${file}`)))))
        : h("p", { class: "empty" }, fleet.failures.length ? "No patch has this in its words." : "Nothing has failed."),
    ];
  };

  const failuresPage = () => {
    const rows = fleet.failures.filter((failure) => fits(failure.signature) || fits(failure.target));
    return [
      h("h1", {}, "Failures"),
      h("div", { class: "tools" }, search("Search failures"), h("span", { class: "faint" }, `${rows.length} of ${fleet.failures.length}`)),
      rows.length ? rows.map((failure) => failureCard(failure, true)) : h("p", { class: "empty" }, fleet.failures.length ? "No failure has this in its words." : "Nothing has failed."),
    ];
  };

  const failurePage = (trace) => {
    const failure = fleet.failures.find((one) => one.trace === trace);
    if (!failure) return [h("p", { class: "empty" }, "There is no such failure.")];
    const about = (what) => hasTrace(failure) && (failure.measures || []).includes(what) ? `api/failures/${trace}/${what}` : null;
    return [
      h("p", {}, h("a", { href: "#/failures" }, "← all failures")),
      h("h1", {}, "One failure"),
      failureCard(failure, true),
      about("causality") ? executed("Causality", about("causality"), "measure causality", "From which decision of its run on the failure is likely: its run is continued otherwise, many times.", causality) : null,
      about("suspects") ? executed("Suspects", about("suspects"), "look for suspects", "Which lines, branches, decisions, messages, faults and lines of output go with it, over many runs: of seeds, or of the inputs of its corpus.", suspects) : null,
    ];
  };

  const workersPage = () => {
    const all = fleet.workers.flatMap((worker) => worker.recent.map((slice) => [slice.endedAtS - slice.tookS, slice.endedAtS])).flat();
    const from = Math.min(...all), until = Math.max(...all, ...fleet.workers.filter(isAtWork).map((worker) => Date.parse(worker.seenAt) / 1000));
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
          h("div", { class: "scale" }, h("span", {}, all.length ? new Date(from * 1000).toLocaleTimeString() : ""), h("span", {}, `${counted(worker.slices, "slice")}, ${seconds(worker.cpuS)} of CPU time; those with something new are green`), h("span", {}, all.length ? new Date(until * 1000).toLocaleTimeString() : "")));
      })),
    ];
  };

  const collectionPage = () => [
    h("h1", {}, "Collection"),
    h("h2", {}, `Not collected (${fleet.notCollected.length})`),
    fleet.notCollected.length ? table([h("th", {}, "path"), h("th", {}, "reason"), h("th", {}, "why")],
      fleet.notCollected.map((row) => h("tr", {}, h("td", { class: "name" }, row.name), h("td", {}, word("fair", row.reason)), h("td", { class: "mono why" }, row.why))))
      : h("p", { class: "empty" }, "Everything that was found is searched."),
    h("h2", {}, `Collected (${fleet.targets.length})`),
    fleet.targets.length ? [h("p", { class: "faint" }, "First each target has one short slice. Then a target has the more of the time the more its slices add to what is known of it, and less while a failure of it stands. Each has a tenth of an even share at least."),
      table([h("th", {}, "target"), h("th", {}, "searched by"), h("th", { class: "n" }, "CPU time"), h("th", { class: "n", title: "How much a minute of CPU time adds to what is known, in tenths of that, estimated, the latest counting most; a quarter of it where a failure stands: the more, the more time." }, "growth per CPU min"), h("th", {}, "last trouble")],
        fleet.targets.map((target) => h("tr", {}, h("td", { class: "name" }, h("a", { class: "row", href: `#/target/${target.id}` }, breakable(target.name))), h("td", {}, target.kind),
          h("td", { class: "n" }, seconds(target.cpuS)), h("td", { class: "n" }, target.slices ? (60 * target.rate).toFixed(1) : "-"), h("td", { class: "mono why" }, target.trouble || "-"))))]
      : h("p", { class: "empty" }, "No target was found."),
  ];

  // A word that a shell takes as one.
  const shellWord = (text) => /^[\w./+=:@%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
  const runsPage = () => {
    if (!runs) return [h("h1", {}, "Runs"), h("p", { class: "empty" }, "Reading …")];
    const rows = runs.filter((run) => fits(`${run.mode} ${run.status} ${run.runId} ${run.sequence ? "" : run.tracePath}`));
    return [
      h("h1", {}, "Runs of the project"),
      h("div", { class: "tools" }, search("Search runs"), h("span", { class: "faint" }, `${rows.length} of ${runs.length}, the latest first`)),
      rows.length ? table([h("th", {}, "run"), h("th", {}, "by"), h("th", {}, "verdict"), h("th", { class: "n" }, "findings"), h("th", { class: "n" }, "took"), h("th", { class: "n" }, "ended"), h("th", { class: "wide" }, "replay")],
        rows.map((run) => [run, run.sequence ? run.runId.slice(0, 12) : run.tracePath]).map(([run, name]) => h("tr", {},
          h("td", { class: "mono name" }, !hasPage(`runs/${run.runId}.html`) ? name : h("a", { class: "row", href: `runs/${run.runId}.html`, target: "_blank", rel: "noopener" }, name)),
          h("td", {}, run.mode), h("td", {}, word(run.status === "pass" ? "good" : "bad", run.status)), h("td", { class: "n" }, number(run.findingsCount)),
          h("td", { class: "n" }, run.sequence ? seconds(run.durationNs / 1e9) : "-"), h("td", { class: "n" }, since(run.finishedAt)), h("td", { class: "mono wide name" }, `fozzy replay ${shellWord(name)}`))))
        : h("p", { class: "empty" }, runs.length ? "No run has this in its words." : "No run is kept."),
    ];
  };

  // Steps of an axis of counts.
  const WHOLE = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();
  const CHARTS = [["behaviours seen", (moment) => moment.features], ["kept edges reached", (moment) => moment.edges], ["testcases or kept places", (moment) => moment.corpus], ["failures that stand", (moment) => moment.failures]];
  const colours = ["#3b82c4", "#d9793a", "#2f9e6b", "#b05cc6", "#c2a01f", "#d0506b", "#5f6fd1", "#3aa7a7"];
  const resolved = (name) => { const probe = h("i", {}); probe.style.color = `var(${name})`; document.body.append(probe); const colour = getComputedStyle(probe).color; probe.remove(); return colour; };

  const axisLook = () => {
    const [line, faint] = [resolved("--rule"), resolved("--faint")];
    return { stroke: faint, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui, sans-serif" };
  };

  // What an axis shows around its only value, of which uPlot makes years, or powers of ten.
  const around = (at, isTime, isLogarithmic) => isTime ? [at - 30, at + 30] : isLogarithmic ? [at / 10, at * 10] : [0, 2 * at || 1];
  const isSingle = (values) => values.length > 0 && values.every((value) => value === values[0]);

  const chart = (box, title, history, of, key) => {
    const names = byWorker ? [...new Set(history.map((moment) => moment.worker))].slice(0, colours.length) : [null];
    const isTime = key === "atS", isPowers = isLog && !isTime;
    const x = history.map((moment) => isTime ? moment.atS : Math.max(key === "cpuS" ? moment.cpuS : moment.executions, isPowers ? 1e-3 : 0));
    const order = x.map((_, place) => place).sort((a, b) => x[a] - x[b]);
    const ys = names.map((name) => order.map((place) => name === null || history[place].worker === name ? of(history[place]) : null));
    const axis = axisLook();
    const values = (_, ticks) => ticks.map((tick) => tick === null ? "" : key === "cpuS" ? seconds(tick) : number(tick));
    plots.push(new uPlot({
      width: Math.max(240, box.clientWidth - 24), height: 220, legend: { show: byWorker },
      scales: { x: { time: isTime, distr: isPowers ? 3 : 1, range: isSingle(x) ? around(x[0], isTime, isPowers) : undefined }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 1) * 1.05 || 1] } },
      axes: [isTime ? axis : { ...axis, values }, { ...axis, values: (_, ticks) => ticks.map(number), size: 64, incrs: WHOLE }],
      series: [{}, ...names.map((name, place) => ({ label: visible(name || title), stroke: colours[place], width: 2, spanGaps: true, paths: uPlot.paths.stepped({ align: 1 }), points: { show: history.length < 60, size: history.length === 1 ? 9 : 5 } }))],
    }, [order.map((place) => x[place]), ...ys], box));
  };

  // A chart of several series over numbers that are no times.
  const plot = (box, data, { series, bands, range, y }) => {
    const axis = axisLook();
    plots.push(new uPlot({
      width: Math.max(240, box.clientWidth - 24), height: 220, legend: { show: false }, scales: { x: { time: false, range: isSingle(data[0]) ? around(data[0][0]) : undefined }, y: { range } },
      axes: [{ ...axis, values: (_, ticks) => ticks.map(number), incrs: WHOLE }, { ...axis, values: (_, ticks) => ticks.map(y), size: 64 }], series, bands,
    }, data, box));
  };

  // Testcases: a page of them, and the bytes of the one that is opened. Where they are is in the address: #/target/ID/FROM/NAME.
  // Of a page the first rows are shown, and the others when somebody asks for them: below them is nothing that one would have to scroll to.
  const PAGE_ROWS = 200, ROWS_FIRST = 25, HEX_BYTES_MAX = 4096, HEX_LINE = 16;
  const fromOf = () => { const from = Number(place()[2] || 0); return Number.isSafeInteger(from) && from > 0 ? from : 0; };
  let opened = null, unfolded = "";
  const open = async (address) => {
    const mine = opened = { address };
    try {
      const response = await fetch(address);
      if (!response.ok) throw new Error(await response.text());
      mine.bytes = new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      mine.why = error.message;
    }
    draw(true);
  };
  const unhex = (digits) => Uint8Array.from(digits.match(/../g) || [], (digit) => parseInt(digit, 16));
  const hexDump = (bytes) => {
    const lines = [];
    for (let at = 0; at < Math.min(bytes.length, HEX_BYTES_MAX); at += HEX_LINE) {
      const line = [...bytes.subarray(at, Math.min(at + HEX_LINE, HEX_BYTES_MAX))];
      const digits = line.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
      lines.push(`${at.toString(16).padStart(8, "0")}  ${digits.padEnd(3 * HEX_LINE)} ${line.map((byte) => byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".").join("")}`);
    }
    return lines.join("\n");
  };
  // The bytes below the row of a testcase, as far as they are shown, and what there is to do with it.
  const bytesOf = (id, row, closed) => {
    const address = `api/targets/${encodeURIComponent(id)}/testcases/${encodeURIComponent(row.name)}`;
    const digits = fixed && fixed.testcases[`${id}/${row.name}`];
    if (!fixed && (!opened || opened.address !== address)) open(address);
    const found = !fixed ? opened : digits === undefined ? { why: "Its bytes are not in these pages." } : { bytes: unhex(digits) };
    const shown = found.bytes && Math.min(found.bytes.length, HEX_BYTES_MAX);
    return h("tr", {}, h("td", { colspan: 3 }, h("div", { class: "bytes" },
      found.why ? h("ul", { class: "notes" }, h("li", {}, found.why)) : !found.bytes ? h("p", { class: "empty", role: "status" }, "Reading …")
        : [row.size > shown ? h("p", { class: "faint" }, `the first ${number(shown)} of ${counted(row.size, "byte")}`) : null,
          h("pre", { class: "hex", tabindex: 0, "aria-label": "Bytes in hexadecimal" }, shown ? hexDump(found.bytes) : "It is empty.")],
      h("p", { class: "tools" }, fixed ? null : [h("a", { href: address, download: true }, "download"), h("a", { href: `${address}/patch`, download: true }, "as a patch for git")], h("a", { href: closed }, "close")),
      row.command ? copy(row.command) : null)));
  };
  const corpus = ({ target, testcases, testcasesTotal, corpusPath }) => {
    if (!corpusPath && !testcasesTotal) return null;
    const [, id, , name] = place();
    const from = fixed ? 0 : fromOf(), end = from + testcases.length;
    const to = (from, name) => `#/target/${encodeURIComponent(target.id)}/${from}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;
    const pages = fixed ? null : [from > 0 ? h("a", { class: "row", href: to(Math.max(0, from - PAGE_ROWS)) }, "← the ones before") : null,
      testcases.length && from + PAGE_ROWS < testcasesTotal ? h("a", { class: "row", href: to(from + PAGE_ROWS) }, "the next ones →") : null];
    const page = `${target.id}/${from}`, whole = unfolded === page || testcases.length <= ROWS_FIRST || testcases.findIndex((row) => row.name === name) >= ROWS_FIRST;
    const unfold = () => {
      unfolded = page;
      draw(true);
      // The button is gone: who has pressed it goes on at the first row that it has brought.
      const next = main.querySelectorAll("tr.testcase")[ROWS_FIRST];
      if (next) (next.querySelector("a") || next).focus({ preventScroll: true });
    };
    return [h("h2", {}, "Corpus"),
      h("p", { class: "tools" }, h("span", { class: "faint" }, `${corpusPath || fleet.store}: ${testcases.length ? `${number(from + 1)} to ${number(end)} of ` : ""}${counted(testcasesTotal, "testcase")}, ${corpusPath ? "the latest first" : "by name"}.`), pages),
      table([h("th", {}, "testcase"), h("th", { class: "n" }, "bytes"), h("th", {}, "begins with")],
        (whole ? testcases : testcases.slice(0, ROWS_FIRST)).flatMap((row) => [
          h("tr", { class: "testcase", tabindex: row.command ? null : -1 }, h("td", { class: "mono" }, row.command ? h("a", { class: "row", href: to(from, row.name), title: visible(row.name), "aria-expanded": String(row.name === name) }, row.name.slice(0, 16)) : row.name.slice(0, 16)),
            h("td", { class: "n" }, number(row.size)), h("td", { class: "mono why" }, h("div", { class: row.command ? "begins" : null }, row.begins))),
          row.command && row.name === name ? bytesOf(id, row, to(from)) : null])
          .filter(Boolean)),
      whole ? null : h("p", { class: "tools" }, h("button", { type: "button", class: "row", onclick: unfold }, `show the other ${number(testcases.length - ROWS_FIRST)}`))];
  };

  // How a property stands, worst first as the document has them.
  const PROPERTY_STATES = { passed: ["good", "held"], failed: ["bad", "failed"], "never-reached": ["fair", "never reached"], "never-true": ["fair", "never true"] };
  const propertyTable = (properties) => {
    if (!properties || !properties.rows.length) return null;
    const more = properties.more || 0;
    return [h("h2", {}, `Properties (${number(properties.rows.length + more)})`),
      table([h("th", {}, "property"), h("th", {}, "kind"), h("th", {}, "state"), h("th", {}, "place")],
        properties.rows.map((row) => h("tr", {}, h("td", { class: "why" }, row.name), h("td", {}, row.kind.replaceAll("-", " ")),
          h("td", {}, word(...(PROPERTY_STATES[row.state] || ["", row.state]))), h("td", { class: "mono why" }, row.place || "-")))),
      more ? h("p", { class: "faint" }, `and ${number(more)} more at least`) : null];
  };

  const likely = (range) => range ? `, ${percent(range[0])} to ${percent(range[1])} most likely` : "";
  // What is left, in sentences.
  const risk = (target) => {
    const { chanceInMinute: chance, detectableOneIn: oneIn } = target, left = undiscovered(target);
    const lines = [
      chance === undefined ? null : `One more CPU minute finds something new with ${estimate(chance)}.`,
      left ? `At least ${counted(left, "more kept edge")} can be reached.` : null,
      oneIn > 1 ? `A failure in one of ${counted(oneIn, "execution")} of this program or more often would have been met with 95 %.` : null,
    ].filter(Boolean);
    return lines.length ? h("p", { class: "faint" }, lines.join(" ")) : null;
  };

  const targetPage = (id) => {
    if (!detail || detail.target.id !== id) return [h("p", { class: "empty" }, detail === false ? "There is no such target." : "Reading …")];
    const { target, failures, properties, history, corpusPath, measures } = detail;
    const about = (what) => measures.includes(what) ? `api/targets/${id}/${what}` : null;
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
        card(seconds(target.cpuS), `CPU time in ${counted(target.slices, "slice")}`),
        card(target.edgesTotal ? `${number(target.edges)} / ${number(target.edgesTotal)}` : "-", "kept edges, in libraries too"),
        card(moment(target.newsAt), "last new behaviour"), card(estimate(target.chanceIfDoubled), `chance of more if doubled${likely(target.chanceIfDoubledRange)}`)),
      risk(target),
      target.trouble ? h("ul", { class: "notes" }, h("li", { class: "mono" }, `the last slice had no result: ${target.trouble}`)) : null,
      target.unsearched ? h("ul", { class: "notes" }, h("li", {}, target.unsearched)) : null,
      h("h2", {}, "How it went"),
      h("div", { class: "tools" }, choice("time", chartBy === "atS", () => { chartBy = "atS"; }), choice("CPU time", chartBy === "cpuS", () => { chartBy = "cpuS"; }),
        choice("executions", chartBy === "executions", () => { chartBy = "executions"; }), choice("logarithmic", isLog, () => { isLog = !isLog; }), choice("by worker", byWorker, () => { byWorker = !byWorker; })),
      history.length ? charts : h("p", { class: "empty" }, "No slice has ended yet."),
      h("h2", {}, `Failures (${failures.length})`),
      failures.length ? failures.map((failure) => failureCard(failure, false)) : h("p", { class: "empty" }, "None so far."),
      propertyTable(properties),
      about("coverage") ? executed("Coverage by source line", about("coverage"), "execute the corpus", corpusPath ? "What its testcases reach." : "What the runs reach that the exploration has kept.", coverage(id)) : null,
      about("faults") ? executed("Faults", about("faults"), "run with faults", "Which faults strike in the same runs, and during which operations, over 50 runs.", faultMaps) : null,
      corpus(detail),
    ];
  };

  // An address may be anybody's: what is no escape stands for itself.
  const place = () => location.hash.replace(/^#\/?/, "").split("/").map((part) => {
    try { return decodeURIComponent(part); } catch { return part; }
  });

  // Draws the page anew. Where the reader is stays: scrolling, the search field, the focused row.
  const draw = (keeps) => {
    const [page, id] = place();
    document.getElementById("nav").replaceChildren(...PAGES.map(([key, label]) => h("a", { href: `#/${key}`, "aria-current": page === key || (key === "" && page === "target") || (key === "failures" && page === "failure") ? "page" : null }, label)));
    if (!fleet) { main.replaceChildren(h("p", { class: "empty" }, away ? `The store cannot be read: ${away}` : "Reading …")); return; }
    const active = document.activeElement;
    const kept = keeps && main.contains(active) ? { href: active.getAttribute("href"), isSearch: active.type === "search", at: active.type === "search" ? active.selectionStart : 0, label: active.tagName === "BUTTON" ? active.textContent : null } : null;
    const scroll = [scrollX, scrollY, ...[...main.querySelectorAll(".scroll")].map((box) => box.scrollLeft)];
    // Charts have their whole height in the next frame only: a page that is shorter meanwhile would be scrolled up.
    if (keeps) {
      main.style.minHeight = `${main.offsetHeight}px`;
      requestAnimationFrame(() => { main.style.minHeight = ""; });
    }
    plots.forEach((plot) => plot.destroy());
    plots = [];
    const make = { "": overview, failures: failuresPage, workers: workersPage, collection: collectionPage, runs: runsPage, patches: patchesPage, failure: () => failurePage(id), target: () => targetPage(id) }[page];
    const parts = make ? make() : [h("p", { class: "empty" }, "There is no such page.")];
    main.replaceChildren(...parts.flat(Infinity).filter((part) => part !== null && part !== undefined));
    document.title = `Fozzy: ${page === "target" && detail ? visible(detail.target.name) : (PAGES.find(([key]) => key === page) || ["", "a fleet"])[1]}`;
    // When the charts are there, which are drawn then too: without them the page is shorter.
    if (keeps) queueMicrotask(() => {
      scrollTo(scroll[0], scroll[1]);
      [...main.querySelectorAll(".scroll")].forEach((box, place) => { box.scrollLeft = scroll[2 + place] || 0; });
    });
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
  // Between two changes of the page that nobody has asked for: of rows, of a whole page, and in times of what drawing takes.
  const ROWS_EVERY_MS = 250, PAGE_EVERY_MS = 1000, PAUSE_TIMES = 20;
  let drawnAt = 0, drawingTook = 0;
  const timed = (work) => {
    const began = performance.now();
    const result = work();
    // After the frame, with its layout.
    setTimeout(() => { drawnAt = performance.now(); drawingTook = drawnAt - began; });
    return result;
  };
  // Of a page about one thing, what it shows of the fleet: the same is drawn again for the times in it alone.
  const AGAIN_MS = 5000;
  let shownOf = "";
  const isAsShown = (page, id) => {
    const of = page === "target" ? [fleet.targets.find((row) => row.id === id), detail && fleet.failures.filter((row) => row.target === detail.target.name)]
      : page === "failure" ? fleet.failures.find((row) => row.trace === id) : page === "runs" ? fleet.workers.map((row) => row.slices) : null;
    const text = of ? JSON.stringify([page, id, of]) : "";
    const isSame = text !== "" && text === shownOf && performance.now() - drawnAt < AGAIN_MS;
    shownOf = text;
    return isSame;
  };
  let asking = 0;
  const refresh = async (keeps) => {
    const [page, id] = place();
    if (keeps && page === "" && timed(renew)) return;
    if (keeps && fleet && isAsShown(page, id)) return;
    const turn = ++asking;
    try {
      if (page === "target") {
        const found = fixed ? fixed.targets[id] || false : await ask(`api/targets/${encodeURIComponent(id)}?from=${fromOf()}`);
        if (turn !== asking) return;
        detail = found;
      }
      if (page === "runs" && !fixed) { const found = await ask("api/runs"); if (turn !== asking) return; runs = found; }
    } catch (error) {
      if (page === "target" && error.message === "404") detail = false;
    }
    timed(() => draw(keeps));
  };

  let before = place();
  addEventListener("hashchange", () => {
    const now = place(), isSame = now[0] === "target" && now[1] === before[1] && before[0] === "target";
    before = now;
    // Another testcase, or others, of the same target: the reader stays where they are.
    if (isSame) { shownOf = ""; refresh(true); return; }
    filter = ""; detail = null; scrollTo(0, 0); draw(false); refresh(false).then(() => main.focus({ preventScroll: true }));
  });
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
    const rows = [...main.querySelectorAll(".row")];
    const at = rows.indexOf(document.activeElement);
    if (event.key >= "1" && event.key <= String(PAGES.length)) location.hash = `#/${PAGES[event.key - 1][0]}`;
    else if (event.key === "/") { const field = main.querySelector("input[type=search]"); if (field) { event.preventDefault(); field.focus(); } }
    else if (event.key === "j" && rows.length) rows[Math.min(at + 1, rows.length - 1)].focus();
    else if (event.key === "k" && rows.length) rows[Math.max(at - 1, 0)].focus();
    else if (event.key === "t") theme();
    else if (event.key === "?") help.showModal();
  });

  const live = document.getElementById("live");
  // The same text once more would be a change of the page.
  const say = (kind, text) => { if (live.textContent !== text) { live.className = `live ${kind}`; live.textContent = text; } };
  if (fixed) {
    say("", "exported");
    refresh(false);
  } else {
    draw(false);
    const events = new EventSource("api/events");
    let isDrawn = false;
    // However much comes in between, no faster than a person reads, and for a bounded share of the time; a page in the background draws when it is
    // seen again.
    const later = () => {
      const pause = Math.max(place()[0] === "" ? ROWS_EVERY_MS : PAGE_EVERY_MS, PAUSE_TIMES * drawingTook);
      setTimeout(() => requestAnimationFrame(() => { isDrawn = false; refresh(true); }), Math.max(0, drawnAt + pause - performance.now()));
    };
    const show = (next) => {
      fleet = next;
      say("on", "live");
      live.title = "";
      if (!isDrawn) { isDrawn = true; later(); }
    };
    events.addEventListener("fleet", (event) => show(JSON.parse(event.data)));
    // The same document, with the rows only that have changed.
    const KEYS = { targets: (row) => row.id, workers: (row) => row.name, failures: (row) => `${row.trace} ${row.target}` };
    events.addEventListener("change", (event) => {
      const change = JSON.parse(event.data), next = { ...change };
      for (const [rows, key] of Object.entries(KEYS)) {
        const changed = new Map(change[rows].map((row) => [key(row), row]));
        next[rows] = fleet[rows].map((row) => changed.get(key(row)) || row);
      }
      show(next);
    });
    events.addEventListener("away", (event) => {
      away = JSON.parse(event.data);
      say("off", "the store cannot be read");
      live.title = away;
      if (!fleet) draw(false);
    });
    events.addEventListener("error", () => say("off", "the fleet's process does not answer"));
  }
})();
