// Prints how long a page takes in Chromium: seconds to the first paint, and until time by location is drawn in full.

import { chromium } from "playwright-core";

import { program } from "./support.mjs";

const executablePath = program(["/usr/bin/chromium", "/usr/bin/chromium-browser"]);
const args = ["--disable-gpu", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])];
const browser = await chromium.launch({ executablePath, args });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await page.goto(`file://${process.argv[2]}#v=time`);
const canvas = page.locator('.time canvas[data-level="0"]');
await canvas.waitFor({ timeout: 60_000 });
const times = await page.evaluate(() => {
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return [paint?.startTime ?? 0, performance.now()];
});
console.log(times.map((time) => (time / 1000).toFixed(3)).join(" "));
await page.locator("html[data-loaded]").waitFor({ state: "attached", timeout: 60_000 });
console.error(`everything after ${((await page.evaluate(() => performance.now())) / 1000).toFixed(3)} s, heap ${await page.evaluate(() => Math.round(performance.memory.usedJSHeapSize / 1e6))} MB, frame ${await canvas.getAttribute("data-milliseconds")} ms`);
await browser.close();
