/**
 * What READMEs and the guide show works for a reader: every program is compiled as strict TypeScript against the packed
 * packages, in a project outside of this repository, and those that need nothing else are run.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { describeUnless, notFull, testUnless } from "@millrace/test-support";
import { inLoneNetwork, noLoneNetwork } from "@millrace/test-support/network";
import { fencesOf, readPage } from "@millrace/test-support/pages";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Packed, PUBLISHED, packAll, ROOT } from "./support/packed.ts";

/** A limit for what hangs: packing, installing and compiling are seconds of processor time, ten times that on a busy machine. */
const TIMEOUT_MS = 300_000;

const COMPILER_OPTIONS = {
  target: "ES2023",
  lib: ["ES2023"],
  module: "nodenext",
  moduleResolution: "nodenext",
  types: ["node"],
  strict: true,
  skipLibCheck: false,
  rootDir: "src",
  outDir: "out",
};

interface Program {
  /** Page and line. */
  readonly source: string;
  /** Its file below `src/` and `out/`, without an extension. */
  readonly path: string;
  readonly text: string;
  readonly isRun: boolean;
}

const READMES = PUBLISHED.map((folder) => `${folder}/README.md`);
const GUIDE = readdirSync(join(ROOT, "docs/guide")).map((name) => `docs/guide/${name}`);
const programs: readonly Program[] = [...READMES, ...GUIDE, "README.md"].flatMap(programsOf);
const READ_PAGE = join(ROOT, "test/support/read-page.mjs");

/** One file of the page, as a server sent it. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Media types of the files of the page by the end of their names; the document has none. */
const TYPES: Readonly<Record<string, string>> = {
  "": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Headers of every file of the page. */
const PROTECTION: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types millrace-worker",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  vary: "Accept-Encoding",
};

let project: string;
let packed: Packed;
let complaints = "";

/**
 * Programs of a page. One of a README is run unless its fence says `compiled`; one of the guide has a name, and is run where
 * its page says `node NAME` and needs no server that goes on running. What imports `peers` is run by the test of its package.
 */
function programsOf(page: string): Program[] {
  const fences = fencesOf(readPage(page));
  const isServed = fences.some(({ marks }) => marks[0] === "running");
  const commands = fences.filter(({ language }) => language === "sh").map(({ text }) => text);
  return fences
    .filter(({ language, marks }) => /^[jt]s$/.test(language) && marks[0] !== "peers")
    .map(({ marks: [mark = "run"], text, line }) => {
      const name = mark.endsWith(".mjs") ? mark.slice(0, -".mjs".length) : `line-${line}`;
      const isCommand = commands.some((each) => each.startsWith(`node ${mark}\n`)) && !isServed;
      return {
        source: `${page}:${line}`,
        path: join(page.replace(/\W/g, "_"), name),
        text,
        isRun: mark === "run" || isCommand,
      };
    });
}

function write(path: string, text: string): void {
  const at = join(project, path);
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(at, text);
}

/** Declarations of other packages are not ours to mend: some want the types of a browser. */
function isOfOthers(complaint: string): boolean {
  return /^\S*node_modules\//.test(complaint) && !complaint.includes("/node_modules/@millrace/");
}

