/** `millrace serve` and its folder. */
import { expect, test } from "vitest";
import { scratch, start } from "./cli.ts";
import { inside } from "./inside.ts";

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

test("a server says where its API and data are, who is let in, and which schedules do not fire", async () => {
  const home = scratch();
  const nightly = "flow 1 nightly\n\nschedule night {\n  every = 15m\n}\n\noutput n: int = 1\n";
  const cwd = scratch({ "nightly.flow": nightly });
  await inside(["templates", "save", "nightly", "nightly.flow", "--home", home], { cwd });
  const open = start(["serve", "--port", "0", "--home", home]);
  await open.until("activates it\n");
  expect(open.told()).toMatch(/^listening on (\S+)\nAPI: \1\/api\/docs\ndata: /);
  expect(open.told()).toContain(`data: ${home}`);
  expect(open.told()).toContain("requests need no token");
  expect(open.told()).toContain("millrace schedule add --from nightly activates it");
  open.child.kill("SIGTERM");
  await open.ended;
  const env = { MILLRACE_TOKEN: "0123456789abcdef" };
  const closed = start(["serve", "--port", "0", "--home", home], { env });
  await closed.until("requests need a token: Authorization: Bearer TOKEN\n");
  expect(closed.told()).not.toContain(env.MILLRACE_TOKEN);
});

test("an address that others can reach is refused without a token, and the flags that mend it are named", async () => {
  const { code, stderr } = await inside(["serve", "--host", "0.0.0.0", "--port", "0"]);
  expect(code).toBe(2);
  for (const word of ["MILLRACE_TOKEN", "--token-file", "--allow-open"]) {
    expect(stderr).toContain(word);
  }
});
