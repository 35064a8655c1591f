import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const folders = {
  service: ['local', 'jupyter', 'api'],
  built: ['commands', 'protocols'],
  jupyter: ['jupyter-server'],
  browser: ['browser'],
  faults: ['faults'],
  clients: ['clients'],
  cluster: ['cluster'],
};
const inFolders = (names: readonly string[]) => names.map(name => `test/${name}/**/*.test.ts`);

/** Tests of other folders that start a local service, by what they import. */
const onService = readdirSync('test', { encoding: 'utf8', recursive: true })
  .map(path => `test/${path}`)
  .filter(
    path =>
      path.endsWith('.test.ts') &&
      !Object.values(folders)
        .flat()
        .includes(path.split('/')[1] ?? ''),
  )
  .filter(path => /\/(?:real-bench|local\/service)\.js'/.test(readFileSync(path, 'utf8')));

/** Names of projects are stages of `npm test`; `built` and later ones run the compiled package as processes of its own. */
export default defineConfig({
  test: {
    // Tests wait for sockets, processes and the engine: a core left free, as is the default, would idle on a machine of two.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      project('fast', ['test/**/*.test.ts'], [...inFolders(Object.values(folders).flat()), ...onService]),
      project('service', [...inFolders(folders.service), ...onService]),
      project('built', inFolders(folders.built)),
      project('jupyter', inFolders(folders.jupyter)),
      project('browser', inFolders(folders.browser)),
      project('faults', inFolders(folders.faults)),
      project('clients', inFolders(folders.clients)),
      project('cluster', inFolders(folders.cluster)),
    ],
  },
});

function project(name: string, include: readonly string[], exclude: readonly string[] = []) {
  // Campaigns and other people's suites take as long as they take.
  const isLong = ['faults', 'clients', 'cluster'].includes(name);
  const needsBuild = ['built', 'jupyter', 'browser', 'faults'].includes(name);
  const isBrowser = name === 'browser';
  const startsEngines = ['service', 'clients', 'cluster'].includes(name);
  return {
    test: {
      name,
      include: [...include],
      exclude: ['**/node_modules/**', ...exclude],
      setupFiles: ['test/setup/seed.ts'],
      // No test changes what modules hold, and to load Arrow, vega, the language and the engine for each file takes long.
      isolate: ['jupyter', 'faults'].includes(name),
      globalSetup: [
        ...(needsBuild ? ['test/setup/build.ts'] : []),
        ...(isBrowser ? ['test/setup/labs.ts'] : []),
        ...(startsEngines ? ['test/setup/engines.ts'] : []),
        ...(name === 'cluster' ? ['test/cluster/setup.ts'] : []),
      ],
      testTimeout: isLong ? 86_400_000 : 300_000,
      hookTimeout: isLong ? 900_000 : 300_000,
      // What is polled comes late on a busy machine.
      expect: { poll: { timeout: 60_000 } },
    },
  };
}
