/**
 * The OpenAPI 3.1 document of the server, derived from the command registry. It is the same whatever is wired: a command
 * that a server cannot do is answered there with 501.
 */
import type { CommandDef, JsonObject } from "@millrace/contracts";
import { executionEventSchema } from "@millrace/contracts/schemas";
import { type BoundCommand, isBound } from "../dispatch/index.ts";
import { createComponents } from "./components.ts";
import { operationOf, PROBLEM_SCHEMA, problemResponse } from "./operation.ts";
import { PLAIN_ROUTES } from "./plain-routes.ts";

const DESCRIPTION =
  "Every operation is a command: `POST /api/invoke` takes it by name, with path, query and body as one `args` object. " +
  "Refusals are problem documents (RFC 9457) with a closed set of codes. Version 1 only grows.";

interface Operation extends JsonObject {
  readonly parameters?: readonly (JsonObject & { readonly name: string })[];
  readonly responses: JsonObject;
}

/** Builds the document. Throws for a schema that JSON Schema cannot say. */
export function buildOpenApi(
  commands: ReadonlyMap<string, CommandDef>,
  version: string,
  basePath: string,
): JsonObject {
  const bound = [...commands.values()].filter(isBound);
  const components = createComponents({
    input: bound.map(({ args }) => args),
    output: [
      executionEventSchema,
      ...bound.flatMap(({ result, stream }) => [result, ...(stream ? [stream.item] : [])]),
    ],
  });
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const command of [...bound].sort((a, b) => rank(a) - rank(b))) {
    const path = command.http.path.replace(/:(\w+)/g, "{$1}");
    const method = command.http.method.toLowerCase();
    const at = paths[path] ?? {};
    paths[path] = at;
    const operation = operationOf(command, components) as Operation;
    const first = at[method] as Operation | undefined;
    at[method] = first === undefined ? operation : join(first, operation, command);
  }
  const all = { ...paths, ...PLAIN_ROUTES };
  return {
    openapi: "3.1.0",
    info: { title: "Millrace", version, description: DESCRIPTION, license: { name: "MIT" } },
    servers: [{ url: basePath || "/" }],
    security: [{ bearer: [] }],
    paths: all,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      responses: problemsIn(all),
      schemas: { ...components.definitions, Problem: PROBLEM_SCHEMA },
    },
  };
}

/** The problem responses that operations refer to. */
function problemsIn(paths: JsonObject): JsonObject {
  const references = JSON.stringify(paths).matchAll(/#\/components\/responses\/([a-z_.]+)/g);
  const names = new Set([...references].map(([, name]) => name as string));
  return Object.fromEntries([...names].sort().map((name) => [name, problemResponse(name)]));
}

/** Commands that share a route with another one come after it. */
function rank({ http }: BoundCommand): number {
  return http.when === undefined ? 0 : 1;
}

/** Two commands of one method and path are one operation; a query key tells them apart. */
function join(first: Operation, second: Operation, { name, http }: BoundCommand): JsonObject {
  const known = new Set(first.parameters?.map((parameter) => parameter.name));
  const added = (second.parameters ?? []).filter((parameter) => !known.has(parameter.name));
  return {
    ...first,
    "x-millrace-when": { query: http.when?.query ?? "", command: name },
    parameters: [
      ...(first.parameters ?? []),
      ...added.map((parameter) => ({ ...parameter, required: false })),
    ],
    responses: { ...second.responses, ...first.responses },
  };
}
