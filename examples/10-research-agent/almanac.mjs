// A server of tools over stdin and stdout, as small as the Model Context Protocol allows: one tool, which knows when mills are open.
// Yours would be a program of some package; the flow calls either as mcp:<server>/<tool>.
import { createInterface } from "node:readline";

const HOURS = { "Richard de Bas": "daily 10 to 18", "Wookey Hole": "daily 10 to 16" };
const TOOLS = [
  {
    name: "opening_hours",
    description: "When a mill is open to visitors.",
    inputSchema: {
      type: "object",
      required: ["mill"],
      properties: { mill: { type: "string", description: "Name of the mill" } },
    },
  },
];

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "almanac", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: TOOLS }),
  "tools/call": ({ arguments: { mill } }) => ({
    content: [{ type: "text", text: HOURS[mill] ?? "closed to visitors" }],
  }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue; // a notification wants no answer
  const known = Object.hasOwn(METHODS, method);
  const answer = known
    ? { result: METHODS[method](params ?? {}) }
    : { error: { code: -32601, message: `there is no ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
