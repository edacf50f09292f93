/** The manifest of an extension: the member `millrace` of its `package.json`. Reading it runs nothing. */
import { EXTENSION_API_VERSION, type Permissions } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import {
  flag,
  type Infer,
  integer,
  list,
  must,
  object,
  oneOf,
  optionals,
  problemsOf,
  rule,
  type Shape,
  text,
} from "@millrace/contracts/shape";
import { ProblemFound } from "./problem.ts";
import { LEFT_OUT } from "./tree-digest.ts";

const MAX_LIST = 1_000; // entries of one list; a package of more is not one that a person reviews
const MAX_UNITS = 256; // of a path, a host or a name

/** Files that the digest of a package leaves out. */
const OUTSIDE: ReadonlySet<string> = new Set(["..", ...LEFT_OUT]);

const inside = must<string>(
  (value) =>
    typeof value === "string" &&
    /^\.\/[^\\]+$/.test(value) &&
    value.length <= MAX_UNITS &&
    !/^\.\/+\.[^/]*\//.test(value) &&
    !value.split("/").some((part) => OUTSIDE.has(part)),
  'a path that begins with "./" and stays in the package, outside of hidden folders at its top',
);

/** `host[:port]`, one leading `*.`; no range of addresses and never everything. */
const host = text("host[:port], such as api.example:443 or *.example", {
  pattern:
    /^(?:\*\.)?(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/,
  max: MAX_UNITS,
});

/** A host as in `net`, or `*` for each that the egress policy permits: its code is told by the operator where to connect. */
const socket: Shape<string> = rule((value) => {
  const isSocket = value === "*" || problemsOf(value, host).length === 0;
  return isSocket ? undefined : "must be host[:port] as in net, or * for every host";
});

/** In a flag of Node a comma would end the path, and a star would be every path. */
const folder: Shape<string> = rule((value) => {
  const isFolder =
    typeof value === "string" &&
    /^\$(?:project|data|temp)(?:\/[^\\,*]*)?$/.test(value) &&
    !value.split("/").includes("..");
  return isFolder ? undefined : "must begin with $project, $data or $temp, and hold no ..";
});

const many = (each: Shape<string>) => list(each, { max: MAX_LIST, unique: "" });

/** Hosts, as `permissions.net` takes them. */
export const hostsShape: Shape<readonly string[]> = many(host);

/** The problem of a list of hosts; undefined: none. */
export function problemOfHosts(hosts: readonly string[]): string | undefined {
  return problemsOf(hosts, hostsShape)[0]?.message;
}

const words = many(text("a name", { max: MAX_UNITS }));

/** Permissions that a package asks for, or was granted. */
export const permissionsShape: Shape<Permissions> = object(
  optionals({
    net: hostsShape,
    sockets: many(socket),
    fs: object(optionals({ read: many(folder), write: many(folder) })),
    env: many(text("the name of a variable", { pattern: /^[A-Za-z_][A-Za-z0-9_]*$/ })),
    secrets: many(text("a name such as API_KEY", { pattern: /^[A-Za-z][A-Za-z0-9_]*$/, max: 64 })),
    spawn: words,
    native: flag,
  }),
);

const MANIFEST = object({
  apiVersion: integer(1, 1_000),
  entry: inside,
  ...optionals({
    catalog: inside,
    contributes: object(optionals({ nodes: words, providers: words, services: words })),
    permissions: permissionsShape,
    mode: oneOf("child", "inProcess"),
    templates: inside,
  }),
});

type Manifest = Required<Omit<Infer<typeof MANIFEST>, "templates">>;

/** Where an extension's code may run. */
export type ExtensionMode = Manifest["mode"];

/** Manifest of a package. Paths begin with `./` and stay inside the package; `mode` is the least isolation that it accepts. */
export interface ExtensionManifest extends Manifest {
  readonly name: string;
  readonly version: string;
  readonly contributes: Required<Manifest["contributes"]>;
  /** Folder of flows that are offered, never installed by themselves. */
  readonly templates?: string;
  /** Range of `@millrace/contracts` that it was written for. */
  readonly peer?: string;
  /** Members that nobody knows; they have no effect. */
  readonly warnings: readonly string[];
}

/** Name of a package. */
export const PACKAGE_NAME: RegExp = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/;

/** Reads the text of a `package.json`. Throws `ProblemFound` `extension_manifest_invalid`, `extension_api_unsupported`. */
export function parseManifest(text: string): ExtensionManifest {
  const whole = parseJson(text, "package.json");
  if (!isObject(whole)) throw invalid("is not an object");
  const { name, version, peerDependencies, millrace: own } = whole as Partial<PackageFile>;
  if (typeof name !== "string" || !PACKAGE_NAME.test(name))
    throw invalid("/name is not that of a package");
  if (typeof version !== "string" || version === "") throw invalid("/version is missing");
  if (own === undefined) throw invalid('has no member "millrace": it is no extension');
  refuseOtherApi(own);
  const known = Object.keys(MANIFEST.fields);
  const members = isObject(own) ? Object.entries(own) : [];
  const read = Object.fromEntries(members.filter(([key]) => known.includes(key)));
  const problem = problemsOf(read, MANIFEST)[0];
  if (problem !== undefined) throw invalid(`/millrace${problem.pointer} ${problem.message}`);
  const { apiVersion, entry, catalog, contributes, permissions, mode, templates } =
    read as unknown as Infer<typeof MANIFEST>;
  const peer = isObject(peerDependencies) ? peerDependencies["@millrace/contracts"] : undefined;
  return {
    name,
    version,
    apiVersion,
    entry,
    catalog: catalog ?? "./dist/catalog.json",
    contributes: { nodes: [], providers: [], services: [], ...contributes },
    permissions: permissions ?? {},
    mode: mode ?? "child",
    ...(templates !== undefined && { templates }),
    ...(typeof peer === "string" && { peer }),
    warnings: members
      .filter(([key]) => !known.includes(key))
      .map(([key]) => `package.json: unknown member millrace.${key.slice(0, 64)} has no effect`),
  };
}

interface PackageFile {
  readonly name: unknown;
  readonly version: unknown;
  readonly peerDependencies: unknown;
  readonly millrace: unknown;
}

/** Told before anything else: a manifest of another version may look different altogether. */
function refuseOtherApi(own: unknown): void {
  const { apiVersion } = (own ?? {}) as { apiVersion?: unknown };
  if (!Number.isInteger(apiVersion) || apiVersion === EXTENSION_API_VERSION) return;
  const text = `it needs version ${String(apiVersion)} of the extension API, this host has ${EXTENSION_API_VERSION}`;
  throw new ProblemFound("extension_api_unsupported", text);
}

/** JSON, or the problem of the file that does not hold it. */
export function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const code =
      file === "package.json" ? "extension_manifest_invalid" : "extension_catalog_invalid";
    throw new ProblemFound(code, `${file} is not JSON`);
  }
}

function invalid(what: string): ProblemFound {
  return new ProblemFound("extension_manifest_invalid", `package.json ${what}`);
}
