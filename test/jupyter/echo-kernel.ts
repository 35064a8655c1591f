import { readConnectionFile } from '../../kernel/jupyter/connection.js';
import { startKernel } from '../../kernel/jupyter/jupyter-server.js';
import { ECHO_INFO, EchoHandler } from './echo-handler.js';

/** The echo language as a kernel process: `node echo-kernel.js CONNECTION_FILE [HISTORY_FILE]`. */
const [connectionFile = '', historyFile] = process.argv.slice(2);
const kernel = await startKernel(await readConnectionFile(connectionFile), () => new EchoHandler(), {
  info: ECHO_INFO,
  // A busy machine may deliver a cell long after a signal that was sent before it.
  signalLeadMs: 60_000,
  ...(historyFile === undefined ? {} : { historyFile }),
});
process.on('SIGINT', () => void kernel.interrupt());
process.on('SIGTERM', () => void kernel.shutdown(false));
const { restart } = await kernel.closed;
process.exit(restart ? 3 : 0);
