/** A hub in a folder: the index and what it names. */
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Writes a hub with these flows, by the id of their item. */
export async function writeHub(
  dir: string,
  flows: { readonly [id: string]: string },
): Promise<void> {
  await mkdir(join(dir, "templates"), { recursive: true });
  const items = Object.entries(flows).map(([id, text]) => ({
    id,
    kind: "template",
    version: "1.0.0",
    digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
    bytes: Buffer.byteLength(text),
    path: `templates/${id}.flow`,
    title: id,
  }));
  for (const { id, path } of items) await writeFile(join(dir, path), flows[id] ?? "");
  const index = { millraceHub: 1, name: "Ours", serial: 1, items };
  await writeFile(join(dir, "millrace-hub.json"), JSON.stringify(index));
}
