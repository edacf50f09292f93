/** A misspelt option is refused by each part that a server is made of, with the name that was meant. */
import { createModelManager } from "@millrace/local-models";
import { createAi, readAiSettings } from "@millrace/providers";
import {
  createChannelHost,
  createLocalDispatcher,
  createLocalExecutor,
  createServer,
} from "@millrace/server";
import { openStore } from "@millrace/store";
import { expect, test } from "vitest";

const any = (options: object): never => options as never;
const settings = readAiSettings({});

const cases: [name: string, call: () => unknown, unknown: string, meant: string][] = [
  ["createServer", () => createServer(any({ stor: "memory" })), "stor", "store"],
  // Passed over, secrets would go to the store of the operating system.
  [
    "createServer, credentials",
    () => createServer(any({ store: "memory", credentials: { stor: "memory" } })),
    "stor",
    "store",
  ],
  [
    "createServer, ai",
    () => createServer(any({ store: "memory", ai: { provider: {} } })),
    "provider",
    "providers",
  ],
  ["openStore", () => openStore(any({ dri: "x" })), "dri", "dir"],
  [
    "createLocalExecutor",
    () => createLocalExecutor(any({ maxLiveRun: 1 })),
    "maxLiveRun",
    "maxLiveRuns",
  ],
  [
    "createLocalDispatcher",
    () => createLocalDispatcher(any({ maxDrive: 1 })),
    "maxDrive",
    "maxDrives",
  ],
  ["createChannelHost", () => createChannelHost(any({}), any({ rol: "read" })), "rol", "role"],
  ["createAi", () => createAi(settings, any({ credential: {} })), "credential", "credentials"],
  [
    "createAi, settings",
    () => createAi(any({ ...settings, price: {} }), any({})),
    "price",
    "prices",
  ],
  [
    "createModelManager",
    () => createModelManager(any({ enginDir: "/" })),
    "enginDir",
    "enginesDir",
  ],
];

test.each(cases)("%s", async (_name, call, unknown, meant) => {
  const error = await (async () => call())().catch((thrown: unknown) => thrown);
  expect(String(error)).toContain(`unknown option "${unknown}"; did you mean "${meant}"?`);
});
