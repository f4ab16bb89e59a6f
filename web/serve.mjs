// Serves dist/ with its content security policy as a header, and the .br or .gz file of whatever has one: `node serve.mjs [PORT]`.
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export const DIST = fileURLToPath(new URL("dist", import.meta.url));
export const POLICY = "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src 'self'; img-src data:";
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html; charset=utf-8", ".css": "text/css", ".txt": "text/plain; charset=utf-8", ".jpg": "image/jpeg" };
const PACKED = [["br", ".br"], ["gzip", ".gz"]];

/** Answers a request for a path below dist/. */
export function answer(path, request, response) {
  const file = join(DIST, normalize(`/${path || "index.html"}`));
  if (!existsSync(file) || !statSync(file).isFile()) return void response.writeHead(404, { "content-security-policy": POLICY }).end();
  const accepted = request.headers["accept-encoding"] ?? "";
  const [encoding, ending] = PACKED.find(([name, end]) => accepted.includes(name) && existsSync(file + end)) ?? [];
  const headers = { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "content-security-policy": POLICY, vary: "accept-encoding" };
  response.writeHead(200, encoding ? { ...headers, "content-encoding": encoding } : headers);
  response.end(readFileSync(file + (ending ?? "")));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const port = Number(process.argv[2] ?? 8000);
  createServer((request, response) => answer(decodeURI(new URL(request.url, "http://x").pathname).slice(1), request, response)).listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
}
