/** `millrace connections`: what is connected, and forgetting it. No token, or part of one, is ever shown. */

import type { ConnectionStatus } from "@millrace/contracts";
import { arg, serverCommand } from "../argv/flags.ts";
import type { ArgSpec, CliCommand, CommandIo, Input } from "../argv/spec.ts";
import { type ConnectionsApi, openConnectionsApi } from "../connections/api.ts";
import { readSlug, statusLine, undescribedLine } from "../connections/show.ts";
import { CliError } from "../errors.ts";

const CONNECTION: ArgSpec = arg("slug", "name of the connection", "connection");

const list = serverCommand("connections list", "list connections and how they stand", {
  examples: [["connections list --json", "never a token"]],
  async run(input, io) {
    return withConnectionsApi(input, io, { write: false }, async (connectionsApi) => {
      const items = await all(connectionsApi);
      const others = await connectionsApi.undescribed();
      if (io.json !== undefined) {
        await io.json.result({ items, ...(others.length > 0 && { undescribed: others }) });
        return;
      }
      const lines = [...items.map(statusLine), ...others.map(undescribedLine)];
      if (lines.length > 0) await io.out.write(`${lines.join("\n")}\n`);
      else await io.err.write("nothing is connected; millrace connect SLUG connects a service\n");
    });
  },
});

/** One connection. Ends with 6 where there is none. */
const show = serverCommand("connections show", "show one connection", {
  args: [CONNECTION],
  examples: [["connections show tracker", "scopes, expiry, store"]],
  async run(input, io) {
    const slug = readSlug(input.args[0]);
    return withConnectionsApi(input, io, { write: false }, async (connectionsApi) => {
      const status = (await all(connectionsApi)).find((each) => each.slug === slug);
      if (status === undefined) throw nothing(slug);
      if (io.json === undefined) await io.out.write(`${statusLine(status)}\n`);
      else await io.json.result(status);
    });
  },
});

/** Revokes a connection where the service can be told, and deletes it. Ends with 6 where there is none. */
const remove = serverCommand("connections remove", "revoke and delete a connection", {
  args: [CONNECTION],
  examples: [["connections remove tracker", "the grant ends"]],
  async run(input, io) {
    const slug = readSlug(input.args[0]);
    return withConnectionsApi(input, io, { write: true }, async (connectionsApi) => {
      await connectionsApi.disconnect(slug).catch((error: unknown) => {
        throw error instanceof CliError && error.problem === "not_found" ? nothing(slug) : error;
      });
      if (io.json === undefined) await io.err.write(`${slug} is forgotten\n`);
      else await io.json.result(null);
    });
  },
});

export const commands: readonly CliCommand[] = [list, show, remove];

async function withConnectionsApi(
  input: Input,
  io: CommandIo,
  options: { readonly write: boolean },
  work: (connectionsApi: ConnectionsApi) => Promise<void>,
): Promise<number> {
  const connectionsApi = await openConnectionsApi(input, io, options);
  try {
    await work(connectionsApi);
    return 0;
  } finally {
    await connectionsApi.close();
  }
}

async function all(connectionsApi: ConnectionsApi): Promise<readonly ConnectionStatus[]> {
  return (await connectionsApi.services()).flatMap(({ connections }) => connections);
}

function nothing(slug: string): CliError {
  return new CliError("unavailable", `there is no connection "${slug}"`, {
    hint: `millrace connect ${slug} makes one`,
    problem: "not_found",
  });
}
