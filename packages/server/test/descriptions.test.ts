import { createStandardRegistry } from "@millrace/server/registry";
import { expect, test } from "vitest";

interface Described {
  readonly description?: string;
}

test.each(createStandardRegistry().entries())(
  "every field and port of $type says what it is",
  ({ fields, ports }) => {
    const described = [
      ...Object.entries((fields["properties"] ?? {}) as { readonly [name: string]: Described }),
      ...ports.map((port) => [port.name, port] as const),
    ];
    const silent = described.filter(([, { description = "" }]) => !/^.+[.!]$/s.test(description));
    expect(silent.map(([name]) => name)).toEqual([]);
  },
);
