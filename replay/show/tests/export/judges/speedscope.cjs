// Opens each file in speedscope, from disk, in Chromium: a profile appears, and nothing of a name is run.
const path = require('path');
const { pathToFileURL } = require('url');
const fs = require('fs');
const { chromium } = require('playwright-core');

(async () => {
  const page_of_speedscope = path.join(process.env.MODULES, 'speedscope/dist/release/index.html');
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--allow-file-access-from-files'] });
  for (const file of process.argv.slice(2)) {
    const page = await browser.newPage();
    const errors = [];
    page.on('pageerror', error => errors.push(String(error)));
    page.on('console', message => { if (message.type() === 'error') errors.push(message.text()); });
    await page.goto(pathToFileURL(page_of_speedscope).href);
    await page.locator('input[type=file]').first().setInputFiles(file, { timeout: 20000 });
    await page.waitForFunction(() => document.querySelectorAll('canvas').length > 0 && !/Loading|Something went wrong/.test(document.body.innerText), null, { timeout: 30000 });
    const title = await page.title();
    const text = await page.evaluate(() => document.body.innerText);
    if (title === 'x' || title === 'speedscope' || /Something went wrong|Failed/.test(text) || errors.length) {
      throw new Error(`${file}: ${title}: ${errors.join('; ')}: ${text.slice(0, 300)}`);
    }
    console.log(path.basename(file), JSON.stringify(title));
    await page.close();
  }
  await browser.close();
})().catch(error => { console.error(error); process.exit(1); });
