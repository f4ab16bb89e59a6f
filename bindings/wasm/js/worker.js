// The worker of a WorkerBench: one Bench, asked by messages. Works as a module worker of browsers and as a thread of Node.
const inNode = typeof process === "object" && Boolean(process.versions?.node);
let port = globalThis;
let bench;

// What a panic says goes to the console; whoever asked wants to read it.
let panic = "";
const log = console.error;
console.error = (...words) => {
  panic = words.join(" ").split("\n\nStack:")[0].trim();
  log(...words);
};

const calls = {
  add: (name, bytes) => bench.add(name, bytes),
  code: async (name, url, member) => bench.code(name, (await import(url))[member]),
  compare: (options, progress) => bench.compare(options, progress),
  page: (options, progress) => bench.page(options, progress),
};

/** Whether an error leaves the memory of the module in a state that nobody knows. */
function isFatal(error) {
  return error instanceof WebAssembly.RuntimeError || error instanceof RangeError || /recursive use of an object/.test(error?.message);
}

async function answer({ id, call, args, tells }) {
  if (tells) {
    args[1] = (done, all) => port.postMessage({ id, done, all });
  }
  try {
    port.postMessage({ id, value: await calls[call](...args) });
  } catch (error) {
    const { name, message, problems = [] } = error instanceof Error ? error : { name: "Error", message: String(error) };
    port.postMessage({ id, failed: { name, message, problems }, fatal: isFatal(error), panic });
  }
}

/** What is asked is answered in its order, once the module is there. */
let last = (async () => {
  if (inNode) {
    port = (await import("node:worker_threads")).parentPort;
    port.on("message", asked);
  }
  const { Bench } = await import(inNode ? "./node.js" : "./web.js");
  bench = new Bench();
})();

function asked(message) {
  last = last.then(() => answer(message));
}

// A browser throws away what comes before somebody listens, so this waits for nothing.
if (!inNode) {
  globalThis.addEventListener("message", (event) => asked(event.data));
}
