/** The page of the descriptor of a service, from its schema; the sentences are written here, one for each member. */
import type { JsonSchema } from "@millrace/contracts";
import { serviceSpecSchema } from "@millrace/contracts/schemas";
import { describeType, typeFromSchema } from "@millrace/dsl";
import { code, page, table, WRITTEN } from "./markdown.ts";
import { ABOUT } from "./services-words.ts";

type Properties = { readonly [name: string]: JsonSchema };

interface Shape {
  readonly properties?: Properties;
  readonly required?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
}

/** The descriptor, its auth schemes, its pages and its operations. */
export function servicesPage(): string {
  const root = (serviceSpecSchema as unknown as { toJSONSchema(): JsonSchema }).toJSONSchema();
  const integration = member(root, "serviceIntegration");
  const operation = (member(integration, "operations") as Shape).items ?? {};
  const schemes = (member(integration, "auth") as Shape).anyOf ?? [];
  const pages = (member(operation, "pagination") as Shape).anyOf ?? [];
  const told = new Set<string>();
  const section = (title: string, name: string, schema: JsonSchema | undefined) =>
    page(`## ${title}`, ABOUT[name], rows(name, schema ?? {}, told)).trimEnd();
  const text = page(
    "# Descriptors of services",
    WRITTEN,
    ABOUT[""],
    section("Service", "service", root),
    section("serviceIntegration", "serviceIntegration", integration),
    section("auth: oauth2", "oauth2", withKind(schemes, "oauth2")),
    section("auth: apiKey", "apiKey", withKind(schemes, "apiKey")),
    section("auth: bearer, basic, none", "plain", schemes.at(-1)),
    section("rateLimit", "rateLimit", member(integration, "rateLimit")),
    section("failure", "failure", member(integration, "failure")),
    section("Operation", "operation", operation),
    section("body", "body", member(operation, "body")),
    ...["cursor", "page", "offset", "link"].map((kind) =>
      section(`pagination: ${kind}`, kind, withKind(pages, kind)),
    ),
  );
  const unused = Object.keys(ABOUT).filter((name) => name.includes(".") && !told.has(name));
  if (unused.length > 0) throw new Error(`there is no member ${unused.join(", ")}`);
  return text;
}

function member(schema: JsonSchema, name: string): JsonSchema {
  return (schema as Shape).properties?.[name] ?? {};
}

/** The alternative that one of its words names. */
function withKind(alternatives: readonly JsonSchema[], kind: string): JsonSchema | undefined {
  return alternatives.find((each) =>
    Object.values((each as Shape).properties ?? {}).some((property) => {
      const words = (property as Shape).enum ?? [];
      return words.length === 1 && words[0] === kind;
    }),
  );
}

/** A row for each member. Throws for one without a sentence. */
function rows(section: string, schema: JsonSchema, told: Set<string>): string {
  const { properties = {}, required = [] } = schema as Shape;
  return table(
    ["Name", "Type", "Required", ""],
    Object.entries(properties).map(([name, property]) => {
      const key = `${section}.${name}`;
      const about = ABOUT[key];
      if (about === undefined) throw new Error(`no sentence says what ${key} is`);
      told.add(key);
      const words = (property as Shape).enum?.map((word) => code(JSON.stringify(word))) ?? [];
      const isWord = words.length > 1 && !words.includes(code("true"));
      const choice = isWord ? ` One of ${words.join(", ")}.` : "";
      return [
        code(name),
        code(describeType(typeFromSchema(property))),
        required.includes(name) ? "yes" : "",
        `${about}${choice}`,
      ];
    }),
  );
}
