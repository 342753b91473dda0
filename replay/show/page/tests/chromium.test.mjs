// The page in Chromium.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

import { VIEWS, named, pages, program, screenshots, words } from "./support.mjs";

const executablePath = program(["/usr/bin/chromium", "/usr/bin/chromium-browser"]);
const skip = executablePath ? false : "skipped: there is no Chromium (Debian: chromium)";
const FLAGS = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
if (skip) console.log(skip);
let browser;
before(async () => {
  if (skip) return;
  // As root there is no other way.
  const args = process.getuid() === 0 ? ["--no-sandbox", ...FLAGS] : FLAGS;
  browser = await chromium.launch({ executablePath, args });
});
after(async () => browser?.close());

/** Opens a page; whatever it asks for or complains of ends up in `complaints`. */
async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => { if (!request.url().startsWith("file:") && !/^(blob|data):/.test(request.url())) complaints.push(request.url()); });
  await page.goto(address);
  if (options.javaScriptEnabled !== false) await page.locator("html[data-loaded]").waitFor({ state: "attached" });
  return { page, complaints, close: () => context.close() };
}

/** Goes to a state of the page. */
async function go(page, hash) {
  await page.evaluate((hash) => { location.hash = hash; }, hash);
  await page.waitForTimeout(120);
}

const close = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${what}: ${a}, not ${b}`);
const rows = (page, tree) => page.locator(`[role=tree][aria-label="${tree}"] [role=treeitem]`);
const label = (tree, name) => (page) => rows(page, tree).filter({ has: page.locator(".label", { hasText: new RegExp(`^${name}$`) }) });

test("no view asks for anything or complains", { skip }, async () => {
  for (const { name, address } of pages) {
    const { page, complaints, close } = await open(address);
    for (const view of VIEWS) await go(page, `v=${view}`);
    assert.deepEqual(complaints, [], name);
    await close();
  }
});

test("first screen is there without scripts, and where a server forbids all", { skip }, async () => {
  for (const { path, address, json } of pages) {
    const { page, close } = await open(address, { javaScriptEnabled: false });
    const text = words(await page.locator("#first").innerText());
    for (const sentence of json.overview.headline) assert.ok(text.includes(words(sentence)), sentence);
    for (const action of json.overview.actions) assert.ok(text.includes(words(action.text)), action.text);
    assert.ok((await page.locator("#first svg").count()) > 0);
    await close();
    const server = createServer((_, response) => {
      response.setHeader("Content-Security-Policy", "sandbox; default-src 'none'");
      response.setHeader("Content-Type", "text/html");
      response.end(readFileSync(path));
    }).listen(0, "127.0.0.1");
    await new Promise((done) => server.once("listening", done));
    const context = await browser.newContext();
    const served = await context.newPage();
    await served.goto(`http://127.0.0.1:${server.address().port}/`);
    assert.equal(words(await served.locator("#first").innerText()).replaceAll(" ", ""), text.replaceAll(" ", ""));
    await context.close();
    server.close();
  }
});

test("trees show the values of scripts, each for what is selected left of it", { skip }, async () => {
  const { address, json } = named("chain");
  const { page, close: done } = await open(`${address}#v=calls&m=time`);
  const value = async (locator) => Number(await locator.first().getAttribute("data-value"));
  const node = (path) => json.tree.nodes.find((it) => it.path === path);
  await page.locator('[role=tree][aria-label="Call paths"]').focus();
  await page.keyboard.press("*");
  for (const metric of ["mpi_latesender", "delay", "visits", "waiting"]) {
    await go(page, `v=calls&m=${metric}`);
    for (const leaf of ["MPI_Recv", "work", "MPI_Barrier"]) {
      const path = `patterns/main/imbalance_chain/${leaf}`;
      const shown = label("Call paths", leaf)(page);
      close(await value(shown), node(path)[metric], `${metric} at ${path}`);
    }
    const all = json.ranks.rows;
    for (const rank of all) close(await value(label("System", rank.name)(page)), rank[metric], `${metric} of ${rank.name}`);
  }
  // By mouse: a metric, then a call path, then ranks.
  await go(page, "v=calls&m=time");
  await label("Metrics", "Delay costs")(page).first().click();
  assert.match(await page.evaluate(() => location.hash), /m=delay/);
  await label("Call paths", "work")(page).first().click();
  const sum = node("patterns/main/imbalance_chain/work").delay;
  const ranks = await rows(page, "System").evaluateAll((all) => all.map((it) => [it.querySelector(".label").textContent, Number(it.dataset.value)]));
  close(ranks.filter(([name]) => name.startsWith("rank")).reduce((all, [, it]) => all + it, 0), sum, "delay of work");
  assert.ok(ranks.find(([name]) => name === "rank 0")[1] > 0.8 * sum, "rank 0 is the culprit");
  await page.screenshot({ path: join(screenshots, "calls.png") });
  await go(page, "v=calls&m=delay&x=flame");
  await page.screenshot({ path: join(screenshots, "flame.png") });
  await done();
});

