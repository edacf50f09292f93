/** The page of the registry: every command by its name and, where it has one, its route. */
import type { JsonSchema } from "@millrace/contracts";
import { COMMANDS } from "@millrace/contracts/commands";
import * as schemas from "@millrace/contracts/schemas";
import { code, members, page, table, WRITTEN } from "./markdown.ts";

type Command = typeof COMMANDS extends ReadonlyMap<string, infer C> ? C : never;

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
    none:
      effect === "read"
        ? "Reads only: safe to repeat."
        : "Not idempotent: a second call acts again.",
    key: "Idempotent with the header `Idempotency-Key`.",
    natural: "Idempotent: a second call leaves the same state.",
  }[idempotency];
  const streams =
    stream === undefined
      ? ""
      : ` Streams${stream.resume ? ", and may be taken up again at a position" : ""}.`;
  const statuses = http === undefined ? [] : [http.status, ...(http.alsoStatus ?? [])];
  const given = answerOf(command.result);
  const answer = stream !== undefined && given === "nothing" ? "frames" : given;
  const answers = ` Answers${statuses.length === 0 ? "" : ` ${statuses.join(" or ")}`} with ${answer}.`;
  return page(
    `## ${name}`,
    `${summary}. Effect \`${effect}\`.${answers} ${repeated}${streams}`,
    http === undefined ? undefined : `\`\`\`text\n${route(command)}\n\`\`\``,
    members(args.toJSONSchema({ io: "input", unrepresentable: "any" }) as JsonSchema),
    errors.length === 0 ? undefined : `Errors: ${[...new Set(errors)].map(code).join(", ")}.`,
  ).trimEnd();
}

/** Names on the page of what travels, by their schemas. */
const NAMES: ReadonlyMap<unknown, string> = new Map(
  Object.entries(schemas).map(([name, schema]) => [schema, name.replace(/Schema$/, "")]),
);

/** The part of a schema of zod that is read here. */
interface Shaped {
  readonly options?: readonly Shaped[];
  readonly element?: Shaped;
  readonly shape?: { readonly [name: string]: Shaped };
  readonly type: string;
}

/** What a command answers, with links to the page of what travels. */
function answerOf(result: unknown): string {
  const { options, element, shape, type } = result as Shaped;
  const name = type === "record" ? undefined : NAMES.get(result);
  if (name !== undefined) return `[${code(name)}](schemas.md#${name.toLowerCase()})`;
  if (options !== undefined) return options.map(answerOf).join(" or ");
  if (element !== undefined) return `a list of ${answerOf(element)}`;
  const { items, ...others } = shape ?? {};
  const rest = Object.keys(others).map(code).join(", ");
  if (items?.element !== undefined)
    return `\`items\`, each ${answerOf(items.element)}, and ${rest}`;
  return rest || (type === "null" ? "nothing" : "JSON");
}
