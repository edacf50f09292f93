/** The actions against a real server on loopback, through the client of the engine. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { createSimClock, createTestHost, type TestHost } from "@millrace/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import extension from "../src/extension.ts";

interface Server {
  run(): Promise<{ readonly port: number }>;
  close(): Promise<void>;
}

interface Account {
  createKeyPair(id: string, secret: string): void;
}

const {
  S3rver,
  accounts,
}: {
  readonly S3rver: new (options: object) => Server;
  readonly accounts: { readonly DUMMY_ACCOUNT: Account };
} = createRequire(import.meta.url)("s3-server");
const KEY = { id: "AKIAEXAMPLE", secret: "canary-of-the-key" };
accounts.DUMMY_ACCOUNT.createKeyPair(KEY.id, KEY.secret);

const folder = mkdtempSync(join(tmpdir(), "millrace-s3-"));
const root = mkdtempSync(join(tmpdir(), "millrace-s3-files-"));
const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory: folder,
  configureBuckets: [{ name: "shop" }],
});
let port = 0;

beforeAll(async () => {
  ({ port } = await server.run());
});

afterAll(async () => {
  await server.close();
  for (const each of [folder, root]) rmSync(each, { recursive: true, force: true });
});

function host(config: object = {}, secret = KEY.secret): TestHost {
  return createTestHost({
    extension,
    loopback: true,
    clock: createSimClock({ start: Date.now() }),
    files: { root },
    secrets: { S3_SECRET_ACCESS_KEY: secret },
    config: {
      s3: {
        accessKeyId: KEY.id,
        endpoint: `http://localhost:${port}`,
        style: "path",
        ...config,
      },
    },
  });
}

interface Page {
  readonly objects: readonly { readonly key: string }[];
  readonly next: string | null;
}

/** The server of this test lists `&` and `'` escaped twice, and keeps keys as paths of files; what it is sent is right. */
const KEYS = ["a b.txt", "a+b;c=d.txt", "ünïcode/日本.txt", "(odd)!*~,@$.txt", "50%25.txt"];
const UNLISTED = ["it's & mine.txt", "up/../b.txt"];

test("objects of any key are written, read, listed and deleted", async () => {
  const t = host();
  const at = (key: string) => ({ bucket: "shop", key: `odd/${key}` });
  for (const key of [...KEYS, ...UNLISTED]) {
    await t.run("s3.put", { ...at(key), text: `text of ${key}` });
    expect(await t.run("s3.get", at(key))).toMatchObject({
      key: `odd/${key}`,
      content: `text of ${key}`,
      contentType: "text/plain; charset=utf-8",
    });
  }
  for (const key of UNLISTED) await t.run("s3.delete", at(key));

  const listed: unknown = await t.run("s3.list", { bucket: "shop", prefix: "odd/" });
  const keys = (listed as Page).objects.map(({ key }) => key);
  expect([...keys].sort()).toEqual(KEYS.map((key) => `odd/${key}`).sort());
  const folders = { bucket: "shop", prefix: "odd/", delimiter: "/" };
  expect(await t.run("s3.list", folders)).toMatchObject({ folders: ["odd/ünïcode/"] });

  const paged: string[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = { bucket: "shop", prefix: "odd/", limit: 2, ...(after && { after }) };
    const { objects: some, next } = Object(await t.run("s3.list", page)) as Page;
    expect(some.length).toBe(next === null ? 1 : 2);
    paged.push(...some.map(({ key }) => key));
    after = next;
  }
  expect(paged).toEqual(keys);

  for (const key of KEYS) await t.run("s3.delete", at(key));
  const gone = { code: "s3_no_such_key", retryable: false };
  await expect(t.run("s3.get", at("a b.txt"))).rejects.toMatchObject(gone);
});

test("values and files of any size go there and come back as they were", async () => {
  const t = host();
  const at = (key: string) => ({ bucket: "shop", key });
  await t.run("s3.put", { ...at("a.json"), json: { n: [1, null] } });
  const json = { ...at("a.json"), encoding: "json" };
  expect(await t.run("s3.get", json)).toMatchObject({
    content: { n: [1, null] },
    contentType: "application/json",
  });
  await t.run("s3.put", { ...at("b"), base64: "AP8=" });
  expect(await t.run("s3.get", { ...at("b"), encoding: "base64" })).toMatchObject({
    content: "AP8=",
    bytes: 2,
  });
  await expect(t.run("s3.get", at("b"))).rejects.toMatchObject({ code: "decode_failed" });
  const both = { ...at("b"), text: "x", json: 1 };
  await expect(t.run("s3.put", both)).rejects.toMatchObject({ code: "field_invalid" });

  const large = Buffer.alloc(9 * 1_048_576, "0123456789");
  writeFileSync(join(root, "large.csv"), large);
  writeFileSync(join(root, "empty.txt"), "");
  for (const [name, bytes] of [
    ["large.csv", large.length],
    ["empty.txt", 0],
  ] as const) {
    expect(await t.run("s3.put", { ...at(name), path: name })).toMatchObject({ bytes });
    const back = { ...at(name), path: `back/${name}` };
    expect(await t.run("s3.download", back)).toMatchObject({ bytes, path: `back/${name}` });
    await expect(t.run("s3.download", back)).rejects.toMatchObject({ code: "file_exists" });
  }
  expect(readFileSync(join(root, "back/large.csv")).equals(large)).toBe(true);

  const packed = gzipSync("a,b\n");
  const { url } = Object(
    await t.run("s3.presign", { ...at("p.gz"), method: "PUT", expiresIn: 60 }),
  );
  await fetch(url, { method: "PUT", body: packed, headers: { "content-encoding": "gzip" } });
  const bytes = packed.length;
  expect(await t.run("s3.download", { ...at("p.gz"), path: "p.gz" })).toMatchObject({ bytes });
  expect(readFileSync(join(root, "p.gz")).equals(packed)).toBe(true);
});

