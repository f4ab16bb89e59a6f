#!/usr/bin/env node
// Starts the ctxsim of this platform, which is in a package of its own that npm installs beside this one.
"use strict";
const { spawnSync } = require("node:child_process");
const { name } = require("./package.json");

/** The packages that have a build for this platform, the best first. */
function candidates() {
  const platform = `${name}-${process.platform}-${process.arch}`;
  if (process.platform !== "linux") {
    return [platform];
  }
  const hasGlibc = Boolean(process.report?.getReport()?.header?.glibcVersionRuntime);
  return hasGlibc ? [`${platform}-gnu`, `${platform}-musl`] : [`${platform}-musl`];
}

function program() {
  const file = process.platform === "win32" ? "ctxsim.exe" : "ctxsim";
  for (const candidate of candidates()) {
    try {
      return require.resolve(`${candidate}/${file}`);
    } catch {
      // It is not installed: another may be.
    }
  }
  console.error(`ctxsim: none of ${candidates().join(", ")} is installed.`);
  console.error(`npm leaves optional packages out with --omit=optional, and where a lock file was made on another platform.`);
  process.exit(2);
}

const { status, signal, error } = spawnSync(program(), process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`ctxsim: ${error.message}`);
  process.exit(2);
}
if (signal) {
  process.kill(process.pid, signal);
}
process.exit(status ?? 2);
