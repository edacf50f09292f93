/** The laws of extensions, over answers as Amazon S3 writes them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { conformance, createSimClock, createTestHost, type HttpExchange } from "@millrace/testkit";
import { afterAll, expect, test } from "vitest";
import extension from "../src/extension.ts";

const filesRoot = mkdtempSync(join(tmpdir(), "millrace-s3-laws-"));
afterAll(() => rmSync(filesRoot, { recursive: true, force: true }));

const config = { s3: { accessKeyId: "AKIAEXAMPLE", region: "eu-central-1" } };
const BUCKET = "https://shop.s3.eu-central-1.amazonaws.com";
const LIST = `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>shop</Name><EncodingType>url</EncodingType>
<IsTruncated>false</IsTruncated><Contents><Key>a+b%2Fc%26d.csv</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>
<ETag>&quot;e1&quot;</ETag><Size>12</Size></Contents><CommonPrefixes><Prefix>in%2F</Prefix></CommonPrefixes></ListBucketResult>`;
const object = { bucket: "shop", key: "in/a b.csv" };
const url = `${BUCKET}/in/a%20b.csv`;
const headers = {
  etag: '"e1"',
  "last-modified": "Fri, 02 Jan 2026 03:04:05 GMT",
  "content-type": "text/csv",
};
const about = {
  key: object.key,
  bytes: 3,
  etag: "e1",
  modifiedAt: "2026-01-02T03:04:05.000Z",
  contentType: "text/csv",
};
const error = (code: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>for canary</Message><StringToSign>x</StringToSign></Error>`;

const cases = conformance(extension, {
  fixtures: {
    "s3.list": [
      {
        config,
        filesRoot,
        fields: { bucket: "shop", prefix: "a", delimiter: "/" },
        http: [
          {
            url: /\/\?list-type=2&encoding-type=url&max-keys=1000&prefix=a&delimiter=%2F$/,
            text: LIST,
          },
        ],
        output: {
          objects: [
            { key: "a b/c&d.csv", bytes: 12, etag: "e1", modifiedAt: "2026-01-02T03:04:05.000Z" },
          ],
          folders: ["in/"],
          next: null,
        },
      },
    ],
    "s3.get": [
      {
        config,
        filesRoot,
        fields: object,
        http: [{ url, text: "1,2", headers }],
        output: { ...about, content: "1,2" },
      },
    ],
    "s3.download": [
      {
        config,
        filesRoot,
        fields: { ...object, path: "a.csv", mode: "replace" },
        http: [
          { method: "HEAD", url, headers: { ...headers, "content-length": "3" } },
          { url, status: 206, text: "1,2" },
        ],
        output: { ...about, path: "a.csv" },
      },
    ],
    "s3.put": [
      {
        config,
        filesRoot,
        fields: { ...object, text: "1,2" },
        http: [{ method: "PUT", url, headers }],
        output: { key: object.key, bytes: 3, etag: "e1" },
      },
    ],
    "s3.delete": [
      {
        config,
        filesRoot,
        fields: object,
        http: [{ method: "DELETE", url, status: 204 }],
        output: { key: object.key },
      },
    ],
    "s3.presign": [{ config, filesRoot, fields: object }],
  },
  package: fileURLToPath(new URL("..", import.meta.url)),
});
for (const { name, run } of cases) test(name, run, 60_000);

test("a list goes on where it ended, and never gives more than it was asked for", async () => {
  const page = (key: string, more: string) =>
    `<ListBucketResult><IsTruncated>${more !== ""}</IsTruncated><NextContinuationToken>${more}</NextContinuationToken><Contents><Key>${key}</Key></Contents></ListBucketResult>`;
  const t = createTestHost({
    extension,
    config,
    secrets: { S3_SECRET_ACCESS_KEY: "canary" },
    http: [
      { url: `${BUCKET}/?list-type=2&encoding-type=url&max-keys=2`, text: page("a", "t/1+=") },
      { url: /max-keys=1&continuation-token=t%2F1%2B%3D$/, text: page("b", "t2") },
      { url: /max-keys=2&continuation-token=t2$/, text: page("&lt;c&gt;", "") },
    ],
  });
  const first = await t.run("s3.list", { bucket: "shop", limit: 2 });
  expect(first).toMatchObject({ objects: [{ key: "a" }, { key: "b" }], next: "t2" });
  const second = await t.run("s3.list", { bucket: "shop", limit: 2, after: "t2" });
  expect(second).toMatchObject({ objects: [{ key: "<c>" }], next: null });
});

test("a request and a URL are signed as the documentation of Amazon S3 shows it", async () => {
  const t = createTestHost({
    extension,
    clock: createSimClock({ start: Date.parse("2013-05-24T00:00:00Z") }),
    config: {
      s3: {
        accessKeyId: "AKIAIOSFODNN7EXAMPLE",
        maxPresignSeconds: 86_400,
        endpoint: "https://s3.amazonaws.com",
      },
    },
    secrets: { S3_SECRET_ACCESS_KEY: ["wJalrXUtnFEMI", "K7MDENG", "bPxRfiCYEXAMPLEKEY"].join("/") },
  });
  const fields = { bucket: "examplebucket", key: "test.txt", expiresIn: 86_400 };
  expect(await t.run("s3.presign", fields)).toMatchObject({
    url: expect.stringMatching(
      /Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404$/,
    ),
    expiresAt: "2013-05-25T00:00:00.000Z",
  });
});

test("what the storage refuses is told by its code, and waits as long as it asks", async () => {
  const refusals: readonly (readonly [HttpExchange, object])[] = [
    [
      { url, status: 503, text: error("SlowDown"), headers: { "retry-after": "7" } },
      { code: "s3_slow_down", retryable: true, retryAfterMs: 7_000, reason: "rate_limit" },
    ],
    [
      { url, status: 403, text: error("AccessDenied") },
      { code: "s3_access_denied", retryable: false, reason: "denied" },
    ],
    [
      { url, status: 500, text: "" },
      { code: "s3_unavailable", retryable: true },
    ],
    [
      { url, status: 400, text: error("OddRequest") },
      { code: "s3_refused", message: "the storage refused (OddRequest, status 400)" },
    ],
  ];
  for (const [exchange, cause] of refusals) {
    const secrets = { S3_SECRET_ACCESS_KEY: "canary" };
    const t = createTestHost({ extension, config, secrets, http: [exchange] });
    const failed = await t.run("s3.get", object).catch((thrown: unknown) => thrown);
    expect(failed).toMatchObject({ cause });
    expect(String(Object(failed).cause.message)).not.toContain("canary");
  }
});
