// The workers and what they hold. One has all sessions and gives the numbers of the command line; where there are many, a second one answers
// first, on more and more of them; a third one does what needs no sessions; a fourth one runs the reader's own function.
import type { Answer, Found, Options, Problem } from "./answers";
import { Failed, Seat } from "./seat";
import type { Given } from "./folder";

/** With more sessions than this, an answer comes in steps. */
export const MANY = 12;
/** The sessions of the first step, and by how many times each step grows. */
const FIRST = 12;
const GROWS = 2.5;
/** A step that would take longer is left to the exact answer, so that the next value of a slider does not wait for it. */
const STEP_MS = 280;

export interface Broken {
  path: string;
  reason: string;
  help: string;
}

export interface Progress {
  read: number;
  all: number;
}

export class Pool {
  readonly whole = new Seat();
  readonly quick = new Seat();
  readonly desk = new Seat();
  readonly own = new Seat();
  files: Found[] = [];
  broken: Broken[] = [];
  /** The names of the sessions, once all are read. */
  names: string[] = [];

  /** Starts the workers, so that nothing is fetched later. */
  prepare(): void {
    for (const seat of [this.whole, this.quick, this.desk]) seat.prepare();
  }

  get isLarge(): boolean {
    return this.files.length > MANY;
  }

  /**
   * Takes new files in the place of those before: names them as the command line does, and reads them. Resolves once something can be asked: where there
   * are many, while the rest is still read.
   */
  async take(given: Given[], progress: (it: Progress) => void): Promise<void> {
    this.#drop();
    const paths = await this.desk.ask("layOut", [given.map((it) => it.path)]);
    const ordered = paths.map((it) => given.find((one) => one.path === it.path)!);
    const copies = new Set(await this.desk.ask("copies", [ordered.map((it) => it.file)]));
    const once = ordered.filter((_, at) => !copies.has(at));
    const named = await this.desk.ask("layOut", [once.map((it) => it.path)]);
    this.broken = ordered.filter((_, at) => copies.has(at)).map((it) => ({ path: it.path, reason: "the same content", help: "" }));
    this.#hold(named.map((it, at) => ({ ...it, file: once[at]!.file })));
    const all = this.fill(this.whole, progress);
    if (!this.isLarge) return all;
    all.catch(() => {});
    await new Promise<void>((some, none) => void this.#early(some).catch(none));
  }

  /** Takes a bundled session in the place of files: nothing is read. */
  example(name: string, progress: (it: Progress) => void): Promise<void> {
    this.#drop();
    this.broken = [];
    this.#hold([{ path: name, name, file: null }]);
    return this.fill(this.whole, progress);
  }

  #drop(): void {
    for (const seat of [this.whole, this.quick]) if (this.#filling.has(seat)) seat.stop("other sessions were chosen");
  }

  #hold(files: Found[]): void {
    this.files = files;
    for (const seat of [this.whole, this.quick, this.own]) seat.holds = null;
    this.#mixed = 0;
  }

  readonly #filling = new Map<Seat, Promise<void>>();
  /** How many sessions the quick worker has. */
  #mixed = 0;

  /** Reads the sessions into a worker that does not hold them, in the order of the command line. */
  fill(seat: Seat, progress: (it: Progress) => void = () => {}): Promise<void> {
    if (seat.holds === this.files) return Promise.resolve();
    const known = this.#filling.get(seat);
    if (known) return known;
    const filling = this.#filled(seat, progress).finally(() => this.#filling.delete(seat));
    this.#filling.set(seat, filling);
    return filling;
  }

