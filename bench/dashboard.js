// Figures of the dashboard with many targets, by hand: NODE_PATH=… node bench/dashboard.js FOZZY [SECONDS]
//
// FOZZY      the command, in a release build
// NODE_PATH  where playwright-core is: target/corpus/build-browser/node_modules after the test `every_page_works_in_a_browser`
//
// A store of 200 targets with 1,000 moments each (of each, five numbers are drawn: a million), 100 failures and 50 workers of 120 slices is written
// as fleets write it. Then ten times a second three targets and a worker change, for 20 seconds. Printed are the first paint, CPU time of the
// browser's page and of the server as shares of a core, updates a second, and the memory of the page before and after. Screenshots are left in the
// folder that is named last.
"use strict";
const fs = require("node:fs"), os = require("node:os"), path = require("node:path");
const { execFileSync, spawn } = require("node:child_process");
const { chromium } = require("playwright-core");

const TARGETS = 200, WORKERS = 50, MOMENTS = 1000, SLICES = 120, FAILURES = 100;
const fozzy = path.resolve(process.argv[2]), seconds = Number(process.argv[3] || 20);
const here = fs.mkdtempSync(path.join(os.tmpdir(), "fozzy-dashboard-"));
const PROGRAM = `(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (drop (call $random (i32.const 64) (i32.const 1)))))`;
const now = Date.now();
const date = (agoS) => new Date(now - agoS * 1000).toISOString();

// As the store writes it: whole, under another name first.
const put = (key, value) => {
  const file = path.join(here, ".fozzy/fleet/values", `${key}.json`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(`${file}.new`, JSON.stringify(value, null, 2));
  fs.renameSync(`${file}.new`, file);
};
const target = (row, place, tick) => ({
  name: row.name, estimate: { slices: MOMENTS + tick, totalCpuS: MOMENTS * 2.5 + tick }, executions: 1e6 + 997 * (place + tick), features: 4000 + place + tick,
  edges: 700 + place % 90, edgesTotal: 1500, corpus: 300 + place, chanceIfDoubled: 0.01 + (place % 40) / 50, undiscoveredEdges: place % 30, newsAt: date(place * 60 - tick),
});
const worker = (place, tick) => ({
  version: "0.1.0", pid: 1000 + place, startedAt: date(9000), seenAt: new Date().toISOString(), slices: SLICES + tick, cpuS: 8000 + tick, hasEnded: false, isAtWork: true,
  recent: Array.from({ length: SLICES }, (_, at) => ({ target: `target-${(place * 7 + at) % TARGETS}.wat`, endedAtS: now / 1000 - (SLICES - at) * 60 + tick, tookS: 55, news: at % 5 ? 0 : 3 })),
});

const processTimes = async (session) => {
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const of = (type) => processInfo.filter((one) => one.type === type).reduce((sum, one) => sum + one.cpuTime, 0);
  return { page: of("renderer"), others: processInfo.reduce((sum, one) => sum + one.cpuTime, 0) - of("renderer") };
};
const serverTime = (pid) => fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);

(async () => {
  for (let place = 0; place < TARGETS; place += 1) fs.writeFileSync(path.join(here, `target-${place}.wat`), PROGRAM);
  const collected = JSON.parse(execFileSync(fozzy, ["fleet", "--collect", "--json"], { cwd: here, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));
  const rows = collected.targets;
  rows.forEach((row, place) => {
    put(`targets/${row.id}`, target(row, place, 0));
    put(`history/${row.id}`, Array.from({ length: MOMENTS }, (_, at) => ({
      atS: now / 1000 - (MOMENTS - at) * 60, cpuS: at * 2.5, executions: at * 1000, features: Math.round(900 * Math.log1p(at)), edges: Math.round(100 * Math.log1p(at)), corpus: at >> 2, failures: at > 500 ? 1 : 0, worker: `worker-${at % WORKERS}`,
    })));
    if (place < FAILURES) put(`failures/shrunk/${row.id}/${place}`, { target: row.name, signature: { kind: "trap", site: `unreachable in f${place}` }, trace: place.toString(16).padStart(64, "0"), status: "still there", program: null, times: 3, foundAt: date(place * 100) });
  });
  for (let place = 0; place < WORKERS; place += 1) put(`workers/worker-${place}`, worker(place, 0));

  const server = spawn(fozzy, ["dashboard"], { cwd: here, stdio: ["ignore", "pipe", "ignore"] });
  const url = await new Promise((resolve) => server.stdout.once("data", (text) => resolve(String(text).trim())));
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const ofPage = await page.context().newCDPSession(page), ofBrowser = await browser.newBrowserCDPSession();
    const heap = async () => {
      await ofPage.send("HeapProfiler.collectGarbage");
      return (await ofPage.send("Runtime.getHeapUsage")).usedSize / 1e6;
    };
    await page.goto(url);
    await page.waitForFunction((rows) => document.querySelectorAll("tbody tr").length === rows, TARGETS);
    const paint = await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve([performance.getEntriesByName("first-contentful-paint")[0].startTime, performance.now()])))));
    console.log(`first paint ${paint[0].toFixed(0)} ms, all ${TARGETS} targets ${paint[1].toFixed(0)} ms`);
    await page.screenshot({ path: path.join(here, "overview.png") });
    // What comes, counted by a second reader.
    await page.evaluate(() => { window.updates = 0; const events = new EventSource("api/events"); for (const name of ["fleet", "change"]) events.addEventListener(name, () => { window.updates += 1; }); });
    await page.waitForFunction(() => window.updates > 0);

    const measure = async (what) => {
      const before = { heap: await heap(), updates: await page.evaluate(() => window.updates), ...await processTimes(ofBrowser), server: serverTime(server.pid), at: Date.now() };
      for (let tick = 1; Date.now() - before.at < seconds * 1000; tick += 1) {
        for (let some = 0; some < 3; some += 1) put(`targets/${rows[(tick * 3 + some) % TARGETS].id}`, target(rows[(tick * 3 + some) % TARGETS], (tick * 3 + some) % TARGETS, tick));
        put(`workers/worker-${tick % WORKERS}`, worker(tick % WORKERS, tick));
        await new Promise((resolve) => setTimeout(resolve, before.at + tick * 100 - Date.now()));
      }
      const took = (Date.now() - before.at) / 1000, after = await processTimes(ofBrowser);
      const share = (from, to) => `${(100 * (to - from) / took).toFixed(1)} %`;
      console.log(`${what}: ${((await page.evaluate(() => window.updates) - before.updates) / took).toFixed(1)} updates/s, page ${share(before.page, after.page)}, rest of the browser ${share(before.others, after.others)}, `
        + `server ${share(before.server, serverTime(server.pid))}, heap ${before.heap.toFixed(1)} -> ${(await heap()).toFixed(1)} MB`);
    };
    await measure("overview");
    await page.keyboard.press("3");
    await page.waitForFunction((lanes) => document.querySelectorAll(".lane").length === lanes, WORKERS);
    await measure("workers");
    await page.screenshot({ path: path.join(here, "workers.png") });
    const began = Date.now();
    await page.goto(`${url.split("?")[0]}#/target/${rows[0].id}`);
    await page.waitForFunction(() => document.querySelectorAll(".chart canvas").length === 4);
    console.log(`one target, ${MOMENTS} moments: ${Date.now() - began} ms`);
    await page.evaluate(() => { window.updates = 0; });
    await measure("one target");
    await page.screenshot({ path: path.join(here, "target.png") });
  } finally {
    await browser.close();
    server.kill();
  }
  console.log(`screenshots in ${here}`);
})().catch((error) => { console.error(error); process.exit(1); });
