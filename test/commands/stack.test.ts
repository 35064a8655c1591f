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
