/** Hubs and the index that was last taken from each. */
import type { Hub, HubItem } from "@millrace/contracts";
import { attempt, change } from "../sql/change.ts";
import type { Database, Op } from "../sql/port.ts";

/** The hubs of a store. */
export interface Hubs {
  /** All, by id; each with the serial of its stored index. */
  list(): Promise<readonly Hub[]>;
  get(id: string): Promise<Hub | null>;
  /** Makes or changes one; its index and serial stay, unless `index` is `drop`: it is another hub by now. */
  put(hub: Hub, options?: { readonly index?: "keep" | "drop" }): Promise<void>;
  /** Takes its index along. False: there is none. */
  delete(id: string): Promise<boolean>;
  /** The stored index, by item. */
  items(id: string): Promise<readonly HubItem[]>;
  /** Puts a new index in the place of the old one. False: there is no such hub, or its index has a higher serial. */
  setIndex(
    id: string,
    index: {
      readonly serial: number;
      readonly items: readonly HubItem[];
      /** When it was taken. */
      readonly syncedAt: string;
    },
  ): Promise<boolean>;
}

export function createHubs(db: Database): Hubs {
  const hubOf = ({ body, serial }: { readonly [column: string]: unknown }): Hub => ({
    ...JSON.parse(String(body)),
    ...(serial !== null && { serial: Number(serial) }),
  });
  return {
    list: async () => (await db.all("SELECT * FROM hub ORDER BY id")).map(hubOf),
    async get(id) {
      const row = await db.get("SELECT * FROM hub WHERE id = ?", [id]);
      return row === undefined ? null : hubOf(row);
    },
    async put({ serial: _serial, ...hub }, { index = "keep" } = {}) {
      await db.write([
        ...(index === "drop" ? [{ sql: "DELETE FROM hub WHERE id = ?", rows: [[hub.id]] }] : []),
        {
          sql: "INSERT INTO hub(id, body) VALUES(?, ?) ON CONFLICT(id) DO UPDATE SET body = excluded.body",
          rows: [[hub.id, JSON.stringify(hub)]],
        },
      ]);
    },
    delete: async (id) =>
      (await change(db, { sql: "DELETE FROM hub WHERE id = ?", values: [id] })) === 1,
    async items(id) {
      const rows = await db.all("SELECT body FROM hub_item WHERE hub = ? ORDER BY item", [id]);
      return rows.map(({ body }) => JSON.parse(String(body)));
    },
    async setIndex(id, { serial, items, syncedAt }) {
      const ops: Op[] = [
        {
          sql:
            `UPDATE hub SET serial = ?, body = ${db.dialect.withMember("body", "syncedAt")} ` +
            "WHERE id = ? AND (serial IS NULL OR serial <= ?)",
          rows: [[serial, syncedAt, id, serial]],
          need: "older",
        },
        { sql: "DELETE FROM hub_item WHERE hub = ?", rows: [[id]] },
        {
          sql: "INSERT INTO hub_item(hub, item, body) VALUES(?, ?, ?)",
          rows: items.map((item) => [id, item.id, JSON.stringify(item)]),
        },
      ];
      return attempt(db, ops, { code: "older" });
    },
  };
}
