import { expect, test } from 'vitest';
import { aplKernel, scratchDirectory } from './command.js';

test('an error of the bundle names the line of kernel/ that it came from', async () => {
  const broken = "data:text/javascript,console.log=()=>{throw(new(RangeError)('gone'))}";
  const HOME = scratchDirectory();
  const { code, stderr } = await aplKernel(['doctor'], { HOME, NODE_OPTIONS: `--import=${broken}` });
  expect(code).toBe(1);
  expect(stderr).toContain('RangeError: gone\n    at console.log (data:text/javascript,');
  expect(stderr).toMatch(/^ {4}at (?:async )?\S+doctor \(file:\/\/\/\S+\/kernel\/main\.ts:\d+:11\)$/m);
});

test('the frame of a package names its file', async () => {
  const traced = `data:text/javascript,${encodeURIComponent(
    'import http from "node:http"; http.createServer = () => { console.trace(); process.exit(3); };',
  )}`;
  const HOME = scratchDirectory();
  const { code, stderr } = await aplKernel(['serve'], { HOME, NODE_OPTIONS: `--import=${traced}` });
  expect(code).toBe(3);
  expect(stderr).toMatch(/^ {4}at \S+ \(file:\/\/\/\S+\/node_modules\/fastify\/lib\/server\.js\)$/m);
  expect(stderr).toMatch(/^ {4}at \S+ \(file:\/\/\/\S+\/kernel\/local\/http\/listen\.ts:\d+:\d+\)$/m);
});
