/** The parts of a scaffold that depend on its kind: manifest, ignored files, and words of the README. The rest is in `template/`. */
import { createRequire } from "node:module";

/** The kinds of extension: the seam that the scaffold implements. */
export const KINDS: readonly ["action", "provider", "node", "service"] = [
  "action",
  "provider",
  "node",
  "service",
];

/** One of `KINDS`. */
export type Kind = (typeof KINDS)[number];

/** The languages of a scaffold. */
export const TEMPLATES: readonly ["js", "ts"] = ["js", "ts"];

/** One of `TEMPLATES`. */
export type Template = (typeof TEMPLATES)[number];

/** The choices of a scaffold. */
export interface Scaffold {
  readonly kind: Kind;
  readonly template: Template;
  /** Name of the package. */
  readonly name: string;
  /** Id of the extension. */
  readonly id: string;
}

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

const OWN = createRequire(import.meta.url)("@millrace/create-extension/package.json") as Manifest;

/** The packages of Millrace are released with one version. */
const MILLRACE = `^${OWN.version}`;

/** Build and package fields of each template. */
const LAYOUTS = {
  js: {
    entry: "./src/extension.js",
    files: ["src"],
    scripts: { build: "millrace ext build", test: "node --test" },
    devDependencies: {},
    ignored: "",
    build: "writes",
  },
  ts: {
    entry: "./dist/src/extension.js",
    files: ["dist/src", "src"],
    scripts: {
      build: "tsc && millrace ext build",
      test: "tsc && node --test dist/test/*.test.js",
    },
    devDependencies: { "@types/node": "^20.19.0", typescript: ">=5.9" },
    ignored: "dist\n",
    build: "compiles, then writes",
  },
} as const;

const NETWORK = { net: ["api.example.com:443"] };

/** Permissions of each kind. */
const PERMISSIONS: { readonly [K in Kind]: object } = {
  action: { ...NETWORK, secrets: ["API_KEY"] },
  provider: NETWORK,
  node: {},
  service: NETWORK,
};

/** Commands that prepare the example for its first run. */
const PREPARATIONS: { readonly [K in Kind]: (id: string) => readonly string[] } = {
  action: () => ["millrace secrets set ext:API_KEY    # asks for the key"],
  provider: (id) => [`millrace secrets set ai:${id}    # asks for the key`],
  node: () => [],
  service: (id) => [`millrace connect ${id}    # asks for the token`],
};

/** `package.json`. */
export function manifestOf({ kind, template, name, id }: Scaffold): string {
  const { entry, files, scripts, devDependencies } = LAYOUTS[template];
  const manifest = {
    name,
    version: "0.1.0",
    description: `A Millrace extension: ${id}.`,
    type: "module",
    license: "MIT",
    keywords: ["millrace-extension"],
    repository: { type: "git", url: `git+${repositoryOf(name)}.git` },
    engines: OWN.engines,
    exports: {
      ".": template === "ts" ? { types: entry.replace(/\.js$/, ".d.ts"), default: entry } : entry,
    },
    files: [...files, "catalog.json", "README.md"],
    scripts: { ...scripts, pack: "millrace ext pack" },
    peerDependencies: { "@millrace/contracts": MILLRACE },
    devDependencies: {
      "@millrace/cli": MILLRACE,
      "@millrace/contracts": MILLRACE,
      "@millrace/testkit": MILLRACE,
      ...devDependencies,
    },
    millrace: {
      apiVersion: 1,
      entry,
      catalog: "./catalog.json",
      permissions: PERMISSIONS[kind],
      mode: "child",
    },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** `.gitignore`; npm would take one in `template/` for its own. */
export function ignoredBy({ template }: Scaffold): string {
  return `node_modules\n${LAYOUTS[template].ignored}*.tgz\n`;
}

/** The values of `{{name}}` and its like in the README. */
export function wordsOf({ kind, template, name, id }: Scaffold): ReadonlyMap<string, string> {
  return new Map([
    ["name", name],
    ["id", id],
    ["build", LAYOUTS[template].build],
    ["tarball", `${name.replace("@", "").replace("/", "-")}-0.1.0.tgz`],
    ["commands", [...PREPARATIONS[kind](id), "millrace run example.flow"].join("\n")],
  ]);
}

/** A guess: the workflow of the scaffold writes the repository that it runs in, which is what provenance is compared with. */
function repositoryOf(name: string): string {
  const [, scope = "OWNER", bare = name] = /^@([^/]+)\/(.+)$/.exec(name) ?? [];
  return `https://github.com/${scope}/${bare}`;
}
