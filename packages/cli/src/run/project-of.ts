/** What an editor knows of the project around a folder: its catalog, and its flows. Files are read, nothing in them is run. */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type CatalogFlow, parseFlow } from "@millrace/dsl";
import type { Project } from "@millrace/dsl/editor";
import {
  type ConfigSources,
  describedExtensions,
  describedProviders,
  describedServices,
  readSources,
} from "../config/sources.ts";
import type { Surroundings } from "../output/io.ts";
import { catalogWith } from "./load-flow.ts";

/**
 * The project of a folder, an address that begins with `file:`; for any other, and one that names no folder here, the working
 * directory counts. Where the project's files cannot be read, `log` is told why and the core catalog answers.
 */
export async function projectOf(
  address: string,
  io: Surroundings,
  log: (line: string) => void,
): Promise<Project> {
  const folder = folderAt(address) ?? io.cwd;
  try {
    const sources = await readSources({ folder, file: undefined, home: undefined }, io);
    const [services, extensions] = await Promise.all([
      describedServices(sources),
      describedExtensions(sources),
    ]);
    const catalog = await catalogWith(services, extensions, describedProviders(sources));
    return { ...catalog, ...flowsIn(foldersOf(folder, sources)) };
  } catch (error) {
    log(`${folder}: ${error instanceof Error ? error.message : String(error)}`);
    return { ...(await catalogWith([], [], undefined)), ...flowsIn([folder]) };
  }
}

/** The path of an address; undefined for one that is no path of this machine. */
function folderAt(address: string): string | undefined {
  try {
    return fileURLToPath(address);
  } catch {
    return undefined; // another scheme or host, or escapes that no path has
  }
}

/** Folders in which a flow is looked for: beside the file, then the project's `flows`. */
function foldersOf(folder: string, { project }: ConfigSources): readonly string[] {
  return project === undefined ? [folder] : [folder, join(dirname(project.path), "flows")];
}

const ENDING = ".flow";

/** The flows in some folders, each looked at when it is asked for. */
function flowsIn(
  folders: readonly string[],
): Required<Pick<Project, "flow" | "flows" | "flowUri">> {
  const slugsIn = (folder: string): readonly string[] => {
    try {
      return readdirSync(folder)
        .filter((name) => name.endsWith(ENDING))
        .map((name) => name.slice(0, -ENDING.length));
    } catch {
      return []; // there is no such folder
    }
  };
  const fileOf = (slug: string): string | undefined => {
    const folder = folders.find((each) => slugsIn(each).includes(slug));
    return folder === undefined ? undefined : join(folder, slug + ENDING);
  };
  return {
    flows: () => [...new Set(folders.flatMap(slugsIn))].sort(),
    flowUri(slug) {
      const file = fileOf(slug);
      return file === undefined ? undefined : pathToFileURL(file).href;
    },
    flow(slug): CatalogFlow | undefined {
      const file = fileOf(slug);
      if (file === undefined) return undefined;
      const { graph } = parseFlow(readFileSync(file));
      const called = graph.nodes.map(({ type, fields }) =>
        type === "subflow" ? fields["flow"] : undefined,
      );
      return {
        inputs: graph.inputs,
        outputs: graph.outputs,
        flows: called.filter((name) => typeof name === "string"),
      };
    },
  };
}
