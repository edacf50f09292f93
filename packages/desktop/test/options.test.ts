/** A misspelt option is refused, with the name that was meant. */
import { createInProcessTransport } from "@millrace/desktop";
import { createElectronTransport } from "@millrace/desktop/electron";
import { createHttpTransport } from "@millrace/desktop/http";
import { createPortTransport } from "@millrace/desktop/port";
import { createTauriTransport } from "@millrace/desktop/tauri";
import { expect, test } from "vitest";

const url = "http://127.0.0.1:1";
const any = (options: object): never => options as never;

test.each<[name: string, call: () => unknown, unknown: string, meant: string]>([
  ["createHttpTransport", () => createHttpTransport(any({ url, reprt: 1 })), "reprt", "report"],
  ["createPortTransport", () => createPortTransport(any({}), any({ reprt: 1 })), "reprt", "report"],
  [
    "createElectronTransport",
    () => createElectronTransport(any({}), any({ reprt: 1 })),
    "reprt",
    "report",
  ],
  ["createTauriTransport", () => createTauriTransport(any({ comand: 1 })), "comand", "command"],
  [
    "createInProcessTransport",
    () => createInProcessTransport(any({}), any({ reprt: 1 })),
    "reprt",
    "report",
  ],
])("%s", async (_name, call, unknown, meant) => {
  const error = await (async () => call())().catch((thrown: unknown) => thrown);
  expect(String(error)).toContain(`unknown option "${unknown}"; did you mean "${meant}"?`);
});
