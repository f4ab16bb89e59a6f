// A Bench in a worker of its own: the page stays quick, and a run that crashes or hangs takes nothing with it.
const here = new URL("./worker.js", import.meta.url);

/** Starts the worker: a thread of Node, or a module worker of a browser. */
async function started() {
  if (typeof globalThis.Worker === "function") {
    const worker = new globalThis.Worker(here, { type: "module" });
    return {
      post: (message) => worker.postMessage(message),
      hear: (heard, broke) => {
        worker.addEventListener("message", (event) => heard(event.data));
        worker.addEventListener("error", (event) => broke(event.message || "the worker broke off"));
      },
      end: () => worker.terminate(),
    };
  }
  const { Worker } = await import("node:worker_threads");
  const worker = new Worker(here);
  return {
    post: (message) => worker.postMessage(message),
    hear: (heard, broke) => {
      worker.on("message", heard);
      worker.on("error", (error) => broke(error.message));
    },
    end: () => worker.terminate(),
  };
}

function failure({ name, message, problems }) {
  return Object.assign(new Error(message), { name, problems });
}

export class WorkerBench {
  // The worker, once it knows what the last one knew.
  #worker = null;
  #thread = null;
  #asked = new Map();
  #number = 0;
  // What a new worker is told again, in order.
  #told = [];

  /** Reads the sessions of a recording from its bytes or its file; returns their names. */
  async add(name, data) {
    const names = await this.#ask("add", [name, await bytes(data)]);
    this.#told.push(["add", async () => [name, await bytes(data)]]);
    return names;
  }

  /** Adds a policy: the function that a module exports, by default its default export. */
  async code(name, url, member = "default") {
    const args = [name, String(url), member];
    await this.#ask("code", args);
    this.#told = this.#told.filter(([call, , of]) => call !== "code" || of !== name);
    this.#told.push(["code", async () => args, name]);
  }

  /** Compares policies on the sessions; returns the JSON report. */
  compare(options = {}, progress = undefined) {
    return this.#ask("compare", [options], progress);
  }

  /** Compares policies on the sessions; returns the report as a page. */
  page(options = {}, progress = undefined) {
    return this.#ask("page", [options], progress);
  }

  /** Breaks off what runs: it is reported as failed, and the next call finds the same sessions. */
  stop() {
    this.#break(failure({ name: "CtxsimStopped", message: "the run was stopped", problems: [] }));
  }

  /** Ends the worker; the next call starts a new one. */
  close() {
    this.stop();
    this.#told = [];
  }

  async #ask(call, args, progress) {
    this.#worker ??= this.#begin();
    const worker = await this.#worker;
    return this.#send(worker, call, args, progress);
  }

  #send(worker, call, args, progress) {
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject, progress });
      worker.post({ id, call, args, tells: Boolean(progress) });
    });
  }

  /** Starts a worker and tells it what the last one knew. */
  async #begin() {
    const worker = await started();
    this.#thread = worker;
    // A worker that has gone has nothing more to say.
    const isCurrent = () => this.#thread === worker;
    worker.hear((message) => isCurrent() && this.#hear(message), (why) => isCurrent() && this.#crash(why));
    for (const [call, args] of this.#told) {
      await this.#send(worker, call, await args());
    }
    return worker;
  }

  #hear({ id, value, failed, fatal, panic, done, all }) {
    const asked = this.#asked.get(id);
    if (!asked) {
      return;
    }
    if (all !== undefined) {
      if (asked.progress(done, all) === false) {
        this.stop();
      }
      return;
    }
    if (fatal) {
      this.#crash(panic || failed.message);
      return;
    }
    this.#asked.delete(id);
    if (failed) {
      asked.reject(failure(failed));
    } else {
      asked.resolve(value);
    }
  }

  /** A panic aborts in WebAssembly: nobody knows what is left in its memory, so the worker goes. */
  #crash(why) {
    this.#break(failure({ name: "CtxsimCrash", message: `the run failed: ${why}`, problems: [] }));
  }

  #break(error) {
    const [thread, asked] = [this.#thread, [...this.#asked.values()]];
    [this.#worker, this.#thread] = [null, null];
    this.#asked.clear();
    thread?.end();
    asked.forEach((it) => it.reject(error));
  }
}

async function bytes(data) {
  return data instanceof Uint8Array ? data : new Uint8Array(await data.arrayBuffer());
}
