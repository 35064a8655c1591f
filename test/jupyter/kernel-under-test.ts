import { onTestFinished } from 'vitest';
import { type KernelOptions, type RunningKernel, startKernel } from '../../kernel/jupyter/jupyter-server.js';
import { Client, LOCAL } from './client.js';
import { ECHO_INFO, EchoHandler } from './echo-handler.js';

/** An in-process echo kernel with a subscribed client; both end with the test. */
export interface KernelUnderTest {
  readonly kernel: RunningKernel;
  readonly handler: EchoHandler;
  readonly client: Client;
  /** Lines that the kernel logged. */
  readonly lines: string[];
}

/** Starts an echo kernel and connects to it. */
export async function startEcho(options: KernelOptions = {}): Promise<KernelUnderTest> {
  const lines: string[] = [];
  const handler = new EchoHandler();
  const kernel = await startKernel(LOCAL, () => handler, {
    info: ECHO_INFO,
    log: line => lines.push(line),
    ...options,
  });
  const client = await connect(kernel);
  onTestFinished(() => kernel.shutdown(false));
  return { kernel, handler, client, lines };
}

/** Connects another subscribed client. */
export async function connect(kernel: RunningKernel): Promise<Client> {
  const client = new Client(kernel.connection);
  onTestFinished(() => client.close());
  await client.subscribe();
  return client;
}
