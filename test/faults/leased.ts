import { AplKernelError } from '../../kernel/errors.js';
import { startService } from '../../kernel/local/http/http-server.js';
import { spawnEngine } from '../setup/built-engine.js';

/** A service as a separate process, which others may follow after a short silence: `leased.ts DATA_DIR BEAT_MS TAKEOVER_MS`. */
const [dataDir = '', beatMs, takeoverMs] = process.argv.slice(2);

const log = (text: string) => process.stderr.write(`${text}\n`);
const limits = { beatMs: Number(beatMs), takeoverMs: Number(takeoverMs) };
try {
  const service = await startService({ dataDir, port: 0, version: 'test', spawnEngine, log, limits });
  process.on('SIGTERM', () => void service.close());
  await service.closed;
  process.exit(0);
} catch (error) {
  if (!(error instanceof AplKernelError)) throw error;
  log(error.message);
  process.exit(1);
}
