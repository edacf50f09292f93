/** The operations of a document. One that cannot be called is left out with a warning; the others go on. */
import {
  checkServiceIntegration,
  operationEffect,
  type ServiceAuth,
  type ServiceOperation,
} from "@millrace/contracts";
import { isObject, pointerSegment } from "@millrace/contracts/kit";
import { parametersOf } from "./parameters.ts";
import { listOf, membersOf, textOf, type Unknown } from "./plain.ts";
import { convertSchema, type SchemaSource } from "./schemas.ts";

const METHODS: ReadonlySet<string> = new Set(["get", "head", "post", "put", "patch", "delete"]);
const MAX_TITLE = 120;
const MAX_SUMMARY = 300;
const MAX_ID = 100;

/** Options for operations that come from outside the operations themselves. */
export interface OperationsOptions {
  readonly source: SchemaSource;
  readonly auth: ServiceAuth;
  /** The auth scheme's name in the document. */
  readonly authName: string | undefined;
  /** Security that the document requires of every operation without its own. */
  readonly commonSecurity: unknown;
  readonly baseUrl: string;
  /** Whether an operation is wanted. */
  readonly wants: (id: string, tags: readonly string[]) => boolean;
}

/** Every operation that can be called, in the order of the document. Ids are those of the whole document, whatever is wanted. */
export function operationsOf(document: Unknown, options: OperationsOptions): ServiceOperation[] {
  const { source, wants } = options;
  const ids = new Set<string>();
  const found: ServiceOperation[] = [];
  for (const [path, given] of membersOf(document["paths"])) {
    if (path.startsWith("x-")) continue;
    const item = source.references.object(given, `/paths${pointerSegment(path)}`);
    if (item === undefined) continue;
    for (const [method, value] of Object.entries(item.value)) {
      const pointer = item.pointer + pointerSegment(method);
      if (!isObject(value) || !/^[a-z]+$/.test(method)) continue;
      if (!METHODS.has(method)) {
        if (method === "options" || method === "trace") {
          source.findings.warn("openapi_skipped", pointer, `${method.toUpperCase()} is left out`);
        }
        continue;
      }
      const id = idOf(value["operationId"], { method, path, ids });
      const tags = listOf(value["tags"]).filter((tag) => typeof tag === "string");
      if (!wants(id, tags)) continue;
      const operation = new Reader(options, { id, method, path, pointer, value, item: item.value });
      const read = operation.read();
      if (typeof read !== "string") found.push(read);
      else source.findings.warn("openapi_operation", pointer, `${id} is left out: ${read}`);
    }
  }
  return found;
}

/** `operationId` in snake case, else method and path; `_2` behind one that is taken. */
function idOf(
  given: unknown,
  { method, path, ids }: { method: string; path: string; ids: Set<string> },
): string {
  const text = typeof given === "string" && given !== "" ? given : `${method} ${path}`;
  const snake = text
    .slice(0, MAX_ID * 2)
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "");
  const base = (/^[a-z]/.test(snake) ? snake : `${method}_${snake}`).slice(0, MAX_ID - 5);
  let id = base;
  for (let n = 2; ids.has(id); n += 1) id = `${base}_${n}`;
  ids.add(id);
  return id;
}

interface Given {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly pointer: string;
  readonly value: Unknown;
  /** The path item that holds it. */
  readonly item: Unknown;
}

type Body = NonNullable<ServiceOperation["body"]>;

const BODY_TYPES: readonly Body["contentType"][] = [
  "application/json",
  "application/x-www-form-urlencoded",
  "text/plain",
  "application/octet-stream",
];

class Reader {
  readonly #options: OperationsOptions;
  readonly #given: Given;

  constructor(options: OperationsOptions, given: Given) {
    this.#options = options;
    this.#given = given;
  }

  /** The operation, or why there is none. */
  read(): ServiceOperation | string {
    const { source, auth, baseUrl } = this.#options;
    const { id, path, pointer, value, item } = this.#given;
    const parameters = parametersOf(
      source,
      [
        {
          list: item["parameters"],
          pointer: `${pointer.slice(0, pointer.lastIndexOf("/"))}/parameters`,
        },
        { list: value["parameters"], pointer: `${pointer}/parameters` },
      ],
      path,
    );
    if (typeof parameters === "string") return parameters;
    const method = this.#given.method.toUpperCase() as ServiceOperation["method"];
    const body = this.#body(method, namesOf(parameters));
    if (typeof body === "string") return body;
    this.#skipped();
    const title = textOf(value["summary"], MAX_TITLE) ?? id;
    const summary = textOf(value["description"], MAX_SUMMARY);
    const scopes = this.#scopes();
    const operation: ServiceOperation = {
      id,
      title,
      ...(summary !== undefined && { summary }),
      method,
      path,
      effect: operationEffect({ method }),
      ...parameters,
      ...(body !== undefined && { body }),
      ...this.#result(),
      ...(scopes.length > 0 && { scopes }),
    };
    const [finding] = checkServiceIntegration({ baseUrl, auth, operations: [operation] });
    if (finding === undefined) return operation;
    return `${(finding.pointer ?? "").replace("/operations/0", "")} ${finding.message}`.trim();
  }

