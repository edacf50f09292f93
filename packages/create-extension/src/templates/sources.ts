/** Source, test and example flow of each kind. The sources need no type annotations: TypeScript infers every parameter. */
import { provider, providerTest } from "./provider.ts";

/** The kinds of extension: the seam that the scaffold implements. */
export const KINDS: readonly ["action", "provider", "node", "service"] = [
  "action",
  "provider",
  "node",
  "service",
];

/** One of `KINDS`. */
export type Kind = (typeof KINDS)[number];

/** What the sources import; this package itself uses neither. */
const CONTRACTS = "@millrace/contracts";
const TESTKIT = "@millrace/testkit";

/** What the manifest of each kind asks for. */
export const PERMISSIONS: { readonly [K in Kind]: object } = {
  action: { net: ["api.example.com:443"], secrets: ["API_KEY"] },
  provider: { net: ["api.example.com:443"] },
  node: {},
  service: { net: ["api.example.com:443"] },
};

/** A flow that uses it. */
export const FLOWS: { readonly [K in Kind]: (id: string) => string } = {
  action: (id) => `flow 1 example

node get: ${id}.lookup {
  query = "millrace"
}

output found: string = get.text
`,
  provider: (id) => `flow 1 example

node write: ai {
  provider = "${id}"
  modelId = "small"
  input = "Say hello."
}

output text: string = write.text
`,
  node: (id) => `flow 1 example

node ask: ${id}.quorum {
  needed = 1
}

output agreed: int = ask.agreed
`,
  service: (id) => `flow 1 example

connection ${id}: bearer {
  service = "${id}"
}

node get: service.call {
  connection = "${id}"
  operation = "get_contact"
  args = { contact: "1" }
}

output contact: any = get.body
`,
};

/** Commands between trusting and running: what the example needs besides the extension. */
export const USE: { readonly [K in Kind]: (id: string) => readonly string[] } = {
  action: () => ["millrace secrets set ext:API_KEY    # asks for the key"],
  provider: (id) => [`millrace secrets set ai:${id}    # asks for the key`],
  node: () => [],
  service: (id) => [`millrace connect ${id}    # asks for the token`],
};

/** The extension and its test. */
interface Sources {
  readonly source: string;
  readonly test: string;
}

/** Those of each kind. */
export const SOURCES: { readonly [K in Kind]: (id: string) => Sources } = {
  action: (id) => ({ source: action(id), test: actionTest(id) }),
  provider: (id) => ({ source: provider(id), test: providerTest(id) }),
  node: (id) => ({ source: node(id), test: nodeTest(id) }),
  service: (id) => ({ source: service(id), test: serviceTest() }),
};

const action = (id: string): string => `import {
  defineAction,
  defineActionAdapter,
  defineExtension,
  jsonSchema,
  NodeError,
} from "${CONTRACTS}";

const lookup = defineAction({
  name: "lookup",
  title: "Look something up",
  summary: "The first answer to a question.",
  fields: jsonSchema({
    type: "object",
    properties: { query: { type: "string", minLength: 1, "x-millrace": { sink: "url" } } },
    required: ["query"],
    additionalProperties: false,
  }),
  output: jsonSchema({
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
  }),
  effect: "read",
  needs: { secrets: ["API_KEY"] },
  async run({ query }, ctx) {
    const key = await ctx.credentials.secret("API_KEY");
    const answer = await ctx.fetch(\`https://api.example.com/v1/\${encodeURIComponent(query)}\`, {
      headers: { authorization: \`Bearer \${key.reveal()}\` },
    });
    if (!answer.ok) {
      const retryable = answer.status >= 500;
      throw new NodeError("lookup_http", \`the service answered \${answer.status}\`, { retryable });
    }
    return JSON.parse(await answer.text()); // the engine holds it to \`output\`
  },
});

export default defineExtension({
  adapters: [defineActionAdapter({ id: "${id}", title: "${id}", actions: [lookup] })],
});
`;

const actionTest = (id: string): string => `import assert from "node:assert/strict";
import { test } from "node:test";
import { conformance, createTestHost } from "${TESTKIT}";
import extension from "../src/extension.js";

const url = "https://api.example.com/v1/millrace";
const http = [{ url, json: { text: "a channel" } }];
const cases = conformance(extension, {
  fixtures: {
    "${id}.lookup": [
      { fields: { query: "millrace" }, http, output: { text: "a channel" } },
      { fields: { query: "millrace" }, http: [{ url, status: 404 }], fails: "lookup_http" },
    ],
  },
});
for (const { name, run } of cases) test(name, run);

test("the key travels in a header", async () => {
  const t = createTestHost({ extension, secrets: { API_KEY: "key-1" }, http });
  assert.deepEqual(await t.run("${id}.lookup", { query: "millrace" }), { text: "a channel" });
  assert.equal(t.requests[0]?.headers["authorization"], "Bearer key-1");
});
`;

const node = (
  id: string,
): string => `import { defineExtension, defineNodeType, jsonSchema } from "${CONTRACTS}";

const quorum = defineNodeType({
  type: "${id}.quorum",
  title: "Quorum",
  summary: "Asks until enough people agree.",
  fields: jsonSchema({
    type: "object",
    properties: { needed: { type: "integer", minimum: 1, maximum: 100 } },
    required: ["needed"],
    additionalProperties: false,
  }),
  output: jsonSchema({
    type: "object",
    properties: { agreed: { type: "integer" } },
    required: ["agreed"],
  }),
  effect: "read",
  async run({ needed }, ctx) {
    let agreed = 0;
    for (let asked = 1; asked <= needed; asked += 1) {
      // Answered from the journal after a restart: each question has a key of its own.
      const answer = await ctx.confirm(\`person-\${asked}\`, { prompt: \`Do you agree? (\${asked})\` });
      if (answer.outcome === "approved") agreed += 1;
      ctx.progress(asked, needed);
    }
    return { agreed };
  },
});

export default defineExtension({ nodeTypes: [quorum] });
`;

const nodeTest = (id: string): string => `import assert from "node:assert/strict";
import { test } from "node:test";
import { conformance, createTestHost } from "${TESTKIT}";
import extension from "../src/extension.js";

const cases = conformance(extension, {
  fixtures: {
    "${id}.quorum": [
      { fields: { needed: 2 }, confirm: () => ({ decision: "approve" }), output: { agreed: 2 } },
    ],
  },
});
for (const { name, run } of cases) test(name, run);

test("who rejects does not count", async () => {
  const t = createTestHost({ extension, confirm: () => ({ decision: "reject" }) });
  assert.deepEqual(await t.run("${id}.quorum", { needed: 1 }), { agreed: 0 });
});
`;

const service = (
  id: string,
): string => `import { defineExtension, defineService } from "${CONTRACTS}";

const service = defineService({
  slug: "${id}",
  title: "${id}",
  summary: "Contacts.",
  serviceIntegration: {
    baseUrl: "https://api.example.com/v1",
    auth: { scheme: "bearer" },
    operations: [
      {
        id: "get_contact",
        title: "Get a contact",
        method: "GET",
        path: "/contacts/{contact}",
        effect: "read",
        params: {
          type: "object",
          properties: { contact: { type: "string" } },
          required: ["contact"],
        },
        result: { type: "object" },
      },
    ],
  },
});

export default defineExtension({ services: [service] });
`;

const serviceTest = (): string => `import { test } from "node:test";
import { conformance } from "${TESTKIT}";
import extension from "../src/extension.js";

for (const { name, run } of conformance(extension)) test(name, run);
`;
