/** The reference is written from the code, and is as the code is. `node scripts/reference.mjs` writes it anew. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { languagePage } from "@millrace/dsl/explain";
import { expect, test } from "vitest";
import { configSchema } from "../src/config/keys.ts";
import { ALL_KEYS } from "../src/config/limit-keys.ts";
import { coreEntries } from "../src/run/core-catalog.ts";
import { ROOT } from "./cli.ts";
import { cliPage } from "./reference/cli-page.ts";
import { commandsPage } from "./reference/commands-page.ts";
import { llmsPage } from "./reference/llms-page.ts";
import { nodesPage } from "./reference/nodes-page.ts";
import { schemasPage } from "./reference/schemas-page.ts";
import { servicesPage } from "./reference/services-page.ts";

const DOCS = "../../../docs";

test.each([
  ["the command line", `${DOCS}/cli.md`, cliPage],
  ["commands and routes", `${DOCS}/reference/commands.md`, commandsPage],
  ["node types", `${DOCS}/reference/nodes.md`, nodesPage],
  ["the language for models", `${DOCS}/reference/language.md`, () => languagePage(coreEntries())],
  ["the list for models", `${DOCS}/llms.txt`, () => llmsPage("repository")],
  ["the list for models, in the package", "../llms.txt", () => llmsPage("anywhere")],
  ["what travels", `${DOCS}/reference/schemas.md`, schemasPage],
  ["descriptors of services", `${DOCS}/reference/services.md`, servicesPage],
  [
    "the schema of millrace.json",
    "../schema.json",
    () => `${JSON.stringify(configSchema(ALL_KEYS, false), null, 2)}\n`,
  ],
])("the page of %s is as the code is", async (_name, path, text) => {
  await expect(await text()).toMatchFileSnapshot(path);
});

test("the list for models has every page of the guide and the reference, and its links lead to pages", () => {
  const links = [...llmsPage("repository").matchAll(/\]\(([^)]+)\)/g)].map(([, path = ""]) => path);
  const pages = ["guide", "reference"].flatMap((folder) =>
    readdirSync(join(ROOT, "docs", folder)).map((name) => `${folder}/${name}`),
  );
  expect(links).toEqual(expect.arrayContaining(pages));
  expect(new Set(links).size).toBe(links.length);
  for (const path of links) expect(existsSync(join(ROOT, "docs", path)), path).toBe(true);
});