  #body(method: string, taken: ReadonlySet<string>): Body | undefined | string {
    const { source } = this.#options;
    const { value, pointer } = this.#given;
    if (value["requestBody"] === undefined) return undefined;
    const place = source.references.object(value["requestBody"], `${pointer}/requestBody`);
    if (place === undefined) return "its body cannot be read";
    if (method === "GET" || method === "HEAD") {
      source.findings.warn("openapi_skipped", place.pointer, `a body of ${method} is left out`);
      return undefined;
    }
    const required = place.value["required"] === true;
    const contents = mediaOf(place.value["content"], `${place.pointer}/content`);
    const contentType = BODY_TYPES.find((type) => contents.has(type));
    const media = contents.get(contentType ?? "");
    if (contentType === undefined || media === undefined) {
      const message = "a body of none of the supported content types";
      if (required) return `it needs ${message}`;
      source.findings.warn("openapi_skipped", place.pointer, `${message} is left out`);
      return undefined;
    }
    const isText = contentType === "text/plain" || contentType === "application/octet-stream";
    const at = { pointer: `${media.pointer}/schema`, direction: "request" } as const;
    const given = media.value["schema"];
    const schema = isText || given === undefined ? undefined : convertSchema(source, given, at);
    const body = { contentType, ...(required && { required }) };
    if (schema === undefined) return body;
    // Members whose names are taken can only be given together, as the one argument `body`.
    const clashes =
      isObject(schema["properties"]) &&
      Object.keys(schema["properties"]).some((name) => taken.has(name));
    const { $defs, ...rest } = schema;
    const whole = { allOf: [rest], ...($defs !== undefined && { $defs }) };
    return { ...body, schema: clashes ? whole : schema };
  }

  /** The first success that has a body. */
  #result(): Pick<ServiceOperation, "result" | "resultType"> {
    const { source } = this.#options;
    const { value, pointer, method } = this.#given;
    if (method === "head") return {};
    const statuses = membersOf(value["responses"]).filter(([status]) =>
      /^2(?:\d\d|XX)$/i.test(status),
    );
    for (const [status, response] of statuses.sort(([a], [b]) => (a < b ? -1 : 1))) {
      const place = source.references.object(
        response,
        `${pointer}/responses${pointerSegment(status)}`,
      );
      if (place === undefined) continue;
      const contents = mediaOf(place.value["content"], `${place.pointer}/content`);
      const [first] = contents.keys();
      if (first === undefined) continue;
      const json = [...contents].find(([type]) =>
        /^application\/(?:[\w.-]+\+)?json$/.test(type),
      )?.[1];
      if (json === undefined) {
        return first === "*/*" ? {} : { resultType: first.startsWith("text/") ? "text" : "base64" };
      }
      if (json.value["schema"] === undefined) return {};
      const at = { pointer: `${json.pointer}/schema`, direction: "answer" } as const;
      const result = convertSchema(source, json.value["schema"], at);
      return result === undefined ? {} : { result };
    }
    return {};
  }

  #scopes(): string[] {
    const { authName, auth, commonSecurity } = this.#options;
    if (authName === undefined || auth.scheme !== "oauth2") return [];
    for (const requirement of listOf(this.#given.value["security"] ?? commonSecurity)) {
      if (!isObject(requirement) || !Object.hasOwn(requirement, authName)) continue;
      return listOf(requirement[authName]).filter((scope) => typeof scope === "string");
    }
    return [];
  }

  #skipped(): void {
    const { findings } = this.#options.source;
    const { value, item, pointer } = this.#given;
    if (value["callbacks"] !== undefined) {
      findings.warn("openapi_skipped", `${pointer}/callbacks`, "callbacks are left out");
    }
    if (value["servers"] !== undefined || item["servers"] !== undefined) {
      findings.warn("openapi_skipped", pointer, "servers of its own are left out");
    }
  }
}

function namesOf(parameters: object): ReadonlySet<string> {
  const parts = Object.values(parameters) as { readonly properties: object }[];
  return new Set(parts.flatMap(({ properties }) => Object.keys(properties)));
}

/** Media types by their name alone, in lower case. */
function mediaOf(
  content: unknown,
  pointer: string,
): Map<string, { value: Unknown; pointer: string }> {
  const found = new Map<string, { value: Unknown; pointer: string }>();
  for (const [type, value] of membersOf(content)) {
    const name = (type.split(";")[0] as string).trim().toLowerCase();
    if (isObject(value) && !found.has(name))
      found.set(name, { value, pointer: pointer + pointerSegment(type) });
  }
  return found;
}
