/** `millrace serve` and its folder. */
import { expect, test } from "vitest";
import { scratch, start } from "./cli.ts";

test("a folder has one server: the second ends with 6 and names the first", async () => {
  const home = scratch();
  const words = ["serve", "--port", "0", "--json", "--home", home];
  const first = start(words);
  await first.until('"listening"');
  const second = await start(words).ended;
  expect(second.code).toBe(6);
  expect(second.stdout + second.stderr).toContain(`process ${first.child.pid}`);
  first.child.kill("SIGTERM");
  expect(await first.ended).toMatchObject({ code: 0 });
  const third = start(words);
  await third.until('"listening"');
});
