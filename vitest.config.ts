import { defineConfig } from 'vitest/config';

/** Tests that start services, engines, Jupyter or a browser; everything else is fast. */
const service = ['test/local/**', 'test/jupyter/**', 'test/cli/**', 'test/api/**', 'test/examples/**'];
const jupyter = ['test/jupyter-server/**'];
const browser = ['test/browser/**'];

const project = (name: string, include: readonly string[], exclude: readonly string[] = []) => ({
  test: {
    name,
    include: include.map(folder => `${folder}/*.test.ts`),
    exclude: ['**/node_modules/**', ...exclude],
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
});

export default defineConfig({
  test: {
    projects: [
      project('fast', ['test/**'], [...service, ...jupyter, ...browser]),
      project('service', service),
      project('jupyter', jupyter),
      project('browser', browser),
    ],
  },
});
