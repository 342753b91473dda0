// Pages of comparisons in Chromium: what `diff --json` prints, without scripts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

import { excess, open, skip, violations } from "./browser.mjs";
import { named, screenshots, settled, words } from "./support.mjs";

/** The number that a cell shows: plain minus signs and spaces. */
const number = (text) => Number.parseFloat(words(text).replace("−", "-").replace("+", ""));

/** Whether a number is shown as one with as many decimals. */
function isShown(text, value) {
  const decimals = /\.(\d+)/.exec(text)?.[1].length ?? 0;
  return Math.abs(number(text) - value) <= 0.5000001 * 10 ** -decimals;
}

test("signs and values are those of diff", { skip }, async () => {
  const { address, json } = named("compare");
  const { page, complaints, close } = await open(address, { isStatic: true });
  const table = async (key) => page.locator(`table[data-table="${key}"] tbody tr`)
    .evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const quantities = await table("quantities");
  assert.ok(quantities.length > 4);
  for (const [name, a, b, change] of quantities) {
    const it = json.quantities.find((it) => it.title === words(name));
    assert.ok(it && isShown(a, it.a) && isShown(b, it.b), `${name}: ${a}, ${b}, not ${it?.a}, ${it?.b}`);
    assert.ok(it.change === 0 || Math.sign(number(change)) === Math.sign(it.change), `${name}: ${change}`);
  }
  // Each change stands once in the tree of both sides, with its values and in its colour.
  const merged = (await table("merged")).filter((row) => row[2] !== "");
  const calls = json.calls.filter((it) => it.a !== 0 || it.b !== 0);
  assert.equal(merged.length, calls.length);
  const rest = [...merged];
  for (const it of calls) {
    const at = rest.findIndex((row) => row[2] === it.metric && isShown(row[3], it.a) && isShown(row[4], it.b) && isShown(row[5], it.difference));
    assert.ok(at >= 0, JSON.stringify(it));
    rest.splice(at, 1);
  }
  assert.ok((await page.locator('table[data-table="merged"] .bad').count()) > 0);
  assert.deepEqual(complaints, []);
  await page.screenshot({ path: join(screenshots, "compare.png"), fullPage: true });
  await close();
});

test("both sides are zoomed at once, by mouse and by keys", { skip }, async () => {
  const { page, close } = await open(named("compare").address, { isStatic: true });
  const width = async () => page.locator(".zoomed svg").evaluateAll((all) => all.map((it) => Math.round(it.getBoundingClientRect().width)));
  const whole = await width();
  assert.equal(whole[0], whole[1]);
  await page.getByLabel("4 times", { exact: true }).check();
  const zoomed = await width();
  assert.ok(zoomed[0] === zoomed[1] && Math.abs(zoomed[0] - 4 * whole[0]) < 8, `${whole} ${zoomed}`);
  await page.keyboard.press("ArrowRight");
  assert.ok((await width())[0] > 3.9 * zoomed[0]);
  const times = page.locator(".times");
  await times.focus();
  await page.keyboard.press("ArrowRight");
  await settled(page);
  assert.ok((await times.evaluate((it) => it.scrollLeft)) > 0);
  await close();
});

test("nobody is kept out of comparisons", { skip }, async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  for (const options of [{ colorScheme: "light" }, { colorScheme: "dark" }, { forcedColors: "active" }, { viewport: { width: 800, height: 900 } }]) {
    const { page, close } = await open(named("compare").address, { isStatic: true, ...options });
    assert.deepEqual(await violations(page, axe), [], JSON.stringify(options));
    assert.ok((await excess(page)) <= 0, JSON.stringify(options));
    if (options.colorScheme === "dark") await page.screenshot({ path: join(screenshots, "compare-dark.png"), fullPage: true });
    await close();
  }
});
