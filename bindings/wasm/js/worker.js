// The worker of a WorkerBench: one Bench, asked by messages. Works as a module worker of browsers and as a thread of Node.
const inNode = typeof process === "object" && Boolean(process.versions?.node);
const port = inNode ? (await import("node:worker_threads")).parentPort : self;
const { Bench } = await import(inNode ? "./node.js" : "./web.js");

const bench = new Bench();

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

const receive = inNode ? (it) => port.on("message", it) : (it) => port.addEventListener("message", (event) => it(event.data));
let last = Promise.resolve();
receive((asked) => {
  last = last.then(() => answer(asked));
});
port.postMessage({ id: 0 });
