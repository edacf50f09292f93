/** Extensions as packages: from a tarball and from a registry. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { notFull, testUnless } from "@millrace/test-support";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect } from "vitest";
import { scratch } from "./cli.ts";
import { project, write } from "./extension-world.ts";

testUnless(notFull)(
  "a tarball is installed without its scripts, with its integrity, and only packed when its catalog is true",
  async () => {
    const { cwd, call, json } = project();
    const sources = scratch();
    const marker = join(cwd, "script.txt");
    write(sources, "weather", {
      file: {
        scripts: { postinstall: `touch ${marker}`, prepack: `touch ${marker}` },
        files: ["dist"],
      },
    });
    const stale = await call("ext", "pack", sources);
    expect(stale.code).toBe(1);
    expect(stale.stderr).toContain("millrace ext build");
    await call("ext", "build", sources);
    const packed = await call("ext", "pack", sources);
    const file = packed.stdout.trim();
    expect(file).toBe(join(sources, "acme-weather-1.0.0.tgz"));
    expect((await call("ext", "add", file, "--yes")).code).toBe(0);
    expect(json("millrace.json")).toEqual({ extensions: ["@acme/weather"] });
    expect(json("millrace.lock.json")["extensions"]).toMatchObject({
      "@acme/weather": { source: "tarball", integrity: expect.stringMatching(/^sha512-/) },
    });
    expect(existsSync(marker)).toBe(false);
    const installed = join(cwd, "node_modules/@acme/weather");
    expect(existsSync(installed)).toBe(true);
    await call("ext", "remove", "@acme/weather");
    expect(existsSync(installed)).toBe(false);

    // From a registry, into a project that depends on it already.
    writeFileSync(join(cwd, ".npmrc"), `registry=${await registryOf(file)}\nfetch-retries=0\n`);
    const before = { name: "p", private: true, dependencies: { "@acme/weather": "1.0.0" } };
    writeFileSync(join(cwd, "package.json"), JSON.stringify(before));
    const added = await call("ext", "add", "@acme/weather@1.0.0", "--yes");
    expect(added.code, added.stderr).toBe(0);
    expect(json("millrace.lock.json")["extensions"]).toMatchObject({
      "@acme/weather": { source: "npm", integrity: integrityOf(file), dependency: true },
    });
    expect((await call("run", "f.flow")).code).toBe(0);
    expect((await call("ext", "remove", "@acme/weather")).code).toBe(0);
    expect(json("millrace.lock.json")["extensions"]).toEqual({});
    expect(existsSync(installed)).toBe(true);
    expect(existsSync(marker)).toBe(false);
  },
);

function integrityOf(file: string): string {
  return `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`;
}

/** A registry of one package, on loopback. */
async function registryOf(file: string): Promise<string> {
  const name = "@acme/weather";
  const server = await serveHttp((request, response) => {
    if (request.url?.endsWith(".tgz") === true) return response.end(readFileSync(file));
    const dist = { tarball: `${url}/weather.tgz`, integrity: integrityOf(file) };
    const versions = { "1.0.0": { name, version: "1.0.0", dist } };
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify({ name, "dist-tags": { latest: "1.0.0" }, versions }));
  });
  const url = server.url;
  return url;
}
