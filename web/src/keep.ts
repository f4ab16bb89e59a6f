// The folder that was read last: its handle, where the browser can keep one, so that one click reads it again.
import { type Given, RECORDINGS } from "./folder";

type Picker = (options: { id: string; mode: "read" }) => Promise<FileSystemDirectoryHandle>;
type Handle = FileSystemDirectoryHandle & { requestPermission?(of: { mode: "read" }): Promise<string>; values(): AsyncIterable<FileSystemHandle> };

const picker = (globalThis as { showDirectoryPicker?: Picker }).showDirectoryPicker;
export const canKeep = picker !== undefined && "indexedDB" in globalThis;

function store<T>(mode: IDBTransactionMode, ask: (at: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  return new Promise((done, none) => {
    const opening = indexedDB.open("ctxsim", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("folder");
    opening.onerror = () => none(opening.error);
    opening.onsuccess = () => {
      const asked = ask(opening.result.transaction("folder", mode).objectStore("folder"));
      asked.onsuccess = () => done(asked.result);
      asked.onerror = () => none(asked.error);
    };
  });
}

/** The name of the folder that is kept, if one is. */
export async function keptName(): Promise<string | null> {
  if (!canKeep) return null;
  const handle = await store("readonly", (it) => it.get("last") as IDBRequest<Handle | undefined>).catch(() => undefined);
  return handle?.name ?? null;
}

/** Asks for a folder, reads it, and keeps its handle. */
export async function choose(): Promise<Given[]> {
  const handle = (await picker!({ id: "sessions", mode: "read" })) as Handle;
  await store("readwrite", (it) => it.put(handle, "last")).catch(() => {});
  return below(handle, handle.name);
}

/** Reads the folder that is kept, once its reader has allowed it again. */
export async function again(): Promise<Given[]> {
  const handle = await store("readonly", (it) => it.get("last") as IDBRequest<Handle>);
  const allowed = await handle.requestPermission?.({ mode: "read" });
  if (allowed !== undefined && allowed !== "granted") throw new Error("the browser was not allowed to read the folder");
  return below(handle, handle.name);
}

async function below(handle: Handle, path: string): Promise<Given[]> {
  const all: Given[] = [];
  for await (const it of handle.values()) {
    const own = `${path}/${it.name}`;
    if (it.kind === "directory") all.push(...(await below(it as Handle, own)));
    else if (RECORDINGS.test(it.name)) all.push({ path: own, file: await (it as FileSystemFileHandle).getFile() });
  }
  return all;
}