  async #filled(seat: Seat, progress: (it: Progress) => void): Promise<void> {
    const files = this.files;
    await seat.ask("clear", []);
    // A worker that reads again, after a crash, has nothing new to tell.
    const tells = seat === this.whole && this.#told !== files;
    if (tells) this.#told = files;
    let read = 0;
    const adding = files.map(async (it) => {
      try {
        await (it.file ? seat.ask("add", [it.name, it.file]) : seat.ask("bundled", [it.name]));
      } catch (error) {
        if (!(error instanceof Failed) || error.name !== "CtxsimError") throw error;
        if (tells) this.broken.push(brokenOf(it, error.problems));
      }
      progress({ read: ++read, all: files.length });
    });
    await Promise.all(adding);
    const twins = await seat.ask("once", []);
    if (tells) {
      this.broken.push(...twins.map((path) => ({ path, reason: "the same session in another file", help: "" })));
    }
    seat.holds = files;
  }

  /** Reads sessions of every size into the quick worker; those of the first step are enough to answer. */
  async #early(some: () => void): Promise<void> {
    const files = this.files;
    await this.quick.ask("clear", []);
    for (const it of mixedSizes(files)) {
      if (files !== this.files) return;
      try {
        // One bundled session is not many.
        if (it.file) await this.quick.ask("add", [it.name, it.file]);
      } catch (error) {
        if (!(error instanceof Failed) || error.name !== "CtxsimError") throw error;
      }
      if (++this.#mixed === FIRST) some();
    }
    this.quick.holds = files;
  }

  /** Returns the worker that answers on one session, which need not wait for what is played on all. */
  async forOne(isOwn: boolean): Promise<Seat> {
    const seat = isOwn ? this.own : this.isLarge && this.quick.holds === this.files ? this.quick : this.whole;
    if (seat === this.whole) await this.fill(seat);
    return seat;
  }

  /** Whether the quick worker has enough to answer; it is empty after a crash. */
  get #isQuick(): boolean {
    return this.isLarge && this.#mixed >= FIRST && !this.quick.isEmpty;
  }

  #told: Found[] | null = null;
  #wanted: (() => Promise<void>) | null = null;
  #isExact = false;

  /** Answers on more and more sessions, as long as somebody waits; the last answer is on all of them, from the worker that has the command line's order. */
  async steps(options: Options, goes: () => boolean, heard: (it: Answer, isAll: boolean) => void): Promise<void> {
    const exact = async () => {
      if (!goes()) return;
      await this.fill(this.whole);
      const answer = await this.whole.ask("answer", [options]);
      if (goes()) heard(answer, true);
    };
    if (!this.#isQuick) return exact();
    for (let step = FIRST; step < this.files.length && step <= this.#mixed && goes(); step = Math.ceil(step * GROWS)) {
      const began = performance.now();
      const answer = await this.quick.ask("answer", [{ ...options, sessions: [0, step] }]);
      if (goes()) heard(answer, false);
      if ((performance.now() - began) * GROWS > STEP_MS) break;
    }
    // The exact answer takes long: it begins once the hand rests, and nobody who moves on waits for it.
    for (let rest = 0; rest < 15 && goes(); rest++) {
      await new Promise((later) => setTimeout(later, 20));
    }
    if (goes()) this.#exactly(exact);
  }

  /** Runs the newest exact answer once the one under way has ended; those between are dropped. */
  async #exactly(exact: () => Promise<void>): Promise<void> {
    this.#wanted = exact;
    if (this.#isExact) return;
    this.#isExact = true;
    while (this.#wanted) {
      const next: () => Promise<void> = this.#wanted;
      this.#wanted = null;
      await next().catch(() => {});
    }
    this.#isExact = false;
  }
}

/** Returns the files so that every stretch of them has small and large ones. */
export function mixedSizes<F extends { file: Blob | null }>(files: F[]): F[] {
  const size = (it: F) => it.file?.size ?? 0;
  const bySize = [...files].sort((one, other) => size(other) - size(one));
  const stride = Math.max(1, Math.round(Math.sqrt(bySize.length)));
  return bySize.map((it, at) => ({ it, at })).sort((one, other) => (one.at % stride) - (other.at % stride) || one.at - other.at).map((it) => it.it);
}

function brokenOf(file: Found, problems: Problem[]): Broken {
  const [first] = problems;
  const at = first?.line ? `line ${first.line}: ` : "";
  return { path: file.path, reason: at + (first?.message ?? "it cannot be read"), help: first?.help ?? "" };
}
