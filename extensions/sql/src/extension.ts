/** SQL databases for flows. A statement is a constant of the flow, and what comes from elsewhere is a parameter of it. */
import {
  defineAction,
  defineActionAdapter,
  defineExtension,
  type ExtensionDefinition,
  type JsonSchema,
  jsonSchema,
  type NodeContext,
} from "@millrace/contracts";
import { addressOf, SECRETS } from "./address.ts";
import {
  findings,
  type Limits,
  MAX_BYTES,
  MAX_ROWS,
  MOST_BYTES,
  MOST_ROWS,
  MOST_STATEMENTS,
  MOST_TIMEOUT_MS,
  problemOf,
  type Result,
  refused,
  type Statement,
  TIMEOUT_MS,
} from "./statement.ts";

interface Common extends Limits {
  readonly database?: string;
}

interface One extends Common, Statement {}

const limit = (most: number, otherwise: number, description: string): JsonSchema => ({
  ...{ type: "integer", minimum: 1, maximum: most, default: otherwise, description },
});

const COMMON = {
  database: {
    type: "string",
    minLength: 1,
    description: 'a name of "databases" in the configuration; absent: the secret DATABASE_URL',
  },
  maxRows: limit(MOST_ROWS, MAX_ROWS, "rows of one result; more is a failure"),
  maxBytes: limit(MOST_BYTES, MAX_BYTES, "bytes of all rows as JSON; more is a failure"),
  timeoutMs: limit(MOST_TIMEOUT_MS, TIMEOUT_MS, "time limit of one statement, in milliseconds"),
};

const STATEMENT = {
  statement: {
    type: "string",
    minLength: 1,
    description: "one statement, a constant; $1, $2 stand for parameters, ? with SQLite",
    "x-millrace": { literal: true, sink: "sql" },
  },
  parameters: {
    type: "array",
    description: "values of the statement, in order",
  },
};

const ONE = jsonSchema<One>({
  type: "object",
  properties: { ...STATEMENT, ...COMMON },
  required: ["statement"],
  additionalProperties: false,
});

const ROWS = {
  rows: {
    type: "array",
    description: "the rows, by the names of their columns",
    items: { type: "object", additionalProperties: true },
  },
  rowCount: { type: "integer", description: "rows that were answered or changed" },
};

const RESULT: JsonSchema = { type: "object", properties: ROWS, required: ["rows", "rowCount"] };

/** What every action needs. */
const needs = { secrets: SECRETS };
const checkOf =
  (writes: boolean) =>
  ({ statement }: Partial<One>) =>
    findings(statement, { pointer: "/statement", writes });

const query = defineAction<One, Result>({
  name: "query",
  title: "Query a database",
  summary: "The rows that a statement answers: SELECT and its like, in a READ ONLY transaction.",
  fields: ONE,
  output: jsonSchema(RESULT),
  effect: "read",
  needs,
  check: checkOf(false),
  run: (fields, ctx) => runOne(fields, false, ctx),
});

const execute = defineAction<One, Result>({
  name: "execute",
  title: "Change a database",
  summary: "One statement that changes rows, in a transaction; RETURNING answers them.",
  fields: ONE,
  output: jsonSchema(RESULT),
  effect: "write",
  needs,
  check: checkOf(true),
  run: (fields, ctx) => runOne(fields, true, ctx),
});

interface Many extends Common {
  readonly statements: readonly Statement[];
}

const transaction = defineAction<Many, { readonly results: readonly Result[] }>({
  name: "transaction",
  title: "Several changes at once",
  summary: "Statements in one transaction: all of them happen, or none.",
  fields: jsonSchema({
    type: "object",
    properties: {
      statements: {
        type: "array",
        minItems: 1,
        maxItems: MOST_STATEMENTS,
        items: {
          type: "object",
          properties: STATEMENT,
          required: ["statement"],
          additionalProperties: false,
        },
      },
      ...COMMON,
    },
    required: ["statements"],
    additionalProperties: false,
  }),
  output: jsonSchema({
    type: "object",
    properties: { results: { type: "array", items: RESULT } },
    required: ["results"],
  }),
  effect: "write",
  needs,
  check: ({ statements }) =>
    statements?.flatMap((each, at) =>
      findings(each?.statement, { pointer: `/statements/${at}/statement`, writes: true }),
    ) ?? [],
  run: async ({ statements, ...common }, ctx) => ({
    results: await runAll(statements, { ...common, writes: true }, ctx),
  }),
});

async function runOne(
  { statement, parameters, ...common }: One,
  writes: boolean,
  ctx: NodeContext,
): Promise<Result> {
  const one = { statement, ...(parameters !== undefined && { parameters }) };
  return (await runAll([one], { ...common, writes }, ctx))[0] as Result;
}

async function runAll(
  statements: readonly Statement[],
  { database, ...rest }: Common & { readonly writes: boolean },
  ctx: NodeContext,
): Promise<readonly Result[]> {
  for (const { statement } of statements) {
    const problem = problemOf(statement, rest);
    if (problem !== undefined) throw refused(problem.code, problem.message);
  }
  const address = await addressOf(database, ctx);
  const work = { ...rest, statements, signal: ctx.signal };
  // Each library is loaded for who uses it.
  if (address.kind === "sqlite") {
    const { runSqlite } = await import("./sqlite.ts");
    return runSqlite(address.path, work);
  }
  const { runPostgres } = await import("./postgres.ts");
  return runPostgres(address, work);
}

/** The adapter `sql`: `sql.query`, `sql.execute`, `sql.transaction`. */
const extension: ExtensionDefinition = defineExtension({
  adapters: [
    defineActionAdapter({
      id: "sql",
      title: "SQL",
      config: jsonSchema({
        type: "object",
        properties: {
          databases: {
            type: "object",
            description: "names that flows use for databases, with the secret of each address",
            additionalProperties: { enum: [...SECRETS] },
          },
          ca: {
            type: "string",
            maxLength: 262_144,
            pattern: "-----BEGIN CERTIFICATE-----",
            description:
              "certificates in PEM that vouch for PostgreSQL with verify-full; absent: those that Node knows",
          },
        },
        additionalProperties: false,
      }),
      actions: [query, execute, transaction],
    }),
  ],
});
export default extension;
