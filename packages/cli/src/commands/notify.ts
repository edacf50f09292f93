/** `millrace notify`: the receivers of notices about failed runs of a server. */

import type { JsonObject, Settings } from "@millrace/contracts";
import { apiCommand, durationOf, omitUndefined, type Rendered } from "../api/command.ts";
import { arg, option } from "../argv/flags.ts";
import { type CliCommand, isOn } from "../argv/spec.ts";
import { formatDuration } from "../argv/values.ts";
import { readSecret, secretFromStdin } from "../ask.ts";
import { clean } from "../output/text.ts";

const show = apiCommand("notify show", "show who is told when a run has failed", {
  examples: [["notify show", "a template, the URL of a webhook, or nobody"]],
  command: "get_settings",
  request: () => ({}),
  show: ({ notify }) => told(notify),
});

const set = apiCommand("notify set", "tell a template or a webhook when a run has failed", {
  args: [arg("to", "slug of a template, or URL of a webhook", "template")],
  flags: [
    option("window", "<duration>", "further failures of a flow in it are told together"),
    { long: "secret-stdin", summary: "the key of a webhook's signatures comes from stdin" },
  ],
  examples: [
    ["notify set tell-ops", "runs the template tell-ops"],
    ["notify set https://ops.example/millrace", "posts a webhook; asks for its key once"],
  ],
  command: "update_settings",
  write: true,
  request: async ({ input, io, api }) => {
    const [to = ""] = input.args;
    const what = "the key of its signatures (whsec_…)";
    const secret = isOn(input, "secret-stdin")
      ? await secretFromStdin(io, what)
      : /^https?:/.test(to) && (await api.invoke("get_settings", {})).notify.secret === null
        ? await readSecret(io, what)
        : undefined;
    const notify = omitUndefined({ to, secret, windowMs: durationOf(input, "window") });
    return { patch: { notify } as JsonObject, ifMatch: "*" };
  },
  show: ({ notify }) => told(notify),
});

const off = apiCommand("notify off", "tell nobody, unless a flow names somebody", {
  examples: [["notify off", "the key stays where it is"]],
  command: "update_settings",
  write: true,
  request: () => ({ patch: { notify: { to: null } }, ifMatch: "*" }),
  show: ({ notify }) => told(notify),
});

export const commands: readonly CliCommand[] = [show, set, off];

function told({ to, windowMs }: Settings["notify"]): Rendered {
  if (to === null) return { said: ["nobody is told, unless a flow names somebody with @notify"] };
  const more =
    windowMs === 0
      ? "each failure is told by itself"
      : `further failures of a flow within ${formatDuration(windowMs)} are told together`;
  return { data: [clean(to)], said: [more] };
}
