/** Pages of a log that are read when somebody looks at them. */
import { describe, expect, test } from "vitest";
import { LogPages } from "../../src/page/screens/run/log-pages.ts";

function pagesOf(length: number) {
  const reads: number[] = [];
  const pages = new LogPages(async (after) => {
    reads.push(after);
    return Array.from({ length: Math.min(200, length - after) }, (_, at) => ({
      seq: after + at + 1,
    })) as never;
  });
  return { pages, reads };
}

describe("pages of a log", () => {
  test("are read once, when an event of them is asked for", async () => {
    const { pages, reads } = pagesOf(1_000);
    expect(pages.at(401)).toBeUndefined();
    expect(pages.at(402)).toBeUndefined();
    await expect.poll(() => pages.at(401)?.seq).toBe(401);
    expect(pages.at(600)?.seq).toBe(600);
    expect(reads).toEqual([400]);
  });

  test("are read again where the log has grown", async () => {
    const { pages, reads } = pagesOf(250);
    pages.at(250);
    await expect.poll(() => pages.at(250)?.seq).toBe(250);
    expect(pages.at(251)).toBeUndefined();
    await expect.poll(() => reads).toEqual([200, 200]);
  });

  test("do not stay for ever", async () => {
    const { pages, reads } = pagesOf(100_000);
    for (let page = 0; page < 30; page += 1) {
      pages.at(page * 200 + 1);
      await expect.poll(() => pages.at(page * 200 + 1)?.seq).toBe(page * 200 + 1);
    }
    expect(pages.at(1)).toBeUndefined();
    await expect.poll(() => pages.at(1)?.seq).toBe(1);
    expect(reads.filter((after) => after === 0)).toHaveLength(2);
  });
});
