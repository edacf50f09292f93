/** Stores a flow as a template; what the template was stays as a version. */

import { ClientError } from "@millrace/client";
import type { CommandArgs, Template } from "@millrace/contracts";
import { flagText, isOn } from "../argv/spec.ts";
import { type CommandContext, omitUndefined, valuesOf } from "./command.ts";

/** Stores the flow of a file, under the id of the flow where no slug is given. */
export async function saveFlow(
  slug: string | undefined,
  file: string,
  all: CommandContext,
): Promise<Template> {
  const { input, api } = all;
  const { readableFlow } = await import("../run/load-flow.ts");
  // Text that is not understood is shown, and not sent.
  const { text, graph } = await readableFlow(file, input, all.io);
  const name = slug ?? graph.id;
  return api.invoke("save_template", {
    slug: name,
    ...omitUndefined({
      name: flagText(input, "name"),
      description: flagText(input, "description"),
      tags: valuesOf(input, "tag"),
    }),
    ...(text === undefined ? { graph } : { dsl: text }),
    ...(await conditionOf(name, all)),
  });
}

/**
 * What the save expects to find. Without a word of the caller: nothing where nothing is there now, and where something is,
 * whatever it is by then, since what it replaces stays as a version.
 */
async function conditionOf(
  slug: string,
  { input, api }: CommandContext,
): Promise<Pick<CommandArgs<"save_template">, "ifMatch" | "ifNoneMatch">> {
  const ifMatch = flagText(input, "if-match");
  if (ifMatch !== undefined) return { ifMatch };
  if (isOn(input, "new")) return { ifNoneMatch: "*" };
  try {
    await api.invoke("get_template", { slug });
    return { ifMatch: "*" };
  } catch (error) {
    if (ClientError.isInstance(error) && error.code === "not_found") return { ifNoneMatch: "*" };
    throw error;
  }
}
