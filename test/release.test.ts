/** What a release refuses, and the order in which it publishes; `image.test.ts` publishes. */
import { expect, test } from "vitest";
import { publishedManifests, publishOrder, refusals } from "../scripts/release.mjs";

test("nothing is released from changed files, with changesets that are no version, or without the identity of a job", () => {
  const clean = { status: "", changesets: [], env: { SIGSTORE_ID_TOKEN: "x" } };
  expect(refusals(clean)).toEqual([]);
  expect(refusals({ ...clean, env: { ACTIONS_ID_TOKEN_REQUEST_URL: "https://x" } })).toEqual([]);
  const all = refusals({ status: " M a.ts\n?? b.ts\n", changesets: ["c.md"], env: {} });
  expect(all).toEqual([
    "2 files are not committed, such as a.ts",
    expect.stringContaining("npm run version-packages"),
    expect.stringContaining("id-token: write"),
  ]);
});

test("every package is published after those that it needs", () => {
  const manifests = publishedManifests();
  const order = publishOrder(manifests).map(({ name }) => name);
  expect(order.toSorted()).toEqual(manifests.map(({ name }) => name).toSorted());
  for (const { name, dependencies = {} } of manifests) {
    for (const other of Object.keys(dependencies).filter((each) => order.includes(each))) {
      expect(order.indexOf(other), `${name} needs ${other}`).toBeLessThan(order.indexOf(name));
    }
  }
  expect(() => publishOrder(manifests, ["@millrace/none"])).toThrow("no package @millrace/none");
});
