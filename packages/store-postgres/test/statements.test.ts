import { expect, test, vi } from "vitest";

const SOURCE = new URL("../src/sql/statements.ts", import.meta.url).href;

test("a statement has the name of its text, whatever was prepared before it", async () => {
  const nameOf = async (texts: readonly string[]): Promise<string | undefined> => {
    vi.resetModules();
    const { prepared } = await import(SOURCE);
    return texts.map((text) => prepared(text).name).at(-1);
  };
  const name = await nameOf(["SELECT ?"]);
  expect(name).toMatch(/^m_[0-9a-f]{32}$/);
  expect(await nameOf(["SELECT 1", "SELECT 2", "SELECT ?"])).toBe(name);
  expect(await nameOf(["SELECT ? + 1"])).not.toBe(name);
});
