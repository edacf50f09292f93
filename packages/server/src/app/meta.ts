/** Commands about the server itself. */
import {
  type CommandDef,
  type CommandInfo,
  type JsonSchema,
  MAX_JSON_DEPTH,
} from "@millrace/contracts";
import { COMMANDS } from "@millrace/contracts/commands";
import { MAX_EVENT_BYTES, MAX_WEBHOOK_BYTES } from "../config/limits.ts";
import { wire } from "../dispatch/index.ts";
import type { HandlerList } from "../ports.ts";
import { packageVersion } from "../version.ts";

// Schemas of some sixty commands take milliseconds to write out and never change.
const infos = new WeakMap<CommandDef, Omit<CommandInfo, "wired">>();

function infoOf(command: CommandDef): Omit<CommandInfo, "wired"> {
  let info = infos.get(command);
  if (info === undefined) {
    const { name, effect, args, result } = command;
    info = {
      name,
      effect,
      argsSchema: args.toJSONSchema({ io: "input", unrepresentable: "any" }) as JsonSchema,
      resultSchema: result.toJSONSchema({ io: "output", unrepresentable: "any" }) as JsonSchema,
    };
    infos.set(command, info);
  }
  return info;
}

export const metaHandlers: HandlerList = [
  wire("list_commands", (_args, { app }) =>
    [...COMMANDS.values()].map((command) => {
      const { name, ...info } = infoOf(command);
      return { name, wired: app.isWired(name), ...info };
    }),
  ),
  wire("get_meta", (_args, { app, host, caller }) => {
    const names = [...COMMANDS.keys()].sort();
    return {
      name: "millrace",
      version: packageVersion(),
      apiVersion: 1,
      eventVersion: 1,
      dslVersion: 1,
      node: process.versions.node,
      limits: {
        ...app.limits,
        maxJsonDepth: MAX_JSON_DEPTH,
        maxEventBytes: MAX_EVENT_BYTES,
        maxWebhookBytes: MAX_WEBHOOK_BYTES,
      },
      features: {
        studio: app.studio,
        webhooks: app.webhooks,
        models: app.isWired("list_models"),
        credentialStore: host.services.storeName,
        executor: host.executor.kind,
      },
      draining: app.draining(),
      caller: { tokenId: caller.tokenId, role: caller.role },
      commands: {
        wired: names.filter((name) => app.isWired(name)),
        unwired: names.filter((name) => !app.isWired(name)),
      },
    };
  }),
];
