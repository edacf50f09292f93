/** One consent: begun on the server, given by a person in another tab, asked about every second while it waits. */
import { ClientError } from "@millrace/client";
import type {
  ConnectArgs,
  ConnectProgress,
  ConnectStarted,
  OAuthClientArgs,
  ServiceInfo,
} from "@millrace/contracts";
import { useEffect, useRef, useState } from "preact/hooks";
import { backend, isUnreachable } from "../../backend.ts";
import { messageOf } from "../../parts/problem.tsx";
import { type Action, useAction } from "../../state/use-action.ts";
import { callerRedirectUri, readRedirect } from "./redirected.ts";

/** Pause between two questions about a consent that waits, in milliseconds. */
const POLL_MS = 1_000;

/** Who receives the redirect of the authorization server. */
export type Receiver = "server" | "caller";

/** How a consent stands. */
export interface ConsentState {
  readonly started?: ConnectStarted;
  readonly progress?: ConnectProgress;
  readonly needsClient?: boolean;
}

/** A consent and what a person does with it. */
export interface Consent extends ConsentState {
  readonly begin: Action<[client?: OAuthClientArgs]>;
  /** Takes the address at which the consent ended. */
  readonly finish: Action<[address: string]>;
  /** Gives a waiting consent up. */
  readonly cancel: () => void;
  /** Asks for an OAuth client, also where one is stored. */
  readonly askClient: () => void;
}

/** Options of a consent; `redirect`: the address to which the service requires a consent to lead. */
export interface ConsentOptions extends Pick<ConnectArgs, "slug" | "service"> {
  readonly redirect: ServiceInfo["redirect"];
  readonly receiver: Receiver;
}

/** Drives the consent of a connection. */
export function useConsent(
  { slug, service, redirect, receiver }: ConsentOptions,
  onConnected: () => void,
): Consent {
  const [state, setState] = useState<ConsentState>({});
  const latest = useRef(onConnected);
  latest.current = onConnected;

  const begin = useAction(async (client?: OAuthClientArgs) => {
    finish.clear();
    setState((before) => ({ needsClient: before.needsClient ?? false }));
    try {
      const started = await backend.invoke("connect_service", {
        slug,
        ...(service !== undefined && { service }),
        ...(client !== undefined && { client }),
        ...(receiver === "caller" && { receiver, redirectUri: callerRedirectUri(redirect) }),
      });
      setState({ started, progress: { state: "waiting" } });
    } catch (error) {
      if (!isClientMissing(error)) throw error;
      setState({ needsClient: true });
    }
  });
  const { started, progress } = state;
  const isWaiting = started !== undefined && progress?.state === "waiting";
  const connectId = started?.connectId;

  useEffect(() => {
    if (!isWaiting || connectId === undefined) return undefined;
    const stop = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const args = { slug, connectId };
        const found = await backend.invoke("get_connect_status", args, { signal: stop.signal });
        setState((before) =>
          before.started?.connectId === connectId ? { ...before, progress: found } : before,
        );
        if (found.state === "connected") latest.current();
      } catch (error) {
        if (stop.signal.aborted || isUnreachable(error)) return;
        setState((before) => ({
          ...before,
          progress: { state: "failed", error: { code: messageOf(error) } },
        }));
      }
    };
    const timer = setInterval(() => void ask(), POLL_MS);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [slug, connectId, isWaiting]);

  const finish = useAction(async (address: string) => {
    const found = readRedirect(address);
    if (found === undefined || connectId === undefined) {
      throw new Error("This address has no code and no state: paste the whole of it");
    }
    if ("refused" in found) {
      setState((before) => ({
        ...before,
        progress: { state: "failed", error: { code: "oauth_token", reason: found.refused } },
      }));
      await backend.invoke("cancel_connect", { slug, connectId });
      return;
    }
    await backend.invoke("complete_connect", { slug, connectId, ...found });
    setState((before) => ({ ...before, progress: { state: "connected" } }));
    latest.current();
  });

  return {
    ...state,
    begin,
    finish,
    cancel() {
      if (isWaiting && connectId !== undefined) {
        // What cannot be cancelled has ended, or ends by itself.
        backend.invoke("cancel_connect", { slug, connectId }).catch(() => {});
      }
      setState({});
    },
    askClient: () => setState({ needsClient: true }),
  };
}

function isClientMissing(error: unknown): boolean {
  return (
    ClientError.isInstance(error) &&
    error.code === "not_found" &&
    error.problem?.["resource"] === "client"
  );
}

const ADVICE: Readonly<Record<string, string>> = {
  superseded: "A newer request for this connection has replaced this one.",
  expired: "The consent was not given in time.",
  state_mismatch: "The answer was to another request: use the consent page of the newest one.",
  issuer_mismatch: "The answer came from another issuer than the service names.",
  endpoint: "The service refused the code or the client: check its id and its secret.",
  oauth_decode: "The token endpoint of the service answered with something that is no token.",
  network: "The server could not reach the token endpoint of the service.",
  timeout: "The token endpoint of the service did not answer in time.",
};

/** Why a consent has ended without a connection, and what helps; undefined: its state says it all. */
export function adviceOf({ state, error }: ConnectProgress): string | undefined {
  return ADVICE[error?.reason ?? error?.code ?? state];
}

/** How a consent stands, in a word or two. */
export function progressText({ state, error }: ConnectProgress): string {
  if (state !== "failed" || error === undefined) return state;
  // The name that authorization servers give it. @see RFC 6749, section 4.1.2.1
  return `failed: ${error.reason === "denied" ? "access_denied" : (error.reason ?? error.code)}`;
}