describeUnless(notFull)("a program of a page", () => {
  beforeAll(() => {
    project = mkdtempSync(join(tmpdir(), "millrace-packed-"));
    packed = packAll();
    const manifest = {
      private: true,
      type: "module",
      dependencies: Object.fromEntries(packed.names.map((name) => [name, "*"])),
      // The recipe of the guide bundles a package of a vendor.
      devDependencies: { "@ai-sdk/openai-compatible": "*", "@types/node": "*", typescript: "*" },
    };
    write("package.json", JSON.stringify(manifest));
    write("tsconfig.json", JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ["src"] }));
    for (const { path, text } of programs) write(`src/${path}.mts`, text);
    packed.install(project);
    // Many projects have no more than `strict`, which infers otherwise of optional members.
    const stricter = ["--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
    for (const more of [[], stricter]) {
      const args = [join(project, "node_modules/typescript/bin/tsc"), ...more];
      const { stdout, stderr } = spawnSync(process.execPath, args, {
        cwd: project,
        encoding: "utf8",
      });
      const found = (stdout + stderr).split(/\n(?=\S)/);
      complaints += found.filter((each) => !isOfOthers(each)).join("\n");
    }
    for (const { path, source } of programs) {
      complaints = complaints.replaceAll(`src/${path}.mts`, source);
    }
  }, TIMEOUT_MS);
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  test("is strict TypeScript, on every page", () => {
    expect(programs.length).toBeGreaterThan(20);
    expect(complaints).toBe("");
  });

  test(
    "has its types in a project for browsers, too",
    () => {
      const lib = ["ES2022", "DOM"];
      const compilerOptions = { ...COMPILER_OPTIONS, target: "ES2022", lib, types: [] };
      write("page/tsconfig.json", JSON.stringify({ compilerOptions, include: ["src"] }));
      const names = ["client", "contracts", "dsl", "engine"];
      write("page/src/page.mts", names.map((name) => `import "@millrace/${name}";\n`).join(""));
      const compiler = join(project, "node_modules/typescript/bin/tsc");
      const args = [compiler, "-p", "page", "--noEmit"];
      const { stdout, stderr } = spawnSync(process.execPath, args, {
        cwd: project,
        encoding: "utf8",
      });
      const found = (stdout + stderr).split(/\n(?=\S)/);
      expect(found.filter((each) => !isOfOthers(each)).join("\n")).toBe("");
    },
    TIMEOUT_MS,
  );

  test.each(programs.filter(({ isRun }) => isRun))(
    "$source runs",
    ({ path }) => {
      const cwd = join(project, dirname(path));
      mkdirSync(cwd, { recursive: true });
      const args = [join(project, "out", `${path}.mjs`)];
      const { status, stderr } = spawnSync(process.execPath, args, {
        cwd,
        encoding: "utf8",
        timeout: TIMEOUT_MS,
      });
      expect(status, stderr).toBe(0);
    },
    TIMEOUT_MS,
  );
});

describeUnless(notFull)("the command where it alone is installed", () => {
  let alone: string;
  let millrace: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(() => {
    alone = mkdtempSync(join(tmpdir(), "millrace-alone-")); // below no folder that has the rest
    millrace = join(alone, "node_modules/@millrace/cli/bin/millrace.js");
    env = { PATH: process.env["PATH"], MILLRACE_HOME: join(alone, "home") };
    const manifest = { private: true, dependencies: { "@millrace/cli": "*" } };
    writeFileSync(join(alone, "package.json"), JSON.stringify(manifest));
    packed.install(alone);
  }, TIMEOUT_MS);
  afterAll(() => rmSync(alone, { recursive: true, force: true }));

  test(
    "works",
    () => {
      expect(readdirSync(join(alone, "node_modules/@millrace"))).toEqual(["cli"]);
      const run = (...args: string[]) =>
        spawnSync(process.execPath, [millrace, ...args], {
          cwd: join(ROOT, "examples/01-hello"),
          encoding: "utf8",
          env,
          timeout: TIMEOUT_MS,
        });
      const lines = ["run hello.flow --save", "runs list", "connections list", "schedule list"];
      for (const line of lines) {
        const { status, stderr } = run(...line.split(" "));
        expect(status, `${line}: ${stderr}`).toBe(0);
      }
      expect(run("runs", "list").stdout).toContain("hello");
    },
    TIMEOUT_MS,
  );

  testUnless(noLoneNetwork())(
    "serves the whole page where there is no network, each file with what protects it",
    () => {
      const [command = "", ...args] = inLoneNetwork([process.execPath, READ_PAGE, millrace]);
      const { stdout, stderr } = spawnSync(command, args, {
        cwd: alone,
        encoding: "utf8",
        env,
        timeout: TIMEOUT_MS,
      });
      expect(stdout, stderr).not.toBe("");
      const { answers, outside } = JSON.parse(stdout) as {
        readonly answers: Readonly<Record<string, Answer>>;
        readonly outside: string;
      };
      expect(outside).toBe("ENETUNREACH");
      const built = readdirSync(join(ROOT, "packages/studio/dist/page/studio/assets"));
      const assets = built.filter((name) => !/\.(?:br|gz)$/.test(name));
      expect(Object.keys(answers).sort()).toEqual(
        ["/studio", ...assets.map((name) => `/studio/assets/${name}`)].sort(),
      );
      for (const [path, { status, headers }] of Object.entries(answers)) {
        expect(status, path).toBe(200);
        expect(headers, path).toMatchObject(PROTECTION);
        expect(headers["content-type"], path).toBe(TYPES[extname(path)]);
        expect(headers["cache-control"], path).toBe(
          path === "/studio" ? "no-cache" : "public, max-age=31536000, immutable",
        );
        expect(headers["etag"], path).toMatch(/^"[\w-]+"$/);
      }
    },
    TIMEOUT_MS,
  );
});
