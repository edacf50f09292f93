/** The files that every kind has in common: manifest, README, continuous integration, an example. */
import { createRequire } from "node:module";
import { FLOWS, type Kind, PERMISSIONS, USE } from "./sources.ts";

/** The languages of a scaffold. */
export const TEMPLATES: readonly ["js", "ts"] = ["js", "ts"];

/** One of `TEMPLATES`. */
export type Template = (typeof TEMPLATES)[number];

/** Path to text. */
export type Files = { readonly [path: string]: string };

/** What a scaffold is called, and how it is written. */
export interface Named {
  readonly kind: Kind;
  readonly template: Template;
  readonly name: string;
  readonly id: string;
}

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

const OWN = createRequire(import.meta.url)("@millrace/create-extension/package.json") as Manifest;

/** The packages of Millrace are released with one version. */
const MILLRACE = `^${OWN.version}`;

/** What a template builds and publishes. */
const LAYOUTS = {
  js: {
    entry: "./src/extension.js",
    files: ["src"],
    scripts: { build: "millrace ext build", test: "node --test" },
    devDependencies: {},
    ignored: "",
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
  },
} as const;

/** Everything but the source and its test. */
export function packageFiles({ kind, template, name, id }: Named): Files {
  const { entry, files, scripts, devDependencies, ignored } = LAYOUTS[template];
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
  return {
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    ".gitignore": `node_modules\n${ignored}*.tgz\n`,
    "README.md": readme({ kind, template, name, id }),
    "example/millrace.json": `${JSON.stringify({ extensions: [] }, null, 2)}\n`,
    "example/example.flow": FLOWS[kind](id),
    ".github/workflows/ci.yml": CI,
    ...(template === "ts" && { "tsconfig.json": `${JSON.stringify(TSCONFIG, null, 2)}\n` }),
  };
}

/** A guess: the workflow below writes the repository that it runs in, which is what provenance is compared with. */
function repositoryOf(name: string): string {
  const [, scope = "OWNER", bare = name] = /^@([^/]+)\/(.+)$/.exec(name) ?? [];
  return `https://github.com/${scope}/${bare}`;
}

const TSCONFIG = {
  compilerOptions: {
    target: "ES2023",
    lib: ["ES2023"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    noUncheckedIndexedAccess: true,
    declaration: true,
    rootDir: ".",
    outDir: "dist",
  },
  include: ["src", "test"],
};

function readme({ kind, template, name, id }: Named): string {
  const tarball = `${name.replace("@", "").replace("/", "-")}-0.1.0.tgz`;
  const build = template === "ts" ? "compiles, then writes" : "writes";
  return `# ${name}

Adds \`${id}\` to Millrace.

\`\`\`sh
npm install
npm test          # every suite of @millrace/testkit, offline
npm run build     # ${build} catalog.json and what package.json contributes
npm run pack      # a tarball, once the catalog is that of the code
\`\`\`

Then use it in the project of \`example/\`:

\`\`\`sh
PATH="$PWD/node_modules/.bin:$PATH"
cd example
millrace ext add ../${tarball}
millrace config trust        # millrace.json has changed: read it, then let it count
${[...USE[kind](id), "millrace run example.flow"].join("\n")}
\`\`\`

To publish: set \`repository\` in \`package.json\`, store a token of npm as the secret \`NPM_TOKEN\`, and publish a release on GitHub.
`;
}

const CI = `name: ci
on:
  push:
  release:
    types: [published]
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        node: [20, 22, 24]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: \${{ matrix.node }}
      - run: npm ci
      - run: npm run build
      - run: npm test
  publish:
    if: github.event_name == 'release'
    needs: test
    runs-on: ubuntu-latest
    permissions:
      contents: read
      id-token: write
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 24
          registry-url: https://registry.npmjs.org
      - run: npm ci
      # Provenance is refused for a package that names another repository than this one.
      - run: npm pkg set "repository.url=git+\${{ github.server_url }}/\${{ github.repository }}.git"
      - run: npm run build
      - run: npm publish --provenance --access public
        env:
          NODE_AUTH_TOKEN: \${{ secrets.NPM_TOKEN }}
`;
