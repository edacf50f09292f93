/** The reference is written from the code, and is as the code is. `node scripts/reference.mjs` writes it anew. */
import { expect, test } from "vitest";
import { configSchema } from "../src/config/keys.ts";
import { ALL_KEYS } from "../src/config/limit-keys.ts";
import { cliPage } from "./reference/cli-page.ts";
import { commandsPage } from "./reference/commands-page.ts";
import { nodesPage } from "./reference/nodes-page.ts";
import { schemasPage } from "./reference/schemas-page.ts";
import { servicesPage } from "./reference/services-page.ts";

const DOCS = "../../../docs";

test.each([
  ["the command line", `${DOCS}/cli.md`, cliPage],
  ["commands and routes", `${DOCS}/reference/commands.md`, commandsPage],
  ["node types", `${DOCS}/reference/nodes.md`, nodesPage],
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
