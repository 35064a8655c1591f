import { type FileHandle, open, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Returns a file in `workDir` with lines from all over a large file of JSON lines, since rare fields may not occur at its
 * beginning. Undefined for a file that is small, compressed or not of lines: its first rows will do.
 */
export async function spreadSample(file: string, workDir: string): Promise<string | undefined> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const head = await part(handle, 0);
    if (size < spreadFromBytes || !isLines(head)) return undefined;
    const chunks = [head];
    for (let index = 1; index < parts; index++) {
      const chunk = await part(handle, Math.floor(((size - partBytes) * index) / (parts - 1)));
      chunks.push(chunk.slice(chunk.indexOf('\n') + 1));
    }
    const sample = path.join(workDir, `${crypto.randomUUID()}.sample.ndjson`);
    await writeFile(sample, chunks.map(chunk => chunk.slice(0, chunk.lastIndexOf('\n') + 1)).join(''), {
      mode: 0o600,
    });
    return sample;
  } finally {
    await handle.close();
  }
}

const spreadFromBytes = 16 * 2 ** 20;
const parts = 48;
const partBytes = 64 * 1024;

async function part(handle: FileHandle, position: number): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(partBytes), 0, partBytes, position);
  return buffer.subarray(0, bytesRead).toString('utf8');
}

/** Whether each of the first two lines is an object. */
function isLines(head: string): boolean {
  const lines = head.split('\n', 3);
  return lines.length === 3 && lines.slice(0, 2).every(isObject);
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
