/** From a file of the catalog to the descriptor of a project. */
import type { ServiceSpec } from "@millrace/contracts";
import type { CatalogService } from "./catalog.ts";
import { lintService } from "./lint.ts";

/** Result of a completion; a null service comes with at least one problem. */
export interface CompletedService {
  readonly service: ServiceSpec | null;
  /** One sentence each. */
  readonly problems: readonly string[];
}

/** Values stand in host names and paths: they must not add a part to either. */
const VALUE = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,98}[A-Za-z0-9])?$/;

/**
 * The descriptor with its values filled in, for the credential `auth` of `otherAuth`, or for its own. Where a value is missing or
 * not fit to stand in an address, or the result would not pass `lintService`, there is none.
 */
export function completeService(
  entry: CatalogService,
  options: { readonly auth?: string; readonly values?: { readonly [name: string]: string } } = {},
): CompletedService {
  const { slug, title, summary, serviceIntegration, meta } = entry;
  const { docs, token, checked, otherAuth = {} } = meta;
  const problems: string[] = [];
  const { auth } = options;
  const other = auth !== undefined && Object.hasOwn(otherAuth, auth) ? otherAuth[auth] : undefined;
  if (auth !== undefined && other === undefined) {
    const names = Object.keys(otherAuth).join(", ");
    problems.push(`${slug} has no credential "${auth}"; there is ${names || "only its own"}`);
  }
  const chosen = {
    ...serviceIntegration,
    ...(other && { auth: other.auth, baseUrl: other.baseUrl ?? serviceIntegration.baseUrl }),
  };
  const text = fill(JSON.stringify(chosen), { entry, values: options.values ?? {}, problems });
  if (problems.length > 0) return { service: null, problems };
  const service: ServiceSpec = {
    slug,
    title,
    summary,
    serviceIntegration: JSON.parse(text),
    meta: {
      docs,
      ...(token !== undefined && { token }),
      checked: checked as readonly object[] as [],
    },
  };
  const wrong = lintService(service);
  return wrong.length > 0 ? { service: null, problems: wrong } : { service, problems };
}

function fill(
  text: string,
  {
    entry,
    values,
    problems,
  }: {
    readonly entry: CatalogService;
    readonly values: { readonly [name: string]: string };
    readonly problems: string[];
  },
): string {
  const known = entry.meta.values ?? {};
  for (const name of Object.keys(values).filter((each) => !Object.hasOwn(known, each))) {
    const names = Object.keys(known).join(", ");
    problems.push(`${entry.slug} has no value "${name}"; it takes ${names || "none"}`);
  }
  const missing = new Set<string>();
  const filled = text.replace(/\{\{([A-Za-z]+)\}\}/g, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : known[name]?.default;
    if (value !== undefined && VALUE.test(value)) return value;
    missing.add(name);
    return "";
  });
  for (const name of missing) {
    const { title = name, example = "" } = known[name] ?? {};
    problems.push(
      Object.hasOwn(values, name)
        ? `the value of ${name} must be letters, digits, dots and hyphens, such as ${example}`
        : `${name} is missing: ${title}, such as ${example}`,
    );
  }
  return filled;
}
