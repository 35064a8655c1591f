import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { editorTarget } from '../../../kernel/apl/editor/editor-link.js';
import type { JsonObject } from '../../../kernel/jupyter/jupyter-wire.js';
import { startAplKernel } from '../../commands/command.js';
import { Client, freeConnection, type Seen } from '../../jupyter/client.js';

/** A notebook shown in a page, with its own kernel. */
export interface OpenNotebook {
  /** Lets agents add cells, as its user would. */
  turnOn(): Promise<void>;
  /** Returns the sources of the cells that agents have added. */
  added(): readonly string[];
  /** Kills the kernel without letting it clean up. */
  kill(): Promise<void>;
}

/** Opens a notebook `a.ipynb` in a home; the page accepts and runs every agent's cell. */
export async function openNotebook(env: Readonly<Record<string, string>>): Promise<OpenNotebook> {
  const connection = await freeConnection();
  const file = join(env.HOME ?? '', 'connection.json');
  writeFileSync(file, JSON.stringify(connection));
  const kernel = startAplKernel(['kernel', '--connection-file', file], env);
  const exited = once(kernel, 'exit');
  const kill = async () => {
    kernel.kill('SIGKILL');
    await exited;
  };
  const client = new Client(connection);
  onTestFinished(async () => {
    client.close();
    await kill();
  });
  await client.subscribe();
  const comm = randomUUID();
  const run = (code: string, cellId: string) =>
    client.send('shell', 'execute_request', { code, allow_stdin: true }, { metadata: { cellId } });
  const say = (data: JsonObject) => client.send('shell', 'comm_msg', { comm_id: comm, data });
  await client.send('shell', 'comm_open', { comm_id: comm, target_name: editorTarget, data: {} });
  await say({ ask: 'write', client: 's', name: 'a.ipynb' });
  const told = ({ content }: Seen) =>
    content.data as { tell?: string; cell: string; source: string } | undefined;
  const toldOf = (tell: string) => client.seen.filter(message => told(message)?.tell === tell).map(told);
  void follow();
  return {
    turnOn: async () => {
      const id = await run('%agents on', 'own');
      await client.next(({ type }) => type === 'input_request');
      await client.send('stdin', 'input_reply', { value: 'yes' });
      await client.reply(id);
    },
    added: () => toldOf('add').map(cell => cell?.source ?? ''),
    kill,
  };

  /** Accepts each offered cell and runs each added one. */
  async function follow(): Promise<void> {
    for (let count = 0; ; count += 1) {
      await client.next(() => toldOf('offer').length > count);
      await say({ ask: 'take', cell: toldOf('offer')[count]?.cell ?? '' });
      await client.next(() => toldOf('add').length > count);
      const cell = toldOf('add')[count];
      await run(cell?.source ?? '', cell?.cell ?? '');
    }
  }
}
