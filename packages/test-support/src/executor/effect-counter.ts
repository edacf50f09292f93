/** The world outside: a server whose every request is an effect, and that outlives whoever asks. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export const RUN_HEADER = "x-run";

export interface EffectCounter {
  /** `POST <url>/<step>?ms=<n>`, with the run in `x-run`, is answered after so many milliseconds. */
  readonly url: string;
  /** How often each `<run> <step>` had its effect; one counts when it arrives. */
  readonly times: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** Longer than any chaos. */
const REST_MS = 86_400_000;

/** Listens on loopback. `told` hears of every effect as it arrives. */
export async function countEffects(told: (effect: string) => void): Promise<EffectCounter> {
  const times = new Map<string, number>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    const effect = `${request.headers[RUN_HEADER]} ${pathname.slice(1)}`;
    times.set(effect, (times.get(effect) ?? 0) + 1);
    told(effect);
    request.resume();
    setTimeout(() => response.end(), Number(searchParams.get("ms")));
  });
  // On a busy machine a connection would be closed for its rest while the next effect is on its way.
  server.keepAliveTimeout = REST_MS;
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    times,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
