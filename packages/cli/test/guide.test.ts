/**
 * Runs the guide: every fence of its pages is what it says it is. `docs/README.md` has the convention.
 *   G1  A whole flow is read without a word, canonical, and found valid with core's own catalog; one with a mark is not.
 *   G2  Every command is run, in the order of the page, in one trusted folder that holds the page's flows and data. What is
 *       no `millrace` is a script of the shell.
 *   G3  The fence after a command is, byte for byte, what the command wrote; after a script `…` stands for what differs each time.
 *   G4  A fence of another kind, or a result without its command, fails.
 *   G5  Every example of a table gives its result; the tables are the code's: `guide-tables.test.ts`.
 *   G6  The text above a block names the file that the block is saved as.
 *   G7  A command that says `host` is for the administrator of a machine; `test/deploy.test.ts` runs the files that it names.
 */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { formatFlow, parseFlow, validateFlow } from "@millrace/dsl";
import { createStandardRegistry } from "@millrace/server/registry";
import { notFull, testUnless, testWith } from "@millrace/test-support";
import { type Fence, fencesOf, GUIDE, isScript, readPage } from "@millrace/test-support/pages";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { describe, expect, test } from "vitest";
import { ROOT, scratch } from "./cli.ts";
import { inside } from "./inside.ts";
import { createServers } from "./serving.ts";

// The page of extensions is followed by packages/testkit/test/guide.test.ts.
const PAGES = ["docs/README.md", ...GUIDE];
const LANGUAGE = readPage("docs/guide/language.md");
const registry = createStandardRegistry();
const MORE = "…";
/** Where programs of the guide find the packages that they import. */
const PACKAGES = join(ROOT, "packages/cli/node_modules");

const isFlow = (fence: Fence): boolean => fence.language === "flow";
const isData = ({ language, marks }: Fence): boolean =>
  ["json", "toml"].includes(language) && marks[0]?.endsWith(`.${language}`) === true;
const isProgram = ({ language, marks }: Fence): boolean =>
  language === "js" && marks[0]?.endsWith(".mjs") === true;
const isResult = ({ language, marks }: Fence): boolean =>
  language === "text" || (language === "json" && marks.length === 0);

/** The configurations of servers that share a store, on PostgreSQL alone and with Restate. */
const STORE = /\b(?:cluster|restate)\.json\b/;

/** The variables that it names, for a store that no other test has. */
async function variablesOfStore(): Promise<Record<string, string>> {
  const { url } = await sharedPostgres();
  return {
    MILLRACE_STORE_URL: `${url}?search_path=guide_${process.pid}`,
    MILLRACE_STORE_KEY: Buffer.alloc(32, 6).toString("base64"),
    MILLRACE_TRUST_PROJECT: "1",
  };
}

/** What differs each time is `"…"`; an object or a list that has more is one with such a member. */
function opened(json: string): unknown {
  return JSON.parse(json, (_key, value: unknown) => {
    if (value === MORE) return value;
    if (Array.isArray(value)) {
      const items = value.filter((each) => each !== MORE);
      return items.length < value.length ? expect.arrayContaining(items) : value;
    }
    if (typeof value !== "object" || value === null) return value;
    const members = Object.entries(value)
      .filter(([name]) => name !== MORE)
      .map(([name, each]) => [name, each === MORE ? expect.anything() : each] as const);
    const known = Object.fromEntries(members);
    return MORE in value ? expect.objectContaining(known) : known;
  });
}

function pattern(text: string): RegExp {
  const parts = text.split(MORE).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^\\n]*")}$`);
}

/** What a fence is, or why it may not be there. */
function kindOf(fence: Fence, previous: Fence | undefined): string {
  const { language, marks, line } = fence;
  const said = `${language} ${marks.join(" ")}`.trim();
  if (isResult(fence) && previous?.language === "sh") return "result";
  if (/^flow \S+\.flow( fault| loose)?$/.test(said)) return "flow";
  if (/^sh( exit=\d+| running)?$/.test(said)) return "command";
  if (said === "sh host") return "host";
  if (said === "json names") return "names"; // of the rows of expressions.md
  if (/^json \S+\.json$|^toml \S+\.toml$/.test(said)) return "data";
  if (/^js \S+\.mjs$/.test(said)) return "program";
  if (/^(?:lua|toml|elisp|yaml)$/.test(said)) return "settings"; // of an editor, or of what runs after a commit; `neovim.test.ts` uses those in Lua
  return `line ${line}: a fence "${said}" that no test knows`;
}

