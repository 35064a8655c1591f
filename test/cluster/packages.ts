import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The newest release that is complete in Maven Central and runs on Java 17. */
export const version = '435';

/** Packages are cached between runs, like Maven's own. */
const kept = join(homedir(), '.cache', 'apl-kernel-cluster', version);

/** Returns why no cluster can be started on this machine; undefined if one can. */
export async function missingForCluster(): Promise<string | undefined> {
  for (const program of ['java', 'javac', 'mvn']) {
    const found = await run(program, ['-version']).catch(() => undefined);
    if (found === undefined) return `there is no ${program} on the PATH: install a JDK 17 or newer and Maven`;
  }
  return undefined;
}

/** Returns the directory with the libraries of a node, after downloading them if necessary. */
export function libraries(): Promise<string> {
  const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>cluster</groupId><artifactId>cluster</artifactId><version>1</version>
<dependencies><dependency><groupId>io.trino</groupId><artifactId>trino-main</artifactId><version>${version}</version></dependency></dependencies></project>`;
  return fetched('lib', async scratch => {
    await writeFile(join(scratch, 'pom.xml'), pom);
    await maven(scratch, 'dependency:copy-dependencies', '-DoutputDirectory=made');
  });
}

/** Returns the directory of a plugin such as `hive`, after downloading it if necessary. */
export async function plugin(name: string): Promise<string> {
  const artifact = `-Dartifact=io.trino:trino-${name}:${version}:zip`;
  const directory = await fetched(`plugin-${name}`, scratch =>
    maven(scratch, 'dependency:unpack', artifact, '-DoutputDirectory=made'),
  );
  return join(directory, `trino-${name}-${version}`);
}

async function fetched(name: string, fetch: (scratch: string) => Promise<unknown>): Promise<string> {
  const directory = join(kept, name);
  if (existsSync(directory)) return directory;
  await mkdir(kept, { recursive: true });
  const scratch = await mkdtemp(`${directory}-`);
  await fetch(scratch);
  // Another run may have downloaded it in the meantime.
  await rename(join(scratch, 'made'), directory).catch(error => {
    if (!existsSync(directory)) throw error;
  });
  await rm(scratch, { recursive: true });
  return directory;
}

function maven(directory: string, ...args: string[]): Promise<unknown> {
  return run('mvn', ['-q', '-B', ...args], { cwd: directory });
}
