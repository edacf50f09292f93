/** A hub for the tests. */
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@millrace/test-support/folder";
import { HELLO } from "./flows.ts";

/** A hub in a folder that offers one flow and one node pack. */
export async function writeHub(): Promise<string> {
  const dir = temporaryFolder();
  await mkdir(join(dir, "templates"));
  await writeFile(join(dir, "templates/hello.flow"), HELLO);
  const item = (id: string, kind: string, content: string, path: string) => ({
    id,
    kind,
    version: "1.0.0",
    digest: `sha256:${createHash("sha256").update(content).digest("hex")}`,
    bytes: Buffer.byteLength(content),
    path,
    title: `The ${id}`,
  });
  const items = [
    item("hello", "template", HELLO, "templates/hello.flow"),
    item("pack", "nodes", "", "@acme/pack"),
  ];
  const index = { millraceHub: 1, name: "Example", serial: 1, items };
  await writeFile(join(dir, "millrace-hub.json"), JSON.stringify(index));
  return dir;
}
