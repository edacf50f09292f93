/** The files that every kind has in common: manifest, README, continuous integration, an example. */
import type { Kind } from "../create.ts";
import { FLOWS, PERMISSIONS } from "./sources.ts";

/** Path to text. */
export type Files = { readonly [path: string]: string };

/** What a scaffold is called. */
export interface Named {
  readonly kind: Kind;
  readonly name: string;
  readonly id: string;
}

/** Range of the packages of Millrace that a scaffold is written for. */
const MILLRACE = "*";

/** Everything but the source and its test. */
export function packageFiles({ kind, name, id }: Named): Files {
  const manifest = {
    name,
    version: "0.1.0",
    description: `A Millrace extension: ${id}.`,
    type: "module",
    license: "MIT",
    keywords: ["millrace-extension"],
    exports: { ".": "./src/extension.js" },
    files: ["src", "catalog.json", "README.md"],
    scripts: { build: "millrace ext build", test: "node --test", pack: "millrace ext pack" },
    peerDependencies: { "@millrace/contracts": MILLRACE },
    devDependencies: { "@millrace/contracts": MILLRACE, "@millrace/testkit": MILLRACE },
    millrace: {
      apiVersion: 1,
      entry: "./src/extension.js",
      catalog: "./catalog.json",
      permissions: PERMISSIONS[kind],
      mode: "child",
    },
  };
  return {
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    ".gitignore": "node_modules\n*.tgz\n",
    "README.md": readme(name, id),
    "example/millrace.json": `${JSON.stringify({ extensions: [] }, null, 2)}\n`,
    "example/example.flow": FLOWS[kind](id),
    ".github/workflows/ci.yml": CI,
  };
}

function readme(name: string, id: string): string {
  return `# ${name}

Adds \`${id}\` to [Millrace](https://millrace.dev).

\`\`\`sh
npm install
npm test               # every suite of @millrace/testkit, offline
npm run build          # writes catalog.json and what package.json contributes
npm run pack           # a tarball, once the catalog is that of the code
cd example
millrace ext add ../${name.replace("@", "").replace("/", "-")}-0.1.0.tgz
millrace run example.flow
\`\`\`
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
      - run: npx @millrace/cli ext build
      - run: npm publish --provenance --access public
        env:
          NODE_AUTH_TOKEN: \${{ secrets.NPM_TOKEN }}
`;
