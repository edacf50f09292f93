/** The engine's options for `ai` nodes, from the settings of the operator. */
import type {
  AiCredentialsPort,
  AiProvider,
  AiToolSource,
  CredentialsPort,
  FetchLike,
  PricePerMillion,
} from "@millrace/contracts";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import { createProviders } from "./create-providers.ts";
import { createAiCredentials } from "./credentials.ts";
import { createMcpSource, type McpSource } from "./mcp/source.ts";
import type { AiSettings } from "./settings/read.ts";

const MOST_MS = 3_600_000; // the longest that a tool may take; each call has a limit of its own

/** Dependencies of `createAi`. */
export interface AiPorts {
  readonly credentials: Pick<CredentialsPort, "secret" | "resolve">;
  /** Variables of this process. */
  readonly env: { readonly [name: string]: string | undefined };
  /** Creates an egress client under the operator's policy and these additions. Called once if a tool server has an address. */
  readonly openFetch: (more: {
    readonly allow: readonly { readonly host: string; readonly port: number }[];
    readonly idleMs: number;
    readonly totalMs: number;
  }) => FetchLike;
  /** The provider of this machine's models; see `createLocalProvider`. Absent: `local` is unknown. */
  readonly local?: AiProvider | undefined;
  /** 32 random bytes of the installation, for digests of prompts; see `loadAuditKey`. */
  readonly auditKey?: Uint8Array | undefined;
}

/** The options `providers` and `ai` of an engine, and a function that closes what they opened. */
export interface AiSetup {
  readonly providers: readonly AiProvider[];
  readonly ai: {
    readonly defaultProvider?: string;
    readonly defaultModels: { readonly [provider: string]: string };
    readonly credentials: AiCredentialsPort;
    readonly tools: AiToolSource;
    readonly origins: readonly string[];
    readonly circuit?: NonNullable<AiSettings["circuit"]>;
    readonly prices: { readonly [model: string]: PricePerMillion };
    readonly hmacKey?: Uint8Array;
  };
  /** Closes connections to servers of tools, and providers. Never rejects. */
  close(): Promise<void>;
}

const SETTINGS: OptionNames<AiSettings> = {
  ...{ providers: true, mcpServers: true, defaultProvider: true, prices: true, circuit: true },
};
const PORTS: OptionNames<AiPorts> = {
  ...{ credentials: true, env: true, openFetch: true, local: true, auditKey: true },
};

/** Opens nothing and loads no package of a maker before a node asks for it. */
export function createAi(settings: AiSettings, ports: AiPorts): AiSetup {
  checkOptions("createAi, settings", settings, SETTINGS);
  checkOptions("createAi", ports, PORTS);
  const { defaultProvider, circuit, prices, mcpServers } = settings;
  const providers = createProviders(settings, ports.local);
  const credentials = createAiCredentials({ settings, ...ports });
  const tools: McpSource = createMcpSource({
    servers: mcpServers,
    credentials: ports.credentials,
    references: credentials,
    env: ports.env,
    fetch: lazily(() => {
      const allow = addressesOf(mcpServers).map(hostAndPort);
      return ports.openFetch({ allow, idleMs: MOST_MS, totalMs: MOST_MS });
    }),
  });
  const models = Object.entries(settings.providers).flatMap(([id, { modelId }]) =>
    modelId === undefined ? [] : [[id, modelId] as const],
  );
  return {
    providers,
    ai: {
      ...(defaultProvider !== undefined && { defaultProvider }),
      defaultModels: Object.fromEntries(models),
      credentials,
      tools,
      origins: Object.values(settings.providers).flatMap(({ baseUrl }) =>
        baseUrl === undefined ? [] : [new URL(baseUrl).origin],
      ),
      ...(circuit !== undefined && { circuit }),
      prices,
      ...(ports.auditKey !== undefined && { hmacKey: ports.auditKey }),
    },
    async close() {
      await tools.close();
      await Promise.allSettled(providers.map((provider) => provider.dispose?.()));
    },
  };
}

function lazily(open: () => FetchLike): FetchLike {
  let opened: FetchLike | undefined;
  return (url, init) => {
    opened ??= open();
    return opened(url, init);
  };
}

function addressesOf(servers: AiSettings["mcpServers"]): readonly URL[] {
  return Object.values(servers).flatMap((server) => ("url" in server ? [new URL(server.url)] : []));
}

function hostAndPort({ hostname, port, protocol }: URL): { host: string; port: number } {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(port) || (protocol === "https:" ? 443 : 80) };
}
