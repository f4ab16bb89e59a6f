// Policies of the tests: one that keeps all, one that leaves the module no memory, and one that never answers.
import { initSync } from "ctxsim-wasm";

export const keeps = () => (cx, history) => history;

export const greedy = () => (cx, history) => {
  const { memory } = initSync();
  const left = 65536 - memory.buffer.byteLength / 65536;
  memory.grow(left);
  return history.map((it) => ({ rewrite: it.id, text: "x".repeat(1 << 24) }));
};

export const endless = () => () => {
  for (;;);
};
