// Iterations of the main loop in Chromium: of a trace in which a rank is slow in one, of one whose iterations do not correspond, of
// one without a loop, and of a short archive.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { close, go, open, skip, told } from "./browser.mjs";
import { named, screenshots, settled, words } from "./support.mjs";

const chart = (page) => page.locator(".iterations canvas").first();
const map = (page) => page.locator(".iterations canvas").nth(1);
const hash = (page) => page.evaluate(() => location.hash);
const text = async (page) => words(await page.locator(".iterations").innerText());
const times = async (page) => /[#&]t=([\d.]+)-([\d.]+)/.exec(await hash(page)).slice(1).map(Number);

/** Pixels of a canvas that have a colour of the style sheet. */
async function pixels(canvas, colour) {
  return canvas.evaluate((canvas, colour) => {
    const wanted = getComputedStyle(document.documentElement).getPropertyValue(`--${colour}`).trim();
    const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(wanted.slice(at, at + 2), 16));
    // A copy, as reading from a canvas makes the browser complain.
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) count++;
    return count;
  }, colour);
}

test("the slow iteration is labelled, and the rank that made others wait is named", { skip }, async () => {
  const { address, json } = named("slow");
  for (const colorScheme of ["light", "dark"]) {
    const { page, complaints, close: done } = await open(`${address}#v=iterations`, { colorScheme });
    assert.equal(await told(chart(page), "iterations"), "60");
    assert.equal(await told(chart(page), "unlike"), "33");
    assert.equal(await told(chart(page), "labelled"), "33");
    close(Number(await told(chart(page), "most")), json.slow.elapsed, "the longest");
    // Its mark, and bars in the colours of all three kinds.
    for (const colour of ["focus", "c-work", "c-communicate", "c-critical"]) assert.ok((await pixels(chart(page), colour)) > 20, `${colorScheme} ${colour}`);
    const said = await text(page);
    assert.match(said, /60 iterations of the main loop: median 0\.00083\d s, /);
    assert.match(said, /rank 2 in iterations\/main\/relax: 0\.003\d+ s, of 0\.004\d+ s in the run/);
    assert.match(said, /57 like number \d+ .*number 33, like no other/);
    assert.doesNotMatch(said, /do not correspond|hatched|shorter|longer over/);
    await page.screenshot({ path: join(screenshots, `iterations-${colorScheme}.png`) });
    assert.deepEqual(complaints, []);
    await done();
  }
});

test("keys, the mouse and lists lead from an iteration to its time", { skip }, async () => {
  const { address, json } = named("slow");
  const { page, complaints, close: done } = await open(`${address}#v=iterations`);
  const isThere = async (what) => {
    await settled(page);
    assert.equal(await page.locator(".center").getAttribute("data-view"), "time", what);
    const [begin, end] = await times(page);
    close(begin, json.slow.begin, what);
    close(end, json.slow.end, what);
  };
  await chart(page).focus();
  await page.keyboard.press("ArrowRight");
  await settled(page);
  // The first key goes to the one unlike the others.
  assert.match(words(await page.locator(".live").innerText()), /^iteration 33: 0\.0021\d s, longest outside of MPI rank 2, 0\.0021\d s, like no other, unlike those around it$/);
  await page.reload();
  await page.locator("html[data-loaded]").waitFor({ state: "attached" });
  assert.match(await told(chart(page), "words"), /^iteration 33: /);
  await chart(page).focus();
  await page.keyboard.press("ArrowLeft");
  await settled(page);
  assert.match(words(await told(chart(page), "words")), /^iteration 32: 0\.0008\d+ s, longest outside of MPI rank \d, 0\.0008\d+ s, like number \d+$/);
  await page.keyboard.press("End");
  await settled(page);
  assert.match(await told(chart(page), "words"), /^iteration 60: .*the loop begins or ends here$/);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Home");
  await settled(page);
  assert.match(await told(chart(page), "words"), /^iteration 1: /);
  await go(page, "v=iterations&x=..33");
  await chart(page).focus();
  await page.keyboard.press("Enter");
  await isThere("Enter");
  await page.goBack();
  await settled(page);
  assert.equal(await page.locator(".center").getAttribute("data-view"), "iterations");
  await page.locator('.rows[aria-label="Iterations unlike the others"] button', { hasText: /^33$/ }).click();
  await isThere("the list");
  await go(page, "v=iterations");
  const box = await chart(page).boundingBox();
  await chart(page).click({ position: { x: 84 + (32.5 / 60) * (box.width - 94), y: 120 } });
  await isThere("a click");
  await go(page, "v=iterations&x=..33");
  await map(page).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Enter");
  await isThere("the map");
  assert.match(await hash(page), /&l=1(&|$)/);
  assert.deepEqual(complaints, []);
  await done();
});

