// Pages of 1,000 and of 65,536 ranks in Chromium.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { close, go, open, skip, told } from "./browser.mjs";
import { named, screenshots, settled } from "./support.mjs";

const value = (text) => Number.parseFloat(text);

test("slices of a topology have the sums of their ranks", { skip }, async () => {
  const { address, json } = named("many");
  const { page, complaints, close: done } = await open(`${address}#v=ranks&m=waiting&o=topology`);
  const canvas = page.locator(".ranks canvas").first();
  const of = (rank) => json.ranks.rows[rank].waiting;
  // Steps down and to the right, from the first cell.
  const at = async (down, right) => {
    await canvas.focus();
    await go(page, (await page.evaluate(() => location.hash)).slice(1).replace(/&?l=\d+/, ""));
    await canvas.focus();
    for (let step = 0; step < right; step++) await page.keyboard.press("ArrowRight");
    for (let step = 0; step < down; step++) await page.keyboard.press("ArrowDown");
    return canvas.getAttribute("data-words");
  };
  const near = (text, expected, what) => assert.ok(Math.abs(value(text.split(": ")[1]) - expected) < 2e-3 * expected + 6e-4, `${what}: ${text}, not ${expected}`);
  // y down, z across; x summed: rank = 200 x + 20 y + z.
  assert.equal(Number(await told(canvas, "cells")), 200);
  const summed = await at(2, 3);
  assert.match(summed, /5 locations, the first rank 43 at \(2, 3\)/);
  near(summed, [0, 1, 2, 3, 4].reduce((sum, x) => sum + of(200 * x + 43), 0), "summed");
  await page.screenshot({ path: join(screenshots, "ranks-topology.png") });
  // One slice of x.
  await page.locator(".modes select").last().selectOption("3");
  assert.equal(Number(await told(canvas, "cells")), 200);
  const sliced = await at(2, 3);
  assert.match(sliced, /^rank 643 at/);
  near(sliced, of(643), "slice");
  // The link has the slice.
  await page.reload();
  await page.locator("html[data-loaded]").waitFor({ state: "attached" });
  assert.equal(await page.locator(".modes select").last().inputValue(), "3");
  assert.equal(await told(canvas, "words"), sliced);
  // Other dimensions, and another topology.
  await page.locator(".modes").getByLabel("across").selectOption("0");
  await settled(page);
  assert.equal(Number(await told(canvas, "cells")), 50);
  await page.getByLabel("Topology", { exact: true }).selectOption("1");
  await settled(page);
  assert.equal(Number(await told(canvas, "cells")), 1000);
  assert.deepEqual(complaints, []);
  await done();
});

test("ranks are boxed by node", { skip }, async () => {
  const { page, close: done } = await open(`${named("many").address}#v=ranks&m=waiting`);
  assert.equal(Number(await told(page.locator(".ranks canvas").first(), "cells")), 1000);
  await page.screenshot({ path: join(screenshots, "ranks-nodes.png") });
  await done();
});

test("a wait of many ranks is fitted to single calls, and fewer rows keep who is selected", { skip }, async () => {
  const { page, complaints, close: done } = await open(`${named("many").address}#v=waits&i=3`);
  const canvas = page.locator(".time canvas");
  await page.getByRole("button", { name: "show in Time" }).click();
  await settled(page);
  assert.ok(Number(await told(canvas, "calls")) > 0, "calls are shown");
  const state = async () => Object.fromEntries((await page.evaluate(() => location.hash.slice(1))).split("&").map((it) => it.split("=")));
  const { l: selected, r: rows } = await state();
  const within = (range) => { const [first, last] = range.split("-").map(Number); return first <= Number(selected) && Number(selected) <= last; };
  assert.ok(within(rows), `${selected} in ${rows}`);
  await go(page, `v=time&i=3&l=${selected}`);
  for (let step = 0; step < 4; step++) {
    await page.getByRole("button", { name: "fewer rows" }).click();
    assert.ok(within((await state()).r), `${selected} in ${(await state()).r}`);
  }
  await go(page, "v=time&i=3");
  await page.keyboard.press("f");
  await settled(page);
  assert.equal((await state()).r, rows);
  assert.deepEqual(complaints, []);
  await done();
});

test("the matrix goes from a block to its pairs", { skip }, async () => {
  const { address, json } = named("many");
  for (const [kind, keys] of [["bytes", ["bytes"]], ["waiting", ["late_sender", "late_receiver"]]]) {
    const { page, complaints, close: done } = await open(`${address}#v=messages&x=${kind}`);
    const canvas = page.locator(".messages canvas");
    const each = await page.evaluate(() => JSON.parse(document.getElementById("d-report").textContent).ranks_of_block);
    assert.ok(each > 1, "there are blocks");
    const of = (pair) => keys.reduce((sum, key) => sum + pair[key], 0);
    const inBlock = json.matrix.pairs.filter((it) => Math.floor(it.source / each) === 0 && Math.floor(it.destination / each) === 0);
    const block = inBlock.reduce((sum, it) => sum + of(it), 0);
    await canvas.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    const words = await told(canvas, "words");
    const scale = /KiB/.test(words) ? 1024 : /MiB/.test(words) ? 1048576 : 1;
    assert.ok(Math.abs(value(words.split(": ")[1]) * scale - block) < 1e-2 * block + 6e-4, `${words}, not ${block}`);
    if (kind === "bytes") await page.screenshot({ path: join(screenshots, "matrix-1000.png") });
    await page.keyboard.press("Enter");
    await settled(page);
    assert.match(await page.evaluate(() => location.hash), /x=\w+\.0\.0/);
    close(Number(await told(canvas, "most")), Math.max(...inBlock.map(of)), kind);
    const pairs = await page.locator('.rows[aria-label="Pairs of ranks"] tbody tr').count();
    assert.equal(pairs, Math.min(25, inBlock.length));
    assert.deepEqual(complaints, []);
    await done();
  }
});

test("65,536 ranks are drawn, in bounds of time and memory", { skip }, async () => {
  const { page, complaints, close: done } = await open(`${named("huge").address}#v=time`);
  const canvas = page.locator(".time canvas");
  assert.equal(await told(canvas, "finest"), "0", "all levels are there");
  const heap = await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6);
  assert.ok(heap < 400, `${heap} MB`);
  await page.screenshot({ path: join(screenshots, "time-65536.png") });
  await go(page, "v=time&r=0-15");
  assert.ok(Number(await told(canvas, "cells")) > 0);
  for (const view of ["overview", "calls", "ranks", "messages"]) await go(page, `v=${view}`);
  assert.deepEqual(complaints, []);
  // Frames, after the first one. Times are reported, as machines differ.
  await go(page, "v=time");
  const times = [];
  await canvas.focus();
  for (let frame = 0; frame < 50; frame++) {
    await page.keyboard.press(frame % 2 ? "s" : "w");
    times.push(Number(await told(canvas, "milliseconds")));
  }
  times.sort((a, b) => a - b);
  console.log(`65,536 ranks: ${heap.toFixed(0)} MB, a frame takes ${times[25]} ms`);
  await done();
});
