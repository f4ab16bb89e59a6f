import type { Options } from "./ctxsim.js";

/**
 * A Bench in a worker of its own, in browsers and in Node. A panic ends its worker, rejects what was asked with an error of the name
 * `CtxsimCrash`, and the next call starts a new worker, which reads the same sessions again.
 */
export class WorkerBench {
  /** Reads the sessions of a recording from its bytes or its file; returns their names. Bytes are kept for a restart; a file is read again. */
  add(name: string, data: Uint8Array | Blob): Promise<string[]>;
  /** Adds a policy: the function `(trace) => view` that a module exports, by default its default export. */
  code(name: string, url: string | URL, member?: string): Promise<void>;
  /** Compares policies on the sessions; returns the JSON report: the bytes of `ctxsim run --format json`. */
  compare(options?: Options, progress?: (done: number, all: number) => void | boolean): Promise<string>;
  /** Compares policies on the sessions; returns the report as one page. */
  page(options?: Options, progress?: (done: number, all: number) => void | boolean): Promise<string>;
  /** Breaks off what runs; what was asked is rejected with an error of the name `CtxsimStopped`. */
  stop(): void;
  /** Ends the worker and forgets the sessions. */
  close(): void;
}
