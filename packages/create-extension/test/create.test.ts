/** A scaffold tests green, builds, packs, is added, trusted and run as its README says, from the packed packages, and overwrites nothing. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createExtension, KINDS, main } from "@millrace/create-extension";
import { describeUnless, notFull } from "@millrace/test-support";
import { sharedFolder } from "@millrace/test-support/folder";
import { beforeAll, expect, test } from "vitest";
import { type Packed, packAll } from "../../../test/support/packed.ts";

/** A limit for what hangs: a dozen processes one after the other, some of them npm's, on a machine that has other things to do. */
const TIMEOUT_MS = 300_000;

const root = sharedFolder();

/** What the last command of the README comes to where nobody answers and nothing is connected. */
const ENDS = {
  action: { args: "", status: 5, says: "the secret API_KEY is not set" },
  provider: { args: "", status: 5, says: "millrace secrets set ai:providers" },
  node: { args: " --yes", status: 0, says: '"agreed":1' },
  service: { args: "", status: 5, says: "millrace connect services" },
} as const;

const { PATH = "" } = process.env;

function shell(line: string, cwd: string, folder: string) {
  const home = join(root, "home");
  return spawnSync("sh", ["-e", "-c", line], {
    cwd,
    encoding: "utf8",
    timeout: TIMEOUT_MS,
    env: {
      PATH: [join(folder, "node_modules/.bin"), PATH].join(delimiter),
      HOME: home,
      XDG_CONFIG_HOME: home,
      XDG_DATA_HOME: join(folder, "data"),
      MILLRACE_CREDENTIALS_STORE: "memory",
      npm_config_offline: "true",
      npm_config_legacy_peer_deps: "true", // there already
      npm_config_update_notifier: "false",
    },
  });
}

/** What a reader walks through to the end: each kind, and one of them in TypeScript. */
const WALKED = [
  ...KINDS.map((kind) => ({ kind, template: "js" as const })),
  { kind: "node" as const, template: "ts" as const },
];

describeUnless(notFull)("a scaffold", () => {
  let packed: Packed;
  beforeAll(() => {
    packed = packAll();
  }, TIMEOUT_MS);

  test.each(WALKED)(
    "the README of $kind in $template is right from the first command to the last",
    async ({ kind, template }) => {
      const folder = join(root, `${kind}-${template}`);
      const paths = await createExtension({
        kind,
        template,
        name: `@acme/millrace-${kind}s`,
        folder,
      });
      expect(paths).toContain(`src/extension.${template}`);
      const readme = readFileSync(join(folder, "README.md"), "utf8");
      const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)];
      const lines = blocks
        .flatMap(([, text = ""]) => text.trimEnd().split("\n"))
        .map((line) => line.replace(/\s+#.*$/, ""))
        .filter((line) => !line.startsWith("PATH="));
      expect(lines[0]).toBe("npm install");
      expect(lines.at(-1)).toBe("millrace run example.flow");
      packed.install(folder);
      let cwd = folder;
      for (const line of lines.slice(1, -1)) {
        if (line === "cd example") {
          cwd = join(folder, "example");
        } else if (!/^millrace (?:secrets|connect) /.test(line)) {
          const words = line.startsWith("millrace ext add") ? `${line} --yes` : line;
          const { status, stdout, stderr } = shell(words, cwd, folder);
          expect(status, `${line}\n${stdout}${stderr}`).toBe(0);
          if (line === "npm test") expect(stdout).toMatch(/(?:#|ℹ) pass [1-9]/);
        }
      }
      const { args, status, says } = ENDS[kind];
      const run = shell(`millrace run example.flow --json${args}`, cwd, folder);
      expect(run.stdout + run.stderr).toContain(says);
      expect(run.status).toBe(status);
      if (kind === "provider") {
        const program = `
          import extension from "./src/extension.js";
          const model = extension.providers[0].create({}, {}).languageModel("small", { credentials: {} });
          model.doStream({ prompt: [] }).catch(({ code, message }) => console.log(code + ": " + message));
        `;
        const words = ["--input-type=module", "--eval", program];
        const { stdout } = spawnSync(process.execPath, words, { cwd: folder, encoding: "utf8" });
        expect(stdout).toMatch(
          /^credentials_missing: (\S+) has no key: millrace secrets set ai:\1 stores one\n$/,
        );
      }
      const dry = shell("npm publish --dry-run --ignore-scripts --json", folder, folder);
      const files = JSON.stringify(JSON.parse(dry.stdout));
      expect(files).toContain(template === "ts" ? "dist/src/extension.d.ts" : "src/extension.js");
      expect(files).not.toContain(".test.");
    },
    TIMEOUT_MS,
  );

  test.each(KINDS.filter((kind) => kind !== "node"))(
    "a scaffold of kind %s in TypeScript compiles, and its tests pass",
    async (kind) => {
      const folder = join(root, `${kind}-typed`);
      await createExtension({ kind, template: "ts", name: `@acme/typed-${kind}s`, folder });
      packed.install(folder);
      const { status, stdout, stderr } = shell("npm test", folder, folder);
      expect(status, `${stdout}${stderr}`).toBe(0);
      expect(stdout).toMatch(/(?:#|ℹ) pass [1-9]/);
    },
    TIMEOUT_MS,
  );
});

test("a file that is there stays as it is, and nothing is written", async () => {
  const folder = join(root, "twice");
  await createExtension({ kind: "node", name: "first", folder });
  const before = readFileSync(join(folder, "README.md"), "utf8");
  await expect(createExtension({ kind: "node", name: "other", folder })).rejects.toThrow(
    /README\.md.* exist already; nothing was written/,
  );
  expect(readFileSync(join(folder, "README.md"), "utf8")).toBe(before);
});

test("the manifest asks for versions of Millrace that exist, and names a repository", async () => {
  const folder = join(root, "manifest");
  await createExtension({ kind: "action", name: "@acme/millrace-weather", folder });
  const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const { version } = read(new URL("../package.json", import.meta.url).pathname);
  const manifest = read(join(folder, "package.json"));
  expect(manifest.peerDependencies).toEqual({ "@millrace/contracts": `^${version}` });
  expect(manifest.devDependencies["@millrace/cli"]).toBe(`^${version}`);
  expect(manifest.repository.url).toBe("git+https://github.com/acme/millrace-weather.git");
});

test("the command says what it wrote, and what it wants", async () => {
  const told: string[] = [];
  const io = {
    cwd: root,
    out: (line: string) => void told.push(line),
    err: (line: string) => void told.push(line),
  };
  expect(await main(["--name", "weather"], io)).toBe(0);
  expect(told.at(-1)).toMatch(/^next: cd .*weather && npm install && npm test$/);
  expect(readdirSync(join(root, "weather/src"))).toEqual(["extension.js"]);
  expect(await main(["--name", "typed", "--template", "ts"], io)).toBe(0);
  expect(readdirSync(join(root, "typed/src"))).toEqual(["extension.ts"]);
  expect(await main(["--kind", "nonsense", "--name", "x"], io)).toBe(2);
  expect(told.at(-1)).toBe('--kind is one of action, provider, node, service, not "nonsense"');
  expect(await main(["--template", "coffee", "--name", "x"], io)).toBe(2);
  expect(told.at(-1)).toBe('--template is one of js, ts, not "coffee"');
  expect(await main(["--name", "No Name"], io)).toBe(2);
  expect(await main(["--name", "weather"], io)).toBe(2);
});
