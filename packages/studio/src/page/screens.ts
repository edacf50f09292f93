/** The screens of the page by the first part of a place. Each is loaded when it is first opened. */
import type { ComponentType } from "preact";
import type { Place, ScreenProps } from "./router.ts";

/** A screen that is loaded. */
export type Screen = ComponentType<ScreenProps>;

/** Loads the screen of a place. `key`: places with the same one are one screen, which stays in the page. */
export interface Route {
  readonly key: string;
  readonly load: () => Promise<Screen>;
  /** The screen says itself how old it is: a run that has ended does not age, nor does the text that a person writes. */
  readonly hasAge?: boolean;
}

const flows = async (): Promise<Screen> => (await import("./screens/flows/flows.tsx")).FlowsScreen;
const flow = async (): Promise<Screen> => (await import("./screens/flow/flow.tsx")).FlowScreen;
const runs = async (): Promise<Screen> => (await import("./screens/runs/runs.tsx")).RunsScreen;
const inbox = async (): Promise<Screen> => (await import("./screens/inbox/inbox.tsx")).InboxScreen;
const catalog = async (): Promise<Screen> =>
  (await import("./screens/catalog/catalog.tsx")).CatalogScreen;
const nodeType = async (): Promise<Screen> =>
  (await import("./screens/catalog/node-type.tsx")).NodeTypeScreen;
const settings = async (): Promise<Screen> =>
  (await import("./screens/settings/settings.tsx")).SettingsScreen;
const run = async (): Promise<Screen> => (await import("./screens/run/run.tsx")).RunScreen;
const compare = async (): Promise<Screen> =>
  (await import("./screens/compare/compare.tsx")).CompareScreen;
const triggers = async (): Promise<Screen> =>
  (await import("./screens/triggers/triggers.tsx")).TriggersScreen;
const connections = async (): Promise<Screen> =>
  (await import("./screens/connections/connections.tsx")).ConnectionsScreen;
const models = async (): Promise<Screen> =>
  (await import("./screens/models/models.tsx")).ModelsScreen;
const hubs = async (): Promise<Screen> => (await import("./screens/hubs/hubs.tsx")).HubsScreen;

const TRIGGERS: ReadonlySet<string | undefined> = new Set([undefined, "schedules", "webhooks"]);

/** The route of a place; undefined: there is no such screen. */
export function routeOf({ path }: Place): Route | undefined {
  const [first = "", second] = path;
  switch (first) {
    case "flows":
      return second === undefined
        ? { key: "flows", load: flows }
        : { key: "flow", load: flow, hasAge: true };
    case "new":
      return { key: "flow", load: flow, hasAge: true }; // saved for the first time it stays the same screen
    case "runs":
      return second === undefined
        ? { key: "runs", load: runs }
        : { key: `runs/${second}`, load: run, hasAge: true };
    case "inbox":
      return second === undefined ? { key: "inbox", load: inbox } : undefined;
    case "catalog":
      return second === undefined
        ? { key: "catalog", load: catalog }
        : { key: `catalog/${second}`, load: nodeType };
    case "settings":
      return second === undefined ? { key: "settings", load: settings } : undefined;
    case "compare":
      return second === undefined ? { key: "compare", load: compare } : undefined;
    case "triggers":
      return TRIGGERS.has(second) ? { key: "triggers", load: triggers } : undefined;
    case "connections":
      return second === undefined ? { key: "connections", load: connections } : undefined;
    case "models":
      return second === undefined ? { key: "models", load: models } : undefined;
    case "hubs":
      return second === undefined ? { key: "hubs", load: hubs } : undefined;
    default:
      return undefined;
  }
}
