// Draws the picture that links to the page show: the first screen with the demo that has run. `npm run card`
import { fileURLToPath } from "node:url";
import { launch, open, serve, until } from "./server.mjs";

const [server, browser] = [await serve(), await launch()];
const page = await open(browser, server.url, { viewport: { width: 1200, height: 630 }, colorScheme: "light" });
await until(page, () => "demo" in document.body.dataset);
await page.screenshot({ path: fileURLToPath(new URL("../src/card.jpg", import.meta.url)), type: "jpeg", quality: 72 });
await browser.close();
server.close();
