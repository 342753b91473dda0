// Chromium for tests: starts it for a file of tests, opens pages, and notes whatever they ask for or complain of.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { chromium } from "playwright-core";

import { program, settled } from "./support.mjs";

export const executablePath = program(["/usr/bin/chromium", "/usr/bin/chromium-browser"]);
export const skip = executablePath ? false : "skipped: there is no Chromium (Debian: chromium)";
const FLAGS = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
// As root there is no other way.
export const args = process.getuid() === 0 ? ["--no-sandbox", ...FLAGS] : FLAGS;
if (skip) console.log(skip);

export let browser;
before(async () => { if (!skip) browser = await chromium.launch({ executablePath, args }); });
after(async () => browser?.close());

/** Opens a page; whatever it asks for or complains of ends up in `complaints`. */
export async function open(address, { isStatic = false, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await context.newPage();
  // Far more than any step needs: machines of tests are shared.
  page.setDefaultTimeout(60_000);
  const complaints = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => { if (!request.url().startsWith("file:") && !/^(blob|data):/.test(request.url())) complaints.push(request.url()); });
  await page.goto(address);
  if (!isStatic && options.javaScriptEnabled !== false) await page.locator("html[data-loaded]").waitFor({ state: "attached" });
  return { page, complaints, close: () => context.close() };
}

/** Goes to a state of the page. */
export async function go(page, hash) {
  await page.evaluate((hash) => { location.hash = hash; }, hash);
  await settled(page);
}

export const close = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)), `${what}: ${a}, not ${b}`);

/** What a canvas tells of its drawing. */
export const told = async (canvas, key) => canvas.getAttribute(`data-${key}`);

/** What axe has against a page. */
export async function violations(page, axe) {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.map((it) => `${it.id}: ${it.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`);
  });
}

/** How many pixels a page is too wide. */
export const excess = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
