import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { Logins } from '../../kernel/api/login/logins.js';
import type { AxiomEnvironment } from '../../kernel/api/profile.js';
import type {
  CellIo,
  CellOrigin,
  DisplayData,
  ExecuteOutcome,
  KernelHandler,
} from '../../kernel/jupyter/message.js';
import { createInterpreter } from '../../kernel/notebook/interpreter.js';
import type { ImportLog } from '../../kernel/notebook/magics/effects/effect-imports.js';
import { type AskedEffect, askedEffects } from '../../kernel/notebook/magics/effects/effects.js';
import type { QueryLog } from '../../kernel/notebook/query/query-log.js';
import type { LocalServiceAccess, SessionOptions } from '../../kernel/notebook/session.js';
import { type Reply, type Seen, type Service, startService, tabular } from '../api/service.js';

/** 2026-03-04T05:06:07.123456789Z */
export const now = 1_772_600_767_123_456_789n;

/** Token of the stand-in for the local service. */
export const localToken = 'local-token-4711';

/** An output of a cell. */
export type Output =
  | { readonly kind: 'stdout' | 'stderr'; readonly text: string }
  | {
      readonly kind: 'display' | 'update' | 'result';
      readonly data: DisplayData['data'];
      readonly metadata: DisplayData['metadata'];
    }
  | {
      readonly kind: 'asked' | 'asked for a secret' | 'this cell' | 'next cell' | 'leaves';
      readonly text: string;
    };

export interface CellRun {
  readonly outcome: ExecuteOutcome;
  readonly outputs: readonly Output[];
}

/** An interpreter with a scripted service as its local service. */
export interface Bench {
  readonly handler: KernelHandler;
  readonly service: Service;
  readonly homeDir: string;
  readonly logged: readonly string[];
  /** Progress lines that cells have shown. */
  readonly passed: readonly string[];
  run(
    code: string,
    options?: {
      readonly signal?: AbortSignal;
      readonly expressions?: Record<string, string>;
      /** The user's input when prompted; absent if the front end cannot prompt. */
      readonly answer?: string | (() => Promise<string>);
      readonly onPassing?: (output: DisplayData) => void;
      /** Receives the text of each output as it arrives. */
      readonly onOutput?: (text: string) => void;
      /** The notebook cell that is run; absent if the front end does not name it. */
      readonly origin?: CellOrigin;
      /** False for lines that a front end runs on its own. */
      readonly storeHistory?: boolean;
    },
  ): Promise<CellRun>;
  close(): Promise<void>;
}

export interface BenchOptions {
  readonly reply?: (seen: Seen) => Reply;
  readonly environment?: (service: Service) => AxiomEnvironment;
  readonly local?: (service: Service) => LocalServiceAccess;
  readonly timeLimitMs?: number;
  readonly retryMs?: number;
  readonly logins?: Logins;
  readonly queryLog?: QueryLog;
  readonly importLog?: ImportLog;
  /** Effects that cells may have without confirmation (default: all). */
  readonly allowed?: readonly AskedEffect[];
  readonly workDir?: string;
  readonly consoleWidth?: number;
  readonly svgOnly?: boolean;
  /** The directory in which kernels announce that agents may add cells, and the time limit of those cells. */
  readonly agents?:
    | Required<Pick<SessionOptions, 'agentsDir' | 'agentMs'>>
    | Pick<SessionOptions, 'agentsDir'>;
  /** Nanoseconds since 1970 (default: a fixed time). */
  readonly now?: () => bigint;
}

