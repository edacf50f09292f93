/** A hub of strangers behind HTTPS, as the command meets it: here, and on a server that is named. */
import { createHash } from "node:crypto";
import { createServer } from "node:https";
import { join } from "node:path";
import { notFull, testUnless } from "@millrace/test-support";
import { makeCertificate } from "@millrace/test-support/certificate";
import { started } from "@millrace/test-support/loopback";
import { expect } from "vitest";
import { millrace, scratch, start, urlOf } from "./cli.ts";
import { flow } from "./inside.ts";

const FLOW = flow("node say: log {", '  message = "from afar"', "}").replace(
  "flow 1 x",
  "flow 1 hello",
);
const INDEX = "/hub/millrace-hub.json";
const PATH = "/hub/templates/hello.flow";

function indexOf(text: string, serial = 1): string {
  const digest = `sha256:${createHash("sha256").update(text).digest("hex")}`;
  const item = { id: "hello", kind: "template", version: "1.2.0", digest };
  const more = { bytes: Buffer.byteLength(text), path: "templates/hello.flow", title: "Hello" };
  return JSON.stringify({ millraceHub: 1, name: "Ours", serial, items: [{ ...item, ...more }] });
}

/** A hub whose files a test may change, and a home in which it may be reached and its certificate counts. */
async function hub() {
  const files = new Map([
    [INDEX, indexOf(FLOW)],
    [PATH, FLOW],
  ]);
  const certificate = makeCertificate();
  const server = createServer(certificate, ({ url = "" }, response) => {
    const file = files.get(url);
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  const { url: origin, close } = await started(server, "https");
  const home = scratch({
    "config.json": '{ "egress": { "allow": [{ "cidr": "127.0.0.1/32" }] } }',
    "ca.pem": certificate.cert,
  });
  const url = `${origin}/hub`;
  const env = { MILLRACE_HOME: home, NODE_EXTRA_CA_CERTS: join(home, "ca.pem") };
  return { files, url, env, close };
}

for (const where of ["here", "on a server"]) {
  testUnless(notFull)(
    `is synced and installed from, and what it lies about is refused: ${where}`,
    async () => {
      const { files, url, env, close } = await hub();
      const cwd = scratch();
      const more: string[] = [];
      if (where === "on a server") {
        const server = start(["serve", "--port", "0", "--json"], { env });
        more.push("--server", await urlOf(server));
      }
      const tell = async (words: string) => {
        const { code, stdout, stderr } = await millrace([...words.split(" "), ...more], {
          cwd,
          env,
        });
        return [code, stdout, stderr] as const;
      };
      expect(await tell(`hubs add ${url} --id ours`)).toEqual([0, "ours\n", expect.any(String)]);
      const synced = expect.stringMatching(/^ours is at 1, synced /);
      expect(await tell("hubs sync ours")).toEqual([0, "", synced]);

      files.set(PATH, FLOW.replace("afar", "evil"));
      const install = "hubs install ours/hello --yes";
      const lie = "templates/hello.flow is not what the index of the hub says";
      expect(await tell(install)).toEqual([6, "", expect.stringContaining(lie)]);
      files.set(PATH, FLOW);
      const stored = expect.stringContaining("hello is stored, version 1");
      expect(await tell(install)).toEqual([0, "", stored]);

      files.set(INDEX, "<!doctype html><p>sign in</p>");
      const page = "error: ours: The index is not JSON that can be read\n";
      expect(await tell("hubs sync ours")).toEqual([6, "", page]);
      await close();
      const down = expect.stringMatching(/^\{.*"detail":"ours: .*\}\n$/);
      expect(await tell("hubs sync ours --json")).toEqual([6, "", down]);
    },
  );
}
