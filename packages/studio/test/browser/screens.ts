/** Every screen of the page with something on it, and how a test knows that it is there. */
import type { Page } from "playwright-core";
import type { Seeded } from "./seed.ts";

/** One screen to look at. */
export interface ScreenShot {
  readonly name: string;
  readonly place: (seeded: Seeded) => string;
  /** Resolves when the screen shows what it is about. */
  readonly ready: (page: Page) => Promise<unknown>;
}

const heading = (name: string) => (page: Page) => page.getByRole("heading", { name }).waitFor();

/** All screens, in the order of the navigation. */
export const SCREENS: readonly ScreenShot[] = [
  {
    name: "flows",
    place: () => "#/flows",
    ready: (page) => page.getByRole("link", { name: "site-watch" }).waitFor(),
  },
  {
    name: "flow",
    place: () => "#/flows/site-watch",
    ready: (page) => page.getByText("No problems.").waitFor(),
  },
  {
    name: "flow-node",
    place: () => "#/flows/site-watch?node=visit",
    ready: (page) => page.getByRole("textbox", { name: "items" }).waitFor(),
  },
  {
    name: "new",
    place: () => "#/new",
    ready: (page) => page.getByRole("textbox", { name: "Flow text" }).waitFor(),
  },
  {
    name: "runs",
    place: () => "#/runs",
    ready: (page) => page.getByRole("checkbox").nth(3).waitFor(),
  },
  {
    name: "run",
    place: ({ succeeded }) => `#/runs/${succeeded}`,
    ready: (page) => page.getByRole("region", { name: "Outputs" }).waitFor(),
  },
  {
    name: "run-failed",
    place: ({ failed }) => `#/runs/${failed}`,
    ready: (page) => page.getByRole("treeitem", { selected: true }).waitFor(),
  },
  {
    name: "run-paused",
    place: ({ paused }) => `#/runs/${paused}?tab=timeline&node=visit[1]/size`,
    ready: (page) => page.getByRole("button", { name: "Approve" }).waitFor(),
  },
  {
    name: "run-events",
    place: ({ succeeded }) => `#/runs/${succeeded}?tab=events`,
    ready: (page) => page.getByRole("row").nth(5).waitFor(),
  },
  {
    name: "run-summary",
    place: ({ failed }) => `#/runs/${failed}?tab=summary`,
    ready: (page) => page.getByRole("table", { name: "Nodes by state" }).waitFor(),
  },
  {
    name: "inbox",
    place: () => "#/inbox",
    ready: (page) => page.getByText("Report 3 pages?").waitFor(),
  },
  {
    name: "catalog",
    place: () => "#/catalog",
    ready: (page) => page.getByRole("table", { name: "control" }).waitFor(),
  },
  {
    name: "node-type",
    place: () => "#/catalog/http.request",
    ready: (page) => page.getByRole("table", { name: "Fields" }).waitFor(),
  },
  {
    name: "settings",
    place: () => "#/settings",
    ready: (page) => page.getByRole("group", { name: "retention" }).waitFor(),
  },
  {
    name: "compare",
    place: ({ succeeded, other }) => `#/compare?a=${succeeded}&b=${other}`,
    ready: (page) => page.getByRole("table", { name: "Comparison" }).waitFor(),
  },
  {
    name: "schedules",
    place: () => "#/triggers/schedules",
    ready: (page) => page.getByRole("table", { name: "Schedules" }).waitFor(),
  },
  {
    name: "webhooks",
    place: () => "#/triggers/webhooks",
    ready: heading("No webhooks"),
  },
  { name: "connections", place: () => "#/connections", ready: heading("No services") },
  { name: "models", place: () => "#/models", ready: heading("No local models here") },
  { name: "hubs", place: () => "#/hubs", ready: heading("No hubs") },
  { name: "not-found", place: () => "#/nowhere", ready: heading("Not found") },
];
