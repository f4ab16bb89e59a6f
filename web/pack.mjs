// Writes a .br and a .gz file beside everything in dist/ that packs well, for servers that send these as they are.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = new URL("dist/", import.meta.url);
for (const name of readdirSync(dist).filter((it) => /\.(wasm|js|css|html|txt)$/.test(it))) {
  const bytes = readFileSync(new URL(name, dist));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(new URL(`${name}.br`, dist), brotliCompressSync(bytes, { params }));
  writeFileSync(new URL(`${name}.gz`, dist), gzipSync(bytes, { level: 9 }));
}
