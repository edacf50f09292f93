/** Templates: named flows. Each save that changes the graph or its text adds a version; a version never changes. */
import type {
  Digest,
  FlowGraph,
  FlowSchedule,
  Template,
  TemplateSource,
  TemplateSummary,
  TemplateVersion,
  TemplateVersionSummary,
} from "@millrace/contracts";
import { graphRow } from "../runs/graphs.ts";
import { attempt } from "../sql/change.ts";
import type { Database, Op, SqlRow } from "../sql/port.ts";
import { scheduleDeletion } from "./schedules.ts";

/** A template to save. `digest` is the identity of the graph. */
export interface NewTemplate {
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly source: TemplateSource;
  readonly digest: Digest;
  readonly dsl: string;
  readonly graph: FlowGraph;
}

/** Newest version of a template, without its graph. */
export interface NewestText {
  readonly summary: TemplateSummary;
  readonly text: string;
}

/** Flows by slug, every saved content a version that never changes: 1, 2, 3…. Writes reject with `StoreError`, as `store_full`. */
export interface Templates {
  /** All, by slug. */
  list(): Promise<readonly TemplateSummary[]>;
  get(slug: string): Promise<Template | null>;
  /** The schedules that the newest versions declare, by slug; templates without one are left out. */
  proposed(): Promise<
    readonly { readonly slug: string; readonly schedules: readonly FlowSchedule[] }[]
  >;
  /**
   * Saves in one transaction. `expected`: the version that the caller has seen, null for none; when it is another one by now,
   * nothing is written and the answer is null. The digest and the text of the newest version again make no new version.
   */
  save(template: NewTemplate, expected: number | null): Promise<Template | null>;
  /** The newest text of each, by slug. */
  texts(): Promise<ReadonlyMap<string, NewestText>>;
  /**
   * Saves and deletes in one transaction. False: one of them has another version than was `expected` by now, and nothing is written.
   */
  replaceAll(changes: {
    readonly save: readonly (NewTemplate & { readonly expected: number | null })[];
    readonly remove: readonly {
      readonly slug: string;
      readonly expected: number;
      /** Ids of schedules that go with it. */
      readonly schedules: readonly string[];
    }[];
    /** Templates that stay as they are, but for where they came from. */
    readonly own?: readonly {
      readonly slug: string;
      readonly expected: number;
      readonly source: TemplateSource;
    }[];
  }): Promise<boolean>;
  /** Newest first. */
  versions(slug: string): Promise<readonly TemplateVersionSummary[]>;
  version(slug: string, version: number): Promise<TemplateVersion | null>;
  /** Deletes it with its versions; runs keep their graphs. False: there is none of this version. */
  delete(slug: string, expected: number): Promise<boolean>;
}

const NEWEST =
  "FROM template t JOIN template_version v ON v.slug = t.slug AND v.version = t.version";
const SUMMARIES = `SELECT t.*, v.digest ${NEWEST}`;
const WHOLE = `SELECT t.*, v.digest, v.text, g.json AS graph_json ${NEWEST} JOIN graph g ON g.digest = v.graph`;
const VERSIONS =
  "SELECT v.*, g.json AS graph_json FROM template_version v JOIN graph g ON g.digest = v.graph WHERE slug = ?";

/** Told to other processes when a template has changed. */
const CHANGED = { topics: ["templates"] } as const;

