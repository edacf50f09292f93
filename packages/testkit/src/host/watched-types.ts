/** The node types of an extension with a recorder around each body: its output, errors and messages before the engine masks or checks them. */
import type {
  ActionDefinition,
  ExtensionDefinition,
  NodeTypeDefinition,
  ServiceDefinition,
} from "@millrace/contracts";
import { type CoreContext, createRegistry, type NodeType, type Registry } from "@millrace/engine";
import { STANDARD_TYPES } from "./standard-types.ts";

/** One try of a body. */
export interface Call {
  readonly type: string;
  /** Its idempotency key. */
  readonly key: string;
  /** `running`, or how it ended. */
  state: "running" | "answered" | "threw";
  /** Its unmodified output or error. */
  outcome: unknown;
  /** Every text it has logged, with its data, and every question it has asked. */
  readonly logs: unknown[];
  /** Uses of its context after its end: `log`, `progress`, `fetch`. */
  readonly late: string[];
  /** How many of its waits for time or for a person are open. */
  waits: number;
  /** Longest time that it held the event loop before its first wait, in milliseconds of CPU. */
  blockedMs: number;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
}

/** Called as each call begins. */
export type Watch = (call: Call, ctx: CoreContext) => void;

/** The parts of an extension that a host takes. */
export interface Parts {
  readonly types: readonly NodeType[];
  readonly services: readonly ServiceDefinition[];
}

/** The parts of a definition. Throws `EngineError` for ids that are taken and schemas that are none. */
export function partsOf(extension: ExtensionDefinition): Parts {
  const core = createRegistry([STANDARD_TYPES]);
  const plain = createRegistry([STANDARD_TYPES, extension]);
  const types = plain
    .entries()
    .filter(({ type }) => core.get(type) === undefined && !type.startsWith("service."))
    .map(({ type, version }) => plain.require(type, version));
  return { types, services: extension.services };
}

/** A registry of core and of these parts, watched. */
export function watchedRegistry({ types, services }: Parts, watch: Watch): Registry {
  return createRegistry([
    STANDARD_TYPES,
    ...types.map((type) => watched(type, watch)),
    ...services,
  ]);
}

/** Actions and node types of an extension, each with its type; `@2` where a version is not the first. */
export function specsOf({ adapters, nodeTypes }: ExtensionDefinition): readonly {
  readonly type: string;
  readonly spec: ActionDefinition | NodeTypeDefinition;
}[] {
  return [
    ...adapters.flatMap(({ id, actions }) =>
      actions.map((spec) => ({ type: `${id}.${spec.name}`, spec })),
    ),
    ...nodeTypes.map((spec) => ({ type: spec.type, spec })),
  ];
}

export function typesOfExtension(extension: ExtensionDefinition): readonly string[] {
  return specsOf(extension)
    .map(({ type }) => type)
    .sort();
}

function watched(type: NodeType, watch: Watch): NodeType {
  return {
    ...type,
    run(fields, ctx) {
      let end = (): void => {};
      const call: Call = {
        type: type.entry.type,
        key: ctx.idempotencyKey,
        state: "running",
        outcome: undefined,
        logs: [],
        late: [],
        waits: 0,
        blockedMs: 0,
        ended: new Promise((resolve) => {
          end = resolve;
        }),
      };
      const settle = (state: "answered" | "threw", outcome: unknown): void => {
        call.state = state;
        call.outcome = outcome;
        end();
      };
      watch(call, ctx);
      const from = process.cpuUsage();
      try {
        const answer = type.run(fields, contextOf(ctx, call));
        const { user, system } = process.cpuUsage(from);
        call.blockedMs = (user + system) / 1_000;
        if (!isPromise(answer)) {
          settle("answered", answer);
          return answer;
        }
        return Promise.resolve(answer).then(
          (value) => {
            settle("answered", value);
            return value;
          },
          (error: unknown) => {
            settle("threw", error);
            throw error;
          },
        );
      } catch (error) {
        settle("threw", error);
        throw error;
      }
    },
  };
}

function contextOf(ctx: CoreContext, call: Call): CoreContext {
  const used = (name: string): void => {
    if (call.state !== "running") call.late.push(name);
  };
  return new Proxy(ctx, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "log") {
        return (level: "info", text: string, data?: never) => {
          used("log");
          call.logs.push(data === undefined ? text : [text, data]);
          target.log(level, text, data);
        };
      }
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (name === "progress" || name === "fetch") used(String(name));
        if (name === "confirm") call.logs.push(args);
        const answer = Reflect.apply(value, target, args) as unknown;
        return name === "sleep" || name === "confirm" ? waited(answer, call) : answer;
      };
    },
  });
}

function waited(answer: unknown, call: Call): unknown {
  if (!isPromise(answer)) return answer;
  call.waits += 1;
  return answer.finally(() => {
    call.waits -= 1;
  });
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === "function";
}
