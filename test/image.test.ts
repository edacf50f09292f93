/**
 * A release, and what the image of `deploy/Dockerfile` does with it, without a container and as a user without rights: packages are
 * published to a registry on loopback, the npm step of the image installs them from there into an empty folder, its command serves
 * with its environment, its health check asks. A newcomer's first commands work with what was installed, those of the README among
 * them. The steps of the base image are not run.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { notFull, testUnless } from "@millrace/test-support";
import { fencesOf, readPage } from "@millrace/test-support/pages";
import { freePort } from "@millrace/test-support/ports";
import { machinePath } from "@millrace/test-support/programs";
import { expect, onTestFinished } from "vitest";
import { serveRegistry } from "../scripts/registry.mjs";
import { publishedManifests, publishOrder } from "../scripts/release.mjs";
import { ROOT } from "./support/packed.ts";

/** Installing what we need of others from npm's registry takes a minute on a slow line. */
const TIMEOUT_MS = 600_000;
/** The user of whom nothing is: `nobody`. Only root can be another user. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The instructions of a Dockerfile, one a line, without comments. */
function instructionsOf(dockerfile: string): readonly Instruction[] {
  return dockerfile
    .replace(/^#.*\n/gm, "")
    .replace(/\\\n/g, "")
    .split("\n")
    .map((line) => /^([A-Z]+) (.*)$/.exec(line.trim()))
    .flatMap((match) => (match === null ? [] : [{ name: match[1] ?? "", text: match[2] ?? "" }]));
}

/** How npm reaches packages of others from this machine, as lines of an `.npmrc`; another prefix has no global one. */
function networkOfNpm(): string {
  return ["registry", "cafile", "proxy", "https-proxy"]
    .map((name) => [
      name,
      execFileSync("npm", ["config", "get", name], { encoding: "utf8" }).trim(),
    ])
    .filter(([, value]) => value !== "null" && value !== "undefined")
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

testUnless(notFull)(
  "what is released installs, does what the README shows, serves, answers its health check and ends, as a user without rights",
  async () => {
    const home = mkdtempSync(join(tmpdir(), "millrace-image-"));
    onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
    chmodSync(home, 0o755);
    const [prefix, data, work] = ["opt", "data", "work"].map((name) => join(home, name)) as [
      string,
      string,
      string,
    ];
    for (const folder of [home, prefix, data, work]) {
      mkdirSync(folder, { recursive: true });
      if (NOBODY.uid !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid);
    }
    const registry = await serveRegistry();
    onTestFinished(() => registry.close());
    const wanted = ["cli", "store-postgres", "restate"].map((name) => `@millrace/${name}`);
    const order = publishOrder(publishedManifests(), wanted).map(({ name }) => name);
    const release = async (): Promise<string> => {
      const words = [
        "--dry-run",
        "--registry",
        registry.url,
        ...wanted.flatMap((name) => ["--only", name]),
      ];
      const args = [join(ROOT, "scripts/release.mjs"), ...words];
      const more = { env: { ...process.env, PATH: machinePath() } };
      return (await promisify(execFile)(process.execPath, args, more)).stdout;
    };
    expect((await release()).trim().split("\n")).toEqual(registry.published);
    expect(registry.published.map((one) => one.replace(/@[^@]*$/, ""))).toEqual(order);
    expect(await release()).toBe("every version is published already\n");
    writeFileSync(join(home, "npmrc"), `${registry.npmrc}${networkOfNpm()}`);
    const inside = (text: string): string =>
      text.replaceAll("/opt/millrace", prefix).replaceAll(/(?<=[ =])\/data\b/g, data);

    const steps = instructionsOf(readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8"));
    const all = (name: string): readonly string[] =>
      steps.filter((step) => step.name === name).map(({ text }) => inside(text));
    const listOf = (name: string): readonly string[] => JSON.parse(all(name)[0] ?? "[]");
    const settings = [...all("ENV"), ...all("ARG")].flatMap((text) =>
      text.split(/\s+/).map((pair) => pair.split("=") as [string, string]),
    );
    const env = {
      ...{ HOME: home, npm_config_userconfig: join(home, "npmrc") },
      ...Object.fromEntries(settings),
      PATH: [join(prefix, "bin"), machinePath()].join(delimiter),
    };
    const launch = (words: readonly string[], more: object = {}): ChildProcess => {
      const [command = "", ...args] = words;
      const options = { cwd: work, env: { ...env, ...more }, ...NOBODY };
      return spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    };
    const run = async (words: readonly string[], more?: object): Promise<Ended> => {
      const child = launch(words, more);
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on("data", (chunk) => {
          output += String(chunk);
        });
      }
      const [code] = (await once(child, "close")) as [number | null];
      return { code, output };
    };

    const [install = ""] = all("RUN");
    const installed = await run(["sh", "-e", "-c", install]);
    expect(installed, installed.output).toMatchObject({ code: 0 });

    const fences = fencesOf(readPage("README.md"));
    const [story = "", project = ""] = fences
      .filter(({ language, text }) => language === "sh" && text.includes("millrace init"))
      .map(({ text }) => text.trim());
    const [flow = ""] = fences
      .filter(({ language }) => language === "flow")
      .map(({ text }) => text);
    const memory = { MILLRACE_CREDENTIALS_STORE: "memory" };
    for (const line of project.split("\n")) {
      const done = await run(["sh", "-e", "-c", line], memory);
      expect(done, `${line}: ${done.output}`).toMatchObject({ code: 0 });
    }
    // Where the page waits three seconds, this waits for what is seen after two of them.
    const port8787 = await freePort();
    writeFileSync(join(work, "digest.flow"), flow.replace(":8787", `:${port8787}`));
    const script = story
      .replace("node server.mjs &", `node server.mjs ${port8787} & server=$! #`)
      .replace(
        "& sleep 3;",
        "2> told & until grep -q 'succeeded  summary' told; do sleep 0.1; done;",
      );
    expect(script).toContain("until grep");
    const told = await run(["bash", "-c", `trap 'kill $server' EXIT\n${script}`], memory);
    expect(told.code, told.output).toBe(0);
    expect(told.output).toContain("recovered");
    expect(told.output).not.toMatch(/succeeded {2}(?:page|summary)/);
    expect(told.output).toContain('Sum up: {"id":50,"value":100}');

    const traced = { ...memory, OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
    const lone = await run(["millrace", "run", "my-flows/flows/hello.flow"], traced);
    expect(lone.code, lone.output).toBe(0);
    expect(lone.output.match(/^warning: .*$/gm)).toEqual([
      expect.stringMatching(/are not installed: npm install @opentelemetry\/api@/),
    ]);

    const [init0, ...entry] = listOf("ENTRYPOINT");
    expect([init0, entry.shift()]).toEqual(["tini", "--"]);
    const secrets = {
      MILLRACE_TOKEN: "the-token-of-the-image-test",
      MILLRACE_CREDENTIAL_KEY: Buffer.alloc(32, 7).toString("base64"),
    };
    const port = { MILLRACE_SERVE_HOST: "127.0.0.1", MILLRACE_PORT: "0" };
    const server = launch([...entry, ...listOf("CMD"), "--json"], { ...secrets, ...port });
    onTestFinished(() => void server.kill("SIGKILL"));
    server.stderr?.resume();
    const lines = createInterface({ input: server.stdout as NonNullable<typeof server.stdout> });
    const [line] = (await once(lines, "line")) as [string];
    const { url } = JSON.parse(line) as { readonly url: string };
    const [, check = ""] = /CMD (\[.*\])/.exec(all("HEALTHCHECK")[0] ?? "") ?? [];
    const probe = JSON.parse(check.replaceAll("http://127.0.0.1:6455", url)) as readonly string[];
    expect(await run(probe)).toEqual({ code: 0, output: "" });
    server.kill(all("STOPSIGNAL")[0] as NodeJS.Signals);
    expect(await once(server, "exit")).toEqual([0, null]);
    expect((await run(probe)).code).toBe(1);
  },
  TIMEOUT_MS,
);
