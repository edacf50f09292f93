/** The table of commands over a transport that takes any name. */
import type { CommandBus, Transport } from "../channels.ts";
import type { CommandArgs, CommandName, CommandResult } from "../commands/names.ts";

/** A transport whose commands have the types of the table, as `invoke` of a client has them. */
export interface TypedTransport extends Omit<Transport, "invoke"> {
  invoke<N extends CommandName>(
    command: N,
    args: CommandArgs<N>,
    options?: Parameters<CommandBus["invoke"]>[2],
  ): Promise<CommandResult<N>>;
}

/** The same transport, with types: `typed(createElectronTransport(api)).invoke("get_run", { runId })` answers a `Run`. */
export function typed(transport: Transport): TypedTransport {
  return transport as unknown as TypedTransport;
}
