/** Follows the page "Write an extension in fifteen minutes": its extension is tested, packed, installed into a fresh project, listed and run. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { notFull, testUnless } from "@millrace/test-support";
import { sharedFolder } from "@millrace/test-support/folder";
import { fencesOf, readPage } from "@millrace/test-support/pages";
import { expect } from "vitest";

const PACKAGES = fileURLToPath(new URL("../../", import.meta.url));
const BIN = join(PACKAGES, "cli/bin/millrace.js");
const { PATH = "" } = process.env;
const root = sharedFolder();
const project = join(root, "project");
const env = {
  PATH,
  HOME: root,
  XDG_CONFIG_HOME: root,
  XDG_DATA_HOME: root,
  MILLRACE_TRUST_PROJECT: "1",
};

interface Manifest {
  readonly files: readonly string[];
  readonly publishConfig: { readonly exports: object };
}

const OURS = "ai contracts desktop dsl engine extensions services testkit".split(" ");

/** Our packages as they are published, above the project: what npm has put there for the author. */
function installOurs(): void {
  for (const name of OURS) {
    const at = join(root, "node_modules/@millrace", name);
    const file = JSON.parse(readFileSync(join(PACKAGES, name, "package.json"), "utf8")) as Manifest;
    for (const path of file.files.filter((each) => existsSync(join(PACKAGES, name, each)))) {
      cpSync(join(PACKAGES, name, path), join(at, path), { recursive: true });
    }
    const published = { ...file, exports: file.publishConfig.exports };
    writeFileSync(join(at, "package.json"), JSON.stringify(published));
  }
  for (const [name, owner] of [
    ["zod", "contracts"],
    ["semver", "extensions"],
  ] as const) {
    symlinkSync(
      realpathSync(join(PACKAGES, owner, "node_modules", name)),
      join(root, "node_modules", name),
    );
  }
}

function call(
  words: readonly string[],
): Promise<{ readonly code: number; readonly told: string; readonly stdout: string }> {
  const [program = "", ...rest] = words;
  const args = program === "millrace" ? [BIN, ...rest] : rest;
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: project, env }, (error, stdout, stderr) => {
      const code = error === null ? 0 : Number(error.code ?? 1);
      resolve({ code, told: `${words.join(" ")}\n${stdout}${stderr}`, stdout });
    });
  });
}

testUnless(notFull)(
  "the page is enough: its extension passes the suites, installs from its tarball, is listed and runs",
  async () => {
    installOurs();
    const fences = fencesOf(readPage("docs/guide/extensions.md"));
    for (const { language, marks, text } of fences) {
      if (language === "sh") continue;
      const path = join(project, marks[0] ?? "");
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "fresh", private: true }));
    // Offline: peers are there already.
    writeFileSync(join(project, ".npmrc"), "offline=true\nlegacy-peer-deps=true\n");
    let last = "";
    for (const { text } of fences.filter(({ language }) => language === "sh")) {
      for (const line of text.trimEnd().split("\n")) {
        const { code, told, stdout } = await call(line.split(" "));
        expect(code, told).toBe(0);
        last = stdout;
      }
    }
    expect(last).toContain("-13");
    expect(existsSync(join(project, "node_modules/millrace-weather/extension.mjs"))).toBe(true);

    const args = [BIN, "serve", "--port", "0", "--json"];
    const server = spawn(process.execPath, args, {
      cwd: project,
      env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      const [line] = (await once(server.stdout.setEncoding("utf8"), "data")) as [string];
      const { url } = JSON.parse(line) as { url: string };
      const nodes = (await (await fetch(`${url}/api/nodes?limit=200`)).json()) as {
        items: { type: string; state: string; source: { package: string } }[];
      };
      const mine = nodes.items.filter(({ type }) => /^(?:service\.)?weather/.test(type));
      expect(mine.map(({ type, state, source }) => [type, state, source.package])).toEqual(
        ["service.weather-alerts", "weather.chill", "weather.forecast", "weather.vote"].map(
          (type) => [type, "ready", "millrace-weather"],
        ),
      );
      const dsl = readFileSync(join(project, "picnic.flow"), "utf8");
      const ran = await fetch(`${url}/api/run`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ dsl }),
      });
      expect(await ran.text()).toContain('"outputs":{"feels":-13}');
    } finally {
      server.kill("SIGTERM");
      await once(server, "close");
    }
  },
);
