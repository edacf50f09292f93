/** A folder whose files are templates: what is saved, what changes on the disk, and what cannot be read. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Page, Template, TemplateSummary } from "@millrace/contracts";
import type { RunningServer, StartOptions } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, test } from "vitest";
import { invoke, post, problemOf, serve } from "./support/server.ts";

/** Not in canonical form, with a comment. */
const say = (word: string): string =>
  `flow 1 say   # says it\n\n\nnode say:log{message="${word}"}\n`;
const BROKEN = "flow 1 say\n\nnode {{{\n";
/** Has an output. */
const give = (word: string): string => `flow 1 say\n\noutput word: string = "${word}"\n`;
/** Is a flow, and does not run. */
const UNKNOWN = "flow 1 say\n\nnode a: no.such {\n}\n";

interface Folder {
  readonly dir: string;
  readonly told: readonly string[];
  readonly server: RunningServer;
  path(file: string): string;
  text(file: string): string;
  write(file: string, text: string): void;
}

async function folderOf(
  files: { readonly [file: string]: string },
  options: StartOptions = {},
  dir: string = temporaryFolder(),
): Promise<Folder> {
  const path = (file: string): string => join(dir, file);
  for (const [file, text] of Object.entries(files)) writeFileSync(path(file), text);
  const told: string[] = [];
  const flows = { dir, report: (text: string) => void told.push(text) };
  const server = await serve({ ...options, flows });
  return {
    dir,
    told,
    server,
    path,
    text: (file) => readFileSync(path(file), "utf8"),
    write: (file, text) => writeFileSync(path(file), text),
  };
}

async function show(server: RunningServer, slug: string): Promise<[Template, string]> {
  const response = await fetch(`${server.url}/api/templates/${slug}`);
  if (response.status !== 200) throw new Error(await response.text());
  return [(await response.json()) as Template, response.headers.get("etag") ?? ""];
}

const put = (server: RunningServer, slug: string, dsl: string, etag?: string): Promise<Response> =>
  post(
    server,
    `/api/templates/${slug}`,
    { dsl },
    { method: "PUT", headers: etag === undefined ? {} : { "if-match": etag } },
  );

async function slugs(server: RunningServer): Promise<readonly string[]> {
  const page = await invoke<Page<TemplateSummary>>(server, "list_templates", {});
  return page.items.map(({ slug }) => slug);
}

test("each file is a template under its name, byte for byte", async () => {
  const { server, told } = await folderOf({
    "say.flow": say("a"),
    "Daily Report.flow": say("b"),
    "notes.md": "# no flow\n",
  });
  expect(await slugs(server)).toEqual(["daily-report", "say"]);
  const [template] = await show(server, "say");
  expect(template).toMatchObject({ version: 1, dsl: say("a"), source: { kind: "local" } });
  expect(told).toEqual(["Daily Report.flow is the template daily-report"]);
});

test("a save writes the file as it was sent and makes a version, a new template makes a file", async () => {
  const { server, text, path, dir } = await folderOf({ "say.flow": say("a") });
  chmodSync(path("say.flow"), 0o600);
  const [, etag] = await show(server, "say");
  const saved = await put(server, "say", say("b"), etag);
  expect([saved.status, text("say.flow")]).toEqual([200, say("b")]);
  expect(statSync(path("say.flow")).mode & 0o777).toBe(0o600);
  // A comment alone is a change too.
  const commented = say("b").replace("says it", "says it twice");
  const again = await put(server, "say", commented, saved.headers.get("etag") ?? "");
  expect(await again.json()).toMatchObject({ version: 3, dsl: commented });
  expect(text("say.flow")).toBe(commented);
  expect((await put(server, "fresh", say("c"))).status).toBe(201);
  expect(text("fresh.flow")).toBe(say("c"));
  const imported = { text: say("d"), slug: "imported" };
  await invoke(server, "import_template", imported);
  expect(text("imported.flow")).toBe(say("d"));
  await invoke(server, "delete_template", { slug: "fresh", ifMatch: "*" });
  expect(readdirSync(dir).sort()).toEqual(["imported.flow", "say.flow"]);
});

