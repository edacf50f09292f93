/** The page of the registry: every command by its name and, where it has one, its route. */
import type { JsonSchema } from "@millrace/contracts";
import { COMMANDS } from "@millrace/contracts/commands";
import { code, members, page, table, WRITTEN } from "./markdown.ts";

type Command = typeof COMMANDS extends ReadonlyMap<string, infer C> ? C : never;

/** Every command. */
export function commandsPage(): string {
  const all = [...COMMANDS.values()];
  return page(
    "# Commands and routes",
    WRITTEN,
    'Every command answers `POST /api/invoke` with `{"command": name, "args": {…}}`, and `millrace invoke NAME`. One with a route answers there too. Effect says who may call: `read`, `run`, `write` or `admin`.',
    table(
      ["Command", "Route", "Effect", ""],
      all.map((each) => [
        `[${code(each.name)}](#${each.name})`,
        code(route(each)),
        each.effect,
        each.summary,
      ]),
    ),
    ...all.map(section),
  );
}

function route({ http }: Command): string {
  if (http === undefined) return "";
  const query = http.when === undefined ? "" : `?${http.when.query}`;
  return `${http.method} ${http.path}${query}`;
}

function section(command: Command): string {
  const { name, summary, args, effect, idempotency, errors, http, stream } = command;
  const repeated = {
    none: "Calling it twice does it twice.",
    key: "Takes `Idempotency-Key`.",
    natural: "Calling it twice leaves the same state.",
  }[idempotency];
  const streams =
    stream === undefined
      ? ""
      : ` Streams${stream.resume ? ", and may be taken up again at a position" : ""}.`;
  const statuses =
    http === undefined ? "" : ` Answers ${[http.status, ...(http.alsoStatus ?? [])].join(" or ")}.`;
  return page(
    `## ${name}`,
    `${summary}. Effect \`${effect}\`.${statuses} ${repeated}${streams}`,
    http === undefined ? undefined : `\`\`\`text\n${route(command)}\n\`\`\``,
    members(args.toJSONSchema({ io: "input", unrepresentable: "any" }) as JsonSchema),
    errors.length === 0 ? undefined : `Errors: ${[...new Set(errors)].map(code).join(", ")}.`,
  ).trimEnd();
}
