/** Building an extension: its code runs in a process of its own, and what is wrong with it is said with its place. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { scratch } from "./cli.ts";
import { inside, type Told } from "./inside.ts";

const EMPTY = `const mark = (kind, value) => Object.freeze({ ...value, apiVersion: 1, [Symbol.for("millrace.extension.v1")]: kind });
export default mark("extension", { adapters: [], providers: [], nodeTypes: [], services: [] });
`;

/** A folder with an extension made of these files, and the command in it. */
function extension(files: { readonly [path: string]: string }): {
  readonly cwd: string;
  readonly write: (path: string, text: string) => void;
  readonly call: (...words: string[]) => Promise<Told>;
} {
  const cwd = scratch({ ".git": "" });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  };
  const millrace = { apiVersion: 1, entry: "./src/extension.js" };
  const manifest = { name: "@acme/odd", version: "1.0.0", type: "module", millrace };
  write("package.json", JSON.stringify(manifest));
  for (const [path, text] of Object.entries(files)) write(path, text);
  const { PATH = "" } = process.env;
  const env = { PATH, MILLRACE_TRUST_PROJECT: "1", XDG_DATA_HOME: join(cwd, "data") };
  return { cwd, write, call: (...words) => inside(words, { cwd, env }) };
}

test("an import that never ends is ended after its limit, and the error says what to do", async () => {
  const { call } = extension({ "src/extension.js": `for (;;);\n${EMPTY}` });
  for (const command of ["build", "pack"]) {
    const { code, stderr } = await call("ext", command, "--import-timeout", "300ms");
    expect(stderr).toContain("did not end within 300ms; ");
    expect(stderr).toContain("--import-timeout");
    expect(code).toBe(2);
  }
});

test("a secret that a type needs and the manifest does not ask for is told", async () => {
  const type = `mark("nodeType", { type: "odd.key", title: "T", summary: "S", effect: "read", needs: { secrets: ["KEY"] },
    fields: { type: "object" }, output: { type: "object" }, run: () => ({}) })`;
  const { write, call } = extension({
    "src/extension.js": EMPTY.replace("nodeTypes: []", `nodeTypes: [${type}]`),
  });
  const { code, stderr } = await call("ext", "build");
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^warning: odd\.key needs the secret KEY, .*secrets$/m),
  ]);
  const millrace = {
    apiVersion: 1,
    entry: "./src/extension.js",
    permissions: { secrets: ["KEY"] },
  };
  write(
    "package.json",
    JSON.stringify({ name: "@acme/odd", version: "1.0.0", type: "module", millrace }),
  );
  expect((await call("ext", "build")).stderr).not.toContain("warning");
});

test("what an import leaves running ends with it, and what it prints is shown", async () => {
  const { call } = extension({
    "src/extension.js": `setInterval(() => {}, 1_000); console.log("here");\n${EMPTY}`,
  });
  const { code, stderr } = await call("ext", "build");
  expect(stderr).toContain("here\n");
  expect(code).toBe(0);
});

test("a type or provider that core has is refused where it is built, not where it is added", async () => {
  const source = (node: string, provider: string): string =>
    EMPTY.replace("providers: []", provider).replace("nodeTypes: []", node);
  const { call, write } = extension({});
  const node = (type: string): string =>
    `nodeTypes: [mark("nodeType", { type: "${type}", title: "T", summary: "S", effect: "read", fields: { type: "object" }, output: { type: "object" }, run: () => ({}) })]`;
  for (const [code, says] of [
    [source(node("http.request"), "providers: []"), "type http.request belongs to core"],
    [source(node("http.ping"), "providers: []"), "type http.ping belongs to core"],
    [
      source(
        "nodeTypes: []",
        'providers: [mark("provider", { id: "openai", title: "T", create() {} })]',
      ),
      "provider openai belongs to the configuration",
    ],
  ] as const) {
    write("src/extension.js", code);
    for (const command of ["build", "pack"]) {
      const { code: end, stderr } = await call("ext", command);
      expect([end, stderr]).toEqual([2, expect.stringContaining(`${says}; give it another name`)]);
    }
  }
  write("src/extension.js", source(node("odd.request"), "providers: []"));
  expect((await call("ext", "build")).code).toBe(0);
});

