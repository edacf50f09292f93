/** The files under `deploy`, against the page of a server that has worked: rules, dashboard, and what Prometheus says to all. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeWith } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, test } from "vitest";
import { HELLO } from "./support/flows.ts";
import { post, serve } from "./support/server.ts";
import { readEvents } from "./support/streams.ts";

const FOLDER = fileURLToPath(new URL("../../../deploy/", import.meta.url));
const RULES = `${FOLDER}prometheus/rules.yml`;
const DASHBOARD = `${FOLDER}grafana/millrace.json`;

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const dashboard = (): Dashboard => JSON.parse(readFileSync(DASHBOARD, "utf8")) as Dashboard;

async function pageOf(): Promise<string> {
  const server = await serve();
  await readEvents(await post(server, "/api/run", { dsl: HELLO }));
  await (await fetch(`${server.url}/api/metrics`)).text();
  return (await fetch(`${server.url}/api/metrics`)).text();
}

test("every metric that a rule or the dashboard names is on the page of a server", async () => {
  const page = await pageOf();
  const names = new Set([...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const used = [
    readFileSync(RULES, "utf8"),
    ...dashboard().panels.map((one) => JSON.stringify(one)),
  ]
    .flatMap((text) => [...text.matchAll(/\b(?:millrace|process|nodejs)_[a-z_]+/g)])
    .map(([name]) => name);
  const known = (name: string) => names.has(name) || names.has(name.replace(SUFFIX, ""));
  expect(used.length).toBeGreaterThan(40);
  expect([...new Set(used)].filter((name) => !known(name))).toEqual([]);
});

/** What a histogram adds to its name. */
const SUFFIX = /_(?:bucket|sum|count)$/;

describeWith("promtool")("promtool", () => {
  const promtool = (words: readonly string[], input = "") =>
    spawnSync("promtool", words, { input, encoding: "utf8", cwd: `${FOLDER}prometheus` });

  test("takes the page of a server, and finds nothing to say of names and helps", async () => {
    const { status, stdout, stderr } = promtool(["check", "metrics"], await pageOf());
    expect([status, stdout, stderr]).toEqual([0, "", ""]);
  });

  test("takes the configuration that reads a server", () => {
    const { status, stderr } = promtool(["check", "config", "--syntax-only", "prometheus.yml"]);
    expect([status, stderr]).toEqual([0, ""]);
  });

  test("takes the rules, and each raises its alert when it should and not before", () => {
    const checked = promtool(["check", "rules", "rules.yml"]);
    expect([checked.status, checked.stdout]).toEqual([0, expect.stringContaining("rules found")]);
    const tried = promtool(["test", "rules", "rules.test.yml"]);
    expect([tried.status, tried.stdout + tried.stderr]).toEqual([
      0,
      expect.stringContaining("SUCCESS"),
    ]);
    const rules = readFileSync(RULES, "utf8");
    const tests = readFileSync(`${FOLDER}prometheus/rules.test.yml`, "utf8");
    for (const [, name] of rules.matchAll(/alert: (\w+)/g)) expect(tests).toContain(`"${name}"`);
  });

  test("takes every query of the dashboard as the expression of a rule", () => {
    const queries = dashboard().panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const rules = queries.map((expr, at) => {
      const written = expr.replaceAll("$__rate_interval", "5m").replace(/\$\w+/g, ".*");
      return { record: `query:${at}`, expr: written };
    });
    const file = join(temporaryFolder(), "rules.yml");
    writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] })); // JSON is YAML
    const { status, stderr } = promtool(["check", "rules", file]);
    expect([status, stderr]).toEqual([0, expect.any(String)]);
  });
});
