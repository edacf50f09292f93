/** A registry of npm on loopback that has our packed packages; npm asks it for the scope `@millrace` alone. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { readTarball } from "../../scripts/tarball.mjs";

/** A registry that listens. */
export interface Registry {
  /** The lines of an `.npmrc` that asks it. */
  readonly npmrc: string;
  close(): void;
}

interface Release {
  readonly name: string;
  readonly version: string;
  readonly manifest: object;
  readonly bytes: Buffer;
}

/** Serves the tarballs of a folder, as a registry shows packages. @see https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md */
export async function serveRegistry(tarballs: string): Promise<Registry> {
  const releases = readdirSync(tarballs).map((file) => readRelease(join(tarballs, file)));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "/").slice(1);
    const packed = releases.find(({ name, version }) => path === `${name}/-/${version}.tgz`);
    const shown = releases.find(({ name }) => path === name);
    if (packed !== undefined) response.end(packed.bytes);
    else if (shown === undefined) response.writeHead(404).end("{}");
    else {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(packument(shown, `http://${request.headers.host}`)));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    npmrc: `@millrace:registry=http://127.0.0.1:${port}/\naudit=false\nfund=false\nupdate-notifier=false\n`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function readRelease(file: string): Release {
  const manifest = JSON.parse(String(readTarball(file).get("package/package.json")));
  const { name, version } = manifest as { readonly name: string; readonly version: string };
  return { name, version, manifest, bytes: readFileSync(file) };
}

function packument({ name, version, manifest, bytes }: Release, origin: string): object {
  const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  const dist = { tarball: `${origin}/${name}/-/${version}.tgz`, integrity };
  return {
    name,
    "dist-tags": { latest: version },
    versions: { [version]: { ...manifest, dist } },
  };
}
