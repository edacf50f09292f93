import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { client } from "@millrace/test-support/flows";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, onTestFinished, test } from "vitest";

/** A name server that answers every question for an address with the next of a list of address sets; the last one stays. */
async function nameServer(answers: readonly (readonly string[])[]) {
  const socket = createSocket("udp4");
  let asked = 0;
  socket.on("message", (query, from) => {
    const end = query.indexOf(0, 12) + 5; // the name ends with a zero byte, then type and class
    const question = query.subarray(12, end);
    const isA = question.readUInt16BE(question.length - 4) === 1;
    const addresses = isA ? (answers[Math.min(asked, answers.length - 1)] ?? []) : [];
    if (isA) asked += 1;
    const records = addresses.map((address) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split(".").map(Number)]),
    );
    const head = Buffer.from([0, 0, 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0]);
    query.copy(head, 0, 0, 2);
    socket.send(Buffer.concat([head, question, ...records]), from.port, from.address);
  });
  await new Promise<void>((ready) => socket.bind(0, "127.0.0.1", ready));
  onTestFinished(() => void socket.close());
  const resolver = new Resolver({ timeout: 2_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return { resolve: (host: string) => resolver.resolve4(host), asked: () => asked };
}

test("a name is asked for once for a connection, and its address is the one that is connected to", async () => {
  const { url, port } = await serveHttp((request, response) => response.end(request.headers.host));
  const names = await nameServer([["127.0.0.1"], ["10.0.0.1"]]);
  const fetch = client({}, names.resolve);
  expect(await (await fetch(`http://app.example:${port}/`)).text()).toBe(`app.example:${port}`);
  expect(names.asked()).toBe(1);
  expect(url).toContain("127.0.0.1");
});

test("a name that turns to a private address is refused at the next connection", async () => {
  const { port } = await serveHttp((_request, response) => {
    response.writeHead(200, { connection: "close" }).end("first");
  });
  const names = await nameServer([["127.0.0.1"], ["10.0.0.1"]]);
  const fetch = client({}, names.resolve);
  const url = `http://rebind.example:${port}/`;
  expect(await (await fetch(url)).text()).toBe("first");
  await expect(fetch(url)).rejects.toMatchObject({
    code: "egress_denied",
    message: expect.stringContaining("private-address"),
    sent: false,
  });
});

test("one private address among several refuses the name, whichever comes first", async () => {
  const { port } = await serveHttp((_request, response) => response.end("never"));
  for (const addresses of [
    ["127.0.0.1", "10.0.0.1"],
    ["10.0.0.1", "127.0.0.1"],
  ]) {
    const names = await nameServer([addresses]);
    const fetch = client({}, names.resolve);
    await expect(fetch(`http://mixed.example:${port}/`)).rejects.toMatchObject({
      code: "egress_denied",
    });
  }
});

test("the first address that answers is used when a name has several", async () => {
  const { port } = await serveHttp((_request, response) => response.end("reached"));
  const names = await nameServer([["127.0.0.2", "127.0.0.1"]]);
  const fetch = client({ allow: [{ cidr: "127.0.0.2/32" }] }, names.resolve);
  expect(await (await fetch(`http://two.example:${port}/`)).text()).toBe("reached");
});

test("a host that is allowed by name may have a private address, on the port that is named", async () => {
  const { port } = await serveHttp((_request, response) => response.end("inner"));
  const names = await nameServer([["127.0.0.1"]]);
  const { createNodeHost } = await import("@millrace/engine/node");
  const open = (allow: { host: string; port?: number }[]) =>
    createNodeHost({ resolve: names.resolve }).openFetch({ allow });
  const url = `http://inner.example:${port}/`;
  expect(await (await open([{ host: "inner.example" }])(url)).text()).toBe("inner");
  expect(await (await open([{ host: "INNER.example", port }])(url)).text()).toBe("inner");
  expect(await (await open([{ host: "*.example" }])(url)).text()).toBe("inner");
  for (const rule of [{ host: "inner.example", port: port + 1 }, { host: "*.inner.example" }]) {
    await expect(open([rule])(url)).rejects.toMatchObject({ code: "egress_denied" });
  }
});

test("a name that never gets an answer fails with dns", async () => {
  const names = await nameServer([[]]);
  const fetch = client({}, names.resolve);
  await expect(fetch("http://none.example/")).rejects.toMatchObject({ code: "dns", sent: false });
});
