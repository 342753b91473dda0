// The page in Chromium: numbers, keys, links and who is kept out.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

import { browser, close, excess, go, open, skip, violations } from "./browser.mjs";
import { VIEWS, named, pages, screenshots, settled, words } from "./support.mjs";

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

test("a page in several files shows the same from a server", { skip }, async () => {
  const folder = join(process.env.PAGES, "split");
  const types = { html: "text/html", css: "text/css", js: "text/javascript", json: "application/json", bin: "application/octet-stream" };
  const server = createServer((request, response) => {
    const name = request.url === "/" ? "index.html" : request.url.slice(1);
    response.setHeader("Content-Security-Policy", "default-src 'self'");
    response.setHeader("Content-Type", types[name.split(".").pop()] ?? "text/plain");
    try {
      response.end(readFileSync(join(folder, name)));
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { page: whole, close } = await open(named("chain").address);
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => { if (message.type() === "error" && !message.text().includes("favicon")) complaints.push(message.text()); });
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.locator("html[data-loaded]").waitFor({ state: "attached" });
  for (const view of VIEWS) {
    await go(page, `v=${view}`);
    await go(whole, `v=${view}`);
    assert.equal(await page.locator(".center").innerText(), await whole.locator(".center").innerText(), view);
  }
  assert.deepEqual(complaints.filter((it) => !it.includes("404")), []);
  await context.close();
  await close();
  server.close();
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
  // Without the focus in the picture.
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await settled(page);
  assert.match(await hash(), /t=/);
  await page.keyboard.press("/");
  await page.keyboard.type("sw");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Escape");
  const zoomed = await hash();
  await page.keyboard.press("d");
  await settled(page);
  assert.notEqual(await hash(), zoomed);
  await page.locator(".time canvas").focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator(".time canvas").getAttribute("data-words"), /^rank 0, /);
  await page.keyboard.press("c");
  assert.ok(Number(await page.locator(".time canvas").getAttribute("data-path")) > 0, "the critical path");
  await page.keyboard.press("]");
  assert.match(await hash(), /i=1/);
  await page.keyboard.press("4");
  await page.locator(".waits .rows tbody button").nth(4).focus();
  await page.keyboard.press("Enter");
  assert.match(await hash(), /i=5/);
  await page.keyboard.press("5");
  await page.locator(".ranks canvas").first().focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await hash(), /l=1/);
  await page.keyboard.press("6");
  await page.locator(".messages canvas").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  assert.match(await hash(), /l=2/);
  await page.keyboard.press("7");
  await page.locator(".iterations canvas").first().focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.evaluate(() => document.querySelector(".iterations canvas").dataset.words), /^iteration 1: /);
  await page.keyboard.press("8");
  await page.locator(".columns li button").nth(3).focus();
  await page.keyboard.press("Enter");
  assert.match(await hash(), /m=comp/);
  await page.keyboard.press("/");
  await page.keyboard.type("late sender");
  await page.keyboard.press("Enter");
  assert.match(await hash(), /m=mpi_latesender/);
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.locator("dialog").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog").count(), 0);
  await close();
});