export function createTemplates(db: Database): Templates {
  const schedules = db.dialect.member("g.json", "schedules");
  const proposed = `SELECT t.slug, ${schedules} AS schedules ${NEWEST} JOIN graph g ON g.digest = v.graph
    WHERE ${schedules} <> '[]' ORDER BY t.slug`;
  const get = async (slug: string): Promise<Template | null> => {
    const row = await db.get(`${WHOLE} WHERE t.slug = ?`, [slug]);
    return row === undefined ? null : { ...summaryOf(row), ...contentOf(row) };
  };
  return {
    list: async () => (await db.all(`${SUMMARIES} ORDER BY t.slug`)).map(summaryOf),
    get,
    async proposed() {
      const rows = await db.all(proposed);
      return rows.map((row) => ({
        slug: String(row["slug"]),
        schedules: JSON.parse(String(row["schedules"])),
      }));
    },
    async save(template, expected) {
      const { slug } = template;
      const known = await get(slug);
      if ((known?.version ?? null) !== expected) return null;
      const isSame = known?.digest === template.digest && known.dsl === template.dsl;
      const version = (known?.version ?? 0) + (isSame ? 0 : 1);
      const at = db.now();
      const ops = [
        rowOf(template, { version, expected, at }),
        ...(isSame ? [] : versionRows(template, version, at)),
      ];
      const isSaved = await attempt(db, ops, CHANGED); // else another one was saved meanwhile
      return isSaved ? get(slug) : null;
    },
    async texts() {
      const rows = await db.all(`SELECT t.*, v.digest, v.text ${NEWEST} ORDER BY t.slug`);
      const all = rows.map((row) => ({ summary: summaryOf(row), text: String(row["text"]) }));
      return new Map(all.map((each) => [each.summary.slug, each]));
    },
    async replaceAll({ save, remove, own = [] }) {
      const at = db.now();
      const ops = [
        ...remove.flatMap(({ slug, expected, schedules }) => [
          ...schedules.flatMap(scheduleDeletion),
          ...deletionOf(slug, expected),
        ]),
        ...save.flatMap((template) => {
          const { expected } = template;
          const version = (expected ?? 0) + 1;
          return [
            rowOf(template, { version, expected, at }),
            ...versionRows(template, version, at),
          ];
        }),
        ...own.map(
          ({ slug, expected, source }): Op => ({
            sql: "UPDATE template SET source = ? WHERE slug = ? AND version = ?",
            rows: [[JSON.stringify(source), slug, expected]],
            need: "changed",
          }),
        ),
      ];
      return ops.length === 0 || attempt(db, ops, { topics: ["templates", "schedules"] });
    },
    async versions(slug) {
      return (await db.all(`${VERSIONS} ORDER BY version DESC`, [slug])).map(versionOf);
    },
    async version(slug, version) {
      const row = await db.get(`${VERSIONS} AND version = ?`, [slug, version]);
      return row === undefined ? null : { ...versionOf(row), ...contentOf(row) };
    },
    delete: (slug, expected) => attempt(db, deletionOf(slug, expected), CHANGED),
  };
}

function deletionOf(slug: string, expected: number): Op[] {
  return [
    {
      sql: "DELETE FROM template WHERE slug = ? AND version = ?",
      rows: [[slug, expected]],
      need: "changed",
    },
    { sql: "DELETE FROM template_version WHERE slug = ?", rows: [[slug]] },
  ];
}

interface Saved {
  readonly version: number;
  readonly expected: number | null;
  readonly at: number;
}

function rowOf(
  { slug, name, description, tags, source }: NewTemplate,
  { version, expected, at }: Saved,
): Op {
  const values = [version, name, description, JSON.stringify(tags), JSON.stringify(source), at];
  if (expected === null) {
    return {
      sql:
        "INSERT INTO template(version, name, description, tags, source, updated_at, slug) VALUES(?, ?, ?, ?, ?, ?, ?) " +
        "ON CONFLICT DO NOTHING",
      rows: [[...values, slug]],
      need: "changed",
    };
  }
  return {
    sql:
      "UPDATE template SET version = ?, name = ?, description = ?, tags = ?, source = ?, updated_at = ? " +
      "WHERE slug = ? AND version = ?",
    rows: [[...values, slug, expected]],
    need: "changed",
  };
}

function versionRows({ slug, digest, dsl, graph }: NewTemplate, version: number, at: number): Op[] {
  const { digest: pinned, op } = graphRow(graph);
  return [
    op,
    {
      sql: "INSERT INTO template_version(slug, version, digest, text, graph, created_at) VALUES(?, ?, ?, ?, ?, ?)",
      rows: [[slug, version, digest, dsl, pinned, at]],
    },
  ];
}

function summaryOf(row: SqlRow): TemplateSummary {
  return {
    slug: String(row["slug"]),
    name: String(row["name"]),
    description: String(row["description"]),
    tags: JSON.parse(String(row["tags"])),
    source: JSON.parse(String(row["source"])),
    version: Number(row["version"]),
    digest: row["digest"] as Digest,
    updatedAt: new Date(Number(row["updated_at"])).toISOString(),
  };
}

function versionOf(row: SqlRow): TemplateVersionSummary {
  return {
    slug: String(row["slug"]),
    version: Number(row["version"]),
    digest: row["digest"] as Digest,
    createdAt: new Date(Number(row["created_at"])).toISOString(),
  };
}

function contentOf(row: SqlRow): { readonly dsl: string; readonly graph: FlowGraph } {
  return { dsl: String(row["text"]), graph: JSON.parse(String(row["graph_json"])) };
}
