/** A command's arguments as a request to its route, by the registry alone. */
import type { CommandDef, HttpBinding } from "@millrace/contracts";

type Args = { readonly [name: string]: unknown };

/** Path with query, and what `fetch` takes beside it. */
export function restRequest(
  { http }: CommandDef,
  args: Args,
): { readonly path: string; readonly init: RequestInit } {
  const { method, path, headers = {}, body = "none" } = http as HttpBinding;
  const rest = new Map(Object.entries(args));
  const take = (name: string): unknown => {
    const value = rest.get(name);
    rest.delete(name);
    return value;
  };
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(`${take(name)}`));
  const sent: Record<string, string> = {};
  for (const [header, name] of Object.entries(headers)) {
    if (rest.has(name)) sent[header] = `${take(name)}`;
  }
  const query = new URLSearchParams();
  const when = http?.when?.query;
  if (when !== undefined) query.set(when, `${take(when)}`);
  let content: unknown;
  if (typeof body === "object") content = take(body.arg);
  else if (body === "rest" && rest.size > 0) {
    content = Object.fromEntries(rest);
    rest.clear();
  }
  for (const [name, value] of rest) {
    if (name === "tags") {
      for (const [tag, text] of Object.entries(value as object)) query.append(`tag.${tag}`, text);
    } else for (const each of Array.isArray(value) ? value : [value]) query.append(name, `${each}`);
  }
  const search = query.size === 0 ? "" : `?${query}`;
  return {
    path: filled + search,
    init: {
      method,
      headers: content === undefined ? sent : { ...sent, "content-type": "application/json" },
      ...(content === undefined ? {} : { body: JSON.stringify(content) }),
    },
  };
}