test("a save keeps the line ends of Windows and the byte order mark of a file", async () => {
  const asOnWindows = (word: string): string => say(word).replaceAll("\n", "\r\n");
  const { server, text, dir } = await folderOf({ "say.flow": `\uFEFF${asOnWindows("a")}` });
  const [template, etag] = await show(server, "say");
  expect(template.dsl).toBe(asOnWindows("a"));
  const same = await put(server, "say", say("a"), etag);
  expect(await same.json()).toMatchObject({ version: 1, dsl: asOnWindows("a") });
  const saved = await put(server, "say", say("b"), etag);
  expect(await saved.json()).toMatchObject({ version: 2, dsl: asOnWindows("b") });
  expect(text("say.flow")).toBe(`\uFEFF${asOnWindows("b")}`);
  await put(server, "say", say("b"), saved.headers.get("etag") ?? "");
  expect([text("say.flow"), readdirSync(dir)]).toEqual([`\uFEFF${asOnWindows("b")}`, ["say.flow"]]);
});

test("a save keeps the line ends that it was given where those of Windows would pass the limit", async () => {
  const loose = say("a").replaceAll("\n", "\r\n");
  const limits = { maxDslBytes: Buffer.byteLength(loose) };
  const { server, text } = await folderOf({ "say.flow": loose }, limits);
  const [, etag] = await show(server, "say");
  const saved = await put(server, "say", say("ab"), etag);
  expect(await saved.json()).toMatchObject({ version: 2, dsl: say("ab") });
  expect(text("say.flow")).toBe(say("ab"));
});

test("a file that changed is a version before a save, which is refused for who has not seen it", async () => {
  const { server, text, write } = await folderOf({ "say.flow": say("a") });
  const [, etag] = await show(server, "say");
  write("say.flow", say("on the disk"));
  const refused = await put(server, "say", say("mine"), etag);
  expect((await problemOf(refused)).code).toBe("etag_mismatch");
  expect(text("say.flow")).toBe(say("on the disk"));
  const [template, newer] = await show(server, "say");
  expect(template).toMatchObject({ version: 2, dsl: say("on the disk") });
  expect((await put(server, "say", say("mine"), newer)).status).toBe(200);
  expect(text("say.flow")).toBe(say("mine"));
  expect(await invoke(server, "get_template_version", { slug: "say", version: 2 })).toMatchObject({
    dsl: say("on the disk"),
  });
});

test("what changes in the folder is seen by itself: new text, a new file, one that is gone", async () => {
  const { server, write, path } = await folderOf({ "say.flow": say("a") });
  const [, etag] = await show(server, "say");
  writeFileSync(path("say.part"), say("b"));
  renameSync(path("say.part"), path("say.flow")); // as editors save
  const seen = async (): Promise<unknown> => (await show(server, "say"))[0].dsl;
  await expect.poll(seen).toBe(say("b"));
  expect((await show(server, "say"))[1]).not.toBe(etag);
  write("other.flow", say("c"));
  await expect.poll(() => slugs(server)).toEqual(["other", "say"]);
  // Its versions, and what uses them, stay; the next save writes it again.
  rmSync(path("other.flow"));
  const [, newest] = await show(server, "other");
  expect((await put(server, "other", say("d"), newest)).status).toBe(200);
  expect(existsSync(path("other.flow"))).toBe(true);
});

test("a text that cannot be read is never lost: a save is refused, and keeps it when it is repeated", async () => {
  const { server, told, text, write, dir } = await folderOf({
    "say.flow": say("a"),
    "new.flow": BROKEN,
  });
  expect(await slugs(server)).toEqual(["say"]);
  expect(told).toEqual([
    expect.stringMatching(/^new\.flow cannot be read as a flow: 3:1 FLOW2009 /),
  ]);
  const [, etag] = await show(server, "say");
  write("say.flow", BROKEN);
  const refused = await problemOf(await put(server, "say", say("mine"), etag));
  expect(refused.code).toBe("etag_mismatch");
  expect(refused.detail).toMatch(
    /^say\.flow has changed on the disk and cannot be read: 3:1 .*keeps it as say\.flow\.kept-[0-9a-f]{8}$/,
  );
  expect(text("say.flow")).toBe(BROKEN);
  expect((await put(server, "say", say("mine"), etag)).status).toBe(200);
  expect(text("say.flow")).toBe(say("mine"));
  const [kept = ""] = readdirSync(dir).filter((file) => file.startsWith("say.flow.kept-"));
  expect(text(kept)).toBe(BROKEN);
  expect((await put(server, "new", say("n"))).status).toBe(412);
  expect((await put(server, "new", say("n"))).status).toBe(201);
  // Bytes that are no text are kept as they are.
  writeFileSync(join(dir, "say.flow"), Uint8Array.of(0xff, 0xfe));
  const bytes = await problemOf(await put(server, "say", say("x"), "*"));
  expect(bytes.detail).toContain("it is no UTF-8");
  // Neither is a file that is too large to be read.
  write("say.flow", `# ${"x".repeat(16 * 1024 * 1024)}`);
  const large = await problemOf(await put(server, "say", say("x"), "*"));
  expect(large.detail).toContain("it has more than 16777216 bytes");
  write("say.flow", say("mended"));
  await expect.poll(async () => (await show(server, "say"))[0].dsl).toBe(say("mended"));
});

