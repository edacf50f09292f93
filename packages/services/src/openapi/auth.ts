/** The one auth scheme of a service, out of the schemes of a document. */
import type { ServiceAuth } from "@millrace/contracts";
import { isObject, pointerSegment } from "@millrace/contracts/kit";
import type { Findings } from "./findings.ts";
import { listOf, membersOf, type Unknown } from "./plain.ts";
import type { References } from "./references.ts";

/** The scheme that calls use, and its name in the document; no name: none is used. */
export interface ChosenAuth {
  readonly auth: ServiceAuth;
  readonly name: string | undefined;
}

const NONE: ChosenAuth = { auth: { scheme: "none" }, name: undefined };

/**
 * The scheme of the document's first requirement, else of the first operation that has one, else the only scheme there is.
 * What cannot be said is `none` with a warning: cookies, OpenID Connect, mutual TLS, flows without a person, two schemes at once.
 */
export function authOf(document: Unknown, references: References, findings: Findings): ChosenAuth {
  const at = "/components/securitySchemes";
  const components = isObject(document["components"]) ? document["components"] : {};
  const schemes = new Map(membersOf(components["securitySchemes"]));
  const required = requirementsOf(document).filter(({ names }) => names.length > 0);
  for (const { names, pointer } of required) {
    if (names.length === 1) continue;
    const message = `needs ${names.length} schemes at once, of which a service has one`;
    findings.warn("openapi_auth", pointer, message);
  }
  const single = required.filter(({ names }) => names.length === 1).map(({ names }) => names[0]);
  const isOpen = required.length > 0 && single.length === 0;
  const candidates = isOpen ? [] : ([...new Set([...single, ...schemes.keys()])] as string[]);
  for (const name of candidates) {
    if (!schemes.has(name)) continue;
    const place = references.object(schemes.get(name), at + pointerSegment(name));
    const read = place === undefined ? "cannot be read" : schemeOf(place.value);
    if (typeof read !== "string") return { auth: read, name };
    findings.warn("openapi_auth", at + pointerSegment(name), `${read}; it is not used`);
  }
  return NONE;
}

/** All requirements of the document, then of its operations. */
function requirementsOf(document: Unknown): { names: string[]; pointer: string }[] {
  const found: { names: string[]; pointer: string }[] = [];
  const read = (list: unknown, pointer: string): void => {
    for (const [at, one] of listOf(list).entries()) {
      if (isObject(one))
        found.push({ names: Object.keys(one), pointer: pointer + pointerSegment(at) });
    }
  };
  read(document["security"], "/security");
  for (const [path, item] of membersOf(document["paths"])) {
    for (const [method, operation] of membersOf(item)) {
      const at = `/paths${pointerSegment(path)}${pointerSegment(method)}/security`;
      if (isObject(operation)) read(operation["security"], at);
    }
  }
  return found;
}

/** The scheme as a service says it, or why it cannot. */
function schemeOf(scheme: Unknown): ServiceAuth | string {
  const { type, name } = scheme;
  switch (type) {
    case "http": {
      const kind = String(scheme["scheme"]).toLowerCase();
      if (kind === "bearer" || kind === "basic") return { scheme: kind };
      return "is an HTTP scheme other than bearer and basic";
    }
    case "apiKey": {
      const place = scheme["in"];
      if (typeof name === "string" && (place === "header" || place === "query")) {
        return { scheme: "apiKey", in: place, name };
      }
      return "is a key in a cookie or in no known place";
    }
    case "oauth2":
      return oauth2Of(scheme);
    default:
      return `is of a kind that is not supported (${String(type).slice(0, 40)})`;
  }
}

function oauth2Of(scheme: Unknown): ServiceAuth | string {
  const flows = isObject(scheme["flows"]) ? scheme["flows"] : {};
  const flow = flows["authorizationCode"];
  if (!isObject(flow)) return "has no authorization code flow";
  const { authorizationUrl, tokenUrl, scopes } = flow;
  if (typeof authorizationUrl !== "string" || typeof tokenUrl !== "string") {
    return "lacks its authorization URL or its token URL";
  }
  return {
    scheme: "oauth2",
    authorizeUrl: authorizationUrl,
    tokenUrl,
    scopes: membersOf(scopes).map(([scope]) => scope),
    pkce: true,
  };
}