test("keys do what the mouse does", { skip }, async () => {
  const { page, close } = await open(named("chain").address);
  const hash = () => page.evaluate(() => location.hash);
  for (const [at, view] of VIEWS.entries()) {
    await page.keyboard.press(String(at + 1));
    assert.equal(await page.locator(".center").getAttribute("data-view"), view);
  }
  await page.keyboard.press("2");
  await page.locator('[role=tree][aria-label="Call paths"]').focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  assert.match(await hash(), /p=[0-9a-f]{8}/);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await label("Call paths", "main")(page).first().getAttribute("aria-expanded"), "false");
  await page.keyboard.press("ArrowRight");
  assert.equal(await label("Call paths", "main")(page).first().getAttribute("aria-expanded"), "true");
  await page.keyboard.press("Escape");
  await page.keyboard.press("3");
  await page.locator(".time canvas").focus();
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await page.waitForTimeout(300);
  assert.match(await hash(), /t=/);
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator(".time canvas").getAttribute("data-words"), /^rank 0, /);
  await page.keyboard.press("c");
  assert.ok(Number(await page.locator(".time canvas").getAttribute("data-path")) > 0, "the critical path");
  await page.keyboard.press("]");
  assert.match(await hash(), /i=1/);
  await page.keyboard.press("?");
  await page.locator("dialog").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog").count(), 0);
  await close();
});

test("links restore what they were made of, and wrong ones do no harm", { skip }, async () => {
  const { address } = named("chain");
  const links = ["#v=time&t=0.3-0.4&r=1-2&i=2", "#v=calls&m=mpi_latesender&u=%25", "#v=waits&i=3", "#v=ranks&m=delay&l=2&d=1", "#v=messages&x=bytes"];
  for (const link of links) {
    const { page, close } = await open(`${address}${link}`);
    const before = await page.locator("#page").innerText();
    await page.reload();
    await page.locator("html[data-loaded]").waitFor({ state: "attached" });
    assert.equal(await page.locator("#page").innerText(), before, link);
    await close();
  }
  for (const wrong of ["#v=nothing", "#t=5-1", "#t=1e400-2", "#l=99999999&i=9999", "#p=zzzzzzzz&m=%3Cscript%3E", "#r=7-9999999&v=time", "#p=00000000&v=calls", `#${"x".repeat(9000)}`, "#x=..&v=messages", "#v=time&x=n.nothing", "#v=messages&x=waiting.99.99"]) {
    const { page, complaints, close } = await open(`${address}${wrong}`);
    assert.ok((await page.locator(".center").innerText()).length > 50, wrong);
    assert.deepEqual(complaints, [], wrong);
    await close();
  }
  // Back goes back.
  const { page, close } = await open(address);
  await page.keyboard.press("4");
  await page.keyboard.press("5");
  await page.goBack();
  await page.waitForTimeout(100);
  assert.equal(await page.locator(".center").getAttribute("data-view"), "waits");
  await close();
});

