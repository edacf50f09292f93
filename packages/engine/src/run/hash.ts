/** Identity of a node: what it is and what it is told, without where it stands. */
import type { Json } from "@millrace/contracts";
import type { Layout } from "../compile/layout.ts";
import type { Host } from "../host.ts";
import type { Fields } from "../node-type.ts";
import { digestOf } from "../values.ts";

const hashes = new WeakMap<Layout, string[]>();

/** Digest over type, fields, body and what of the policy shapes the result. */
export function contentHash(layout: Layout, node: number, host: Host): string {
  let known = hashes.get(layout);
  if (known === undefined) {
    known = [];
    hashes.set(layout, known);
  }
  const made = known[node];
  if (made !== undefined) return made;
  const { fields, body, policy } = layout.nodes[node] as Layout["nodes"][number];
  const version = layout.types[node]?.entry.version ?? 1;
  const hash = digestOf(
    {
      type: `${layout.types[node]?.entry.type}@${version}`,
      fields,
      ...(body !== undefined && { body: body as unknown as Json }),
      ...(policy?.onError !== undefined && { onError: policy.onError }),
      ...(policy?.retry?.if !== undefined && { if: policy.retry.if }),
    },
    host,
  );
  known[node] = hash;
  return hash;
}

/** Fields without the closures of deferred ones, which are no data. */
export function plainFields(fields: Fields): { readonly [name: string]: never } {
  const data = Object.entries(fields).filter(([, value]) => typeof value !== "function");
  return Object.fromEntries(data) as { readonly [name: string]: never };
}