/** Starts a service and an interpreter with it as its local service. */
export async function startBench(options: BenchOptions = {}): Promise<Bench> {
  const service = await startService(options.reply ?? everyday);
  const homeDir = await mkdtemp(join(tmpdir(), 'apl-home-'));
  const logged: string[] = [];
  const passed: string[] = [];
  const handler = createInterpreter({
    now: options.now ?? (() => now),
    environment: options.environment?.(service) ?? {},
    homeDir,
    workDir: options.workDir ?? '/data',
    version: '1.2.3',
    local: options.local?.(service) ?? {
      connect: async () => ({ url: service.url, token: localToken, restarted: false }),
      close: () => undefined,
    },
    logins: options.logins ?? new Logins({ file: join(homeDir, 'logins.json') }),
    log: text => logged.push(text),
    ...(options.timeLimitMs === undefined ? {} : { timeLimitMs: options.timeLimitMs }),
    ...(options.retryMs === undefined ? {} : { retryMs: options.retryMs }),
    consoleWidth: () => options.consoleWidth,
    svgOnly: options.svgOnly ?? false,
    ...options.agents,
    allowed: options.allowed ?? askedEffects,
    ...(options.importLog === undefined ? {} : { importLog: options.importLog }),
    ...(options.queryLog === undefined ? {} : { queryLog: options.queryLog }),
  });
  return {
    handler,
    service,
    homeDir,
    logged,
    passed,
    async run(code, options = {}) {
      const {
        signal = new AbortController().signal,
        expressions = {},
        answer,
        storeHistory = true,
        origin,
      } = options;
      const outputs: Output[] = [];
      const outcome = await handler.execute(
        { code, userExpressions: expressions },
        {
          ...recorder(outputs, signal, answer, options.onOutput),
          storeHistory,
          ...(origin === undefined ? {} : { origin }),
          passing: output => {
            passed.push(String(output.data['text/plain']));
            options.onPassing?.(output);
          },
        },
      );
      return { outcome, outputs };
    },
    async close() {
      await handler.shutdown(false);
      await service.close();
      await rm(homeDir, { recursive: true });
    },
  };
}

/** Answers queries with one row, and has one dataset. */
export function everyday({ path, method }: Seen): Reply {
  if (path === '/v1/datasets/_apl') return { headers: { 'x-axiom-trace-id': 'trace-1' }, body: counted };
  const web = { id: 'web', name: 'web', description: 'requests', kind: 'events' };
  if (path === '/v2/datasets' || path === '/v1/local/datasets') return { body: [web] };
  if (path === '/v1/local/datasets/web') return { body: web };
  if (path === '/v2/datasets/web/fields') return { body: fields };
  if (path === '/v2/user') return { body: { id: 'u1', name: 'Ada', email: 'ada@example.org' } };
  return { status: 404, body: { code: 404, message: `${method} ${path}` } };
}

export const counted = tabular([{ name: 'n', type: 'integer' }], [[42]]);

const fields = [
  { name: '_time', type: 'datetime', unit: '', hidden: false, description: '' },
  { name: 'status', type: 'integer', unit: '', hidden: false, description: 'HTTP status' },
  { name: 'duration', type: 'float', unit: 'ms', hidden: false, description: '' },
  { name: 'geo.city', type: 'string', unit: '', hidden: false, description: '' },
];

/** Returns everything that a cell printed, in one string. */
export function printed({ outputs }: CellRun): string {
  return outputs.map(output => (output.kind === 'stdout' ? output.text : '')).join('');
}

/** Returns the text/plain of each output that a cell showed. */
export function shown({ outputs }: CellRun): readonly string[] {
  return outputs.flatMap(output => ('data' in output ? [String(output.data['text/plain'])] : []));
}

/** Returns the traceback of a failed cell without colors; empty if it succeeded. */
export function traceback({ outcome }: CellRun): readonly string[] {
  return outcome.status === 'error' ? outcome.traceback.map(stripVTControlCharacters) : [];
}

/** Returns the bodies of the queries that the service received. */
export function queries(service: Service): readonly Record<string, unknown>[] {
  return service.seen.filter(each => each.path.endsWith('_apl')).map(each => JSON.parse(each.body));
}

function recorder(
  outputs: Output[],
  signal: AbortSignal,
  answer: string | (() => Promise<string>) | undefined,
  onOutput: (text: string) => void = () => undefined,
): CellIo {
  const show =
    (kind: 'display' | 'update' | 'result') =>
    ({ data, metadata }: DisplayData) => {
      outputs.push({ kind, data, metadata });
      onOutput(String(data['text/plain']));
    };
  return {
    executionCount: 1,
    silent: false,
    storeHistory: true,
    allowStdin: answer !== undefined,
    signal,
    stream: (kind, text) => {
      outputs.push({ kind, text });
      onOutput(text);
    },
    display: show('display'),
    updateDisplay: show('update'),
    result: show('result'),
    clearOutput: () => undefined,
    passing: () => undefined,
    leave: () => void outputs.push({ kind: 'leaves', text: '' }),
    nextInput: (text, replace) => void outputs.push({ kind: replace ? 'this cell' : 'next cell', text }),
    input: async (text, password) => {
      if (answer === undefined) throw new Error('there is no input');
      outputs.push({ kind: password ? 'asked for a secret' : 'asked', text });
      return typeof answer === 'string' ? answer : answer();
    },
  };
}
