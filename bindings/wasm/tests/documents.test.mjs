// The JavaScript of the documents runs: a block that imports begins a program, and those after it go on with it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ROOT, SESSION } from "./shared.mjs";

/** What the documents take for granted: a file that the reader chose, and a module with a policy. */
const BEFORE = `globalThis.file = new File([(await import("node:fs")).readFileSync(${JSON.stringify(SESSION)})], "session.jsonl");\n`;
const POLICY = "export default (trace) => (cx, history) => history;\n";

/** The programs of a document. A block with further words on its first line is a policy's, which tests/suite/examples.rs runs. */
function programs(document) {
  const blocks = [...readFileSync(join(ROOT, document), "utf8").matchAll(/^```js\n(.*?)^```$/gms)].map((it) => it[1]);
  const all = [];
  for (const block of blocks) {
    if (block.startsWith("import ")) all.push(block);
    else all[all.length - 1] += block;
  }
  return all;
}

for (const document of ["docs/how-to/use-the-library.md", "bindings/wasm/README.md"]) {
  const all = programs(document);
  test(`${document} has programs`, () => assert.ok(all.length > 0));
  all.forEach((program, at) => test(`program ${at + 1} of ${document} runs`, () => {
    // The package is found from where the tests stand.
    const folder = mkdtempSync(fileURLToPath(new URL("document-", import.meta.url)));
    try {
      writeFileSync(join(folder, "package.json"), '{"type": "module"}');
      writeFileSync(join(folder, "my-policy.js"), POLICY);
      writeFileSync(join(folder, "before.js"), BEFORE);
      // A worker would keep the program alive.
      writeFileSync(join(folder, "program.js"), `import "./before.js";\n${program}\nprocess.exit(0);\n`);
      execFileSync(process.execPath, [join(folder, "program.js")], { stdio: ["ignore", "ignore", "pipe"], timeout: 120_000 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  }));
}
