// Records the answers of an example's models, so that it runs offline: npm run record -- examples/09-support-triage
// Answers come from fixtures/answers.script.json: the first unused entry whose words (`match`) all stand in the prompt. With a key
// of your own there is nothing to record: run the flow without --fixtures. Run this again after a change of a prompt.

import { cp, mkdtemp, readdir, readFile, realpath, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { aiSettings } from "../packages/ai/dist/index.js";
import { digest, parseFlow } from "../packages/dsl/dist/index.js";
import { compileFlow, createEngine } from "../packages/engine/dist/index.js";
import { createNodeHost } from "../packages/engine/dist/node/index.js";
import {
  createAi,
  createScriptedProvider,
  readAiSettings,
  recordProvider,
} from "../packages/providers/dist/index.js";
import { createStandardRegistry } from "../packages/server/dist/host/registry.js";

/** When the files of fixtures were changed last: a tool may tell a model. */
const BEGINNING = Date.UTC(2026, 0, 1);

const folder = resolve(process.argv[2] ?? ".");
const fixtures = join(folder, "fixtures");
const script = await readJson(join(fixtures, "answers.script.json"));
const inputs = await readJson(join(fixtures, "inputs.json"), {});
const { mcpServers = {} } = await readJson(join(folder, "millrace.json"), {});
const unused = new Set(script);
const lines = [];

const root = await realpath(await mkdtemp(join(tmpdir(), "millrace-record-")));
try {
  await cp(join(fixtures, "files"), root, { recursive: true });
  const then = new Date(BEGINNING);
  for (const name of await readdir(root, { recursive: true })) {
    await utimes(join(root, name), then, then);
  }
  const [file] = (await readdir(folder)).filter(
    (name) => name.endsWith(".flow") && folder.endsWith(name.slice(0, -5)),
  );
  const { graph } = parseFlow(await readFile(join(folder, file), "utf8"));
  const subflows = {
    async get({ slug }) {
      const text = await readFile(join(folder, `${slug}.flow`), "utf8").catch(() => undefined);
      if (text === undefined) return null;
      const { graph: child } = parseFlow(text);
      return { graph: child, digest: digest(child) };
    },
  };
  const compiled = await compileFlow(graph, { registry: createStandardRegistry(), subflows });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  const setup = createAi(readAiSettings({ mcpServers: placed(mcpServers) }), {
    credentials: { secret: async () => undefined },
    env: process.env,
    local: { id: "local", capabilities: async () => ({ tools: true, jsonSchema: true }) },
    openFetch: () => () => Promise.reject(new Error("a recording asks nobody")),
  });
  const engine = createEngine({
    host: createNodeHost(),
    files: { root },
    settings: [
      aiSettings({
        ...setup.ai,
        providers: setup.providers.map(scripted),
        credentials: { resolve: async () => ({}) },
      }),
    ],
  });
  const run = engine.run(compiled.plan, inputs, { confirm: () => ({ decision: "approve" }) });
  const { status, error } = await run.result;
  await engine.close();
  await setup.close();
  if (status !== "succeeded") throw new Error(`the run has ${status}: ${error?.message}`);
} finally {
  await rm(root, { recursive: true });
}
if (unused.size > 0)
  throw new Error(`${unused.size} answers were not asked for: ${JSON.stringify([...unused])}`);
await writeFile(join(fixtures, "answers.ndjson"), lines.map((line) => `${line}\n`).join(""));
process.stdout.write(`${lines.length} answers\n`);

async function readJson(file, otherwise) {
  const text = await readFile(file, "utf8").catch((error) => {
    if (otherwise === undefined) throw error;
  });
  return text === undefined ? otherwise : JSON.parse(text);
}

/** Servers of tools that lie beside the flow. */
function placed(servers) {
  return Object.fromEntries(
    Object.entries(servers).map(([name, { cwd = ".", ...rest }]) => [
      name,
      { ...rest, cwd: resolve(folder, cwd) },
    ]),
  );
}

/** The provider, with the script's answers in place of its own. */
function scripted({ id, capabilities }) {
  const model = (modelId) => ({
    specificationVersion: "v3",
    provider: id,
    modelId,
    doStream(call) {
      const prompt = JSON.stringify(call.prompt);
      const entry = [...unused].find(({ match }) => match.every((words) => prompt.includes(words)));
      if (entry === undefined) throw new Error(`no answer fits ${prompt}`);
      unused.delete(entry);
      return createScriptedProvider([entry]).languageModel(modelId).doStream(call);
    },
  });
  return recordProvider(
    { id, capabilities, languageModel: model },
    { sink: (line) => lines.push(line) },
  );
}
