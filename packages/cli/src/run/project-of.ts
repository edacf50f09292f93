/** The project of a folder as an editor has it: what cannot be used is said, and all the rest counts. */

import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { FileProblem, FoundProject } from "@millrace/language-server";
import { type ConfigFile, dataFolder, projectFile, readConfig, userFile } from "../config/files.ts";
import { type DescriptorFile, readDescriptors, toServices } from "../config/services.ts";
import { listedExtensions } from "../config/sources.ts";
import { CliError, type WrongFile } from "../errors.ts";
import type { Surroundings } from "../output/io.ts";
import { projectCatalog, withStoredFlows } from "./project-catalog.ts";
import { translation } from "./translation.ts";

/**
 * The project of a folder, an address that begins with `file:`; for any other, and one that names no folder here, the working
 * directory counts. Configuration, services and extensions that cannot be used are its problems.
 */
export async function projectOf(address: string, io: Surroundings): Promise<FoundProject> {
  const options = { folder: folderAt(address) ?? io.cwd, file: undefined, home: undefined };
  const userPath = userFile(undefined, io);
  const problems: FileProblem[] = [];
  let project: ConfigFile | undefined;
  /** The result of the work; a failure is a problem of its file, and the fallback is used. */
  const kept = async <T>(
    work: () => Promise<T>,
    instead: (file: WrongFile) => T | Promise<T>,
  ): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      const file = error.file ?? { path: project?.path ?? userPath };
      problems.push(toProblem(file, error.message));
      return instead(file);
    }
  };
  const usable = async (folder: string): Promise<readonly DescriptorFile[]> => {
    const files = await kept(
      () => readDescriptors(folder),
      () => [],
    );
    const good: DescriptorFile[] = [];
    for (const file of files) {
      await kept(
        async () => {
          await toServices([file]);
          good.push(file);
        },
        () => {},
      );
    }
    return good;
  };

  const user = await kept(() => readConfig(userPath), emptyFile);
  project = await kept(() => projectFile(options, io), emptyFile);
  const sources = { options, userPath, user, project, descriptors: [] };
  const ofUser = await usable(dirname(userPath));
  const ofProject = project === undefined ? [] : await usable(dirname(project.path));
  const services = await kept(
    () => toServices(ofUser, ofProject),
    () => [],
  );
  const extensions = await kept(
    () => listedExtensions(sources),
    () => [],
  );
  for (const { name, problem } of extensions) {
    if (problem === undefined || project === undefined) continue;
    problems.push(toProblem(project, `extension ${name}: ${problem.message}`));
  }
  const entries = extensions.flatMap((each) => each.entries);
  const catalog = await kept(
    () => projectCatalog(sources, services, entries, io),
    () =>
      projectCatalog({ ...sources, user: undefined, project: undefined }, services, entries, io),
  );
  const translate = await translation(catalog);
  return { ...(await withStoredFlows(catalog, dataFolder(undefined, io))), translate, problems };
}

/** The path of an address; undefined for one that is no path of this machine. */
function folderAt(address: string): string | undefined {
  try {
    return fileURLToPath(address);
  } catch {
    return undefined; // another scheme or host, or escapes that no path has
  }
}

/** A file that says nothing; it still marks its folder. */
function emptyFile({ path }: WrongFile): ConfigFile | undefined {
  return { path, bytes: new Uint8Array(), values: {} };
}

function toProblem({ path, line = 1, column = 1 }: WrongFile, message: string): FileProblem {
  return { uri: pathToFileURL(path).href, line: line - 1, character: column - 1, message };
}
