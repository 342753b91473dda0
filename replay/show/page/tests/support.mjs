// What tests of the page share: pages with what scripts get of the same report, and Chromium.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

export const folder = process.env.PAGES;
export const screenshots = process.env.SCREENSHOTS;

/** The pages: name, address, and what scripts get of the same report. */
export const pages = (folder ? readdirSync(folder) : []).filter((name) => name.endsWith(".html")).map((file) => {
  const name = file.replace(/\.html$/, "");
  const data = join(folder, `${name}.json`);
  return { name, path: join(folder, file), address: `file://${join(folder, file)}`, json: existsSync(data) ? JSON.parse(readFileSync(data, "utf8")) : null };
});

export function named(name) {
  return pages.find((page) => page.name === name);
}

/** The browser's program; null if there is none. */
export function program(names) {
  return names.find((name) => existsSync(name)) ?? null;
}

/** Words with plain spaces. */
export function words(text) {
  return text.replace(/[\s\u00a0]+/g, " ").trim();
}

/** Seconds as the page shows them. */
export function seconds(value, digits) {
  return `${value.toFixed(digits)} s`;
}

export const VIEWS = ["overview", "calls", "time", "waits", "ranks", "messages", "iterations", "metrics"];

/** Waits until a page has done what it was told, on a machine of any speed: its drawing, and the timer of what moves (150 ms), which end before
 *  a timer that is set after them for longer. What a served page asks for comes later: tests of it wait for the answer. */
export const settled = (page) =>
  page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))), 160)));
