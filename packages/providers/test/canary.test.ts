/** A key that a model repeats, in any form and in any pieces, is in nothing that a run says. */
import { joined } from "@millrace/test-support/models";
import { describe, expect, test } from "vitest";
import { ask } from "./support/flow.ts";
import { KEY, WIRE_NAMES } from "./support/providers.ts";

const FORMS: readonly (readonly [string, string])[] = [
  ["as it is", KEY],
  ["in base64", Buffer.from(KEY).toString("base64")],
  ["in base64 inside of more", Buffer.from(`x ${KEY} y`).toString("base64")],
  ["percent-encoded", encodeURIComponent(KEY)],
];

describe.each(WIRE_NAMES)("%s", (wire) => {
  test.each(FORMS)("%s, letter by letter", async (_, form) => {
    const text = ["the key is ", ...form, " as you see"];
    const { events, summary, main } = await ask({ wire, script: [{ text }] });
    const said = JSON.stringify(joined(events));
    expect(said).toContain("[redacted]");
    expect(said).not.toContain(form.slice(4, -4));
    expect(said).not.toContain(KEY);
    expect(summary.status).toBe("succeeded");
    expect(JSON.stringify(main.requests[0]?.headers)).toContain(KEY);
  });

  test("in an error of the maker, which quotes the request", async () => {
    const { events } = await ask({
      wire,
      script: [{ status: 401, body: { message: `Incorrect API key provided: ${KEY}` } }],
    });
    expect(JSON.stringify(events)).not.toContain(KEY);
  });
});
