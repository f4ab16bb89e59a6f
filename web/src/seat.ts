// A worker that can be asked, and that can be thrown away: a crash rejects what was asked, and the next question starts a new one.
import type { Calls, Failure } from "./answers";

export class Failed extends Error {
  readonly problems: Failure["problems"];
  constructor({ name, message, problems }: Failure) {
    super(message);
    this.name = name;
    this.problems = problems;
  }
}

interface Asked {
  resolve(value: any): void;
  reject(error: Error): void;
  progress: ((done: number, all: number) => void) | undefined;
}

/** The module, fetched and compiled once for all workers. */
const compiled: Promise<WebAssembly.Module> = (async () => {
  const answer = await fetch(new URL("ctxsim_bg.wasm", import.meta.url));
  // Some servers do not know the type of WebAssembly.
  const isTyped = answer.headers.get("content-type")?.startsWith("application/wasm");
  return isTyped ? WebAssembly.compileStreaming(answer) : WebAssembly.compile(await answer.arrayBuffer());
})();
// Whoever asks a seat is told; a page that asks nothing is not disturbed.
compiled.catch(() => {});

export class Seat {
  #worker: Worker | null = null;
  #started: Promise<void> | null = null;
  #asked = new Map<number, Asked>();
  #number = 0;
  /** The files that it has read, all of them; null after a crash. */
  holds: unknown = null;

  /** Whether it has been told nothing, because it has not started, or broke off. */
  get isEmpty(): boolean {
    return this.#started === null;
  }

  /** Fetches the code of the worker, so that nothing is fetched once there is data. */
  prepare(): void {
    this.#worker ??= this.#begin();
  }

  async ask<C extends keyof Calls>(
    call: C,
    args: Parameters<Calls[C]>,
    progress?: (done: number, all: number) => void,
  ): Promise<ReturnType<Calls[C]>> {
    this.prepare();
    this.#started ??= compiled.then((module) => this.#send("start", [module]) as Promise<void>);
    await this.#started;
    return this.#send(call, args, progress);
  }

  /** Breaks off what runs. */
  stop(why = "it was stopped"): void {
    this.#break({ name: "Stopped", message: why, problems: [] });
  }

  #begin(): Worker {
    const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", (event) => this.#worker === worker && this.#hear(event.data));
    worker.addEventListener("error", (event) => {
      if (this.#worker === worker) {
        this.#break({ name: "Crash", message: event.message || "the worker broke off", problems: [] });
      }
    });
    return worker;
  }

  #send(call: string, args: unknown[], progress?: (done: number, all: number) => void): Promise<any> {
    this.#worker ??= this.#begin();
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject, progress });
      this.#worker!.postMessage({ id, call, args });
    });
  }

  #hear({ id, value, failed, fatal, panic, done, all }: any): void {
    const asked = this.#asked.get(id);
    if (!asked) {
      return;
    }
    if (all !== undefined) {
      asked.progress?.(done, all);
    } else if (fatal) {
      this.#break({ name: "Crash", message: panic || failed.message, problems: [] });
    } else {
      this.#asked.delete(id);
      failed ? asked.reject(new Failed(failed)) : asked.resolve(value);
    }
  }

  /** A panic aborts in WebAssembly: nobody knows what is left in its memory, so the worker goes. */
  #break(failure: Failure): void {
    const asked = [...this.#asked.values()];
    this.#worker?.terminate();
    [this.#worker, this.#started, this.holds] = [null, null, null];
    this.#asked.clear();
    asked.forEach((it) => it.reject(new Failed(failure)));
  }
}
