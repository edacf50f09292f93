/** JavaScript as a step of a flow. It sees its input and nothing else, and it always ends. */
import {
  defineAction,
  defineActionAdapter,
  defineExtension,
  type ExtensionDefinition,
  type FieldFinding,
  type JsonObject,
  jsonSchema,
} from "@millrace/contracts";
import { type CodeFields, checkSource, LIMITS, type LimitRange, runCode } from "./run-code.ts";

const literal = { "x-millrace": { literal: true } } as const;
const { timeoutMs, memoryBytes } = LIMITS;

const run = defineAction<CodeFields, Awaited<ReturnType<typeof runCode>>>({
  name: "run",
  title: "Run JavaScript",
  summary:
    "What a function of its input returns. The code reaches no network, file, clock or chance.",
  category: "data",
  fields: jsonSchema({
    type: "object",
    properties: {
      source: {
        type: "string",
        minLength: 1,
        maxLength: 262_144,
        description: "Body of a function of `input`. A promise that it returns is awaited.",
        ...literal,
      },
      input: { description: "Any JSON; the code reads it as `input`." },
      inputSchema: {
        type: "object",
        description: "JSON Schema that `input` must fit.",
        ...literal,
      },
      outputSchema: {
        type: "object",
        description: "JSON Schema that the returned value must fit.",
        ...literal,
      },
      timeoutMs: {
        type: "integer",
        minimum: timeoutMs.least,
        maximum: timeoutMs.most,
        description: `Milliseconds that the code may run; ${timeoutMs.usual} unless the operator says otherwise.`,
      },
      memoryBytes: {
        type: "integer",
        minimum: memoryBytes.least,
        maximum: memoryBytes.most,
        description: `Bytes of the memory that it runs in; ${memoryBytes.usual} unless the operator says otherwise.`,
      },
    },
    required: ["source"],
    additionalProperties: false,
  }),
  output: jsonSchema({
    type: "object",
    properties: { value: { description: "What the code returned." } },
    required: ["value"],
  }),
  effect: "pure",
  // More than any code may run: its own limit ends it, and says how to raise that.
  defaults: { policy: { timeoutMs: timeoutMs.most + 30_000 } },
  examples: [
    {
      title: "Add up",
      fields: {
        source: "return input.reduce((sum, one) => sum + one, 0);",
        input: [1, 2, 3],
      },
      output: { value: 6 },
    },
  ],
  check: ({ source }): readonly FieldFinding[] | Promise<readonly FieldFinding[]> =>
    source === undefined ? [] : checkSource(source),
  run: (fields, ctx) => runCode(fields, ctx),
});

const bound = ({ least, most }: LimitRange, otherwise: number) => ({
  type: "integer",
  minimum: least,
  maximum: most,
  default: otherwise,
});

/** The adapter `code` with `code.run`. */
const extension: ExtensionDefinition = defineExtension({
  adapters: [
    defineActionAdapter({
      id: "code",
      title: "Code",
      actions: [run],
      config: jsonSchema<JsonObject>({
        type: "object",
        properties: {
          timeoutMs: bound(timeoutMs, timeoutMs.usual),
          maxTimeoutMs: bound(timeoutMs, timeoutMs.ceiling),
          memoryBytes: bound(memoryBytes, memoryBytes.usual),
          maxMemoryBytes: bound(memoryBytes, memoryBytes.ceiling),
        },
        additionalProperties: false,
      }),
    }),
  ],
});
export default extension;
