import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const service = ['test/local/**', 'test/jupyter/**', 'test/api/**'];
const built = ['test/commands/**'];
const jupyter = ['test/jupyter-server/**'];
const browser = ['test/browser/**'];
const faults = ['test/faults/**'];

/** Names of the projects are stages of `npm test`; `built` and later ones run the compiled package as processes of its own. */
export default defineConfig({
  test: {
    // Tests wait for sockets, processes and the engine: a core left free, as is the default, would idle on a machine of two.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      project('fast', ['test/**'], [...service, ...built, ...jupyter, ...browser, ...faults]),
      project('service', service),
      project('built', built),
      project('jupyter', jupyter),
      project('browser', browser),
      project('faults', faults),
    ],
  },
});

function project(name: string, include: readonly string[], exclude: readonly string[] = []) {
  const needsBuild = ['built', 'jupyter', 'browser', 'faults'].includes(name);
  return {
    test: {
      name,
      include: include.map(folder => `${folder}/*.test.ts`),
      exclude: ['**/node_modules/**', ...exclude],
      setupFiles: ['test/setup/seed.ts'],
      // No test changes what modules hold, and to load Arrow, vega and the language for each file takes longer than to test them.
      isolate: name !== 'fast',
      globalSetup: needsBuild ? ['test/setup/build.ts'] : [],
      // A long campaign takes as long as it takes.
      testTimeout: name === 'faults' ? 3_600_000 : 120_000,
      hookTimeout: 180_000,
    },
  };
}
