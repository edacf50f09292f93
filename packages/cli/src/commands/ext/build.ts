/** `millrace ext build` and `pack`, for authors of extensions: the code is imported in a process of its own, and not guarded. */

import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import {
  buildCatalog,
  contributesOf,
  type ExtensionCatalog,
  ProblemFound,
  parseManifest,
  reservedId,
} from "@millrace/extensions";
import { type Answer, type CommandIo, flagText, type Input } from "../../argv/spec.ts";
import { formatDuration, parseDuration } from "../../argv/values.ts";
import { CliError, reason, usage } from "../../errors.ts";
import { clean } from "../../output/text.ts";
import { takenIds } from "../../run/extensions.ts";
import { packFolder } from "./package-manager.ts";

/** How long an import may take. A host waits for 5 s; a machine that builds is often busy. */
const IMPORT_MS = 30_000;

/** Imports the definition once and writes what can be known without it: `catalog.json`, and `contributes` of the manifest. */
export async function build(input: Input, io: CommandIo): Promise<Answer> {
  const folder = resolve(io.cwd, input.args[0] ?? ".");
  const made = await make(folder, input, io);
  const isChanged = made.files.some(({ before, text }) => before !== text);
  for (const { path, before, text } of made.files) if (before !== text) await replace(path, text);
  const { catalog, name } = made;
  const contributes = contributesOf(catalog);
  const { nodes, providers, services } = contributes;
  const what = [...nodes, ...providers, ...services].join(" ") || "nothing";
  return {
    value: { name, digest: catalog.digest, contributes, changed: isChanged },
    said: [`${clean(name)}: ${what}${isChanged ? "" : ", unchanged"}`],
  };
}

/** Packs the extension as npm does, unless its catalog is not that of its code. */
export async function pack(input: Input, io: CommandIo): Promise<Answer> {
  const folder = resolve(io.cwd, input.args[0] ?? ".");
  const { files, name } = await make(folder, input, io);
  if (files.some(({ before, text }) => before !== text)) {
    throw new CliError("check_failed", `the catalog of ${clean(name)} is not that of its code`, {
      hint: "millrace ext build",
    });
  }
  const file = join(folder, await packFolder(folder, io));
  return { value: { name, file }, data: [clean(file)] };
}

interface Made {
  readonly name: string;
  readonly catalog: ExtensionCatalog;
  readonly files: readonly {
    readonly path: string;
    readonly before: string | undefined;
    readonly text: string;
  }[];
}

async function make(folder: string, input: Input, io: CommandIo): Promise<Made> {
  const limit = flagText(input, "import-timeout");
  const limitMs = limit === undefined ? IMPORT_MS : parseDuration(limit, "--import-timeout");
  const late = AbortSignal.timeout(limitMs);
  const manifestPath = join(folder, "package.json");
  const before = await readFile(manifestPath, "utf8").catch((error: unknown) => {
    throw usage(`cannot read ${manifestPath}: ${reason(error)}`);
  });
  try {
    const { name, entry, catalog: at, permissions } = parseManifest(before);
    const said = (_stream: string, text: string): void => void io.err.write(`${clean(text)}\n`);
    const signal = AbortSignal.any([io.signal, late]);
    const catalog = await buildCatalog({ folder, entry, signal, said });
    const conflict = reservedId(catalog, takenIds());
    if (conflict !== undefined) throw usage(clean(conflict));
    for (const { type, requires } of catalog.nodes) {
      const asked = new Set(permissions.secrets);
      for (const secret of requires.secrets.filter((each) => !asked.has(each))) {
        const text = `${type} needs the secret ${secret}, which package.json does not ask for: add it to /millrace/permissions/secrets`;
        await io.err.write(`warning: ${clean(text)}\n`);
      }
    }
    const file = JSON.parse(before) as { millrace: object };
    const next = { ...file, millrace: { ...file.millrace, contributes: contributesOf(catalog) } };
    const isSame = JSON.stringify(file) === JSON.stringify(next);
    const catalogPath = join(folder, at);
    return {
      name,
      catalog,
      files: [
        {
          path: catalogPath,
          before: await readFile(catalogPath, "utf8").catch(() => undefined),
          text: `${JSON.stringify(catalog, null, 2)}\n`,
        },
        // Its own layout stays where nothing changes.
        {
          path: manifestPath,
          before,
          text: isSame ? before : `${JSON.stringify(next, null, 2)}\n`,
        },
      ],
    };
  } catch (error) {
    if (late.aborted) {
      throw usage(
        `the import of ${folder} did not end within ${formatDuration(limitMs)}`,
        "an extension only defines when it is imported; --import-timeout allows more time",
      );
    }
    if (!(error instanceof ProblemFound)) throw error;
    throw usage(clean(error.message));
  }
}

async function replace(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.tmp`, text);
  await rename(`${path}.tmp`, path);
}
