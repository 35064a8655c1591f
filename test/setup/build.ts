import { ensureBuild } from '../../scripts/build.mjs';

/** Compiles what the tests of this project run as separate processes, unless it is up to date. */
export async function setup(): Promise<void> {
  await ensureBuild(console.log);
}
