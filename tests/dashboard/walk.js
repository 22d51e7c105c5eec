// Walks through the pages of a dashboard as a person does: node walk.js URL FILE HOSTILE_NAME
//
// URL           a dashboard that is served, with its token
// FILE          the same as files
// HOSTILE_NAME  of a target: it has to be text on every page
//
// Screenshots are left in `shots/`, for whoever wants to look.
"use strict";
const assert = require("node:assert");
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
  // What programs are executed for: in an export it is there, otherwise somebody asks for it, which takes its time.
  const asks = isServed && look === "light";
  const executed = async (button, heading, rows) => {
    if (isServed && !asks) return;
    if (asks) await page.getByRole("button", { name: button, exact: true }).click();
    await page.getByRole("heading", { name: heading, exact: true }).waitFor();
    await page.waitForFunction((rows) => document.querySelector(rows), rows);
  };
  await executed("execute the corpus", "Coverage by source line", "td a[href^='targets/']");
  await shot("target");

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
  await page.locator("article", { hasText: hostile }).getByRole("link", { name: "causality and suspects" }).focus();
  await page.keyboard.press("Enter");
  await heading("One failure");
  await executed("measure causality", "Causality", ".chart canvas");
  await executed("look for suspects", "Suspects", "td.mono");
  await shot("failure");

  for (const [key, title] of [["2", "Failures"], ["3", "Workers"], ["4", "Collection"], ["5", "Runs of the project"]]) {
    await page.keyboard.press(key);
    await heading(title);
    if (key === "2") assert.strictEqual(await page.locator("article.failure").count(), 2);
    if (key === "3") assert(await page.locator(".track i").count() > 1, "slices are drawn");
    if (key === "4") {
      await page.getByText("library<b>.wat", { exact: true }).waitFor();
      const picture = await page.locator("td.why", { hasText: "-->" }).innerText();
      assert.strictEqual(picture.trimEnd().split("\n").length, 5, "the picture of a source has its lines");
    }
    if (key === "5") await page.waitForFunction(() => document.querySelectorAll("tbody tr").length > 0);
    await shot(title.split(" ")[0].toLowerCase());
  }
  if (asks) {
    await page.keyboard.press("2");
    const opened = page.waitForEvent("popup");
    await page.getByRole("link", { name: "story, stack and profile" }).first().click();
    const story = await opened;
    await story.getByText("unreachable").first().waitFor();
    await story.close();
  }
  const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.keyboard.press("t");
  assert.notStrictEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), before, "light and dark");
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("1");
  await heading("All targets");
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
