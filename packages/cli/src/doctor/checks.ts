/** Every check, in the order in which one thing needs the other. */
import type { Check } from "./check.ts";
import { configuration, projectTrust } from "./configuration.ts";
import { credentialStore } from "./credentials.ts";
import { modelEngine } from "./engines.ts";
import { extensionLock } from "./extensions.ts";
import { dataFolderWritable, nodeVersion, sqliteDriver, storeReadable } from "./machine.ts";
import { providerKeys } from "./providers.ts";
import { clockSkew, serverReachable } from "./server.ts";

export const CHECKS: readonly Check[] = [
  nodeVersion,
  dataFolderWritable,
  sqliteDriver,
  storeReadable,
  credentialStore,
  configuration,
  projectTrust,
  extensionLock,
  providerKeys,
  modelEngine,
  serverReachable,
  clockSkew,
];