const PLACES: readonly (readonly [
  why: string,
  files: { readonly [path: string]: string },
  says: string,
])[] = [
  [
    "a syntax error",
    { "src/extension.js": `${EMPTY}\nexport const a = ;\n` },
    "src/extension.js:4:18 SyntaxError: Unexpected token ';'",
  ],
  [
    "a syntax error of a file that is imported",
    { "src/extension.js": `import "./other.js";\n${EMPTY}`, "src/other.js": "\nlet a = ;\n" },
    "src/other.js:2:9 SyntaxError: Unexpected token ';'",
  ],
  [
    "an export that is not there",
    {
      "src/extension.js": `import { a } from "./other.js";\n${EMPTY}`,
      "src/other.js": "export {};\n",
    },
    "src/extension.js:1:10 SyntaxError: The requested module './other.js' does not provide an export named 'a'",
  ],
  [
    "a package that is not installed",
    { "src/extension.js": `import "nowhere";\n${EMPTY}` },
    "src/extension.js Error: Cannot find package 'nowhere'",
  ],
  [
    "a throw",
    { "src/extension.js": `${EMPTY}\nfunction f() {\n  throw new TypeError("boom");\n}\nf();\n` },
    "src/extension.js:5:9 TypeError: boom",
  ],
  [
    "a throw of a text",
    { "src/extension.js": `throw "x";\n${EMPTY}` },
    "a value that is no error: x",
  ],
  [
    "an end of the process",
    { "src/extension.js": `process.exit(3);\n${EMPTY}` },
    "src/extension.js: its process ended while it loaded, with exit code 3",
  ],
  [
    "a default export of another kind",
    { "src/extension.js": "export default 1;\n" },
    "src/extension.js: its default export is not of defineExtension: write export default",
  ],
  [
    "a default export that is not there",
    { "src/extension.js": "export {};\n" },
    "src/extension.js: it has no default export: write export default defineExtension",
  ],
  [
    "a word of CommonJS",
    { "src/extension.js": 'require("x");\n' },
    "src/extension.js:1:1 ReferenceError: require is not defined in ES module scope, you can use import instead This file",
  ],
  [
    "a missing file",
    {},
    "src/extension.js, which package.json names as /millrace/entry, is missing: build it",
  ],
];

test.each(PLACES)("%s has its place", async (_why, files, says) => {
  const { call } = extension(files);
  const { code, stderr } = await call("ext", "build");
  expect(stderr).toContain(says);
  expect(stderr).not.toContain("file://");
  expect(code).toBe(2);
});

test("an entry that Node does not read is named, with what to do", async () => {
  const { write, call } = extension({ "src/extension.tsx": EMPTY });
  const millrace = { apiVersion: 1, entry: "./src/extension.tsx" };
  write("package.json", JSON.stringify({ name: "odd", version: "1.0.0", millrace }));
  const { code, stderr } = await call("ext", "build");
  expect(stderr).toMatch(
    /src\/extension\.tsx is TypeScript: compile it, and name the JavaScript as/,
  );
  expect(code).toBe(2);
});

test("a syntax error has its place beside dependencies whose links lead back", async () => {
  const { cwd, call } = extension({ "src/extension.js": "const = 1;\n" });
  for (const name of ["a", "b", "c"]) {
    mkdirSync(join(cwd, "node_modules", name), { recursive: true });
    symlinkSync("../..", join(cwd, "node_modules", name, "up"), "dir");
  }
  const { code, stderr } = await call("ext", "build");
  expect(stderr).toContain("src/extension.js:1:7 SyntaxError");
  expect(code).toBe(2);
});

test("a host says the place as well, and keeps to itself the message of what code threw", async () => {
  const { write, call } = extension({ "src/extension.js": "" });
  const package_ = (text: string): void => {
    write("ext/src/extension.js", text);
    const millrace = { apiVersion: 1, entry: "./src/extension.js" };
    write(
      "ext/package.json",
      JSON.stringify({ name: "odd", version: "1.0.0", type: "module", millrace }),
    );
  };
  const doctor = async (text: string): Promise<string> => {
    write("ext/src/extension.js", text);
    await call("ext", "trust", "./ext", "--yes");
    return (await call("ext", "doctor")).stdout;
  };
  const action = `mark("action", { name: "go", title: "T", summary: "S", effect: "pure",
  fields: { type: "object" }, output: { type: "object" }, run: () => ({}) })`;
  const adapter = `mark("adapter", { id: "odd", title: "T", actions: [${action}] })`;
  const code = EMPTY.replace("adapters: []", `adapters: [${adapter}]`);
  package_(code);
  expect((await call("ext", "build", "ext")).code).toBe(0);
  expect((await call("ext", "add", "./ext", "--yes")).code).toBe(0);
  const thrown = await doctor(`${code}\nthrow new RangeError("hunter2");\n`);
  expect(thrown).toContain("src/extension.js:5:7 RangeError");
  expect(thrown).not.toContain("hunter2");
  const syntax = await doctor(`${code}\nexport const a = ;\n`);
  expect(syntax).toContain("src/extension.js:5:18 SyntaxError: Unexpected token ';'");
});

test("the lines of a package manager that failed stay lines", async () => {
  const { write, call } = extension({});
  const registry = await serveHttp((_request, response) => response.writeHead(404).end("{}"));
  const { port } = registry;
  write(".npmrc", `registry=http://127.0.0.1:${port}\nfetch-retries=0\n`);
  const { code, stderr } = await call("ext", "add", "@acme/nothing", "--yes");
  expect(stderr).toMatch(/^error: npm failed: npm (?:error|ERR!) code E404\n {2}npm .*\n {2}npm /m);
  expect(stderr).not.toContain("\ufffd");
  expect(code).toBe(6);
});
