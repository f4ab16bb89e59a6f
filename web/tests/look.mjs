// Pictures of the page, to be looked at: wide and narrow, light and dark, printed. `npm run look [FOLDER]`
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launch, open, serve, settled, until } from "./server.mjs";

const to = fileURLToPath(new URL("looks/", import.meta.url));
mkdirSync(to, { recursive: true });
const [, , folder] = process.argv;
const [server, browser] = [await serve(), await launch()];
for (const [name, width, scheme] of [["wide", 1200, "light"], ["wide-dark", 1200, "dark"], ["narrow", 400, "light"], ["narrow-dark", 400, "dark"]]) {
  const page = await open(browser, server.url, { viewport: { width, height: 900 }, colorScheme: scheme });
  await page.screenshot({ path: `${to}${name}-start.png`, fullPage: true });
  if (folder) await page.locator("#folder").setInputFiles(folder);
  else await page.locator("#try").click();
  await settled(page);
  const slider = page.locator('#sliders input[type="range"]').first();
  for (let at = 0; at < 3 && (await slider.count()); at++) {
    await slider.press("ArrowLeft");
    await page.waitForTimeout(400);
  }
  await page.waitForTimeout(2500);
  await page.locator("#advise").click();
  await until(page, () => document.querySelector("#advice-text pre") || document.querySelector("#advice-said.wrong"));
  await until(page, () => document.querySelectorAll("#requests tbody tr").length > 3);
  await page.screenshot({ path: `${to}${name}.png`, fullPage: true });
  if (name === "wide") {
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 760, height: 1000 });
    await page.screenshot({ path: `${to}print.png`, fullPage: true });
  }
  console.log(name, page.problems);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wider > 0) console.log(`${name}: the page is ${wider} pixels too wide`);
}
await browser.close();
server.close();