describe.each(PAGES)("%s", (path) => {
  const fences = fencesOf(readPage(path));

  test("has no fence that nobody checks", () => {
    for (const [index, fence] of fences.entries()) {
      expect([
        "result",
        "flow",
        "data",
        "program",
        "command",
        "names",
        "settings",
        "host",
      ]).toContain(kindOf(fence, fences[index - 1]));
    }
    const names = fences.filter(isFlow).map(({ marks }) => marks[0]);
    expect(new Set(names).size, "each flow has a name of its own").toBe(names.length);
  });

  test("shows the flows that it says it shows", () => {
    for (const { marks, text } of fences.filter(isFlow)) {
      const [name, mark] = marks;
      const { graph, document, diagnostics } = parseFlow(text);
      const found = [...diagnostics, ...validateFlow(graph, registry.catalog(), { document })];
      const formatted = formatFlow(text);
      if (mark === undefined) expect(found, name).toEqual([]);
      else if (mark === "fault") expect(found, name).not.toEqual([]);
      expect(formatted.changed, `${name} is canonical`).toBe(mark === "loose");
    }
  });

  const shown = fences.filter(({ language }) => language === "sh").map(({ text }) => text);
  const needsStore = shown.some((text) => STORE.test(text));
  const needsNodes = shown.some((text) => / restate-server /.test(text));
  const needs = [
    ...(fences.some(isScript) ? (["curl", "grep"] as const) : []),
    ...(needsStore ? (["postgres"] as const) : []),
    ...(needsNodes ? (["restate-server"] as const) : []),
  ];
  // A page that starts servers or programs takes seconds.
  const isLong =
    needsNodes || fences.some((fence) => fence.marks[0] === "running" || isProgram(fence));
  const testPage = isLong && notFull !== undefined ? testUnless(notFull) : testWith(...needs);
  testPage("shows what its commands write", async () => {
    const cwd = scratch();
    const store = needsStore ? await variablesOfStore() : {};
    const env = { MILLRACE_TRUST_PROJECT: "1", ...store };
    const servers = createServers(cwd, { MILLRACE_CREDENTIALS_STORE: "memory", ...store });
    // Of another program than ours the ports are chosen beforehand, and stand in its files.
    const isMoved = fences.some(
      ({ marks, text }) => marks[0] === "running" && !text.includes("millrace "),
    );
    if (isMoved) for (const { text } of fences) await servers.reserve(text);
    const saved = [isFlow, isData, isProgram];
    for (const { marks, text } of fences.filter((fence) => saved.some((is) => is(fence)))) {
      const path = join(cwd, marks[0] ?? "");
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, isMoved ? servers.real(text) : text);
    }
    if (fences.some(isProgram)) symlinkSync(PACKAGES, join(cwd, "node_modules"));
    for (const [index, { language, marks, text, line }] of fences.entries()) {
      if (language !== "sh" || marks[0] === "host") continue;
      const next = fences[index + 1];
      if (marks[0] === "running") {
        await servers.start(text);
        continue;
      }
      if (isScript({ language, marks, text, line })) {
        const { code, stdout, stderr } = await servers.script(text);
        expect(`exit=${code}`, `${text}\n${stdout}${stderr}`).toBe(marks[0] ?? "exit=0");
        if (next === undefined || !isResult(next)) continue;
        if (next.language === "json") expect(JSON.parse(stdout)).toEqual(opened(next.text));
        else expect(stdout + stderr).toMatch(pattern(next.text));
        continue;
      }
      const told = { stdout: "", stderr: "" };
      for (const command of servers.real(text).trimEnd().split("\n")) {
        const [program, ...words] = command.split(" ");
        expect(program, `line ${line}`).toBe("millrace");
        const { code, stdout, stderr } = await inside(words, {
          cwd,
          env,
        });
        expect(`exit=${code}`, `${command}\n${stderr}`).toBe(marks[0] ?? "exit=0");
        told.stdout += stdout;
        told.stderr += stderr;
      }
      if (next === undefined || !isResult(next)) continue;
      // The formatter of pages lays out JSON in its own way; other output is byte for byte.
      if (next.language === "json") expect(JSON.parse(told.stdout)).toEqual(JSON.parse(next.text));
      else expect(told.stdout + told.stderr).toBe(next.text);
    }
  });
});

test.each([...PAGES, "docs/guide/extensions.md"])("%s names each file before its block", (path) => {
  const lines = readPage(path).split("\n");
  let visible = "";
  let next = 0;
  for (const { line, marks, text } of fencesOf(readPage(path))) {
    visible += lines.slice(next, line - 1).join("\n");
    next = line + text.split("\n").length;
    // No renderer shows the name that stands after the language of a fence.
    const [name] = marks.filter((mark) => /\.(?:flow|json|mjs|toml|ts)$/.test(mark));
    if (name !== undefined) expect(visible, `line ${line}`).toContain(`\`${name}\``);
  }
});

test.each([...PAGES, "README.md", "CONTRIBUTING.md"])("%s links to what is there", (path) => {
  const targets = [...readPage(path).matchAll(/\]\((?!https?:)([^)]*)\)/g)];
  for (const [, target = ""] of targets) {
    const [file = "", anchor] = target.split("#");
    const found = file === "" ? path : join(dirname(path), file);
    expect(existsSync(join(ROOT, found)), target).toBe(true);
    if (anchor === undefined) continue;
    const heads = [...readPage(found).matchAll(/^#+ (.*)$/gm)].map(([, head = ""]) => head);
    expect(heads.map((head) => head.toLowerCase().replaceAll(" ", "-"))).toContain(anchor);
  }
});

test("every flow of the language page has a command whose result is shown, a faulty one `validate`", () => {
  const fences = fencesOf(LANGUAGE);
  const shown = fences.filter(({ language }, index) => {
    const next = fences[index + 1];
    return language === "sh" && next !== undefined && isResult(next);
  });
  for (const { marks } of fences.filter(isFlow)) {
    const [name = "", mark] = marks;
    const command = mark === "fault" ? `millrace validate ${name}` : name;
    expect(
      shown.some(({ text }) => text.includes(command)),
      command,
    ).toBe(true);
  }
});

test("the flows of the README are one that is valid and canonical, and the first example", () => {
  const [digest, hello] = fencesOf(readPage("README.md")).filter(isFlow);
  const { graph, document, diagnostics } = parseFlow(digest?.text ?? "");
  const found = [...diagnostics, ...validateFlow(graph, registry.catalog(), { document })];
  expect(found.filter(({ severity }) => severity !== "info")).toEqual([]);
  expect(formatFlow(digest?.text ?? "").changed).toBe(false);
  expect(graph.nodes.map(({ id }) => id)).toEqual(["page", "summary", "time", "ask", "save"]);
  expect(hello?.text).toBe(readFileSync(join(ROOT, "examples/01-hello/hello.flow"), "utf8"));
});
