/** What builds make, and what makes them run again. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { packageFolders } from "../scripts/package-folders.mjs";
import { packedProblems } from "../scripts/tarball.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

interface Task {
  readonly package: string;
  readonly directory: string;
  readonly hash: string;
  readonly inputs: Readonly<Record<string, string>>;
}

/** What turbo would build and test of the command, with the hash that decides whether it does. */
function plannedTasks(): readonly Task[] {
  const turbo = join(ROOT, "node_modules/.bin/turbo");
  const args = ["run", "build", "test", "--filter=@millrace/cli", "--dry=json"];
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: "1", TURBO_NO_UPDATE_NOTIFIER: "1" };
  const stdio = ["ignore", "pipe", "ignore"] as const;
  const text = execFileSync(turbo, args, { cwd: ROOT, env, encoding: "utf8", stdio: [...stdio] });
  return (JSON.parse(text) as { tasks: readonly Task[] }).tasks;
}

test("a build or test that is repeated is a full cache hit: what was built or installed is none of its inputs", () => {
  const probe = join(ROOT, "packages/cli/dist/probe.txt");
  const before = plannedTasks();
  writeFileSync(probe, String(Math.random()));
  try {
    expect(plannedTasks().map(({ hash }) => hash)).toEqual(before.map(({ hash }) => hash));
  } finally {
    rmSync(probe);
  }
  for (const { package: name, directory, inputs } of before) {
    const files = Object.keys(inputs);
    expect(
      files.filter((file) => /(?:^|\/)(?:node_modules|dist|out|\.turbo)\//.test(file)),
    ).toEqual([]);
    const configs = readdirSync(join(ROOT, directory)).filter((file) =>
      /^ts(?:config|up)/.test(file),
    );
    expect(files, name).toEqual(expect.arrayContaining(configs));
  }
  const command = before.find(({ package: name }) => name === "@millrace/cli");
  expect(Object.keys(command?.inputs ?? {})).toContain("../../examples/01-hello/hello.flow");
});

test("what configs of builds extend is an input of every build", () => {
  const { globalDependencies } = JSON.parse(readFileSync(join(ROOT, "turbo.json"), "utf8")) as {
    globalDependencies: readonly string[];
  };
  const extended = packageFolders(ROOT).flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((file) => /^tsconfig\.(?:build|node)\.json$/.test(file))
      .map(
        (file) =>
          /"extends": "\.\.\/\.\.\/(.*)"/.exec(readFileSync(join(ROOT, folder, file), "utf8"))?.[1],
      )
      .filter((file) => file !== undefined),
  );
  expect([...new Set(extended)].sort()).toEqual(["tsconfig.library.json", "tsconfig.neutral.json"]);
  expect(globalDependencies).toEqual(expect.arrayContaining([...new Set(extended)]));
});

test("a packed file holds no path of the machine that built it, and no map that leads nowhere", () => {
  const packed = (files: Readonly<Record<string, string>>) =>
    packedProblems(
      new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)])),
      "/home/b/mill",
    );
  const map = (more: object) => JSON.stringify({ version: 3, sources: ["../src/a.ts"], ...more });
  expect(
    packed({
      "package/a.js": "export {};\n//# sourceMappingURL=a.js.map\n",
      "package/a.js.map": map({ sourcesContent: ["export {};"] }),
    }),
  ).toEqual([]);
  expect(
    packed({
      "package/a.js": 'import "late:/home/b/mill/packages/a.ts";\n//# sourceMappingURL=a.js.map\n',
      "package/b.d.ts.map": map({}),
      "package/c.js.map": map({}),
    }),
  ).toEqual([
    "package/a.js: holds the path /home/b/mill",
    "package/a.js: its map is not packed",
    "package/b.d.ts.map: its sources are not packed",
    "package/c.js.map: ../src/a.ts is neither packed nor in the map",
  ]);
});
