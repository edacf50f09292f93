/**
 * What is remembered of connections besides their credentials, in one file of the data folder. Nothing in it is secret, and
 * nothing depends on it: a file that cannot be read counts as empty, and the next change writes it anew.
 */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Lock } from "@millrace/oauth";
import type { ConnectionRecord, ConnectionRecords } from "@millrace/server/connections";

const FILE = "connections.json";
/** Longer than anybody writes a small file. */
const LOCK_WAIT_MS = 5_000;

/** The records of a data folder; `lock` is between the processes that share it. */
export function fileConnectionRecords(dir: string, lock: Lock): ConnectionRecords {
  const path = join(dir, FILE);

  async function change(edit: (records: Map<string, ConnectionRecord>) => void): Promise<void> {
    const hold = await lock.acquire(FILE, { timeoutMs: LOCK_WAIT_MS });
    try {
      const records = await read(path);
      edit(records);
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const part = `${path}.${process.pid}.part`;
      try {
        await writeFile(part, `${JSON.stringify([...records.values()], null, 2)}\n`, {
          mode: 0o600,
        });
        await rename(part, path);
      } finally {
        await rm(part, { force: true });
      }
    } finally {
      await hold.release();
    }
  }

  return {
    get: async (slug) => (await read(path)).get(slug),
    list: async () => [...(await read(path)).values()],
    put: (record) => change((records) => void records.set(record.slug, record)),
    delete: (slug) => change((records) => void records.delete(slug)),
  };
}

async function read(path: string): Promise<Map<string, ConnectionRecord>> {
  try {
    const list = JSON.parse(await readFile(path, "utf8")) as unknown;
    return new Map(
      (Array.isArray(list) ? list.filter(isRecord) : []).map((each) => [each.slug, each]),
    );
  } catch {
    return new Map();
  }
}

function isRecord(value: unknown): value is ConnectionRecord {
  const { slug, service, scopes } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof slug === "string" && typeof service === "string" && Array.isArray(scopes);
}
