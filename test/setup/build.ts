import { ensureBuild } from '../../scripts/build.mjs';

/** Compiles the programs that the tests of this project run as separate processes, unless they are up to date. */
export async function setup(): Promise<void> {
  await ensureBuild(console.log);
}