test("a flow that does not run yet is shown and saved, and refused where it is run", async () => {
  const { server, text } = await folderOf({ "say.flow": UNKNOWN });
  const [template, etag] = await show(server, "say");
  expect(template.dsl).toBe(UNKNOWN);
  const still = UNKNOWN.replace("no.such", "not.yet");
  expect((await put(server, "say", still, etag)).status).toBe(200);
  expect(text("say.flow")).toBe(still);
  const run = await post(server, "/api/runs", { template: "say" });
  expect((await problemOf(run)).code).toBe("flow_invalid");
  expect((await put(server, "say", BROKEN, "*")).status).toBe(422);
  expect(text("say.flow")).toBe(still);
});

test("a template of somewhere else keeps its name, and the file has another one, also after a restart", async () => {
  const store = temporaryFolder();
  const credentials = { store: "memory" } as const;
  const first = await serve({ store, credentials });
  await put(first, "say", give("elsewhere"));
  await first.close();
  const files = {
    "say.flow": give("ours"),
    "tell.flow":
      'flow 1 tell\n\nnode a: subflow {\n  flow = "say"\n}\n\noutput word = a.outputs.word\n',
  };
  const second = await folderOf(files, { store, credentials });
  const [alias = ""] = (await slugs(second.server)).filter((slug) => slug.startsWith("say-"));
  expect(second.told).toEqual([`say.flow is the template ${alias}: another one has its name`]);
  const [other] = await show(second.server, "say");
  expect([other.version, other.source]).toEqual([1, { kind: "local" }]);
  // Flows of the folder call each other by the names of their files.
  const told = await post(second.server, "/api/runs?waitMs=10000", { template: "tell" });
  expect(await told.json()).toMatchObject({ summary: { outputs: { word: "ours" } } });
  await put(second.server, alias, give("saved"), "*");
  expect(second.text("say.flow")).toBe(give("saved"));
  await second.server.close();
  second.write("say.flow", give("edited while nobody looked"));
  const third = await folderOf({}, { store, credentials }, second.dir);
  expect((await show(third.server, alias))[0]).toMatchObject({
    version: 3,
    dsl: give("edited while nobody looked"),
  });
  expect((await show(third.server, "say"))[0].dsl).toContain("elsewhere");
});

test("a file that cannot be written is a problem that names it, and nothing is stored", async () => {
  const { server, path, dir } = await folderOf({ "say.flow": say("a") });
  mkdirSync(path("fresh.flow"));
  const refused = await problemOf(await put(server, "fresh", say("b")));
  expect(refused.code).toBe("store_read_only");
  expect(refused.detail).toMatch(/^fresh\.flow cannot be written \(E[A-Z]+\)$/);
  expect(await slugs(server)).toEqual(["say"]);
  expect(readdirSync(dir).sort()).toEqual(["fresh.flow", "say.flow"]);
  rmSync(dir, { recursive: true });
  expect((await put(server, "say", say("c"), "*")).status).toBe(200);
  expect(readdirSync(dir)).toEqual(["say.flow"]);
});

test("links are neither read nor written through", async () => {
  const outside = temporaryFolder();
  writeFileSync(join(outside, "secret.flow"), say("secret"));
  const dir = temporaryFolder();
  symlinkSync(join(outside, "secret.flow"), join(dir, "link.flow"));
  const { server } = await folderOf({}, {}, dir);
  expect(await slugs(server)).toEqual([]);
  expect((await put(server, "link", say("mine"))).status).toBe(201);
  expect(readFileSync(join(outside, "secret.flow"), "utf8")).toBe(say("secret"));
});

test("an option that names no absolute folder is refused", async () => {
  await expect(serve({ flows: { dir: "flows" } })).rejects.toThrow(
    'option "flows" has a "dir" that is no absolute folder',
  );
});
