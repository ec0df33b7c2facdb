// Visits pages as standard input lists them, and prints what each came to, as JSON.
// A visit: url, width, scheme, javascript, actions ([name, argument ...]), read (an
// expression), axe, screenshot. Run in the folder that holds node_modules.
"use strict";
const fs = require("fs");
const { createRequire } = require("module");
const own = createRequire(`${process.cwd()}/`);
const { chromium } = own("playwright-core");
const axe = fs.readFileSync(own.resolve("axe-core/axe.min.js"), "utf8");

const ACTIONS = {
  click: (page, selector) => page.locator(selector).first().click(),
  // One click on the link or button of that name.
  follow: async (page, name) => {
    const named = (role) => page.getByRole(role, { name, exact: true });
    await named("link").or(named("button")).locator("visible=true").first().click();
    await page.waitForLoadState();
  },
  fill: (page, selector, text) => page.locator(selector).fill(text),
  // From now on files that fit a pattern come late.
  delay: (page, pattern) => page.route(pattern, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    await route.continue();
  }),
  choose: (page, selector, value) => page.locator(selector).selectOption(value),
  expect: (page, text) => page.locator("main").getByText(text).first().waitFor({ timeout: 10000 }),
  // Asked again and again from outside: the page's policy lets it evaluate nothing.
  until: async (page, expression) => {
    for (let time = 0; time < 200; time += 1) {
      if (await page.evaluate(expression)) return;
      await page.waitForTimeout(100);
    }
    throw new Error(`never: ${expression}; there is ${(await page.locator("main").innerText()).slice(0, 500)}`);
  },
};

async function visit(browser, { url, width = 1280, scheme = "light", javascript = true, actions = [], ...what }) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, javaScriptEnabled: javascript });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && said.push(message.text()));
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("request", (request) => new URL(request.url()).protocol !== new URL(url).protocol
    && !/^(data|blob):/.test(request.url()) && said.push(`asked for ${request.url()}`));
  page.on("dialog", (dialog) => { said.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  const result = { said };
  try {
    await page.goto(url);
    for (const [name, ...rest] of actions) await ACTIONS[name](page, ...rest);
    if (javascript) {
      result.overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      // What a page draws only in sight is in sight, for axe and for the picture.
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewportSize({ width, height: Math.min(height, 16000) });
      if (what.read) result.value = await page.evaluate(what.read);
    }
    if (what.screenshot) await page.screenshot({ path: what.screenshot, fullPage: true });
    result.text = await page.locator("main").innerText();
    result.url = page.url();
    if (what.axe) {
      // The browser's own protocol puts it there, which no policy of the page restrains.
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => globalThis.axe.run({ preload: false }));
      result.violations = violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`);
    }
  } catch (error) {
    said.push(`${url}: ${String(error).split("\n")[0]}`);
  }
  await context.close();
  return result;
}

(async () => {
  const { chromium: executablePath, visits } = JSON.parse(fs.readFileSync(0, "utf8"));
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const results = [];
  for (const each of visits) results.push(await visit(browser, each));
  await browser.close();
  process.stdout.write(JSON.stringify(results));
})();
