#!/usr/bin/env node
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCompiled } from './compiled-code.js';

/** What Node starts: the commands of `main.ts`, with the code compiled in earlier starts. */

const folder = dirname(fileURLToPath(import.meta.url));
/** A kernel and a service use different parts of the program. */
const role = ['kernel', 'serve'].find(command => command === process.argv[2]) ?? 'command';
/** Whoever installs the program sets this if its folder is not a place for files that appear later. */
const kept = process.env.APL_KERNEL_COMPILED ?? join(folder, 'compiled');
runCompiled(join(folder, 'commands.cjs'), join(kept, `${role}-${process.versions.v8}-${process.arch}`));
