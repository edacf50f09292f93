/** Inspects a cluster of Restate without changes, to find problems before a server starts. */
import { type RestateDispatcherOptions, readSettings } from "./options.ts";
import { VERSION_PATH } from "./service.ts";

/** One address, and how it answers. */
export interface InspectedNode {
  readonly url: string;
  /** Why it is of no use; absent: it answers. */
  readonly problem?: string;
  /** Version of the server; an admin says it. */
  readonly version?: string;
}

/** Result of the inspection. */
export interface RestateInspection {
  readonly ingress: readonly InspectedNode[];
  readonly admin: readonly InspectedNode[];
  /** Where Restate calls the servers. */
  readonly endpoint: string;
  /** Whether Restate knows that endpoint; undefined: no admin said so. */
  readonly isRegistered: boolean | undefined;
  /** Whether calls without a signature of the cluster are refused. */
  readonly hasIdentityKeys: boolean;
}

const ANSWER_MS = 3_000;

/** Throws `TypeError` for options that `createRestateDispatcher` does not take. An address that does not answer is no error. */
export async function inspectRestate(
  options: RestateDispatcherOptions,
): Promise<RestateInspection> {
  const { ingress, admin, endpoint, identityKeys, fetch } = readSettings(options);
  const ask = (url: string): Promise<unknown> => answerOf(fetch, url);
  const [ingresses, admins] = await Promise.all([
    Promise.all(
      ingress.map((url) => looked(url, () => ask(`${url}/restate/health`).then(() => ({})))),
    ),
    Promise.all(
      admin.map((url) =>
        looked(url, async () => {
          const { version } = Object(await ask(`${url}/version`)) as { version?: unknown };
          if (typeof version !== "string") throw new Error("answers, and not as Restate does");
          return { version };
        }),
      ),
    ),
  ]);
  const first = admins.find(({ problem }) => problem === undefined);
  const answer = first && (await ask(`${first.url}/deployments`).catch(() => undefined));
  const { deployments } = Object(answer) as { deployments?: unknown };
  const wanted = `${endpoint}${VERSION_PATH}`;
  return {
    ...{ ingress: ingresses, admin: admins, endpoint, hasIdentityKeys: identityKeys.length > 0 },
    isRegistered: Array.isArray(deployments)
      ? deployments.some((one) => String(Object(one).uri).replace(/\/+$/, "") === wanted)
      : undefined,
  };
}

async function looked(
  url: string,
  look: () => Promise<{ readonly version?: string }>,
): Promise<InspectedNode> {
  try {
    return { url, ...(await look()) };
  } catch (error) {
    const { message, name, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException };
    const isLate = name === "TimeoutError";
    return {
      url,
      problem: isLate ? "does not answer" : (cause?.code ?? cause?.message ?? message),
    };
  }
}

/** The answer as JSON; undefined where it is none. */
async function answerOf(fetch: typeof globalThis.fetch, url: string): Promise<unknown> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const response = await fetch(url, { redirect: "error", signal });
  const text = await response.text();
  if (!response.ok) throw new Error(`answers ${response.status}`);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
