// Makes the npm packages of a release from its archives: `node pack.mjs ARCHIVES FOLDER`. One package for each platform that has an archive, and the
// launcher, which names them as optional dependencies, so that npm installs the one that fits. Each is packed as a .tgz.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

// What npm calls each platform of a release.
const PLATFORMS = {
  "x86_64-unknown-linux-gnu": { os: "linux", cpu: "x64", libc: "glibc", suffix: "-gnu" },
  "x86_64-unknown-linux-musl": { os: "linux", cpu: "x64", libc: "musl", suffix: "-musl" },
  "aarch64-unknown-linux-gnu": { os: "linux", cpu: "arm64", libc: "glibc", suffix: "-gnu" },
  "aarch64-unknown-linux-musl": { os: "linux", cpu: "arm64", libc: "musl", suffix: "-musl" },
  "x86_64-apple-darwin": { os: "darwin", cpu: "x64", suffix: "" },
  "aarch64-apple-darwin": { os: "darwin", cpu: "arm64", suffix: "" },
  "x86_64-pc-windows-msvc": { os: "win32", cpu: "x64", suffix: "" },
};
const LICENCES = ["LICENSE-MIT", "LICENSE-APACHE", "NOTICE", "licences.txt"];

const [archives, out] = process.argv.slice(2).map((it) => resolve(it));
const launcher = JSON.parse(readFileSync(new URL("./package.json", import.meta.url)));
const { name, version } = launcher;
const work = mkdtempSync(join(tmpdir(), "ctxsim-npm-"));
mkdirSync(out, { recursive: true });

/** Unpacks the archive of a platform; returns its folder. */
function unpacked(target) {
  const stem = `ctxsim-${version}-${target}`;
  const archive = [".tar.gz", ".zip"].map((it) => join(archives, stem + it)).find(existsSync);
  if (!archive) {
    return null;
  }
  const [command, ...args] = archive.endsWith(".zip") ? ["unzip", "-q", archive, "-d", work] : ["tar", "-xzf", archive, "-C", work];
  execFileSync(command, args);
  return join(work, stem);
}

function packed(folder, manifest) {
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2) + "\n");
  const [{ filename, size }] = JSON.parse(execFileSync("npm", ["pack", "--json", "--pack-destination", out], { cwd: folder, shell: process.platform === "win32" }));
  console.log(`${filename}: ${size} bytes`);
}

const optional = {};
let shared;
for (const [target, { os, cpu, libc, suffix }] of Object.entries(PLATFORMS)) {
  const from = unpacked(target);
  if (!from) {
    continue;
  }
  const folder = join(work, target);
  mkdirSync(folder);
  const program = readdirSync(from).find((it) => /^ctxsim(\.exe)?$/.test(it));
  for (const file of [program, ...LICENCES]) {
    cpSync(join(from, file), join(folder, file));
  }
  const { license, repository } = launcher;
  const own = { name: `${name}-${os}-${cpu}${suffix}`, version, description: `ctxsim for ${target}.`, license, repository };
  writeFileSync(join(folder, "README.md"), `# ${own.name}\n\nThe program of ctxsim for ${target}. Install \`${name}\`, which picks the right one.\n`);
  packed(folder, { ...own, os: [os], cpu: [cpu], ...(libc && { libc: [libc] }), files: [program, ...LICENCES] });
  optional[own.name] = version;
  shared = from;
}
if (!shared) {
  console.error(`no archive of ctxsim ${version} is in ${archives}`);
  process.exit(1);
}
const folder = join(work, "launcher");
mkdirSync(folder);
cpSync(new URL("./cli.js", import.meta.url), join(folder, "cli.js"));
cpSync(new URL("./README.md", import.meta.url), join(folder, "README.md"));
for (const file of LICENCES) {
  cpSync(join(shared, file), join(folder, file));
}
packed(folder, { ...launcher, files: ["cli.js", ...LICENCES], optionalDependencies: optional });
rmSync(work, { recursive: true });
