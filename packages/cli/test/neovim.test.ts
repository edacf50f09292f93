/** A real editor: Neovim with the settings of the guide opens a flow, shows the finding, applies its fix, formats and saves. */
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatFlow } from "@millrace/dsl";
import { testWith } from "@millrace/test-support";
import { fencesOf, readPage } from "@millrace/test-support/pages";
import { expect } from "vitest";
import { BIN, scratch } from "./cli.ts";

/** What a person would do, with waits that end as soon as the server has answered. */
const STEPS = `
local buffer = vim.api.nvim_get_current_buf()
local found = function() return vim.diagnostic.get(buffer) end
vim.wait(20000, function() return #found() > 0 end, 20)
for _, each in ipairs(found()) do io.stdout:write(each.code .. " in line " .. each.lnum + 1 .. "\\n") end
local at = { line = 2, character = 9 }
local answers = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", {
  textDocument = vim.lsp.util.make_text_document_params(buffer),
  range = { start = at, ["end"] = at },
  context = { diagnostics = {} },
}, 20000)
for _, answer in pairs(answers) do
  vim.lsp.util.apply_workspace_edit(answer.result[1].edit, "utf-16")
end
vim.wait(20000, function() return #found() == 0 end, 20)
local format = vim.lsp.buf.format or function() vim.lsp.buf.formatting_sync({}, 20000) end
format({ timeout_ms = 20000 })
vim.cmd("write")
vim.cmd("qall!")
`;

testWith("nvim")("Neovim shows a finding, applies its fix, formats and saves", () => {
  const broken = 'flow 1 x\n\nnode a: htp.request {\n      url = "https://example.org"\n}\n';
  const [settings] = fencesOf(readPage("docs/guide/editors.md")).filter(
    ({ language }) => language === "lua",
  );
  const cwd = scratch({ "a.flow": broken, "init.lua": settings?.text ?? "", "steps.lua": STEPS });
  const command = join(cwd, "millrace");
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`);
  chmodSync(command, 0o755);
  const args = ["--headless", "-u", "init.lua", "-c", "luafile steps.lua", "a.flow"];
  const env = { ...process.env, HOME: cwd, PATH: `${cwd}:${process.env["PATH"]}` };
  const said = execFileSync("nvim", args, { cwd, env, encoding: "utf8", timeout: 60_000 });
  expect(said).toContain("FLOW3001 in line 3");
  const mended = broken.replace("htp", "http");
  expect(readFileSync(join(cwd, "a.flow"), "utf8")).toBe(formatFlow(mended).text);
});
