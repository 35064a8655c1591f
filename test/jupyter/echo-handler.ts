import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type {
  CellIo,
  CommHandler,
  CompleteOutcome,
  DisplayData,
  ExecuteOutcome,
  ExecuteRequest,
  KernelHandler,
  KernelInfo,
} from '../../kernel/jupyter/message.js';

/** Kernel info of the echo language. */
export const ECHO_INFO: KernelInfo = {
  implementation: 'echo',
  implementation_version: '1.0.0',
  language_info: { name: 'echo', version: '1', mimetype: 'text/x-echo', file_extension: '.echo' },
  banner: 'Echo: one command per line',
  help_links: [],
};

const text = (value: string, displayId?: string): DisplayData => ({
  data: { 'text/plain': value },
  metadata: {},
  ...(displayId === undefined ? {} : { displayId }),
});

type Command = (argument: string, io: CellIo) => void | Promise<void>;

/** The whole echo language: one command per line, its name first. */
const COMMANDS: Readonly<Record<string, Command>> = {
  out: (argument, io) => io.stream('stdout', argument),
  err: (argument, io) => io.stream('stderr', argument),
  result: (argument, io) => io.result(text(argument)),
  html: (argument, io) =>
    io.result({ data: { 'text/plain': argument, 'text/html': `<b>${argument}</b>` }, metadata: {} }),
  display: (argument, io) => io.display(text(argument, 'd1')),
  update: (argument, io) => io.updateDisplay({ ...text(argument), displayId: 'd1' }),
  clear: (argument, io) => io.clearOutput(argument === 'wait'),
  pass: (argument, io) => io.passing(text(argument)),
  ask: async (argument, io) => io.stream('stdout', `got ${await io.input(argument, false)}`),
  secret: async (argument, io) => io.stream('stdout', `got ${await io.input(argument, true)}`),
  sleep: async (argument, io) => void (await delay(Number(argument), undefined, { signal: io.signal })),
  deaf: async argument => void (await delay(Number(argument))),
  block: argument => {
    const end = performance.now() + Number(argument);
    while (performance.now() < end);
  },
  origin: (_, io) => io.stream('stdout', JSON.stringify(io.origin ?? null)),
  late: (argument, io) => void setTimeout(() => io.stream('stdout', argument), 20),
  unsendable: (_, io) => io.display({ data: { 'application/json': 1n }, metadata: {} }),
  exit: argument => process.exit(Number(argument)),
  throw: argument => {
    throw new Error(argument);
  },
};

/** A handler for a language whose lines are commands. */
export class EchoHandler implements KernelHandler {
  readonly info = ECHO_INFO;
  readonly variables = new Map<string, string>();
  /** `await NAME` in a cell waits for the event with that name. */
  readonly signals = new EventEmitter();
  shutDownWith: boolean | undefined;

  async execute({ code, userExpressions }: ExecuteRequest, io: CellIo): Promise<ExecuteOutcome> {
    for (const line of code.split('\n')) {
      const [, name = '', argument = ''] = /^(\S*) ?(.*)$/su.exec(line) ?? [];
      if (name === 'fail') {
        return { status: 'error', ename: 'Failure', evalue: argument, traceback: [`Failure: ${argument}`] };
      }
      if (name === 'set') this.variables.set(...(argument.split('=', 2) as [string, string]));
      else if (name === 'get') io.result(text(this.variables.get(argument) ?? 'unset'));
      else if (name === 'await') await once(this.signals, argument);
      else await COMMANDS[name]?.(argument, io);
    }
    const asked = Object.entries(userExpressions).map(([name, value]) => [
      name,
      { status: 'ok', data: { 'text/plain': value === 'bigint' ? 1n : value }, metadata: {} },
    ]);
    return { status: 'ok', userExpressions: Object.fromEntries(asked) };
  }

  /** Completes the word before the cursor with the commands that begin with it. */
  async complete(code: string, cursor: number): Promise<CompleteOutcome> {
    const word = /[a-z]*$/.exec(code.slice(0, cursor))?.[0] ?? '';
    const names = Object.keys(COMMANDS).filter(name => name.startsWith(word));
    const items = names.map(name => ({ text: name, type: 'keyword', signature: `${name} text` }));
    return { items, from: cursor - word.length, to: cursor };
  }

  async inspect(code: string, cursor: number, detail: 0 | 1): Promise<DisplayData | undefined> {
    const word = /[a-z]*$/.exec(code.slice(0, cursor))?.[0] ?? '';
    return word in COMMANDS ? text(`${word}: a command, detail ${detail}`) : undefined;
  }

  async withoutSecrets(code: string): Promise<string> {
    return code.replaceAll('hush', '***');
  }

  isComplete(code: string): ReturnType<KernelHandler['isComplete']> {
    if (code.endsWith('(')) return { status: 'incomplete', indent: '  ' };
    return { status: code.startsWith('|') ? 'invalid' : 'complete' };
  }

  /** The only target, `echo`, returns what it receives with the buffers reversed; `bye` makes it close. */
  commOpen(
    comm: Parameters<KernelHandler['commOpen']>[0],
    data: unknown,
    buffers: readonly Uint8Array[],
  ): CommHandler | undefined {
    if (comm.target === 'failing') throw new Error('cannot open');
    if (comm.target !== 'echo') return undefined;
    comm.send({ opened: data }, {}, buffers);
    return {
      async message(received, parts) {
        await delay(5);
        if (received === 'bye') comm.close({ bye: true });
        else comm.send({ echo: received }, { count: parts.length }, parts.toReversed());
      },
      close: received => void this.variables.set('closed', JSON.stringify(received)),
    };
  }

  async shutdown(restart: boolean): Promise<void> {
    this.shutDownWith = restart;
  }
}
