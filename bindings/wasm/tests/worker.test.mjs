// A Bench in a worker: a crash or an endless loop takes nothing with it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { WorkerBench } from "ctxsim-wasm/worker-bench";
import { PROFILE, SESSION, benchOf } from "./shared.mjs";

const OWN = new URL("./own-policies.mjs", import.meta.url);
const bench = new WorkerBench();
after(() => bench.close());

test("a worker gives the bytes of a bench", async () => {
  assert.deepEqual(await bench.add("claude-code-session", readFileSync(SESSION)), ["claude-code-session"]);
  const told = [];
  const json = await bench.compare({}, (done, all) => void told.push([done, all]));
  assert.equal(json, benchOf([SESSION]).compare());
  assert.ok(told.length > 0 && told.at(-1)[0] === told.at(-1)[1], "all is done at the end");
});

test("a mistake is rejected with its problems", async () => {
  await assert.rejects(bench.compare({ policies: ["identitty"] }), (error) => error.name === "CtxsimError" && error.problems[0].code === "unknown-name");
});

test("a panic is a failed run, and the next one finds the same sessions and policies", async () => {
  await bench.code("keeps", OWN, "keeps");
  await bench.code("greedy", OWN, "greedy");
  const options = { policies: ["identity", "keeps"], profiles: [PROFILE] };
  const before = await bench.compare(options);
  await assert.rejects(bench.compare({ policies: ["greedy"], profiles: [PROFILE] }), { name: "CtxsimCrash", message: /^the run failed: / });
  assert.equal(await bench.compare(options), before);
});

test("an endless loop can be stopped", async () => {
  await bench.code("endless", OWN, "endless");
  const stuck = bench.compare({ policies: ["endless"], profiles: [PROFILE] });
  setTimeout(() => bench.stop(), 300);
  await assert.rejects(stuck, { name: "CtxsimStopped" });
  assert.match(await bench.compare({ policies: ["keeps"], profiles: [PROFILE] }), /"keeps"/);
});
