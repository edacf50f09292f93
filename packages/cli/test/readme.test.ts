/** Every command that the root README and the examples' READMEs show is run here, from the folder they are shown for. */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Summary } from "@millrace/contracts";
import { parseEvent } from "@millrace/contracts";
import { expect, test } from "vitest";
import { millrace, ROOT, scratch, start } from "./cli.ts";

/** Lines of the `sh` blocks of a Markdown file, without their comments. */
function commands(file: string): string[] {
  const blocks = [...readFileSync(join(ROOT, file), "utf8").matchAll(/^```sh\n([\s\S]*?)^```/gm)];
  return blocks
    .flatMap(([, text = ""]) => text.split("\n"))
    .map((line) => line.replace(/\s+#.*$/, "").trim())
    .filter((line) => line !== "");
}

/** A copy of the examples, so that what they write stays out of the repository. */
function house(): string {
  const cwd = scratch();
  const filter = (path: string): boolean =>
    !path.includes("node_modules") && !path.endsWith("/out");
  cpSync(join(ROOT, "examples"), join(cwd, "examples"), { recursive: true, filter });
  return cwd;
}

const exampleReadmes = readdirSync(join(ROOT, "examples")).map(
  (name) => `examples/${name}/README.md`,
);
const runs = ["README.md", ...exampleReadmes].flatMap((file) =>
  commands(file)
    .filter((line) => line.startsWith("npx millrace run "))
    .map((line) => ({ file, line })),
);
/** Exit codes of commands that end otherwise than in 0 where nobody can be asked. */
const CODES: Record<string, number> = {
  "npx millrace run examples/13-confirm-refund/confirm-refund.flow": 4,
};

test.each(runs)("$file: $line", async ({ line }) => {
  const words = line.split(" ").slice(2);
  const { code, stderr } = await millrace(words, { cwd: house() });
  expect(code, stderr).toBe(CODES[line] ?? 0);
});

test("the README's npm commands are jobs of this repository", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const text = readFileSync(join(ROOT, "README.md"), "utf8");
  const named = [...text.matchAll(/npm (?:run )?([a-z][a-z:-]*)/g)].map(([, name = ""]) => name);
  const jobs = named.filter((name) => name !== "are");
  expect(jobs.filter((name) => name !== "test" && !(name in scripts))).toEqual([]);
});

test("the README's flow over HTTP is a stream of events that ends in its summary", async () => {
  const serve = start(["serve", "--port", "0", "--json"], { cwd: house() });
  await serve.until('"listening"');
  const line = commands("README.md").find((each) => each.startsWith("curl ")) ?? "";
  const cwd = house();
  const { url } = JSON.parse(serve.output().split("\n")[0] ?? "{}") as { url: string };
  const shell = spawnSync("sh", ["-c", line.replace("http://127.0.0.1:6455", url)], {
    cwd,
    encoding: "utf8",
  });
  const frames = shell.stdout.split("\n\n").filter((frame) => frame.startsWith("data: "));
  const last = parseEvent((frames.at(-1) ?? "").slice("data: ".length), {
    strict: true,
  }) as Summary;
  expect([last.kind, last.status, last.outputs]).toEqual([
    "summary",
    "succeeded",
    { text: "Hello, world!" },
  ]);
  serve.child.kill("SIGTERM");
  expect((await serve.ended).code).toBe(0);
});
