/** The files of the catalog, one service each. They are read when somebody asks, and never all of them for one. */
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ServiceAuth, ServiceSpec } from "@millrace/contracts";

/** Beside `src` and `dist`. */
const FOLDER = new URL("../services/", import.meta.url);

/** A value that a person gives, such as the subdomain of their account; `{{name}}` stands for it in the descriptor. */
export interface CatalogValue {
  readonly title: string;
  readonly example: string;
  /** Absent: it must be given. */
  readonly default?: string;
}

/** Another credential that the service takes, instead of the one of its descriptor. */
export interface CatalogAuth {
  readonly title: string;
  readonly auth: ServiceAuth;
  /** Where the API is for this credential; default that of the descriptor. */
  readonly baseUrl?: string;
}

/** Where facts of an entry are from. */
export interface CheckedFacts {
  readonly facts: readonly string[];
  /** `published`: compared by a program with what the maker or others publish for programs; `memory`: not checked. */
  readonly how: "published" | "read" | "memory";
  readonly source?: string;
  readonly on?: string;
  readonly note?: string;
}

/** A service of the catalog: a descriptor, and what a person has to know of it. */
export interface CatalogService extends Omit<ServiceSpec, "meta"> {
  readonly meta: {
    /** Documentation of the maker. */
    readonly docs: string;
    /** Where the credential comes from. */
    readonly credential: string;
    readonly checked: readonly CheckedFacts[];
    /** Words beside title and summary by which it is found. */
    readonly words?: readonly string[];
    readonly values?: { readonly [name: string]: CatalogValue };
    readonly otherAuth?: { readonly [name: string]: CatalogAuth };
    /** How tokens are answered and renewed. */
    readonly token?: string;
  };
}

/** The file of a service; `undefined`: there is none of this slug. */
export async function catalogFile(slug: string): Promise<CatalogService | undefined> {
  if (!/^[a-z0-9-]{1,64}$/.test(slug)) return undefined;
  try {
    return JSON.parse(await readFile(new URL(`${slug}.json`, FOLDER), "utf8")) as CatalogService;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** All services, by slug. */
export async function readCatalog(): Promise<readonly CatalogService[]> {
  const names = (await readdir(fileURLToPath(FOLDER))).filter((name) => name.endsWith(".json"));
  const read = names.sort().map((name) => catalogFile(name.slice(0, -".json".length)));
  return (await Promise.all(read)).filter((service) => service !== undefined);
}

/** The services in which every word is found, those whose name has it first. Without words: all. */
export function findServices(
  services: readonly CatalogService[],
  words: readonly string[],
): readonly CatalogService[] {
  const wanted = words.flatMap((word) => word.toLowerCase().split(/\s+/)).filter(Boolean);
  const ranked = services.flatMap((service) => {
    const name = `${service.slug} ${service.title}`.toLowerCase();
    const { operations } = service.serviceIntegration;
    const more = [service.summary, ...(service.meta.words ?? [])];
    const text = [name, ...more, ...operations.map(({ id, title }) => `${id} ${title}`)]
      .join(" ")
      .toLowerCase();
    if (!wanted.every((word) => text.includes(word))) return [];
    const inMore = more.join(" ").toLowerCase();
    const rank = wanted.every((word) => name.includes(word))
      ? 0
      : wanted.every((word) => name.includes(word) || inMore.includes(word))
        ? 1
        : 2;
    return [{ service, rank }];
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ service }) => service);
}