test("a signed URL needs no key, and does one thing to one object until it expires", async () => {
  const t = host({ maxPresignSeconds: 60 });
  const at = { bucket: "shop", key: "given away/+.txt", expiresIn: 60 };
  const { url: write } = Object(await t.run("s3.presign", { ...at, method: "PUT" }));
  expect((await fetch(write, { method: "PUT", body: "from outside" })).status).toBe(200);
  const { url: read } = Object(await t.run("s3.presign", at));
  expect(await (await fetch(read)).text()).toBe("from outside");
  expect((await fetch(read, { method: "DELETE" })).status).toBe(403);
  const long = t.run("s3.presign", { ...at, expiresIn: 61 });
  await expect(long).rejects.toMatchObject({ code: "field_invalid" });
});

test("a refusal says what to look at, and holds no key", async () => {
  const bad = host({}, "another-key");
  const refused = await bad.run("s3.list", { bucket: "shop" }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "s3_key_refused", cause: { reason: "auth", status: 403 } });
  expect(JSON.stringify(bad.events)).not.toContain("another-key");
  const refusals = [
    ["s3.list", { bucket: "none" }, "s3_no_such_bucket"],
    ["s3.list", { bucket: "No" }, "s3_bucket_invalid"],
    ["s3.get", { bucket: "shop", key: ".." }, "s3_key_invalid"],
    ["s3.download", { bucket: "shop", key: "none", path: "x" }, "s3_no_such_key"],
  ] as const;
  for (const [type, fields, code] of refusals) {
    await expect(host().run(type, fields)).rejects.toMatchObject({ code });
  }
  const address = host({ endpoint: `http://127.0.0.1:${port}`, style: "virtual-host" });
  await expect(address.run("s3.list", { bucket: "shop" })).rejects.toMatchObject({
    code: "s3_config",
  });
});

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

test("17-sheet-to-storage, run in processes of their own, puts a spreadsheet of late invoices into a bucket", async () => {
  const cwd = mkdtempSync(join(root, "example-"));
  for (const name of ["flows", "fixtures", "invoices.csv"]) {
    cpSync(at(`examples/17-sheet-to-storage/${name}`), join(cwd, name), { recursive: true });
  }
  const { PATH } = process.env;
  const env = { PATH, HOME: cwd, MILLRACE_TRUST_PROJECT: "1" };
  const millrace = async (words: readonly string[], stdin = ""): Promise<string> => {
    const program = [at("packages/cli/bin/millrace.js"), ...words];
    const ended = promisify(execFile)(process.execPath, program, { cwd, env });
    ended.child.stdin?.end(stdin);
    return (await ended).stdout;
  };
  await millrace(["ext", "add", at("extensions/files"), "--yes"]);
  await millrace(["ext", "add", at("extensions/s3"), "--net", `localhost:${port}`, "--yes"]);
  const file = join(cwd, "millrace.json");
  const { extensions } = JSON.parse(readFileSync(file, "utf8"));
  const configure = (s3: object): void => {
    const list = [extensions[0], { package: extensions[1], config: { s3 } }];
    const egress = { allow: [{ host: "localhost", port }] };
    writeFileSync(file, JSON.stringify({ extensions: list, files: { root: "." }, egress }));
  };
  configure({ accessKeyId: KEY.id, region: "eu-central-1" });
  await millrace(["test", "flows"]); // the events that are kept beside it
  configure({ accessKeyId: KEY.id, endpoint: `http://localhost:${port}`, style: "path" });
  await millrace(["config", "set", "credentials.store", "file", "--user"]);
  await millrace(["secrets", "set", "ext:S3_SECRET_ACCESS_KEY"], `${KEY.secret}\n`);
  const outputs = await millrace(["run", "flows/sheet-to-storage.flow", "-i", "bucket=shop"]);
  expect(JSON.parse(outputs)).toEqual({
    key: "late/late.xlsx",
    rows: 2,
    bad: [{ line: 5, problem: "3 cells below 5 names" }],
  });
  const stored = await host().run("s3.get", {
    bucket: "shop",
    key: "late/late.xlsx",
    encoding: "base64",
  });
  const { content } = stored as { readonly content: string };
  expect(Buffer.from(content, "base64").equals(readFileSync(join(cwd, "out/late.xlsx")))).toBe(
    true,
  );
}, 60_000);
