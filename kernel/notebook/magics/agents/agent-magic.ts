import type { Magic, MagicCall, MagicHost } from '../magic.js';
import { MagicError, usageError } from '../magic-arguments.js';
import { say } from '../output.js';

/** The magic that lets agents add cells to the notebook. */
export const agentMagics: readonly Magic[] = [
  {
    name: 'agents',
    usage: '%agents [on|off]',
    options: [],
    summary: 'let agents add cells to this notebook and run them, until the kernel ends',
    help: [
      '- `%agents on` lets an agent that uses `apl-kernel mcp` on this machine, as your user, add cells below the last one and run them; it asks you first',
      '- `%agents off` ends that immediately, as does the toolbar button that is shown in the meantime',
      '- `%agents` alone shows whether it is on; a new kernel starts with it off',
      '',
      'Such a cell begins with `// Added by an agent` and waits for running cells. It can only read, and only from the local service: magics that write, connect to other services or change settings of your cells are rejected, as are names for results and `externaldata`. It runs for at most 30 s, at most ten can be added per minute, `_` remains your last result, and undo removes the cell. The agent receives the first rows of its results, and can read the named results of your notebook.',
    ].join('\n'),
    arity: [0, 1],
    effects: ['agents'],
    run: agents,
  },
];

async function agents({ words: [word], magic }: MagicCall, host: MagicHost): Promise<void> {
  const { io, agents } = host;
  if (word === undefined)
    return say(
      io,
      agents.notebook === undefined
        ? 'Agents are off: they may not add cells.'
        : `Agents are on: they may add cells to ${agents.notebook.name}.`,
    );
  if (word === 'off') {
    await agents.turnOff();
    return say(io, 'Agents may no longer add cells.');
  }
  if (word !== 'on') throw usageError(magic, `it is on or off, not ${word}`);
  const page = agents.pageOf(io.origin);
  if (page === undefined)
    throw new MagicError(
      '%agents: this front end cannot add cells to the notebook',
      'Use JupyterLab or Notebook 7 with the extension of this package installed.',
    );
  await host.consent(
    'agents',
    'let agents on this machine add read-only cells to this notebook and receive their results',
  );
  await agents.turnOn(page);
  say(io, 'Agents may add read-only cells until `%agents off` or until the kernel ends.');
}
