/** The body of a service request, from the arguments that go there. */
import {
  type Json,
  type JsonObject,
  type ServiceOperation,
  serviceArguments,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { fromBase64, percentEncode, schemaProblems } from "@millrace/engine/pack";
import { invalidArgument } from "../refusals.ts";

/** Content of a request; `undefined`: it has none. Throws `field_invalid`. */
export function bodyOf(
  operation: ServiceOperation,
  args: JsonObject,
): { readonly type: string; readonly content: string | Uint8Array } | undefined {
  const { body } = operation;
  if (body === undefined) return undefined;
  const value = givenBody(operation, args);
  if (value === undefined) {
    if (body.required === true) throw invalidArgument("args.body", "is missing");
    return undefined;
  }
  if (body.schema !== undefined) {
    const problem = schemaProblems(body.schema, value)[0];
    if (problem !== undefined) {
      const whole = isWhole(operation) ? "args.body" : "args";
      throw invalidArgument(whole + problem.pointer.replaceAll("/", "."), problem.message);
    }
  }
  return { type: body.contentType, content: contentOf(body.contentType, value) };
}

/** The members that were given as one object, or the argument `body`. */
function givenBody(operation: ServiceOperation, args: JsonObject): Json | undefined {
  if (isWhole(operation)) return Object.hasOwn(args, "body") ? args["body"] : undefined;
  const { known } = serviceArguments(operation);
  const members = Object.entries(args).filter(
    ([name, value]) => value !== undefined && (known.get(name)?.place ?? "field") === "field",
  );
  const isNeeded = operation.body?.required === true;
  if (members.length === 0 && !isNeeded) return undefined;
  return { ...constantsOf(operation), ...Object.fromEntries(members) };
}

/** Members that every body has, always the same, such as the text of a query. */
function constantsOf({ body }: ServiceOperation): JsonObject {
  const required = body?.schema?.["required"];
  const names = Array.isArray(required) ? (required as readonly string[]) : [];
  const { properties = {} } = (body?.schema ?? {}) as { readonly properties?: JsonObject };
  return Object.fromEntries(
    names.flatMap((name) => {
      const field = properties[name];
      return isObject(field) && "const" in field ? [[name, field["const"] as Json]] : [];
    }),
  );
}

function isWhole(operation: ServiceOperation): boolean {
  return serviceArguments(operation).known.get("body")?.place === "body";
}

function contentOf(type: string, value: Json): string | Uint8Array {
  switch (type) {
    case "application/json":
      return JSON.stringify(value);
    case "application/x-www-form-urlencoded":
      return formOf(value);
    case "application/octet-stream": {
      const bytes = typeof value === "string" ? fromBase64(value) : undefined;
      if (bytes === undefined) throw invalidArgument("args.body", "must be base64 text");
      return bytes;
    }
    default:
      if (typeof value !== "string") throw invalidArgument("args.body", "must be text");
      return value;
  }
}

function formOf(value: Json): string {
  if (!isObject(value)) {
    throw invalidArgument("args.body", "must be an object");
  }
  return Object.entries(value as JsonObject)
    .flatMap(([name, member]) =>
      scalarsOf(member, `args.${name}`).map(
        (one) => `${percentEncode(name)}=${percentEncode(one)}`,
      ),
    )
    .join("&");
}

/** A scalar, or each of a list of scalars, as text; null and what is absent are left out. Throws `field_invalid`. */
export function scalarsOf(value: Json | undefined, where: string): string[] {
  const list = Array.isArray(value) ? (value as readonly Json[]) : [value];
  return list
    .filter((one) => one !== null && one !== undefined)
    .map((one) => {
      if (typeof one === "object")
        throw invalidArgument(where, "must be text, a number or a boolean");
      return String(one);
    });
}
