// Files in: chosen, or dropped.
export interface Given {
  path: string;
  file: File;
}

export const RECORDINGS = /\.(jsonl|json|csv|eval|db|sqlite)$/;

/** What a file input holds: those of a folder have their path below it. */
export function chosen(input: HTMLInputElement): Given[] {
  const all = [...(input.files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  return all.filter((it) => RECORDINGS.test(it.path));
}

/** What is dropped: files, and everything below folders. */
export async function dropped(data: DataTransfer): Promise<Given[]> {
  // The list is empty after the first wait.
  const items = [...data.items].filter((it) => it.kind === "file").map((it) => ({ entry: it.webkitGetAsEntry?.(), file: it.getAsFile() }));
  const all: Given[] = [];
  await Promise.all(items.map(async ({ entry, file }) => {
    if (entry) await below(entry, all);
    else if (file) all.push({ path: file.name, file });
  }));
  return all.filter((it) => RECORDINGS.test(it.path));
}

async function below(entry: FileSystemEntry, all: Given[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((ok, no) => (entry as FileSystemFileEntry).file(ok, no));
    all.push({ path: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((ok, no) => reader.readEntries(ok, no));
    if (some.length === 0) return;
    await Promise.all(some.map((it) => below(it, all)));
  }
}

/** The folder that all paths begin with, as a command would name it. */
export function root(paths: string[]): string {
  const first = paths[0]?.split("/")[0] ?? "";
  return paths.length > 0 && paths.every((it) => it.includes("/") && it.split("/")[0] === first) ? first : "";
}
