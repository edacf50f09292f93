/** Whoever keeps connections: this installation, or a server that was named. */
import type {
  ConnectArgs,
  ConnectionStatus,
  ConnectStarted,
  ServiceAuth,
  ServiceInfo,
  ServiceSecret,
} from "@millrace/contracts";
import { openApi } from "../api/open-api.ts";
import { namedServer } from "../api/server-url.ts";
import { type CommandIo, flagText, type Input } from "../command.ts";
import { loadConfig } from "../config/load.ts";

/** What commands on connections ask of a keeper. Methods reject with `CliError`. */
export interface Keeper {
  /** Every service, sorted by slug, with its connections. */
  services(): Promise<readonly ServiceInfo[]>;
  /** How a service is entered; absent where the service is not known. */
  auth(service: string): Promise<ServiceAuth | undefined>;
  connect(args: ConnectArgs & { readonly redirectUri: string }): Promise<ConnectStarted>;
  complete(args: {
    readonly connectId: string;
    readonly code: string;
    readonly state: string;
  }): Promise<ConnectionStatus>;
  /** Gives a consent up; nothing happens when it has ended. */
  cancel(connectId: string): Promise<void>;
  setSecret(args: {
    readonly slug: string;
    readonly service: string;
    readonly value: ServiceSecret;
  }): Promise<ConnectionStatus>;
  disconnect(slug: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens the keeper that the command line and the configuration name. */
export async function openKeeper(input: Input, io: CommandIo): Promise<Keeper> {
  const warn = (line: string): void => void io.err.write(`warning: ${line}\n`);
  const config = await loadConfig(
    { folder: io.cwd, file: flagText(input, "config"), home: flagText(input, "home") },
    io,
    warn,
  );
  if (namedServer(input, config) === undefined) {
    const { localKeeper } = await import("./local-keeper.ts");
    return localKeeper(config, io, warn);
  }
  const { remoteKeeper } = await import("./remote-keeper.ts");
  return remoteKeeper(await openApi(input, io, { config }));
}
