/** Files of a folder of flows: read whole, replaced whole. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";

export interface DiskFile {
  /** Absent: it is no text, for this reason. */
  readonly text?: string;
  /** The byte order mark that its text begins with on the disk. */
  readonly mark?: string;
  readonly problem?: string;
  /** SHA-256 of its bytes, in hex; of one that is too large to be read, of its size and time. */
  readonly digest: string;
}

const SUFFIX = ".flow";
/** Far more than a server takes of a flow, and little enough to be read at once. */
const MAX_BYTES = 16 * 1024 * 1024;
const KEPT_DIGITS = 8;

/** The name before `.flow`; undefined for any other file. */
export function stemOf(file: string): string | undefined {
  return file.endsWith(SUFFIX) && !file.startsWith(".") ? file.slice(0, -SUFFIX.length) : undefined;
}

export const fileOf = (stem: string): string => `${stem}${SUFFIX}`;

/** Names of the flows in a folder, sorted; not of those below it, and no links. */
export async function listFlows(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && stemOf(entry.name) !== undefined)
    .map(({ name }) => name)
    .sort();
}

/** Reads a file. Null: there is none, or what is there is no file of the folder, such as a link. */
export async function readFlow(path: string): Promise<DiskFile | null> {
  try {
    const found = await lstat(path);
    if (!found.isFile()) return null;
    if (found.size > MAX_BYTES) {
      const digest = digestOf(Buffer.from(`${found.size} ${found.mtimeMs}`));
      return { problem: `it has more than ${MAX_BYTES} bytes`, digest };
    }
    const bytes = await readFile(path);
    return { ...decode(bytes), digest: digestOf(bytes) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Replaces a file, so that nobody reads half of it; it keeps its mode. A folder that is gone is made again. */
export async function replaceFlow(path: string, bytes: Uint8Array): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  try {
    await mkdir(dirname(path), { recursive: true });
    const before = await lstat(path).catch(() => undefined);
    await writeFile(part, bytes, { flag: "wx", flush: true });
    if (before?.isFile()) await chmod(part, before.mode & 0o7777);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}

/** Keeps a copy beside a file, named by what is in it; answers its name. */
export async function keepCopy(dir: string, file: string, digest: string): Promise<string> {
  const kept = keptName(file, digest);
  try {
    await copyFile(join(dir, file), join(dir, kept), constants.COPYFILE_EXCL);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // the same bytes
  }
  return kept;
}

/** Name of the copy of a file: no flow, so that nothing reads it as one. */
export const keptName = (file: string, digest: string): string =>
  `${file}.kept-${digest.slice(0, KEPT_DIGITS)}`;

/** A text with the line ends of the file that it replaces: editors and pages know one kind, and no line has changed by that. */
export function withLineEndsOf(disk: DiskFile | null, text: string): string {
  const before = disk?.text ?? "";
  const isOfWindows = before.includes("\r\n") && !/(?<!\r)\n/.test(before);
  return isOfWindows ? text.replace(/\r?\n/g, "\r\n") : text;
}

const MARK = "\uFEFF";

function decode(bytes: Uint8Array): Pick<DiskFile, "text" | "mark" | "problem"> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith(MARK) ? { text: text.slice(1), mark: MARK } : { text };
  } catch {
    return { problem: "it is no UTF-8" };
  }
}
