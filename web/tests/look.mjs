// Pictures of the page, to be looked at: 1440 and 400 pixels, light and dark, from the first screen on; and a print. `npm run look [FOLDER]`
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { launch, open, serve, settled, until } from "./server.mjs";

const to = fileURLToPath(new URL("looks/", import.meta.url));
mkdirSync(to, { recursive: true });
const [, , folder] = process.argv;
const wrong = join(tmpdir(), "ctxsim-look.json");
writeFileSync(wrong, '{"hello": 1}');
const [server, browser] = [await serve(), await launch()];
for (const [name, width, colorScheme] of [["wide", 1440, "light"], ["wide-dark", 1440, "dark"], ["narrow", 400, "light"], ["narrow-dark", 400, "dark"]]) {
  const page = await open(browser, server.url, { viewport: { width, height: 900 }, colorScheme });
  const shot = (what, options = {}) => page.screenshot({ path: `${to}${name}-${what}.png`, ...options });
  await until(page, () => "demo" in document.body.dataset);
  await shot("1-start", { fullPage: width < 500 });
  await page.locator("#some").setInputFiles([wrong]);
  await until(page, () => document.querySelector("#start-said").textContent);
  await shot("2-wrong");
  if (folder) await page.locator("#folder").setInputFiles(folder);
  else await page.locator("#try").click();
  await settled(page);
  await until(page, () => "screen" in document.body.dataset, null, 120_000);
  const slider = page.locator('#sliders input[type="range"]').first();
  for (let at = 0; at < 3 && (await slider.count()); at++) {
    await slider.press("ArrowLeft");
    await page.waitForTimeout(300);
  }
  await page.waitForTimeout(4500);
  await shot("3-results", { fullPage: true });
  await page.locator("#policy").click();
  await page.locator("#policies").scrollIntoViewIfNeeded();
  await shot("4-choosing");
  await page.locator("#policy").press("Escape");
  if (name === "wide") {
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 760, height: 1000 });
    await page.screenshot({ path: `${to}print.png`, fullPage: true });
  }
  const [high, wider] = await page.evaluate(() => [document.documentElement.scrollHeight, document.documentElement.scrollWidth - innerWidth]);
  console.log(`${name}: ${high} pixels high${wider > 0 ? `, ${wider} too wide` : ""}`, page.problems);
  await page.context().close();
}
await browser.close();
server.close();
