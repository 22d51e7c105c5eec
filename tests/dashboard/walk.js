// Walks through the pages of a dashboard as a person does: node walk.js URL FILE HOSTILE_NAME
//
// URL           a dashboard that is served, with its token
// FILE          the same as files
// HOSTILE_NAME  of a target: it has to be text on every page
//
// Screenshots are left in `shots/`, for whoever wants to look.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const { chromium } = require("playwright-core");

const [url, file, hostile] = process.argv.slice(2);
const LOOKS = {
  light: { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  narrow: { viewport: { width: 390, height: 800 }, colorScheme: "light" },
};

const walk = async (page, isServed, look) => {
  const heading = (text) => page.getByRole("heading", { level: 1, name: text }).waitFor();
  const shot = async (name) => {
    await page.screenshot({ path: `shots/${isServed ? "served" : "exported"}-${look}-${name}.png`, fullPage: true });
    assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} scrolls sideways`);
    assert.strictEqual(await page.locator("main img, main b").count(), 0, `${name} has a name as markup`);
    assert(isServed || !/ (s|min|h|d) ago/.test(await page.locator("main").innerText()), `${name} of an export has ages`);
  };
  await heading("All targets");
  assert.strictEqual(await page.locator("tbody tr").count(), 2);
  await page.getByRole("link", { name: hostile, exact: true }).waitFor();
  await page.getByText(isServed ? "live" : "exported", { exact: true }).waitFor();
  assert(look === "narrow" || await page.locator(".scroll").first().evaluate((box) => box.scrollWidth <= box.clientWidth + 1), "the overview is cut off");
  await shot("overview");

  // By keyboard: search, leave the field, the first row, open it.
  await page.keyboard.press("/");
  await page.keyboard.type("parse");
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await heading(/parse\.wat/);
  await page.waitForFunction(() => document.querySelectorAll(".chart canvas").length === 4);
  for (const choice of ["CPU time", "executions", "logarithmic", "by worker"]) {
    await page.getByRole("button", { name: choice, exact: true }).click();
    await page.waitForFunction(() => document.querySelectorAll(".chart canvas").length === 4);
    assert.strictEqual(await page.getByRole("button", { name: choice, exact: true }).getAttribute("aria-pressed"), "true");
  }
  assert(await page.locator(".chart").evaluateAll((boxes) => boxes.every((box) => box.scrollWidth <= box.clientWidth + 1)), "a chart is cut off");
  await page.getByRole("heading", { name: "Corpus" }).waitFor();
  await page.getByText("kept edges, in libraries too").waitFor();
  // What programs are executed for: in an export it is there, otherwise somebody asks for it, which takes its time.
  const asks = isServed && look === "light";
  const executed = async (button, heading, rows) => {
    if (isServed && !asks) return;
    if (asks) await page.getByRole("button", { name: button, exact: true }).click();
    await page.getByRole("heading", { name: heading, exact: true }).waitFor();
    await page.waitForFunction((rows) => document.querySelector(rows), rows);
  };
  await executed("execute the corpus", "Coverage by source line", "td a[href^='targets/']");
  if (!isServed || asks) await page.getByText("with all of their edges").waitFor();
  await shot("target");

  // A testcase by keyboard: its bytes stand below its row, which keeps the focus, and stays where it is for who looks at it: what comes
  // in above it moves the rest of the page.
  await page.getByRole("link", { name: "<b>seed", exact: true }).focus();
  // Some frames later, when all that is drawn has its height.
  const place = () => page.evaluate(() => new Promise((done) => {
    const look = () => done([document.activeElement.getBoundingClientRect().top, scrollY].map(Math.round));
    requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(look)));
  }));
  const stood = await place();
  await page.keyboard.press("Enter");
  await page.locator("pre.hex", { hasText: "00000000  3c 62 3e 68 69 00 ff" }).waitFor();
  await page.getByText("fozzy fuzz parse.wat").waitFor();
  assert.strictEqual(await page.evaluate(() => document.activeElement.getAttribute("aria-expanded")), "true");
  const stands = await place();
  assert(stands.every((at, which) => Math.abs(at - stood[which]) <= 1), `row and page have moved from ${stood} to ${stands}`);
  assert.strictEqual(await page.getByRole("link", { name: "as a patch for git", exact: true }).count(), isServed ? 1 : 0);
  await shot("testcase");
  await page.getByRole("link", { name: "close", exact: true }).click();
  await page.locator("pre.hex").waitFor({ state: "detached" });

  // Faults, of the target with a name that is markup.
  await page.keyboard.press("1");
  await page.getByRole("link", { name: hostile, exact: true }).click();
  await heading(hostile);
  await executed("execute the corpus", "Coverage by source line", "td a[href^='targets/']");
  await executed("run with faults", "Runs in which both struck", ".heat");
  if (!isServed || asks) {
    assert.strictEqual(await page.locator("td.heat").count(), 4);
    await page.getByText("write-error on /<b>").waitFor();
  }
  await shot("faults");

  // One failure, by keyboard; what is known of it.
  await page.keyboard.press("2");
  await heading("Failures");
  const parsed = page.locator("article", { hasText: "parse.wat" });
  assert.strictEqual(await parsed.getByRole("link", { name: /causality/ }).count(), 0, "its input decides it");
  await parsed.getByRole("link", { name: "suspects", exact: true }).click();
  await heading("One failure");
  await executed("look for suspects", "Suspects", "td.mono");
  await shot("suspects");
  await page.keyboard.press("2");
  await heading("Failures");
  await page.locator("article", { hasText: hostile }).getByRole("link", { name: "causality and suspects" }).focus();
  await page.keyboard.press("Enter");
  await heading("One failure");
  await executed("measure causality", "Causality", ".chart canvas");
  await executed("look for suspects", "Suspects", "td.mono");
  await shot("failure");

  for (const [key, title] of [["2", "Failures"], ["3", "Workers"], ["4", "Collection"], ["5", "Runs of the project"], ["6", "Patches"]]) {
    await page.keyboard.press(key);
    await heading(title);
    if (key === "2") {
      assert.strictEqual(await page.locator("article.failure").count(), 2);
      const widens = await page.evaluate(() => {
        const link = document.querySelector("article.failure a[href^='#/target/']");
        const name = link.textContent;
        link.textContent = "n".repeat(200);
        const widens = document.documentElement.scrollWidth > innerWidth;
        link.textContent = name;
        return widens;
      });
      assert(!widens, "a long name without blanks makes the failures wider than the window");
    }
    if (key === "3") assert(await page.locator(".track i").count() > 1, "slices are drawn");
    if (key === "4") {
      await page.getByText("library<b>.wat", { exact: true }).waitFor();
      await page.getByText("First each target has one short slice.").waitFor();
      const finds = await page.locator("tbody tr", { hasText: "parse.wat" }).locator("td.n").last().innerText();
      assert(Number(finds) > 0, `it has found something: ${finds}`);
      const picture = await page.locator("td.why", { hasText: "-->" }).innerText();
      assert.strictEqual(picture.trimEnd().split("\n").length, 5, "the picture of a source has its lines");
    }
    if (key === "5") await page.locator("td a[href^='runs/']").first().waitFor();
    if (key === "6") {
      assert.strictEqual(await page.locator("tbody tr").count(), 3, "two traces and an input");
      assert.strictEqual(await page.locator("tbody tr", { hasText: /git apply .*\.seed\.patch/ }).count(), 1);
    }
    await shot(title.split(" ")[0].toLowerCase());
  }
  if (asks) {
    await page.keyboard.press("2");
    const opened = page.waitForEvent("popup");
    await page.getByRole("link", { name: "story, stack and profile" }).first().click();
    const story = await opened;
    await story.getByText("unreachable").first().waitFor();
    const room = await story.evaluate(() => {
      document.querySelector(".case > summary code").textContent = "n".repeat(200);
      return document.querySelector(".case > summary .remark").clientWidth;
    });
    assert(room >= 200, `a long name leaves ${room} pixels for what has failed`);
    await story.close();
  }
  const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.keyboard.press("t");
  assert.notStrictEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), before, "light and dark");
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  // What is no escape is no error.
  await page.evaluate(() => { location.hash = "#/%E0%A4"; });
  await page.keyboard.press("1");
  await heading("All targets");
};

// Charts of a target of which one slice has ended: the point is seen in the middle, whatever they go by.
const walkSingle = async (page) => {
  const exported = new URL(file), single = new URL("single.html", exported);
  const cut = (data) => {
    const all = JSON.parse(data);
    Object.values(all.targets).forEach((target) => { target.history.length = 1; });
    // Estimates that round to 100 %.
    for (const row of [...Object.values(all.targets).map((target) => target.target), ...all.fleet.targets]) {
      Object.assign(row, { chanceIfDoubled: 0.9999, chanceInMinute: 1 });
      // Numbers that are long.
      Object.assign(row, { executions: 237694, cpuS: 44.5, edges: 1575, edgesTotal: 17246, corpus: 9039, estimatedUndiscoveredEdges: 85 });
    }
    // More testcases than are shown at once.
    for (const target of Object.values(all.targets).filter((target) => target.testcases.length)) {
      target.testcases = Array.from({ length: 60 }, (_, number) => ({ ...target.testcases[0], name: `case${number}` }));
    }
    // The store has lost the traces.
    all.fleet.failures.forEach((failure) => { failure.traceMissing = true; });
    return JSON.stringify(all).replaceAll("<", "\\u003c");
  };
  const text = fs.readFileSync(exported, "utf8");
  fs.writeFileSync(single, text.replace(/(<script type="application\/json" id="data">)(.*?)(<\/script>)/s, (_, begin, data, end) => begin + cut(data) + end));
  await page.goto(single.href);
  await page.locator("td", { hasText: "> 99 %" }).first().waitFor();
  assert(await page.locator(".scroll").first().evaluate((box) => box.scrollWidth <= box.clientWidth + 1), "an overview with long numbers is cut off");
  await page.getByRole("link", { name: /parse\.wat/ }).click();
  await page.getByText("One more CPU minute finds something new with > 99 %.").waitFor();
  await page.locator(".card strong", { hasText: "> 99 %" }).waitFor();
  // By keyboard: the others, from the first of them on.
  assert.strictEqual(await page.locator("tr.testcase").count(), 25);
  await page.getByRole("button", { name: "show the other 35", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("tr.testcase").length === 60);
  assert.strictEqual(await page.evaluate(() => [...document.querySelectorAll("tr.testcase")].findIndex((row) => row.contains(document.activeElement))), 25);
  const place = () => page.locator(".chart canvas").first().evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const isDrawn = (at) => [0x3b, 0x82, 0xc4].every((part, channel) => Math.abs(data[at + channel] - part) < 12);
    const found = Array.from({ length: data.length / 4 }, (_, pixel) => pixel).filter((pixel) => isDrawn(4 * pixel)).map((pixel) => pixel % canvas.width);
    return found.length ? found.reduce((sum, x) => sum + x, 0) / found.length / canvas.width : null;
  });
  for (const choice of ["time", "CPU time", "executions", "logarithmic"]) {
    await page.getByRole("button", { name: choice, exact: true }).click();
    await page.waitForFunction(() => document.querySelectorAll(".chart canvas").length === 4);
    const at = await place();
    assert(at > 0.4 && at < 0.7, `${choice}: the point is at ${at}`);
  }
  await page.keyboard.press("2");
  await page.getByText("its trace is missing in the store").first().waitFor();
  assert.strictEqual(await page.locator(".failure p:nth-of-type(2) a").count(), 0, "no link to what is not there");
  assert.strictEqual(await page.locator(".failure .command").count(), 0, "no command for it");
};

(async () => {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  for (const [name, address] of [["served", url], ["exported", file]]) {
    for (const [look, options] of Object.entries(LOOKS)) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      const wrong = [];
      page.on("console", (message) => wrong.push(message.text()));
      page.on("pageerror", (error) => wrong.push(error.message));
      page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
      // Nothing is asked of anybody else.
      page.on("request", (request) => {
        const own = new URL(address).origin;
        if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== own) wrong.push(`asked ${request.url()}`);
      });
      await page.goto(address);
      if (name === "served") assert(!page.url().includes("token"), "the token stays in the address");
      await walk(page, name === "served", look);
      if (name === "exported" && look === "light") await walkSingle(page);
      assert.deepStrictEqual(wrong, [], `${name}, ${look}`);
      await context.close();
    }
    console.log(`${name}: ${Object.keys(LOOKS).join(", ")}`);
  }
  await browser.close();
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