test("time goes from the whole run to the severest wait, and loses no mark", { skip }, async () => {
  const { address, json } = named("chain");
  const { page, close: done } = await open(`${address}#v=time`);
  const canvas = page.locator(".time canvas");
  const told = async (key) => canvas.getAttribute(`data-${key}`);
  const report = await page.evaluate(() => JSON.parse(document.getElementById("d-report").textContent));
  const per = report.ticks_per_second;
  await page.screenshot({ path: join(screenshots, "time.png") });
  // The legend is the sum of all cells.
  const legend = Object.fromEntries(await page.locator(".legend tr").evaluateAll((all) => all.map((it) => [it.dataset.class, Number(it.dataset.ticks)])));
  const all = Object.values(legend).reduce((a, b) => a + b, 0);
  // All waiting is a sum of classes.
  const times = json.times.filter(([name]) => name !== "waiting");
  const seconds = times.reduce((sum, [, it]) => sum + it, 0);
  for (const [name, expected] of times) {
    close((legend[name] ?? 0) / all, expected / seconds, `share of ${name}`);
  }
  assert.equal(await page.locator(".legend").getAttribute("data-exact"), "true");
  assert.equal(Number(await told("marks")), json.waits.waits.length);
  for (const wait of [json.waits.waits[0], json.waits.waits[6]]) {
    await go(page, `v=time&i=${wait.number}`);
    await canvas.focus();
    await page.keyboard.press("f");
    await page.waitForTimeout(100);
    close(Number(await told("end")) / per, wait.begin + wait.seconds, `end of wait ${wait.number}`);
    const box = await canvas.boundingBox();
    const x = Number(await told("endx"));
    assert.ok(x > 90 && x < box.width, "the arrow ends in the picture");
    assert.ok(Number(await told("chain")) >= 1 && Number(await told("calls")) > 0 && Number(await told("arrows")) > 0);
    assert.ok(Number(await told("marks")) >= 1);
  }
  await page.screenshot({ path: join(screenshots, "time-wait.png") });
  // Half of the run twice is all of it.
  const end = report.end / per;
  const part = async (from, to) => {
    await go(page, `v=time&t=${from}-${to}`);
    return page.locator(".legend tr").evaluateAll((rows) => rows.reduce((sum, it) => sum + Number(it.dataset.ticks), 0));
  };
  const half = (end / 2).toFixed(9);
  assert.ok(Math.abs((await part("0", half)) + (await part(half, end.toFixed(9))) - all) < 1e-4 * all);
  await done();
});

