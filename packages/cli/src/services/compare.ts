/** What another import of a service changes for the flows that call it. */
import { type ServiceOperation, type ServiceSpec, serviceArguments } from "@millrace/contracts";

/** Ids of operations, sorted; `breaking` are sentences. */
export interface ServiceChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly breaking: readonly string[];
}

/** Compares two descriptors. Breaking is what can fail a flow that worked: an operation that is gone, an argument that is now required. */
export function compareServices(before: ServiceSpec, after: ServiceSpec): ServiceChange {
  const old = byId(before);
  const now = byId(after);
  const added = [...now.keys()].filter((id) => !old.has(id)).sort();
  const changed = [...now].filter(([id, operation]) => differs(old.get(id), operation));
  const gone = [...old.keys()].filter((id) => !now.has(id)).map((id) => `${id} is gone`);
  const required = changed.flatMap(([id, operation]) => {
    const known = requiredOf(old.get(id) as ServiceOperation);
    return [...requiredOf(operation)]
      .filter((name) => !known.has(name))
      .map((name) => `${id} now requires ${name}`);
  });
  return {
    added,
    changed: changed.map(([id]) => id).sort(),
    breaking: [...gone, ...required].sort(),
  };
}

function byId({ serviceIntegration }: ServiceSpec): ReadonlyMap<string, ServiceOperation> {
  return new Map(serviceIntegration.operations.map((operation) => [operation.id, operation]));
}

function differs(before: ServiceOperation | undefined, after: ServiceOperation): boolean {
  return before !== undefined && JSON.stringify(before) !== JSON.stringify(after);
}

function requiredOf(operation: ServiceOperation): ReadonlySet<string> {
  const { known } = serviceArguments(operation);
  return new Set([...known].filter(([, { required }]) => required).map(([name]) => name));
}