test("each view can be used by mouse alone", { skip }, async () => {
  const { page, close } = await open(named("chain").address);
  const hash = () => page.evaluate(() => location.hash);
  const view = async (name) => {
    await page.locator("nav.views button").nth(VIEWS.indexOf(name)).click();
    assert.equal(await page.locator(".center").getAttribute("data-view"), name);
    await settled(page);
  };
  /** A place in a picture, by parts of its size or by pixels from its corner. */
  const at = async (canvas, x, y) => {
    const box = await canvas.boundingBox();
    return [box.x + (x < 1 ? x * box.width : x), box.y + (y < 1 ? y * box.height : y)];
  };
  const click = async (canvas, x, y) => {
    await page.mouse.click(...(await at(canvas, x, y)));
    await settled(page);
  };
  await view("overview");
  await page.getByRole("button", { name: "waiting of all ranks" }).click();
  await settled(page);
  assert.match(await hash(), /v=ranks/);
  await click(page.locator(".ranks canvas").first(), 40, 30);
  assert.match(await hash(), /l=1/);
  await view("time");
  const canvas = page.locator(".time canvas");
  await page.mouse.move(...(await at(canvas, 0.7, 0.5)));
  await page.mouse.down();
  await page.mouse.move(...(await at(canvas, 0.8, 0.5)), { steps: 4 });
  await page.mouse.up();
  assert.match(await hash(), /t=0\.3\d+-0\.\d+/);
  await page.mouse.dblclick(...(await at(canvas, 0.5, 0.5)));
  await settled(page);
  await page.getByRole("button", { name: "everything" }).click().catch(() => {});
  await view("waits");
  await page.locator(".waits .rows tbody button").nth(2).click();
  assert.match(await hash(), /i=3/);
  await page.getByRole("button", { name: "show in Time" }).click();
  await settled(page);
  assert.match(await hash(), /v=time.*t=/);
  await view("messages");
  await page.locator(".modes button", { hasText: "bytes" }).click();
  await click(page.locator(".messages canvas"), 72 + 28 + 14, 22 + 14);
  assert.match(await hash(), /l=1/);
  await view("metrics");
  await page.locator(".columns li button").nth(3).click();
  assert.match(await hash(), /m=comp/);
  await view("calls");
  await page.getByRole("button", { name: "flame graph" }).click();
  await click(page.locator(".center canvas").first(), 20, 30);
  assert.match(await hash(), /p=[0-9a-f]{8}/);
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
  await settled(page);
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
  for (const { from, to, times } of json.zooms) {
    await go(page, `v=time&t=${from.toFixed(12)}-${to.toFixed(12)}`);
    const shown = Object.fromEntries(await page.locator(".legend tr").evaluateAll((all) => all.map((it) => [it.dataset.class, Number(it.dataset.ticks)])));
    for (const [name, expected] of times) assert.ok(Math.abs((shown[name] ?? 0) / per - expected) < 1e-6 * (to - from), `${name} from ${from}: ${(shown[name] ?? 0) / per}, not ${expected}`);
    assert.equal(await page.locator(".legend").getAttribute("data-exact"), "true");
    // Marks of all waits that end there.
    const marks = json.waits.waits.filter((it) => it.begin + it.seconds >= from && it.begin <= to).length;
    assert.equal(Number(await told("marks")), marks, `from ${from}`);
  }
  await go(page, "v=time");
  assert.equal(Number(await told("marks")), json.waits.waits.length);
  for (const wait of [json.waits.waits[0], json.waits.waits[6]]) {
    await go(page, `v=time&i=${wait.number}`);
    await canvas.focus();
    await page.keyboard.press("f");
    await settled(page);
    close(Number(await told("end")) / per, wait.begin + wait.seconds, `end of wait ${wait.number}`);
    const box = await canvas.boundingBox();
    const x = Number(await told("endx"));
    assert.ok(x > 90 && x < box.width, "the arrow ends in the picture");
    assert.ok(Number(await told("chain")) >= 1 && Number(await told("calls")) > 0 && Number(await told("arrows")) > 0);
    assert.ok(Number(await told("marks")) >= 1);
  }
  await page.screenshot({ path: join(screenshots, "time-wait.png") });
  // From there to one pair of ranks and one message.
  const { location, cause, begin, seconds } = await (async () => json.waits.waits[0])();
  const ranks = [location, cause].map((name) => Number(/^rank (\d+)$/.exec(name)[1])).sort((a, b) => a - b);
  const arrives = begin + seconds;
  await go(page, `v=time&i=1&r=${ranks[0]}-${ranks[1]}&t=${(arrives - 0.004).toFixed(9)}-${(arrives + 0.004).toFixed(9)}`);
  assert.equal(Number(await told("arrows")), 1, "one message");
  close(Number(await told("end")) / per, arrives, "end of the wait");
  assert.equal(await page.locator('.rows[aria-label="Messages in this time"] tbody tr').count(), 1);
  await page.screenshot({ path: join(screenshots, "time-message.png") });
  await canvas.focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await told("words"), /^rank \d, 0\.\d+.s to 0\.\d+.s: [\w ]+, 0\.\d+.s$/, "calls are told");
  const flow = words(await page.locator(".flow").innerText());
  const sent = json.matrix.pairs.reduce((sum, pair) => sum + pair.messages, 0);
  await go(page, "v=time");
  assert.ok(words(await page.locator(".flow").innerText()).includes(`by all: ${sent} messages`), flow);
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

test("single calls leave nothing white that has time", { skip }, async () => {
  for (const [name, time] of [["hybrid", "&i=1"], ["chain", "&i=2"], ["chain", "&i=1"]]) {
    const { page, close: done } = await open(`${named(name).address}#v=time${time}`);
    const canvas = page.locator(".time canvas");
    await page.keyboard.press("f");
    await settled(page);
    assert.ok(Number(await canvas.getAttribute("data-calls")) > 0);
    // Above and below in each row: letters, arrows and hatches are narrow.
    const [white, all] = await canvas.evaluate((element) => {
      const rows = Math.round((element.clientHeight - 26) / 46);
      const { data, width } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
      let [white, all] = [0, 0];
      for (let row = 0; row < rows; row++) {
        for (const part of [0.2, 0.6]) {
          const y = Math.round((row + part) * 46);
          for (let x = 100; x < width - 8; x++) {
            const at = 4 * (y * width + x);
            all++;
            if ((data[at] === 255 && data[at + 1] === 255 && data[at + 2] === 255) || data[at + 3] === 0) white++;
          }
        }
      }
      return [white, all];
    });
    assert.ok(all > 1000 && white < 0.04 * all, `${name}: ${white} of ${all} are white`);
    await done();
  }
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

test("the wait that is shown is one of the list, and so is the next", { skip }, async () => {
  const { page, close: done } = await open(`${named("hybrid").address}#v=waits&m=omp_ibarrier_wait&i=1`);
  const numbers = await page.locator(".waits .rows tbody tr td:first-child").allInnerTexts();
  const shown = async () => (await page.locator(".one h2").innerText()).split(" ")[0];
  assert.ok(numbers.length > 1 && !numbers.includes("1"), `${numbers}`);
  assert.equal(await shown(), numbers[0]);
  await page.keyboard.press("]");
  assert.equal(await shown(), numbers[1]);
  assert.match(await page.locator(".commands code").innerText(), new RegExp(` -i ${numbers[1]}$`));
  await done();
});

test("differences that rounding leaves are nothing, and have no command of another value", { skip }, async () => {
  const { page, close: done } = await open(`${named("hybrid").address}#v=calls&m=time&mo=1`);
  const texts = await rows(page, "System").locator(".number").allInnerTexts();
  assert.ok(texts.length > 3 && texts.every((it) => it === "·"), `${texts}`);
  assert.equal(await page.locator(".commands code").count(), 0);
  await go(page, "v=calls&m=time&l=1");
  assert.match(await page.locator(".commands code").innerText(), /^replay-show ranks .* -m time$/);
  await done();
});

test("menus have metrics below those that they are a part of, each once", { skip }, async () => {
  const { page, close: done } = await open(`${named("hybrid").address}#v=ranks&m=waiting`);
  const options = await page.locator(".modes select").first().locator("option").evaluateAll((all) => all.map((it) => [it.value, it.textContent]));
  const at = (name) => options.findIndex(([it]) => it === name);
  const depth = (row) => /^\u00a0*/.exec(options[row][1])[0].length;
  assert.equal(new Set(options.map(([, text]) => text.trim())).size, options.length, "each is called differently");
  assert.ok(at("mpi_latesender") > at("mpi_point2point") && depth(at("mpi_latesender")) === depth(at("mpi_point2point")) + 2);
  assert.ok(at("mpi_latesender") < at("mpi_collective"));
  await done();
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
  for (const options of [{ colorScheme: "light" }, { colorScheme: "dark" }, { forcedColors: "active" }, { viewport: { width: 800, height: 900 } }, { isLarge: true }]) {
    const { isLarge: _, ...rest } = options;
    const { page, complaints, close } = await open(named("chain").address, rest);
    // Letters of twice the size, as browsers have it in their settings.
    if (options.isLarge) await page.evaluate(() => { document.documentElement.style.fontSize = "200%"; });
    for (const view of VIEWS) {
      await go(page, `v=${view}&m=mpi_latesender${view === "time" ? "&i=1&t=0.315-0.4925" : ""}`);
      assert.deepEqual(await violations(page, axe), [], `${JSON.stringify(options)} ${view}`);
      const wide = await excess(page);
      assert.ok(wide <= 0, `${view} is ${wide} pixels too wide`);
    }
    assert.deepEqual(complaints.filter((it) => !it.includes("style")), []);
    if (options.isLarge) await page.screenshot({ path: join(screenshots, "metrics-200.png") });
    if (options.viewport || options.colorScheme) {
      await go(page, "v=overview");
      await page.screenshot({ path: join(screenshots, `overview-${options.colorScheme ?? "800"}.png`) });
    }
    await close();
  }
});

test("picture of the README is made", { skip }, async () => {
  const { page, close } = await open(`${named("chain").address}#v=time&i=1&t=0.315-0.4925&c=1`, { viewport: { width: 1180, height: 560 } });
  await page.screenshot({ path: join(screenshots, "readme.png") });
  await close();
});

test("print has the first screen, whatever view is shown", { skip }, async () => {
  const { page, close } = await open(`${named("chain").address}#v=ranks`);
  assert.equal(await page.locator("#first").isVisible(), false);
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("#first").isVisible(), true);
  assert.equal(await page.locator(".head").isVisible(), false);
  const { headline } = named("chain").json.overview;
  for (const sentence of headline) assert.ok(words(await page.locator("#first").innerText()).includes(words(sentence)));
  await page.screenshot({ path: join(screenshots, "print.png"), fullPage: true });
  const pdf = await page.pdf();
  // Letters of two pages at least.
  assert.ok(pdf.length > 10_000 && pdf.includes("/Font"), `${pdf.length} bytes`);
  await close();
});

test("who does not see the page hears what it has", { skip }, async () => {
  const { page, close } = await open(named("chain").address);
  const heard = async () => page.locator("#page").ariaSnapshot();
  const overview = await heard();
  for (const part of ["banner", 'navigation "Views"', "main", 'complementary "Selection"', "contentinfo", 'searchbox "Search functions, metrics and ranks"']) {
    assert.ok(overview.includes(part), `${part} in ${overview}`);
  }
  await go(page, "v=calls&m=mpi_latesender");
  const calls = await heard();
  for (const part of ['tree "Metrics"', 'tree "Call paths"', 'tree "System"', "MPI_Recv", "Late Sender"]) assert.ok(calls.includes(part), `${part} in ${calls}`);
  await go(page, "v=time");
  const time = await heard();
  for (const part of ['application "Locations over time', 'application "Waiting over the whole run', 'rowheader "late sender"']) {
    assert.ok(time.toLowerCase().includes(part.toLowerCase()), `${part} in ${time}`);
  }
  // The live region says what keys lead to.
  await page.locator(".time canvas").focus();
  await page.keyboard.press("ArrowDown");
  await settled(page);
  assert.match(await page.locator(".live").innerText(), /^rank 1, /);
  await close();
});
