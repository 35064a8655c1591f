import { availableParallelism, freemem, hostname } from 'node:os';
import { memoryAtMost, ownMemory } from '../machine.js';
import type { JsonObject } from './jupyter-wire.js';

/**
 * The reply to usage_request, which the panel of jupyter-resource-usage sends to every kernel, in the members of ipykernel's. The panel
 * fails on an error, and on a reply without the memory of the machine.
 */
export class Usage {
  #cpu = process.cpuUsage();
  #at = performance.now();

  /** Returns the use of memory in bytes, and that of one processor since the previous call in percent. */
  content(): JsonObject {
    const { user, system } = process.cpuUsage(this.#cpu);
    const percent = (user + system) / 10 / (performance.now() - this.#at);
    this.#cpu = process.cpuUsage();
    this.#at = performance.now();
    const total = memoryAtMost();
    const available = Math.min(freemem(), total);
    const used = total - available;
    return {
      status: 'ok',
      hostname: hostname(),
      pid: process.pid,
      kernel_cpu: rounded(percent),
      kernel_memory: ownMemory(),
      cpu_count: availableParallelism(),
      host_virtual_memory: {
        ...{ total, available, free: available, used, active: used },
        percent: rounded((used / total) * 100),
      },
    };
  }
}

function rounded(percent: number): number {
  return Math.round(percent * 10) / 10;
}
