/** Every command that the root README and the examples' READMEs show is run here, from the folder they are shown for. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Summary } from "@millrace/contracts";
import { parseEventStrict } from "@millrace/contracts";
import { testWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { FOLDERS, ROOT, scratch, start, urlOf } from "./cli.ts";
import { inside } from "./inside.ts";

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

/** Lines that need nothing but the examples; what others need is in their README, and those from recordings are `millrace test`. */
const RUN = /^npx millrace (?<words>run (?!.*--fixtures).*)$/;
const READMES = FOLDERS.map((folder) => ({ folder, file: `examples/${folder}/README.md` }));
const runs = READMES.flatMap(({ file }) =>
  commands(file)
    .filter((line) => RUN.test(line))
    .map((line) => ({ file, line })),
);
/** These go on for ever; `guide.test.ts` has servers enough. */
const SERVES = ["npx millrace serve", "npx millrace studio examples/01-hello"];

test("the README's commands work, one after the other", async () => {
  const cwd = house();
  const lines = commands("README.md").filter((line) => line.startsWith("npx millrace "));
  expect(lines).toEqual(expect.arrayContaining(SERVES));
  for (const line of lines.filter((each) => !SERVES.includes(each))) {
    const { code, stderr } = await inside(line.split(" ").slice(2), { cwd });
    expect(code, `${line}\n${stderr}`).toBe(0);
  }
});

/** Commands that need nothing but the project that the first of them makes. */
const ALONE = /^millrace (?:init|validate|fmt|test|explain|graph|catalog|run \S+ (?:-i|--json))\b/;

test("the commands of the README of the command work, one after the other, from an empty folder", async () => {
  const cwd = scratch();
  const lines = commands("packages/cli/README.md").filter((line) => ALONE.test(line));
  expect(lines.length).toBeGreaterThan(7);
  for (const line of lines) {
    const { code, stderr } = await inside(line.split(" ").slice(1), { cwd });
    expect(code, `${line}\n${stderr}`).toBe(0);
  }
});

/** Exit codes of commands that end otherwise than in 0 where nobody can be asked. */
const CODES: Record<string, number> = {
  "npx millrace run examples/13-confirm-refund/confirm-refund.flow": 4,
};

test.each(runs)("$file: $line", async ({ line }) => {
  const { words = "" } = RUN.exec(line)?.groups ?? {};
  const { code, stderr } = await inside(words.split(" "), { cwd: house() });
  expect(code, stderr).toBe(CODES[line] ?? 0);
});

/** These have nothing to record. */
const PLAIN = /01-hello|14-embed/;

test.each(READMES.filter(({ folder }) => !PLAIN.test(folder)))(
  "$file begins with the line from recordings, then those for real",
  ({ folder, file }) => {
    const [recorded, ...real] = commands(file).filter((line) => line.includes("npx millrace "));
    const hasPowers = existsSync(join(ROOT, "examples", folder, "millrace.json"));
    const answers = folder === "09-support-triage" ? " --confirm send=approve" : "";
    const flow = `examples/${folder}/${folder.slice("00-".length)}.flow`;
    expect(recorded).toBe(
      `${hasPowers ? "MILLRACE_TRUST_PROJECT=1 " : ""}npx millrace run ${flow} --fixtures examples/${folder}/fixtures${answers}`,
    );
    expect(real.length).toBeGreaterThan(0);
    expect(real.filter((line) => line.includes("--fixtures"))).toEqual([]);
  },
);

test("the npm commands of the README and of CONTRIBUTING are jobs of this repository", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const pages = ["README.md", "CONTRIBUTING.md"];
  const text = pages.map((page) => readFileSync(join(ROOT, page), "utf8")).join("");
  const named = [...text.matchAll(/npm (?:run )?([a-z][a-z:-]*)/g)].map(([, name = ""]) => name);
  const jobs = named.filter((name) => name !== "are" && name !== "install");
  expect(jobs.filter((name) => name !== "test" && !(name in scripts))).toEqual([]);
});

testWith("curl")(
  "the README's flow over HTTP is a stream of events that ends in its summary",
  async () => {
    const serve = start(["serve", "--port", "0", "--json"], { cwd: house() });
    const url = await urlOf(serve);
    const line = commands("README.md").find((each) => each.startsWith("curl ")) ?? "";
    const cwd = house();
    const shell = spawnSync("sh", ["-c", line.replace("http://127.0.0.1:6455", url)], {
      cwd,
      encoding: "utf8",
    });
    const frames = shell.stdout.split("\n\n").filter((frame) => frame.startsWith("data: "));
    const last = parseEventStrict((frames.at(-1) ?? "").slice("data: ".length)) as Summary;
    expect([last.kind, last.status, last.outputs]).toEqual([
      "summary",
      "succeeded",
      { text: "Hello, world!" },
    ]);
    serve.child.kill("SIGTERM");
    expect((await serve.ended).code).toBe(0);
  },
);
