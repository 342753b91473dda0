// The page of a server in Chromium: it asks for calls and messages that the report does not have.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { browser, skip } from "./browser.mjs";
import { screenshots } from "./support.mjs";

test("zoom outside of windows goes to single messages of the trace", { skip }, async () => {
  const address = process.env.SERVED;
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const [complaints, asked] = [[], []];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type()) && !message.text().includes("favicon") && !message.text().includes("404")) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(address);
  await page.locator("html[data-loaded]").waitFor({ state: "attached" });
  assert.match(await page.locator("meta[http-equiv]").getAttribute("content"), /connect-src 'self'$/);
  assert.deepEqual(asked.filter((url) => url.includes("window.json")), [], "nothing is asked for in other views");
  const report = await page.evaluate(() => JSON.parse(document.getElementById("d-report").textContent));
  const per = report.ticks_per_second;
  // A stretch that no window of the report reaches into.
  const [from, to] = [Math.round(0.9 * report.end), Math.round(0.9 * report.end + 0.01 * report.end)];
  const canvas = page.locator(".time canvas");
  await page.evaluate((hash) => { location.hash = hash; }, `v=time&r=0-7&t=${(from / per).toFixed(9)}-${(to / per).toFixed(9)}`);
  await page.locator(".known", { hasText: "are those of the trace" }).waitFor();
  const shown = async (key) => Number(await canvas.getAttribute(`data-${key}`));
  // What the server says of the same.
  const wanted = asked.find((url) => url.includes("window.json"));
  const answer = await page.evaluate(async (url) => (await fetch(url)).json(), wanted);
  const { receive_leave: ends, send_enter: begins } = answer.window_messages;
  const within = ends.filter((end) => end >= from && end <= to).length;
  assert.ok(within > 3, `${within} messages`);
  assert.equal(await shown("messages"), within);
  assert.ok((await shown("calls")) > 10);
  await page.screenshot({ path: join(screenshots, "served.png") });
  // To one message: its pair of ranks, from its send to its receive.
  const at = ends.findIndex((end) => end >= from && end <= to);
  const [source, destination] = [answer.window_messages.source[at], answer.window_messages.destination[at]];
  const room = Math.max(10, Math.round(0.05 * (ends[at] - begins[at])));
  const rows = [source, destination].sort((a, b) => a - b).join("-");
  await page.evaluate((hash) => { location.hash = hash; }, `v=time&r=${rows}&t=${((begins[at] - room) / per).toFixed(9)}-${((ends[at] + room) / per).toFixed(9)}`);
  await page.locator(".known", { hasText: "are those of the trace" }).waitFor();
  await page.locator(".listed summary").first().click();
  const listed = await page.locator('.rows[aria-label="Messages in this time"] tbody tr').evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const isIt = (row) => row[0] === `rank ${source}` && row[1] === `rank ${destination}` &&
    Math.abs(Number.parseFloat(row[2]) - begins[at] / per) < 1e-6 && Math.abs(Number.parseFloat(row[3]) - ends[at] / per) < 1e-6;
  assert.ok(listed.some(isIt), JSON.stringify(listed));
  await page.screenshot({ path: join(screenshots, "served-message.png") });
  // Every request was to the server.
  const origin = new URL(address).origin;
  assert.deepEqual(asked.filter((url) => !url.startsWith(origin)), []);
  assert.deepEqual(complaints, []);
  await context.close();
});
