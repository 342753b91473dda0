// The page in Firefox.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import puppeteer from "puppeteer-core";

import { VIEWS, named, pages, program, screenshots, settled } from "./support.mjs";

const executablePath = program(["/usr/bin/firefox-esr", "/usr/bin/firefox"]);
const skip = executablePath ? false : "skipped: there is no Firefox (Debian: firefox-esr)";
if (skip) console.log(skip);
let browser;
before(async () => { if (!skip) browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true }); });
after(async () => browser?.close());

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

async function open(address) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1400, height: 900 });
  const complaints = [];
  page.on("console", (message) => { if (["error", "warn"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => { if (!/^(file|blob|data|about):/.test(request.url())) complaints.push(request.url()); });
  await page.goto(address);
  for (let wait = 0; wait < 200 && !(await page.evaluate(() => document.documentElement.dataset.loaded)); wait++) await pause(50);
  return { page, complaints };
}

test("no view asks for anything or complains", { skip }, async () => {
  for (const { name, address } of pages) {
    const { page, complaints } = await open(address);
    for (const view of VIEWS) {
      await page.evaluate((view) => { location.hash = `v=${view}`; }, view);
      await settled(page);
      assert.equal(await page.evaluate(() => document.querySelector(".center").dataset.view), view, name);
    }
    assert.deepEqual(complaints, [], name);
    await page.close();
  }
});

test("links restore what they were made of", { skip }, async () => {
  for (const link of ["#v=time&t=0.3-0.4&i=2", "#v=calls&m=mpi_latesender", "#v=waits&i=3"]) {
    const { page } = await open(`${named("chain").address}${link}`);
    const before = await page.evaluate(() => document.getElementById("page").innerText);
    await page.reload();
    for (let wait = 0; wait < 200 && !(await page.evaluate(() => document.documentElement.dataset.loaded)); wait++) await pause(50);
    assert.equal(await page.evaluate(() => document.getElementById("page").innerText), before, link);
    await page.close();
  }
});

test("wrong links do no harm", { skip }, async () => {
  for (const wrong of ["#t=5-1", "#l=99999999&i=9999", "#p=zzzzzzzz&m=%3Cscript%3E", "#v=messages&x=waiting.99.99", "#v=ranks&o=topology&x=9.9.9.9-9"]) {
    const { page, complaints } = await open(`${named("chain").address}${wrong}`);
    assert.ok((await page.evaluate(() => document.querySelector(".center").innerText)).length > 50, wrong);
    assert.deepEqual(complaints, [], wrong);
    await page.close();
  }
});

test("time goes down to the severest wait", { skip }, async () => {
  const { address, json } = named("chain");
  const { page } = await open(`${address}#v=time&i=1`);
  await page.focus(".time canvas");
  await page.keyboard.press("f");
  await settled(page);
  const told = await page.evaluate(() => ({ ...document.querySelector(".time canvas").dataset }));
  const wait = json.waits.waits[0];
  const per = await page.evaluate(() => JSON.parse(document.getElementById("d-report").textContent).ticks_per_second);
  assert.ok(Math.abs(Number(told.end) / per - wait.begin - wait.seconds) < 1e-9);
  assert.ok(Number(told.calls) > 0 && Number(told.arrows) > 0 && Number(told.marks) > 0, JSON.stringify(told));
  await page.screenshot({ path: join(screenshots, "firefox-time.png") });
  await page.close();
});
