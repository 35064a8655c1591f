import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../../commands/command.js';
import { removeHome } from '../../setup/leavings.js';

const hasNeovim = spawnSync('nvim', ['--version']).status === 0;

test.runIf(hasNeovim)('Neovim shows diagnostics and formats with the documented configuration', () => {
  const home = mkdtempSync(join(tmpdir(), 'apl-kernel-nvim-'));
  onTestFinished(() => removeHome(home));
  const [, config = ''] =
    /```lua\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs', 'editors.md'), 'utf8')) ?? [];
  const main = join(root, 'dist', 'main.js');
  const command = `cmd = { ${JSON.stringify(process.execPath)}, ${JSON.stringify(main)}, 'lsp' }`;
  expect(config).toContain("cmd = { 'apl-kernel', 'lsp' }");
  writeFileSync(join(home, 'init.lua'), config.replace("cmd = { 'apl-kernel', 'lsp' }", command));
  writeFileSync(join(home, 'q.apl'), 'logs|where a>1|sumarize count()\n');
  writeFileSync(join(home, 'check.lua'), CHECK);
  const done = spawnSync('nvim', ['--headless', '-u', 'init.lua', 'q.apl', '-c', 'luafile check.lua'], {
    cwd: home,
    env: { HOME: home, PATH: process.env.PATH, APL_KERNEL_DATA: join(home, 'data') },
    encoding: 'utf8',
    timeout: 100_000,
  });
  expect(done.stderr).toContain('done');
  expect(JSON.parse(readFileSync(join(home, 'out.json'), 'utf8'))).toEqual({
    filetype: 'apl',
    found: ['sumarize'],
    formatted: ['logs', '| where a > 1', '| sumarize count()'],
  });
});

const CHECK = `
local function found()
  local texts = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do
    local line = vim.api.nvim_buf_get_lines(0, each.lnum, each.lnum + 1, true)[1]
    table.insert(texts, line:sub(each.col + 1, each.end_col))
  end
  return texts
end
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 50)
local texts = found()
vim.lsp.buf.formatting_sync(nil, 30000)
local lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
local out = io.open('out.json', 'w')
out:write(vim.fn.json_encode({ filetype = vim.bo.filetype, found = texts, formatted = lines }))
out:close()
io.stderr:write('done')
vim.cmd('qa!')
`;
