import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Every module that a source file loads, itself included; foreign packages by name. Types load nothing. */
function loaded(file: string, seen: Set<string> = new Set()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const imports = /^(?:import|export)\s+(?!type\b)[^;]*?from\s+"([^"]+)"/gm;
  for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(imports)) {
    const path = join(dirname(file), specifier);
    if (existsSync(path)) loaded(path, seen);
    else seen.add(specifier);
  }
  return seen;
}

test("the main entry loads no schema library, so that an extension with raw JSON Schemas does not pay for one", () => {
  const seams = [
    "index.ts",
    "extend/define.ts",
    "extend/catalog-entry.ts",
    "extend/schema.ts",
    "commands/define.ts",
  ];
  for (const file of seams) expect([...loaded(join(root, "src", file))], file).not.toContain("zod");
  expect([...loaded(join(root, "src/commands/index.ts"))]).toContain("zod");
});

test("the program of the README runs as it is printed", async () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, printed] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(printed).toBe(readFileSync(join(root, "test/readme.ts"), "utf8"));
  const { types } = await import("./readme.ts");
  expect(types).toEqual(["voice.shout"]);
});
