/** The server of the configuration, for what needs no trust otherwise. */
import { dirname } from "node:path";
import type { CliIo } from "../io.ts";
import { type ConfigFile, type ConfigOptions, projectFile, readConfig } from "./files.ts";
import { userFile } from "./folders.ts";

/** The server that the environment or the configuration names; none in a project that is not trusted, where flows are only read. */
export async function trustedServer(
  options: ConfigOptions,
  io: CliIo,
): Promise<string | undefined> {
  if (io.env.MILLRACE_SERVER_URL) return io.env.MILLRACE_SERVER_URL;
  const project = await projectFile(options, io);
  const url = urlOf(project) ?? urlOf(await readConfig(userFile(options.home, io)));
  if (!url || project === undefined) return url;
  const { trustOf } = await import("./trust.ts");
  const { readDescriptors } = await import("./services.ts");
  const descriptors = await readDescriptors(dirname(project.path));
  const { state } = await trustOf({ file: project, descriptors }, options.home, io);
  return state === "trusted" || state === "powerless" ? url : undefined;
}

function urlOf(file: ConfigFile | undefined): string | undefined {
  const { url } = Object(file?.values["server"]) as { readonly url?: unknown };
  return typeof url === "string" ? url : undefined;
}
