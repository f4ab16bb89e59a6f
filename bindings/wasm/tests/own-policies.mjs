// Policies of the tests: one that keeps all, one that leaves the module no memory, and one that never answers.
import { initSync } from "ctxsim-wasm";

export const keeps = () => (cx, history) => history;

export const greedy = () => (cx, history) => {
  const { memory } = initSync();
  for (let pages = 1 << 15; pages > 0; pages >>= 1) {
    try {
      for (;;) memory.grow(pages);
    } catch {
      // No room for so many.
    }
  }
  return history.map((it) => ({ rewrite: it.id, text: "x".repeat(1 << 24) }));
};

export const endless = () => () => {
  for (;;);
};
