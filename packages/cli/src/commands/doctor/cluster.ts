/** Checks of what a server of many needs: the store in PostgreSQL, its key and its clock, and Restate. */

import type { InspectedNode } from "@millrace/restate";
import type { ClusterOption } from "@millrace/server";
import type { StoreInspection } from "@millrace/store-postgres";
import { CliError, reason } from "../../errors.ts";
import { clusterOf } from "../serve/cluster.ts";
import {
  type Check,
  type Finding,
  fail,
  ok,
  once,
  orCliError,
  usableConfig,
  warn,
} from "./check.ts";

/** Beyond this, times that different servers tell are not in the order of what happened. No run depends on it. */
const MAX_CLOCK_MS = 5_000;
/** The oldest Restate that this program is tested with. */
const OLDEST_RESTATE = { major: 1, minor: 7 } as const;

/** The option of `serve`; undefined: no store is named, or a check before says why there is none. */
const clusterIn = once(async (context): Promise<ClusterOption | CliError | undefined> => {
  const config = await usableConfig(context);
  return config && clusterOf(config, {}, context.io).catch(orCliError);
});

/** The store as it is; undefined: none is named. */
const storeIn = once(async (context): Promise<StoreInspection | Error | undefined> => {
  const cluster = await clusterIn(context);
  if (cluster === undefined || cluster instanceof CliError) return cluster;
  const { inspectPostgresStore } = await import("@millrace/store-postgres");
  return inspectPostgresStore({ url: cluster.url, now: context.io.now }).catch(asError);
});

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(reason(error));
}

/** Whether PostgreSQL answers and holds a store of this version. No rows without a cluster. */
export const postgresStore: Check = {
  name: "postgres",
  async look(context) {
    const found = await storeIn(context);
    if (found === undefined) return [];
    if (found instanceof CliError) {
      return fail(
        found.message,
        "set it as docs/guide/scale.md shows; millrace config explain store.url says from where it is",
      );
    }
    if (found instanceof Error) {
      return fail(found.message, "start it, or mend the address in the place that store.url names");
    }
    const { place, schema, server, isTooOld, isReadOnly } = found;
    if (isTooOld) return fail(`${place} is PostgreSQL ${server}`, "use PostgreSQL 15 or newer");
    if (isReadOnly) {
      return fail(
        `${place} takes no writes: it is a standby, or was set read-only`,
        "name the primary in the place that store.url names, or let it take writes",
      );
    }
    return [...ok(`${place} answers, PostgreSQL ${server}`), ...tablesOf(found, schema)];
  },
};

function tablesOf(
  { place, version, knownVersion, isForeign, mayCreate }: StoreInspection,
  schema: string,
): readonly Finding[] {
  const where = `the schema ${schema} of ${place}`;
  if (isForeign) {
    return fail(
      `${where} has the tables of another program`,
      "name another schema in the address: ?search_path=NAME",
    );
  }
  if (version === null) {
    return mayCreate
      ? ok(`${where} has no tables yet: the first server makes them`)
      : fail(
          `${where} has no tables, and this user may not make them`,
          "let it create the schema: GRANT CREATE ON DATABASE … TO …",
        );
  }
  if (version > knownVersion) {
    return fail(
      `${where} has version ${version} of the tables, this program knows ${knownVersion}`,
      "install the newer version of millrace that the other servers have",
    );
  }
  return ok(
    version === knownVersion
      ? `${where} has version ${version} of the tables`
      : `${where} has version ${version} of the tables: the next server makes it ${knownVersion}`,
  );
}

/** Whether the configured key is the one that sealed the private values of the shared store. */
export const storeKey: Check = {
  name: "store key",
  async look(context) {
    const cluster = await clusterIn(context);
    const found = await storeIn(context);
    if (cluster === undefined || cluster instanceof CliError) return [];
    if (found === undefined || found instanceof Error) return [];
    const { storeKeyId } = await import("@millrace/store-postgres");
    const own = storeKeyId(cluster.key);
    const { keyId, place } = found;
    if (keyId === null) return ok(`the key ${own} becomes that of the store`);
    return keyId === own
      ? ok(`store.key is the key ${own} of the store`)
      : fail(
          `${place} was made with the key ${keyId}, and store.key is the key ${own}`,
          "give this server the key of the others: store.key names where it is",
        );
  },
};

/** Whether the clock of this machine agrees with that of PostgreSQL. */
export const storeClock: Check = {
  name: "store clock",
  async look(context) {
    const found = await storeIn(context);
    if (found === undefined || found instanceof Error) return [];
    const { aheadMs, place } = found;
    if (Math.abs(aheadMs) <= MAX_CLOCK_MS)
      return ok(`the clock of ${place} agrees with the one here`);
    const seconds = Math.round(Math.abs(aheadMs) / 1_000);
    return warn(
      `the clock of ${place} is ${seconds} s ${aheadMs > 0 ? "ahead" : "behind"}`,
      "set both clocks by the network: runs go by that of the database, logs of servers by their own",
    );
  },
};

/** Whether Restate answers at the configured addresses, and what is registered there. */
export const restateCluster: Check = {
  name: "restate",
  async look(context) {
    const cluster = await clusterIn(context);
    if (cluster === undefined || cluster instanceof CliError) return [];
    const { restate } = cluster;
    if (restate === undefined) return [];
    const { inspectRestate } = await import("@millrace/restate").catch(() => ({
      inspectRestate: undefined,
    }));
    if (inspectRestate === undefined) {
      return fail(
        "serve.executor is restate, and @millrace/restate is not there",
        "npm install @millrace/restate",
      );
    }
    const found = await inspectRestate(restate).catch(asError);
    if (found instanceof Error) {
      // The caller is named first, which is of no use to a person.
      const says = found.message.replace(/^\w+: "(\w+)"/, "restate.$1");
      return fail(says, "millrace config explain restate says what is set, and where");
    }
    const { ingress, admin, endpoint, isRegistered, hasIdentityKeys } = found;
    return [
      ...ingress.flatMap((node) => nodeFinding("ingress", node)),
      ...admin.flatMap((node) => [...nodeFinding("admin", node), ...oldFinding(node)]),
      ...registration(endpoint, isRegistered),
      ...ok(
        hasIdentityKeys
          ? "only a cluster with one of restate.identityKeys may call a server"
          : `${restate.listen} is on loopback: only programs of this machine may call a server`,
      ),
    ];
  },
};

function nodeFinding(what: string, { url, problem, version }: InspectedNode): readonly Finding[] {
  if (problem === undefined) {
    return ok(`the ${what} ${url} answers${version === undefined ? "" : `, Restate ${version}`}`);
  }
  return fail(
    `the ${what} ${url} cannot be used: ${problem}`,
    `start that node, or take it out of restate.${what}`,
  );
}

function oldFinding({ url, version = "" }: InspectedNode): readonly Finding[] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const { major: least, minor: leastMinor } = OLDEST_RESTATE;
  const isOld = major < least || (major === least && minor < leastMinor);
  if (version === "" || !isOld) return [];
  return warn(
    `${url} is Restate ${version}, older than any that was tried`,
    `install Restate ${least}.${leastMinor} or newer`,
  );
}

function registration(endpoint: string, isRegistered: boolean | undefined): readonly Finding[] {
  if (isRegistered === undefined) return [];
  if (isRegistered) return ok(`Restate knows the servers at ${endpoint}`);
  return warn(
    `Restate does not know the servers at ${endpoint}: it calls nobody there`,
    "start millrace serve, which registers it; when it serves, see that Restate reaches restate.endpoint",
  );
}
