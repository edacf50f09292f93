/** What is published of services as OpenAPI, as one small document for a mock server: the requests of the catalog's operations. */
import { readFileSync } from "node:fs";
import {
  type Json,
  type JsonObject,
  type ServiceOperation,
  serviceArguments,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { DOCUMENTS, documentOf } from "../../../scripts/catalog-openapi.mjs";
import type { CatalogService } from "../src/index.ts";

/** Where the requests of a service are published as OpenAPI, and what a mock server has to know beside. */
export interface PublishedRequests {
  /** The package of npm, and the file in it. */
  readonly source: string;
  readonly file: string;
  /** Operations that are not asked, by id: how the document has them. */
  readonly without?: { readonly [id: string]: string };
  /** Names that the document requires, and the maker does not. */
  readonly ignore?: readonly string[];
  /** Arguments that the maker has and the document does not. */
  readonly beside?: readonly string[];
  /** The one content type of bodies in the document, where the maker takes others too. */
  readonly bodies?: "application/x-www-form-urlencoded";
  /** Values of arguments: those of `*` where a call has the argument, those of an operation always; null leaves one out. */
  readonly values?: { readonly [id: string]: JsonObject };
}

/** What is published, by service. */
export const SOURCES: { readonly [slug: string]: PublishedRequests } = DOCUMENTS;

type Members = { [name: string]: Json };

const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]+/, "").replace(/\/$/, "");
/** Names of parameters differ, and say nothing. */
const plain = (path: string): string => path.replace(/\{\{?[^{}]*\}?\}/g, "{}").replace(/\/$/, "");

/** Collects requests of services, each below a path of its slug, with the components that they reach. */
export class Requests {
  /** Method and path of each request with a body in JSON. */
  readonly bodies: (readonly [method: string, path: string])[] = [];
  readonly #paths: Members = {};
  readonly #components: { [kind: string]: Members } = {
    parameters: {},
    requestBodies: {},
    schemas: {},
    securitySchemes: {},
  };

  /** Adds what the document of a service has of operations; answers these, and arguments of these, that it does not have. */
  add(
    { slug, serviceIntegration }: CatalogService,
    operations: readonly ServiceOperation[],
  ): readonly string[] {
    const { auth, baseUrl } = serviceIntegration;
    const { beside = [] } = SOURCES[slug] ?? {};
    const document: JsonObject = JSON.parse(readFileSync(documentOf(slug), "utf8"));
    const moved = this.#mover(slug, document);
    const server = pathOf(String(object(list(document["servers"])[0])["url"] ?? ""));
    const published = object(document["paths"]);
    const known = new Map(Object.keys(published).map((path) => [plain(server + path), path]));
    const secret = auth.scheme === "apiKey" && auth.in === "path" ? `/${auth.prefix}{token}` : "";
    const schemes = object(object(document["components"])["securitySchemes"]);
    for (const name of Object.keys(schemes))
      moved({ $ref: `#/components/securitySchemes/${name}` });
    return operations.flatMap((each) => {
      const { id, method, path } = each;
      const own = known.get(plain(secret + pathOf(baseUrl) + path)) ?? "";
      const item = object(published[own]);
      const operation = item[method.toLowerCase()];
      if (!isObject(operation)) return [id];
      const { parameters, requestBody, security = document["security"] } = operation;
      const at = `${secret}/${slug}${(server + own).slice(secret.length)}`;
      const request = {
        parameters: moved([...list(item["parameters"]), ...list(parameters)]),
        ...(requestBody !== undefined && { requestBody: moved(requestBody) }),
      };
      const schemesOf = (one: Json) =>
        Object.entries(object(one)).map(([name, scopes]) => [`${slug}.${name}`, scopes]);
      this.#paths[at] = {
        ...object(this.#paths[at]),
        [method.toLowerCase()]: {
          ...request,
          security: list(security).map((one) => Object.fromEntries(schemesOf(one))),
          responses: { "200": { description: "done" } },
        },
      };
      if (each.body?.contentType === "application/json") this.bodies.push([method, at]);
      const names = this.#namesIn(request);
      return [...serviceArguments(each).known]
        .filter(([name, { place }]) => place !== "params" && !beside.includes(name))
        .flatMap(([name]) => (names.has(name.toLowerCase()) ? [] : [`${id} ${name}`]));
    });
  }

  /** The document. */
  toJSON(): JsonObject {
    const info = { title: "Requests of the catalog", version: "1" };
    return { openapi: "3.1.0", info, paths: this.#paths, components: this.#components };
  }

  #resolved(value: Json | undefined): JsonObject {
    const { $ref } = object(value);
    if (typeof $ref !== "string") return object(value);
    const [, , kind = "", copy = ""] = $ref.split("/");
    return object(this.#components[kind]?.[copy]);
  }

  /** Names of parameters and members that a part reaches, in small letters: a mock server takes others too. */
  #namesIn(part: Json, found = new Set<string>(), seen = new Set<string>()): Set<string> {
    if (!isObject(part) && !Array.isArray(part)) return found;
    const { $ref, name, properties } = object(part);
    if (typeof $ref === "string" && !seen.has($ref)) {
      seen.add($ref);
      this.#namesIn(this.#resolved(part as JsonObject), found, seen);
    }
    for (const each of [name, ...Object.keys(object(properties))]) {
      if (typeof each === "string") found.add(each.toLowerCase());
    }
    for (const each of Object.values(part)) this.#namesIn(each, found, seen);
    return found;
  }

  /** What makes parts of this document of parts of another: their references go to components of the service, which it copies. */
  #mover(slug: string, document: JsonObject): (part: Json) => Json {
    const { ignore = [] } = SOURCES[slug] ?? {};
    const isIgnored = (value: Json | undefined): boolean => ignore.some((name) => name === value);
    const moved = (part: Json): Json => {
      if (Array.isArray(part)) {
        return part
          .filter((each) => !isIgnored(each) && !isIgnored(object(each)["name"]))
          .map(moved);
      }
      if (!isObject(part)) return part;
      const { $ref } = part;
      if (typeof $ref === "string") {
        const [, , kind = "", name = "", ...rest] = $ref.split("/");
        const copies = this.#components[kind];
        if (copies === undefined) throw new Error(`${slug} refers to ${$ref}`);
        const copy = `${slug}.${name}`;
        if (copies[copy] === undefined) {
          copies[copy] = true; // what refers to itself is copied once
          copies[copy] = moved(object(object(document["components"])[kind])[name] ?? null);
        }
        return { $ref: ["#/components", kind, copy, ...rest].join("/") };
      }
      // By encodings, Prism makes empty objects of what a form leaves out.
      const { encoding: _, examples: _examples, nullable: _nullable, ...members } = part;
      return Object.fromEntries(
        Object.entries(members).map(([name, value]) => [name, moved(value ?? null)]),
      );
    };
    return moved;
  }
}
