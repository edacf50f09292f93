/** Commands on extensions. */

import type { CliCommand } from "../../argv/spec.ts";

const YES = { long: "yes", summary: "grant it without a question" };
const IMPORT_TIMEOUT = {
  long: "import-timeout",
  value: "<duration>",
  summary: "how long its import may take (default 30s)",
};
const FOLDER = { name: "folder", summary: "folder of the extension (default here)" };

export const EXTENSIONS_COMMANDS: readonly CliCommand[] = [
  {
    path: ["ext", "add"],
    summary: "install an extension, show what it wants, and grant it",
    args: [{ name: "package", summary: "a package, a tarball or a folder", required: true }],
    flags: [
      { long: "in-process", summary: "run its code inside millrace, without any guard" },
      YES,
    ],
    output: "query",
    examples: [
      { line: "millrace ext add @acme/millrace-weather", says: "from the registry" },
      { line: "millrace ext add ./ext/weather", says: "a folder of the project" },
      { line: "millrace ext add weather-1.4.0.tgz --yes", says: "where nobody can be asked" },
    ],
    load: () => import("../ext-add.ts").then(({ add }) => ({ run: add })),
  },
  {
    path: ["ext", "list"],
    summary: "list the extensions of the project and how they stand",
    args: [],
    flags: [],
    output: "query",
    examples: [{ line: "millrace ext list", says: "none of their code runs" }],
    load: () => import("../ext.ts").then(({ list }) => ({ run: list })),
  },
  {
    path: ["ext", "remove"],
    summary: "take an extension out of the project",
    args: [{ name: "package", summary: "as ext list names it", required: true }],
    flags: [],
    output: "query",
    examples: [{ line: "millrace ext remove @acme/millrace-weather", says: "and its package" }],
    load: () => import("../ext-add.ts").then(({ remove }) => ({ run: remove })),
  },
  {
    path: ["ext", "trust"],
    summary: "look at a changed extension again, and grant it",
    args: [{ name: "package", summary: "as ext list names it", required: true }],
    flags: [YES],
    output: "query",
    examples: [{ line: "millrace ext trust ./ext/weather", says: "after its files changed" }],
    load: () => import("../ext-add.ts").then(({ trust }) => ({ run: trust })),
  },
  {
    path: ["ext", "doctor"],
    summary: "load every extension and say what came of it",
    args: [],
    flags: [],
    output: "check",
    examples: [{ line: "millrace ext doctor", says: "exit 1 when one cannot be used" }],
    load: () => import("../ext.ts").then(({ doctor }) => ({ run: doctor })),
  },
  {
    path: ["ext", "build"],
    summary: "write catalog.json of an extension from its code",
    args: [FOLDER],
    flags: [IMPORT_TIMEOUT],
    output: "query",
    examples: [{ line: "millrace ext build", says: "in the folder of the extension" }],
    load: () => import("../ext-build.ts").then(({ build }) => ({ run: build })),
  },
  {
    path: ["ext", "pack"],
    summary: "pack an extension whose catalog is that of its code",
    args: [FOLDER],
    flags: [IMPORT_TIMEOUT],
    output: "query",
    examples: [{ line: "millrace ext pack", says: "a tarball for ext add, or for npm publish" }],
    load: () => import("../ext-build.ts").then(({ pack }) => ({ run: pack })),
  },
];
