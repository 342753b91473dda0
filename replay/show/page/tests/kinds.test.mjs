// Pages of reports of all kinds in Chromium: with findings, without waiting, of one rank, of other programs, with hostile names, and
// without names.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { go, open, skip } from "./browser.mjs";
import { VIEWS, named, pages, screenshots, settled, words } from "./support.mjs";

test("no view of any report asks for anything or complains", { skip }, async () => {
  for (const { name, address, json } of pages) {
    const { page, complaints, close } = await open(address);
    const title = await page.title();
    for (const view of VIEWS) {
      await go(page, `v=${view}&m=time`);
      assert.ok((await page.locator(".center").innerText()).length > 20, `${name} ${view}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${name}: ${view} is ${wide} pixels too wide`);
    }
    assert.equal(await page.title(), title, name);
    assert.deepEqual(complaints, [], name);
    for (const sentence of json?.overview.headline ?? []) {
      assert.ok(words(await page.locator("#first").textContent()).includes(words(sentence)), `${name}: ${sentence}`);
    }
    await close();
  }
});

test("what nobody has analysed is not shown as zero", { skip }, async () => {
  const { page, close } = await open(named("rma.4-reference").address);
  assert.equal(await page.locator("nav.views button", { hasText: "Waits" }).count(), 0);
  for (const view of ["calls", "ranks", "time"]) {
    await go(page, `v=${view}`);
    assert.match(await page.locator("#panel-value").innerText(), /not analysed/);
    assert.doesNotMatch(await page.locator(".center").innerText(), /the 0 severest|0\.000\s?s.*\n?Waiting \(all\)/);
  }
  await close();
});

test("a largest value or a mean of 0 is shown as 0, and that of no value as none", { skip }, async () => {
  const { page, complaints, close } = await open(named("states").address);
  const tree = page.locator('[role=tree][aria-label="Call paths"]');
  const shown = async (metric, path) => {
    await go(page, `v=calls&m=${metric}`);
    await tree.focus();
    await page.keyboard.press("*");
    const row = tree.locator("[role=treeitem]", { hasText: path }).first();
    return [words(await row.locator(".number").innerText()), await row.locator(".bar").evaluate((it) => it.style.width)];
  };
  for (const metric of ["frequency", "frequency_min", "frequency_mean"]) {
    assert.equal((await shown(metric, "MPI_Finalize"))[0], "0 Hz", metric);
  }
  for (const metric of ["in_use", "in_use_min", "in_use_mean"]) {
    assert.deepEqual(await shown(metric, "inner"), ["·", "0%"], metric);
  }
  assert.deepEqual(complaints, []);
  await close();
});

test("advice stands in the place of what others wait for, and leads to its call paths", { skip }, async () => {
  const { address, json } = named("advised");
  const { page, complaints, close } = await open(address);
  const shown = json.overview.advice.slice(0, 3);
  assert.ok(shown.length > 0);
  const items = (await page.locator("#first-actions li").allInnerTexts()).map(words);
  assert.equal(items.length, shown.length);
  for (const [at, it] of shown.entries()) {
    const gain = `${it.expected === null ? "at most" : "about"} ${(it.expected ?? it.most).toFixed(3)} s, ${(100 * it.share).toFixed(1)} % of the run`;
    for (const text of [it.title, gain, it.path, it.text, `--what-if=${it.scenario}`]) assert.ok(items[at].includes(words(text)), `${text} in ${items[at]}`);
  }
  assert.ok(!words(await page.locator("#first-actions").innerText()).includes("others wait"));
  // The numbers of "Look at it" are those of what others wait for.
  assert.equal(await page.locator("button", { hasText: " in Calls" }).count(), 0);
  await page.locator("#first-actions li a").first().click();
  await settled(page);
  assert.equal(await page.evaluate(() => document.querySelector(".center").dataset.view), "calls");
  const selected = page.locator('[role=tree][aria-label="Call paths"] [aria-selected=true]');
  assert.ok(words(await selected.innerText()).includes(shown[0].path.split("/").at(-1)), await selected.innerText());
  assert.deepEqual(complaints, []);
  await close();
});

test("where no advice was found the page says so, and where it was not looked for nothing is promised", { skip }, async () => {
  for (const [name, expected] of [["nothing-advised", /No advice: none of the changes that were tried would save 1 % of the run\./], ["wrong_order_diff.4", /others wait/]]) {
    const { page, close } = await open(named(name).address);
    const text = words(await page.locator("#first-actions").innerText());
    assert.match(text, expected);
    assert.doesNotMatch(text, /about|at most/);
    assert.equal(await page.locator("button", { hasText: " in Calls" }).count() > 0, name === "wrong_order_diff.4");
    await close();
  }
});

test("hostile names are text everywhere", { skip }, async () => {
  const { page, complaints, close } = await open(named("hostile").address);
  await go(page, "v=calls&m=time");
  await page.locator('[role=tree][aria-label="Call paths"]').focus();
  await page.keyboard.press("*");
  const tree = await page.locator('[role=tree][aria-label="Call paths"]').innerText();
  assert.ok(tree.includes("</script><script>") || tree.includes("<img src=x"), tree);
  await page.screenshot({ path: join(screenshots, "hostile.png") });
  for (const order of ["node", "topology"]) await go(page, `v=ranks&m=time&o=${order}`);
  assert.equal(await page.locator("img, [onerror], [onload]").count(), 0);
  assert.equal(await page.title(), "hostile.cubex");
  assert.deepEqual(complaints, []);
  await close();
});

/** All texts of a page: those of its HTML, and those in its tables of bytes. */
async function texts(page) {
  return page.evaluate(async () => {
    const found = [document.documentElement.outerHTML];
    for (const block of document.querySelectorAll('script[type="application/octet-stream"]')) {
      const bytes = Uint8Array.from(atob(block.textContent.trim()), (letter) => letter.charCodeAt(0));
      const length = new DataView(bytes.buffer).getUint32(8, true);
      const latin = (part) => new TextDecoder("latin1").decode(part);
      found.push(latin(bytes));
      for (const column of JSON.parse(latin(bytes.subarray(12, 12 + length))).columns) {
        for (const [offset, size] of column.blocks) {
          const packed = bytes.subarray(12 + length + offset, 12 + length + offset + size);
          const stream = new Blob([packed]).stream();
          const plain = column.codec === "raw" ? stream : stream.pipeThrough(new DecompressionStream("deflate"));
          found.push(latin(new Uint8Array(await new Response(plain).arrayBuffer())));
        }
      }
    }
    return found.join("\n");
  });
}

test("anonymous pages have names neither in views nor in data", { skip }, async () => {
  const { page, complaints, close } = await open(named("anonymous").address);
  for (const view of VIEWS) {
    await go(page, `v=${view}&m=time&o=topology`);
    assert.ok(!(await texts(page)).includes("secret"), view);
  }
  await go(page, "v=calls&m=time");
  await page.locator('[role=tree][aria-label="Call paths"]').focus();
  await page.keyboard.press("*");
  const tree = await page.locator('[role=tree][aria-label="Call paths"]').innerText();
  assert.ok(/function \d+/.test(tree) && tree.includes("MPI_Recv"), tree);
  await page.screenshot({ path: join(screenshots, "anonymous.png") });
  assert.deepEqual(complaints, []);
  await close();
});