test("metrics have what scripts get, with the location that has most", { skip }, async () => {
  const { address, json } = named("slow");
  const { page, complaints, close: done } = await open(`${address}#v=iterations&x=..33`);
  await page.locator(".iterations .modes select").first().selectOption("mpi_latesender");
  await settled(page);
  const options = await page.locator(".iterations .modes select").first().locator("option").allTextContents();
  assert.equal(new Set(options).size, options.length, "each is called differently");
  const { sum, least, most, location } = json.late_sender;
  const shown = /Late Sender (\S+) s in all, (\S+) s to (\S+) s a location, most at rank (\d)/.exec(words(await told(chart(page), "words")));
  for (const [at, value] of [sum, least, most].entries()) assert.ok(Math.abs(Number(shown[at + 1]) - value) <= 0.006 * value, `${shown[at + 1]}, not ${value}`);
  assert.equal(Number(shown[4]), location);
  close(Number(await told(chart(page), "most")), most, "the band's end");
  assert.match(await hash(page), /m=mpi_latesender/);
  // The map of the same metric: ranks 1 and 3, which receive from rank 2, wait for it.
  assert.equal(await told(map(page), "cells"), "240");
  assert.equal(await told(map(page), "unknown"), "0");
  const at = async (rank) => {
    const { width } = await map(page).boundingBox();
    await map(page).hover({ position: { x: 84 + (32.5 / 60) * (width - 94), y: 18 * rank + 9 } });
    return words(await page.locator(".iterations .words").nth(1).innerText());
  };
  const waits = [];
  for (const rank of [0, 1, 2, 3]) waits.push(Number(new RegExp(`^iteration 33, rank ${rank}: Late Sender (\\S+) s$`).exec(await at(rank))[1]));
  assert.ok(Math.abs(waits.reduce((a, b) => a + b) - sum) <= 0.02 * sum, `${waits}, not ${sum}`);
  assert.ok(Math.min(waits[1], waits[3]) > 100 * Math.max(waits[0], waits[2]), `${waits}`);
  await page.screenshot({ path: join(screenshots, "iterations-metric.png") });
  await page.locator(".iterations .modes select").nth(1).selectOption("time");
  await settled(page);
  assert.match(await at(2), /^iteration 33, rank 2: Time 0\.0021\d s$/);
  assert.deepEqual(complaints, []);
  await done();
});

test("iterations that do not correspond say so, and what is unknown is not 0", { skip }, async () => {
  const { page, complaints, close: done } = await open(`${named("crossing").address}#v=iterations`);
  assert.match(await text(page), /Iterations of one number do not correspond on all locations: 93 messages join different ones\./);
  // One of the ranks has none of the 12 iterations.
  assert.equal(await told(map(page), "unknown"), "12");
  assert.match(await text(page), /hatched: locations without the iteration/);
  await map(page).hover({ position: { x: 300, y: 18 + 9 } });
  assert.match(words(await page.locator(".iterations .words").nth(1).innerText()), /^iteration \d+, rank 1: without it$/);
  assert.match(await text(page), /None took much longer, or less, than those around it\./);
  await chart(page).hover({ position: { x: 300, y: 100 } });
  assert.match(words(await page.locator(".iterations .words").first().innerText()), / on 5 of 6 locations$/);
  await page.screenshot({ path: join(screenshots, "iterations-crossing.png") });
  assert.deepEqual(complaints, []);
  await done();
});

test("iterations of a short archive have their numbers in the program", { skip }, async () => {
  const { address, json } = named("short");
  const { page, complaints, close: done } = await open(`${address}#v=iterations`);
  assert.match(await text(page), /They were kept of 60 in a short archive; beside their numbers here are those in the program\./);
  const last = json.numbers.length;
  assert.ok(json.numbers[last - 1] > last && json.numbers.includes(33), `${json.numbers}`);
  await chart(page).focus();
  await page.keyboard.press("End");
  await page.keyboard.press("End");
  await settled(page);
  assert.ok((await told(chart(page), "words")).startsWith(`iteration ${last} (${json.numbers[last - 1]} of the program): `));
  await page.locator(".iterations summary").click();
  const table = page.locator('.rows[aria-label="All iterations"]');
  const cells = (column) => table.locator(`tbody tr > :nth-child(${column})`).allInnerTexts();
  assert.deepEqual((await cells(1)).map(Number), json.numbers.map((_, at) => at + 1));
  assert.deepEqual((await cells(2)).map(Number), json.numbers);
  await page.screenshot({ path: join(screenshots, "iterations-short.png") });
  assert.deepEqual(complaints, []);
  await done();
});

test("there is no view without a main loop", { skip }, async () => {
  const { page, complaints, close: done } = await open(`${named("without").address}#v=iterations`);
  assert.equal(await page.locator("nav.views button", { hasText: "Iterations" }).count(), 0);
  assert.equal(await page.locator(".center").getAttribute("data-view"), "overview");
  assert.deepEqual(complaints, []);
  await done();
});
