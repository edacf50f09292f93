import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { client } from "@millrace/test-support/flows";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";

const TEXT = "the water turns the wheel\n".repeat(200);

function encoded(body: Uint8Array, encoding: string) {
  return serveHttp((_request, response) => {
    response.writeHead(200, { "content-encoding": encoding }).end(body);
  });
}

test.each([
  ["gzip", gzipSync(TEXT)],
  ["x-gzip", gzipSync(TEXT)],
  ["GZIP", gzipSync(TEXT)],
  ["deflate", deflateSync(TEXT)],
  ["deflate", deflateRawSync(TEXT)],
  ["br", brotliCompressSync(TEXT)],
  ["identity", Buffer.from(TEXT)],
  ["gzip, br", brotliCompressSync(gzipSync(TEXT))],
  ["gzip, deflate", deflateSync(gzipSync(TEXT))],
])("a body in %s is decoded", async (encoding, body) => {
  const { url } = await encoded(body, encoding);
  expect(await (await client()(url)).text()).toBe(TEXT);
});

test.each([
  ["an unknown encoding", "zstd", Buffer.from(TEXT)],
  ["too many encodings", "gzip, gzip, gzip, gzip", gzipSync(TEXT)],
  ["bytes that are not gzip", "gzip", Buffer.from(TEXT)],
  ["bytes that are not brotli", "br", Buffer.from(TEXT)],
  ["gzip that is cut", "gzip", gzipSync(TEXT).subarray(0, 40)],
  ["brotli that is cut", "br", brotliCompressSync(TEXT).subarray(0, 20)],
])("%s fails with decode_failed", async (_name, encoding, body) => {
  const { url } = await encoded(body, encoding);
  const answer = await client()(url);
  await expect(answer.text()).rejects.toMatchObject({ code: "decode_failed", reason: "output" });
});

test.each([
  ["gzip", gzipSync(Buffer.alloc(64 * 1_048_576))],
  ["br", brotliCompressSync(Buffer.alloc(64 * 1_048_576))],
  ["deflate", deflateSync(Buffer.alloc(64 * 1_048_576))],
])("a %s bomb ends once it has grown a hundredfold", async (encoding, bomb) => {
  const { url } = await encoded(bomb, encoding);
  const answer = await client({ maxResponseBytes: 1_000_000_000 })(url);
  let bytes = 0;
  const read = async () => {
    for await (const part of answer.body ?? []) bytes += part.length;
  };
  await expect(read()).rejects.toMatchObject({
    code: "response_too_large",
    message: expect.stringContaining("100 times"),
  });
  expect(bytes).toBeLessThan(8 * 1_048_576);
});

test("a small body may grow more than a hundredfold", async () => {
  const { url } = await encoded(gzipSync(Buffer.alloc(1_000_000)), "gzip");
  expect((await (await client()(url)).arrayBuffer()).byteLength).toBe(1_000_000);
});

test("the limit counts decoded bytes, of the policy or of the request, whichever is less", async () => {
  const { url } = await encoded(gzipSync(TEXT), "gzip");
  const size = TEXT.length;
  const large = { code: "response_too_large", reason: "limit", sent: true };
  expect(await (await client({ maxResponseBytes: size })(url)).text()).toBe(TEXT);
  const byPolicy = await client({ maxResponseBytes: size - 1 })(url, { maxBytes: size });
  await expect(byPolicy.text()).rejects.toMatchObject(large);
  const byRequest = await client()(url, { maxBytes: size - 1 });
  await expect(byRequest.text()).rejects.toMatchObject(large);
});

test("an announced length over the limit ends the answer before its body", async () => {
  const { url } = await serveHttp((_request, response) => {
    response.writeHead(200, { "content-length": "1000" }).write("first");
  });
  const answer = await client()(url, { maxBytes: 999 });
  await expect(answer.text()).rejects.toMatchObject({ code: "response_too_large" });
});

test("a body that ends before its announced length fails with network", async () => {
  const { url } = await serveHttp((_request, response) => {
    response.writeHead(200, { "content-length": "1000" }).write("first", () => response.destroy());
  });
  const answer = await client()(url);
  await expect(answer.text()).rejects.toMatchObject({ code: "network", sent: true });
});

test("an answer that is not JSON says so without showing it", async () => {
  const { url } = await serveHttp((_request, response) => response.end("secret text"));
  const error = await (await client()(url)).json().catch((error: unknown) => error);
  expect(error).toMatchObject({ code: "decode_failed" });
  expect((error as Error).message).not.toContain("secret");
});

test("an answer without content has no body", async () => {
  const { url } = await serveHttp((_request, response) => response.writeHead(204).end());
  const answer = await client()(url);
  expect([answer.status, answer.body]).toEqual([204, null]);
});
