#!/usr/bin/env node
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCompiled } from './compiled-code.js';

/** Entry point: runs the commands of `main.ts`, with code compiled in earlier starts. */

const folder = dirname(fileURLToPath(import.meta.url));
/** A kernel and a service use different parts of the program. */
const role = ['kernel', 'serve'].find(command => command === process.argv[2]) ?? 'command';
/** Set by the installer of the program if its folder must not get new files later. */
const kept = process.env.APL_KERNEL_COMPILED ?? join(folder, 'compiled');
runCompiled(join(folder, 'commands.cjs'), join(kept, `${role}-${process.versions.v8}-${process.arch}`));