test("waits are those of scripts, with their chains", { skip }, async () => {
  for (const { name, address, json } of pages) {
    const { page, close: done } = await open(`${address}#v=waits`);
    const shown = await page.locator(".waits .rows tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.equal(shown.length, Math.min(200, json.waits.waits.length), name);
    for (const [at, wait] of json.waits.waits.slice(0, 200).entries()) {
      const cells = shown[at].map(words);
      assert.equal(cells[0], String(wait.number));
      assert.ok(Math.abs(Number.parseFloat(cells[1]) - wait.seconds) <= 6e-5 + 5e-4 * wait.seconds, `${name}: ${cells[1]}, not ${wait.seconds}`);
      assert.ok(cells.includes(wait.title) && cells.includes(wait.location), `${name}: ${cells}`);
      if (wait.cause !== null) assert.ok(cells.includes(wait.cause), `${name}: ${cells}: ${wait.cause}`);
    }
    const hops = json.waits.hops.filter((hop) => hop.number === 1);
    const sides = await page.locator(".sides").getAttribute("aria-label");
    for (const hop of hops) assert.ok(sides.includes(hop.location) && sides.includes(hop.cause), sides);
    if (name === "chain") assert.match(await page.locator(".sides").innerHTML(), />work</);
    await page.screenshot({ path: join(screenshots, `waits-${name}.png`) });
    await done();
  }
});

test("ranks have the values and the spread of scripts", { skip }, async () => {
  for (const { name, address, json } of pages) {
    for (const metric of ["waiting", "time"]) {
      const { page, close: done } = await open(`${address}#v=ranks&m=${metric}`);
      const largest = await page.locator('.rows[aria-label="Largest values"] tbody tr').evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
      const expected = [...json.ranks.rows].sort((a, b) => b[metric] - a[metric]).slice(0, 10);
      largest.forEach(([, value], at) => assert.ok(Math.abs(Number.parseFloat(value) - expected[at][metric]) < 5e-3 * expected[at][metric] + 6e-4, `${name}: ${value}`));
      const spread = await page.locator(".distribution td").allInnerTexts();
      const told = json.ranks.distribution;
      told.slice(0, 6).forEach((it, at) => assert.ok(Math.abs(Number.parseFloat(spread[at]) - it[metric]) < 5e-3 * Math.abs(it[metric]) + 6e-4, `${name}: ${it.of} ${spread[at]}`));
      assert.equal(Number(await page.locator(".ranks canvas").first().getAttribute("data-cells")), json.ranks.rows.length);
      if (metric === "waiting") await page.screenshot({ path: join(screenshots, `ranks-${name}.png`) });
      await done();
    }
  }
});

test("matrix, margins and tables of messages are those of scripts", { skip }, async () => {
  const { address, json } = named("chain");
  for (const [kind, keys] of [["messages", ["messages"]], ["bytes", ["bytes"]], ["waiting", ["late_sender", "late_receiver"]]]) {
    const { page, close: done } = await open(`${address}#v=messages${kind === "waiting" ? "" : `&x=${kind}`}`);
    const canvas = page.locator(".messages canvas");
    const value = (pair) => keys.reduce((sum, key) => sum + pair[key], 0);
    const all = json.matrix.pairs.reduce((sum, pair) => sum + value(pair), 0);
    for (const margin of ["sent", "received"]) close(Number(await canvas.getAttribute(`data-${margin}`)), all, `${kind} ${margin}`);
    close(Number(await canvas.getAttribute("data-most")), Math.max(...json.matrix.pairs.map(value)), kind);
    await canvas.focus();
    await page.keyboard.press("ArrowRight");
    const pair = json.matrix.pairs.find((it) => it.source === 0 && it.destination === 1);
    const told = await canvas.getAttribute("data-words");
    assert.ok(told.startsWith("rank 0 to rank 1: ") && Math.abs(Number.parseFloat(told.split(": ")[1]) - value(pair)) < 6e-4, told);
    assert.equal(await page.locator('.rows[aria-label="Pairs of ranks"] tbody tr').count(), json.matrix.pairs.length);
    assert.equal(await page.locator('.rows[aria-label="Messages by size"] tbody tr').count(), json.sizes.sizes.length);
    assert.equal(await page.locator('.rows[aria-label="Collective operations"] tbody tr').count(), json.collectives.collectives.length);
    if (kind === "waiting") await page.screenshot({ path: join(screenshots, "messages.png") });
    await done();
  }
});

test("every metric is explained", { skip }, async () => {
  const { page, close } = await open(`${named("chain").address}#v=metrics&m=mpi_latesender`);
  assert.ok((await page.locator(".columns li").count()) > 60);
  const text = words(await page.locator(".columns .text").innerText());
  assert.ok(text.includes("A receiving call is blocked") && text.includes("What to do:"), text);
  assert.equal(await page.locator(".columns .drawing").count(), 1);
  await close();
});

test("nobody is kept out: axe finds nothing in any view, theme or size", { skip }, async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  for (const options of [{ colorScheme: "light" }, { colorScheme: "dark" }, { forcedColors: "active" }, { viewport: { width: 800, height: 900 } }]) {
    const { page, complaints, close } = await open(named("chain").address, options);
    await page.evaluate(axe);
    for (const view of VIEWS) {
      await go(page, `v=${view}&m=mpi_latesender`);
      const found = await page.evaluate(async () => {
        const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
        return violations.map((it) => `${it.id}: ${it.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`);
      });
      assert.deepEqual(found, [], `${JSON.stringify(options)} ${view}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${view} is ${wide} pixels too wide`);
    }
    assert.deepEqual(complaints.filter((it) => !it.includes("style")), []);
    if (options.viewport || options.colorScheme) {
      await go(page, "v=overview");
      await page.screenshot({ path: join(screenshots, `overview-${options.colorScheme ?? "800"}.png`) });
    }
    await close();
  }
});

test("print has the first screen, whatever view is shown", { skip }, async () => {
  const { page, close } = await open(`${named("chain").address}#v=ranks`);
  assert.equal(await page.locator("#first").isVisible(), false);
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("#first").isVisible(), true);
  assert.equal(await page.locator(".head").isVisible(), false);
  const pdf = await page.pdf();
  assert.ok(pdf.length > 10_000);
  await close();
});
