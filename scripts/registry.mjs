// A registry of npm on loopback, in memory: what is published there is what it has.
// @see https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md
import { createHash } from "node:crypto";
import { createServer } from "node:http";

/**
 * Starts one on a free port.
 * @returns {Promise<{ url: string, npmrc: string, published: string[], close(): void }>} `npmrc`: lines of an `.npmrc` that asks it
 *   for the scope `@millrace` alone; `published`: `name@version`, in the order in which they came
 */
export async function serveRegistry() {
  const documents = new Map();
  const tarballs = new Map();
  const published = [];
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? "/").slice(1);
    const origin = `http://${request.headers.host}`;
    if (request.method === "PUT") {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      take(JSON.parse(String(Buffer.concat(chunks))), origin);
      response.writeHead(201).end("{}");
    } else if (tarballs.has(path)) response.end(tarballs.get(path));
    else if (documents.has(path)) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(documents.get(path)));
    } else response.writeHead(404).end("{}");
  });
  function take({ name, versions, "dist-tags": tags, _attachments }, origin) {
    for (const [version, manifest] of Object.entries(versions)) {
      const [{ data }] = Object.values(_attachments);
      const bytes = Buffer.from(data, "base64");
      const path = `${name}/-/${version}.tgz`;
      const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
      tarballs.set(path, bytes);
      const known = documents.get(name) ?? { name, versions: {} };
      known["dist-tags"] = { ...known["dist-tags"], ...tags };
      known.versions[version] = { ...manifest, dist: { tarball: `${origin}/${path}`, integrity } };
      documents.set(name, known);
      published.push(`${name}@${version}`);
    }
  }
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  return {
    url,
    npmrc: `@millrace:registry=${url}\naudit=false\nfund=false\nupdate-notifier=false\n`,
    published,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
