/** Values that are too large for the log are loaded when a person asks for them. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { endedRun } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const LARGE = `flow 1 large

node lines: transform {
  value = map(range(9000), line, "line ${"$"}{line} of many")
}

output lines: string[] = lines.value
`;

describeWith("chromium")("a value beside the log", () => {
  const studio = useStudio();

  test("is shown by its beginning, and whole on demand", async () => {
    await using server = await startServer();
    const runId = await endedRun(server, LARGE);
    const page = await studio.open(server.url, { place: `#/runs/${runId}?node=lines` });
    for (const name of ["Output", "Outputs"] as const) {
      const place =
        name === "Output"
          ? page.getByRole("tabpanel", { name: "Output" })
          : page.getByRole("region", { name: "Outputs" });
      await place.getByText("kept beside the log").waitFor();
      await place.getByRole("button", { name: "Load full value" }).click();
      await place
        .getByText(/9,?000/)
        .first()
        .waitFor();
      await expect
        .poll(() => place.getByRole("button", { name: "Load full value" }).count())
        .toBe(0);
    }
    await expectAccessible(page);
  });
});
