/** Tools for authors of flows: check, format, explain, look up and run a text, and look at a run. */
import type { Diagnostic, JsonObject, JsonSchema, RunRequest } from "@millrace/contracts";
import { nearestName } from "@millrace/contracts/kit";
import { checkInputs, schemaProblems } from "@millrace/engine/pack";
import type { CallToolResult, InputRequiredResult, Tool } from "@modelcontextprotocol/server";
import type { Role } from "../ports.ts";
import { answer, failure, refused } from "./results.ts";
import { callFlow, type ToolCall } from "./run-call.ts";

/** A tool that is no template. */
export interface AuthorTool {
  readonly tool: Tool;
  /** The least role that may call it. */
  readonly needs: Extract<Role, "read" | "run">;
  /** `args` fit the input schema. */
  call(args: JsonObject, call: ToolCall): Promise<CallToolResult | InputRequiredResult>;
}

const TEXT = { type: "string", description: "The flow as text." };
const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

function tool(
  name: string,
  [title, description]: readonly [title: string, description: string],
  {
    properties,
    required = [],
    annotations = READS,
    ...more
  }: {
    readonly properties: object;
    readonly required?: readonly string[];
    readonly annotations?: Tool["annotations"];
  } & Pick<AuthorTool, "needs" | "call">,
): AuthorTool {
  const inputSchema = { type: "object", properties, required, additionalProperties: false };
  return {
    ...more,
    tool: { name, title, description, inputSchema, annotations } as unknown as Tool,
  };
}

/** By name. */
export const AUTHOR_TOOLS: ReadonlyMap<string, AuthorTool> = new Map(
  [
    tool(
      "validate_flow",
      [
        "Check a flow",
        "Checks the text of a flow and lists what is wrong with it, with lines and hints. Runs nothing.",
      ],
      {
        properties: { text: TEXT },
        required: ["text"],
        needs: "read",
        async call({ text }, { client }) {
          const { valid, diagnostics } = await client.invoke("validate_flow", { dsl: `${text}` });
          return answer({ valid, diagnostics } as unknown as JsonObject, {
            text: [valid ? "valid" : "invalid", ...diagnostics.map(lineOf)].join("\n"),
          });
        },
      },
    ),
    tool(
      "format_flow",
      ["Format a flow", "Prints the text of a flow in its one canonical form. Runs nothing."],
      {
        properties: { text: TEXT },
        required: ["text"],
        needs: "read",
        async call({ text }, { client }) {
          const { dsl } = await client.invoke("format_flow", { dsl: `${text}` });
          return answer({ text: dsl }, { text: dsl });
        },
      },
    ),
    tool(
      "explain_diagnostic",
      [
        "Explain a code",
        "Says what a diagnostic of a flow means, with a wrong and a right example.",
      ],
      {
        properties: { code: { type: "string", description: "Such as FLOW3001." } },
        required: ["code"],
        needs: "read",
        call: ({ code }) => explain(`${code}`.toUpperCase()),
      },
    ),
    tool(
      "list_node_types",
      [
        "List node types",
        "Lists the types of nodes that flows may use, with fields, output and effect. Give `type` for one of them with its schemas.",
      ],
      {
        properties: {
          query: {
            type: "string",
            minLength: 1,
            description: "Text in type, title, summary or tags.",
          },
          type: { type: "string", minLength: 1, description: "One type, whole." },
        },
        needs: "read",
        async call({ query, type }, { client }) {
          if (type !== undefined) {
            return answer(
              (await client.invoke("get_node", { type: `${type}` })) as unknown as JsonObject,
            );
          }
          const { items } = await client.invoke("list_nodes", {
            limit: 200,
            ...(query !== undefined && { q: `${query}` }),
          });
          const types = items.map(({ type: name, title, summary, effect, fields, ports }) => ({
            ...{ type: name, title, summary, effect, ports: ports.map((port) => port.name) },
            fields: Object.keys((fields["properties"] as object | undefined) ?? {}),
          }));
          return answer({ types });
        },
      },
    ),
    tool(
      "get_run",
      [
        "Show a run",
        "Shows how far a run is, what it waits for, and its outputs or its error once it has ended.",
      ],
      {
        properties: { run: { type: "string", description: "The id, such as run_01J…" } },
        required: ["run"],
        needs: "read",
        async call({ run }, { client }) {
          const { nodes: _, ...shown } = await client.invoke("get_run", { runId: `${run}` });
          return answer(shown as unknown as JsonObject);
        },
      },
    ),
    tool(
      "run_flow",
      [
        "Run a flow",
        "Runs the text of a flow with inputs and answers its outputs. With dry_run it says what would be done, and runs nothing: it checks text and inputs and lists the steps with their effects.",
      ],
      {
        properties: {
          text: TEXT,
          inputs: { type: "object", description: "Inputs by name." },
          dry_run: { type: "boolean", default: false },
        },
        required: ["text"],
        annotations: {
          readOnlyHint: false,
          destructiveHint: true,
          idempotentHint: false,
          openWorldHint: true,
        },
        needs: "run",
        call({ text, inputs = {}, dry_run: isDry }, call) {
          const dsl = `${text}`;
          if (isDry === true) return rehearse(dsl, inputs as JsonObject, call);
          return callFlow({ dsl, inputs } as RunRequest, call);
        },
      },
    ),
  ].map((each) => [each.tool.name, each]),
);

