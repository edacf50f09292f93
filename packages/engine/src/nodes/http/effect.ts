/** What a request does outside, by its method. */
import type { Effect } from "@millrace/contracts";

/** GET and HEAD `read`; DELETE `destructive`; every other method, and one that is not known yet, `write`. */
export function requestEffect(fields: { readonly [name: string]: unknown }): Effect {
  const method = "method" in fields ? fields["method"] : "GET";
  if (method === "GET" || method === "HEAD") return "read";
  return method === "DELETE" ? "destructive" : "write";
}
