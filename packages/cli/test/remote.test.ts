/** Commands on connections that ask a server: the token goes there and nowhere else. */
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { world } from "./api-world.ts";
import { scratch } from "./cli.ts";
import { inside } from "./inside.ts";

const TOKEN = "planted-token-of-a-server";
const KEY = Buffer.alloc(32, 7).toString("base64");
const LIST = ["connections", "list", "--json"];

test("a server that wants a token is given the one of the variable, the file or the store; without one, 5", async () => {
  const { url } = await world({ tokens: [TOKEN] });
  const home = scratch({
    "config.json": `{ "credentials": { "store": "file" }, "server": { "url": "${url}" } }`,
    token: `# of the server\n${TOKEN}\n`,
  });
  const env = { MILLRACE_HOME: home, MILLRACE_CREDENTIAL_KEY: KEY };
  const none = await inside(LIST, { env });
  expect([none.code, none.stdout, JSON.parse(none.stderr).code]).toEqual([5, "", "unauthorized"]);
  const wrong = await inside(LIST, { env: { ...env, MILLRACE_TOKEN: "another-token" } });
  expect(wrong.code).toBe(5);
  for (const given of [
    inside(LIST, { env: { ...env, MILLRACE_TOKEN: TOKEN } }),
    inside([...LIST, "--token-file", `${home}/token`], { env }),
  ]) {
    const { code, stdout, stderr } = await given;
    expect([code, stdout], stderr).toEqual([0, '{"items":[]}\n']);
  }
  const unknown = await inside(["connect", "nope", "--server", url], {
    env: { ...env, MILLRACE_TOKEN: TOKEN },
  });
  expect([unknown.code, unknown.stderr.includes('no service "nope"')]).toEqual([2, true]);
});

test("a token is not sent without TLS to another machine, and over no redirect", async () => {
  const env = { MILLRACE_TOKEN: TOKEN };
  const clear = await inside([...LIST, "--server", "http://server.example"], { env });
  expect([clear.code, clear.stderr.includes("has no TLS")]).toEqual([2, true]);
  expect((await inside([...LIST, "--server", "https://me:pw@server.example"], { env })).code).toBe(
    2,
  );
  const asked: string[] = [];
  const elsewhere = await serveHttp((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(307, { location: "/stolen" }).end();
  });
  const url = `${elsewhere.url}/base`;
  const { code, stdout, stderr } = await inside([...LIST, "--server", url], { env });
  expect([code, stdout, asked], stderr).toEqual([6, "", ["/base/api/invoke"]]);
  expect(stderr).toContain("answered 307");
  expect(stderr).not.toContain(TOKEN);
});