/** Calls a tool with arguments as they came. Every problem of them is in one answer. */
export async function callAuthorTool(
  { tool: { name, inputSchema }, call: run }: AuthorTool,
  args: JsonObject,
  call: ToolCall,
): Promise<CallToolResult | InputRequiredResult> {
  const problems = schemaProblems(inputSchema as JsonSchema, args);
  if (problems.length > 0) {
    return failure({
      code: "invalid_args",
      message: `the arguments do not fit ${name}`,
      problems: problems.map(({ pointer, message }) => `${pointer || "the arguments"} ${message}`),
    });
  }
  return run(args, call);
}

async function explain(code: string): Promise<CallToolResult> {
  const { DIAGNOSTICS, EXPLANATIONS } = await import("@millrace/dsl/explain");
  const known = /^\d{4}$/.test(code) ? `FLOW${code}` : code;
  if (!Object.hasOwn(DIAGNOSTICS, known)) {
    const near = nearestName(known, Object.keys(DIAGNOSTICS));
    return failure({
      code: "not_found",
      message: `there is no diagnostic ${known}`,
      hint: near === undefined ? "codes look like FLOW3001" : `did you mean ${near}?`,
    });
  }
  const name = known as keyof typeof DIAGNOSTICS;
  return answer({
    code: known,
    ...DIAGNOSTICS[name],
    ...EXPLANATIONS[name],
  } as unknown as JsonObject);
}

/** Errors that would refuse a run of the text, and the effects of its nodes. */
async function rehearse(
  dsl: string,
  inputs: JsonObject,
  { client, flows }: ToolCall,
): Promise<CallToolResult> {
  const { valid, diagnostics } = await client.invoke("validate_flow", { dsl });
  if (!valid) {
    return failure({
      code: "flow_invalid",
      message: "the flow is not valid",
      problems: diagnostics.map(lineOf),
      hint: "explain_diagnostic says what a code means",
    });
  }
  const converted = await client.invoke("convert_flow", { dsl });
  if (!("graph" in converted)) return refused(new TypeError("no graph"));
  const { graph } = converted;
  const { problems } = checkInputs(graph.inputs ?? [], inputs);
  if (problems.length > 0) {
    return failure({
      code: "input_invalid",
      message: "the inputs do not fit the flow",
      problems: problems.map(({ message }) => message),
    });
  }
  const { connections = [] } = graph;
  const steps = [];
  for (const node of graph.nodes) {
    const { strongest } = await flows.effectsOf(client, { nodes: [node], connections });
    steps.push({ node: node.id, type: node.type, effect: strongest });
  }
  return answer({ valid, runs: false, steps });
}

function lineOf({ code, severity, message, range, hint }: Diagnostic): string {
  const line = range === undefined ? "" : `line ${range.start.line}: `;
  return `${line}${severity} ${code}: ${message}${hint === undefined ? "" : ` (${hint})`}`;
}
