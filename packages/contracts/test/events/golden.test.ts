/** Logs that were written once. Each must parse, be legal and fold to the same view for ever; files are added, never changed. */
import { readdirSync, readFileSync } from "node:fs";
import {
  checkLog,
  createView,
  foldEvents,
  parseEvent,
  serialiseEvent,
  viewToJson,
} from "@millrace/contracts";
import { expect, test } from "vitest";

const folder = new URL("golden/", import.meta.url);
const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ndjson"))
  .sort();
const read = (name: string): string => readFileSync(new URL(name, folder), "utf8");

test("there are golden logs", () => {
  expect(names.length).toBeGreaterThan(0);
});

test.each(names)("%s reads, folds and is written as it always was", (name) => {
  const lines = read(name).trimEnd().split("\n");
  const events = lines.map((line) => parseEvent(line));
  expect(checkLog(events)).toEqual([]);
  expect(events.map((event) => serialiseEvent(event))).toEqual(lines);
  const view = createView();
  for (const event of events) foldEvents(view, event);
  expect(viewToJson(view)).toEqual(JSON.parse(read(name.replace(".ndjson", ".view.json"))));
});
